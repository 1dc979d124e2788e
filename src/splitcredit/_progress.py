"""A bar on standard error for work that lasts."""

from __future__ import annotations

import sys
from contextlib import contextmanager

# Seconds of work before the bar appears.
DELAY = 2.0


@contextmanager
def bar(total: int | None, progress: bool | None, unit: str = "rows"):
    """Yield a function to call with the number of units that were done since its last call.

    Parameters
    ----------
    total : int or None
        None if it is not known beforehand.
    progress : bool, optional
        True shows the bar at once, False never. By default it appears after two seconds, if a
        terminal or a notebook shows standard error.
    unit : str
    """
    if progress not in (None, True, False):
        raise ValueError(f"progress={progress!r}: expected None, True or False")
    if progress is False or (progress is None and not _watched()):
        yield lambda done: None
        return
    from tqdm.auto import tqdm

    delay = 0.0 if progress else DELAY
    with tqdm(total=total, unit=f" {unit}", delay=delay, mininterval=0.5, file=sys.stderr) as shown:
        yield shown.update


def _watched():
    return sys.stderr.isatty() or "ipykernel" in sys.modules
