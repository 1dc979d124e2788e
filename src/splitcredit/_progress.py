"""A bar on standard error for work that lasts, and a word on how long it lasts."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Hashable
from contextlib import contextmanager

# Seconds of work before the bar appears.
DELAY = 2.0
# Seconds left from which on a warning says so, and seconds of work that they are estimated from.
LONG, WINDOW = 10.0, 0.5
logger = logging.getLogger("splitcredit")


@contextmanager
def bar(total: int | None, progress: bool | None, unit: str = "rows", less: str = ""):
    """Yield a function to call with the number of units that were done since its last call.

    Parameters
    ----------
    total : int or None
        None if it is not known beforehand.
    progress : bool, optional
        True shows the bar at once, False never. By default it appears after two seconds, if a
        terminal or a notebook shows standard error.
    unit : str
    less : str
        What takes less time; if there is something, and the work takes more than ten seconds, a
        warning says both.
    """
    if not isinstance(progress, Hashable) or progress not in (None, True, False):
        raise ValueError(f"progress={progress!r}: expected None, True or False")
    clock = _Clock(total, less) if less and progress is not False else lambda done: None
    if progress is False or (progress is None and not _watched()):
        yield clock
        return
    from tqdm.auto import tqdm

    # Parts of units are done too.
    count = f"{{n:.0f}}/{{total:.0f}} {unit}"
    how = (
        {}
        if total is None
        else {"bar_format": f"{{l_bar}}{{bar}}| {count} [{{elapsed}}<{{remaining}}]"}
    )
    delay = 0.0 if progress else DELAY
    with tqdm(
        total=total, unit=f" {unit}", delay=delay, mininterval=0.5, file=sys.stderr, **how
    ) as shown:

        def move(done):
            clock(done)
            # Parts of units may add up to more than all by rounding.
            shown.update(done if total is None else min(done, total - shown.n))

        yield move


class _Clock:
    """Warns, once, if what is left of the work takes long."""

    def __init__(self, total, less):
        self.left, self.less, self.done, self.began = total, less, 0.0, time.monotonic()

    def __call__(self, done):
        self.left, self.done = self.left - done, self.done + done
        passed = time.monotonic() - self.began
        if not self.less or passed < WINDOW:
            return
        # The last part of the work says more about the rest than all of it: costs may grow.
        seconds = passed / max(self.done, 1e-9) * self.left
        if seconds > LONG:
            logger.warning("this takes about %.0f seconds more: %s", seconds, self.less)
            self.less = ""
        self.done, self.began = 0.0, time.monotonic()


def _watched():
    return sys.stderr.isatty() or "ipykernel" in sys.modules
