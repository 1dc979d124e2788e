"""A warning when compiling takes long."""

from __future__ import annotations

import logging
import os
import time
from functools import cache
from threading import Timer

from numba.core import event

# Seconds of compiling in this process after which the warning appears.
LONG = 2.0

logger = logging.getLogger("splitcredit")


class Notice(event.Listener):
    """Listens to the compiler, and logs one warning in the life of a process.

    Parameters
    ----------
    long : float
        Seconds of wall time that compiling may take, all kernels together, without a warning.
    """

    def __init__(self, long: float = LONG):
        self.left, self.depth, self.timer, self.started = long, 0, None, 0.0

    def on_start(self, event):
        """A function begins to be compiled, maybe for one that already is."""
        if self.depth == 0 and self.left > 0 and _is_ours(event):
            self.started = time.monotonic()
            self.timer = Timer(self.left, self._say)
            self.timer.daemon = True
            self.timer.start()
        self.depth += 1

    def on_end(self, event):
        """It is compiled, or has failed."""
        self.depth -= 1
        if self.depth == 0 and self.timer is not None:
            self.timer.cancel()
            self.timer = None
            self.left -= time.monotonic() - self.started

    def _say(self):
        self.left = 0.0
        logger.warning(
            "splitcredit compiles what this call needs for this processor, once; that takes some "
            "seconds more%s",
            _where_it_is_kept(),
        )


def _is_ours(event):
    module = event.data["dispatcher"].py_func.__module__ or ""
    return module.partition(".")[0] == "splitcredit"


def _where_it_is_kept():
    """That later processes load it, if there is a folder for it or one can be made."""
    from splitcredit.kernels.machine_code import cache_directory

    folder = cache_directory()
    nearest = next(place for place in (folder, *folder.parents) if place.exists())
    is_kept = nearest.is_dir() and os.access(nearest, os.W_OK)
    return f", and later processes load it from {folder}" if is_kept else ""


@cache
def listen() -> None:
    """Listen from now on."""
    event.register("numba:compile", Notice())
