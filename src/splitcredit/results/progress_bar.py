"""Show a bar on standard error for work that lasts, and warn how long it takes."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Hashable
from contextlib import contextmanager

# Seconds of work before the bar appears.
DELAY = 2.0
# Seconds left from which on a warning says so, and seconds of work that they are estimated from.
LONG, WINDOW = 10.0, 1.0
logger = logging.getLogger("splitcredit")


@contextmanager
def bar(total: int | None, progress: bool | None, unit: str = "rows", remedy: str = ""):
    """Yield a function to call with the number of units that were done since its last call.

    The function also takes another `total`, where that is an estimate, and a `name` of what is done
    next.
    """
    if not isinstance(progress, Hashable) or progress not in (None, True, False):
        raise ValueError(f"progress={progress!r}: expected None, True or False")
    forecast = _Forecast(total, "" if progress is False else remedy)
    if progress is False or (progress is None and not _watched()):
        yield forecast
        return
    from tqdm.auto import tqdm

    how: dict = {"delay": 0.0 if progress else DELAY, "mininterval": 0.5, "file": sys.stderr}
    if total is not None:  # Parts of units are done, too.
        counts = f"{{n:.0f}}/{{total:.0f}} {unit}"
        how["bar_format"] = f"{{l_bar}}{{bar}}| {counts} [{{elapsed}}<{{remaining}}]"
    with tqdm(total=total, unit=f" {unit}", **how) as shown:

        def done(n, total=None, name=""):
            if name:
                shown.set_description(name)
            shown.total = shown.total if total is None else total
            # Parts of units may add up to more than all by rounding.
            shown.update(n if shown.total is None else min(n, shown.total - shown.n))
            forecast(n, total)

        yield done


class _Forecast:
    """Notice of how long the rest takes, given once if that is long and there is a remedy.

    The clock starts when the first units are done: until then kernels may have been compiled. The
    latest units say more about the rest than all of them, since costs may grow.
    """

    def __init__(self, total, remedy):
        self.total, self.remedy, self.n, self.since, self.began = total, remedy, 0.0, 0.0, None

    def __call__(self, n, total=None, name=""):
        self.total = self.total if total is None else total
        self.n += n
        if not self.remedy or self.total is None:
            return
        now = time.monotonic()
        if self.began is not None:
            if now - self.began < WINDOW:
                return
            units = max(self.n - self.since, 1e-9)
            left = (now - self.began) / units * (self.total - self.n)
            if left > LONG:
                logger.warning("this takes about %.0f seconds more: %s", left, self.remedy)
                self.remedy = ""
        self.since, self.began = self.n, now


def _watched():
    # Programs without a console have no such stream.
    return "ipykernel" in sys.modules or bool(getattr(sys.stderr, "isatty", bool)())
