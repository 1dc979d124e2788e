"""A bar on standard error for work that lasts, and a warning that says how long."""

from __future__ import annotations

import logging
import sys
import time
from contextlib import contextmanager

# Seconds of work before the bar appears, and the time it will take is known.
DELAY = 2.0
# Seconds from which on a warning says how long work will take.
LONG = 10.0
logger = logging.getLogger("splitcredit")


@contextmanager
def bar(total: int | None, progress: bool | None, unit: str = "rows", remedy: str = ""):
    """Yield a function to call with the number of units that were done since its last call.

    The function also takes another `total`, where that is an estimate.

    Parameters
    ----------
    total : int or None
        None if it is not known beforehand.
    progress : bool, optional
        True shows the bar at once, False never. By default it appears after two seconds, if a
        terminal or a notebook shows standard error.
    unit : str
    remedy : str, optional
        What takes less time. It ends the warning that says, once, that work will take long.
    """
    if progress not in (None, True, False):
        raise ValueError(f"progress={progress!r}: expected None, True or False")
    forecast = _Forecast(total, remedy)
    if progress is False or (progress is None and not _watched()):
        yield forecast
        return
    from tqdm.auto import tqdm

    delay = 0.0 if progress else DELAY
    with tqdm(total=total, unit=f" {unit}", delay=delay, mininterval=0.5, file=sys.stderr) as shown:

        def done(n, total=None):
            shown.total = shown.total if total is None else total
            shown.update(n)
            forecast(n, total)

        yield done


class _Forecast:
    """Says once how long work will take, if that is long and something takes less.

    The clock starts when the first units are done: until then kernels may have been compiled.
    """

    def __init__(self, total, remedy):
        self.total, self.remedy, self.began, self.first, self.n = total, remedy, None, 0.0, 0.0

    def __call__(self, n, total=None):
        self.total = self.total if total is None else total
        if not self.remedy or self.total is None:
            return
        if self.began is None:
            self.began, self.first = time.monotonic(), n
            return
        self.n += n
        seconds = time.monotonic() - self.began
        if seconds < DELAY:
            return
        left = seconds * (self.total - self.first - self.n) / self.n
        if left > LONG:
            logger.warning("this takes about %.0f seconds more: %s", left, self.remedy)
        self.remedy = ""


def _watched():
    return sys.stderr.isatty() or "ipykernel" in sys.modules
