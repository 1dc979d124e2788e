"""The decorator of every kernel: numba's, with numba's own cache of machine code.

A kernel is called from Python, and is compiled when it is first called. An inner function is called
by kernels only, and becomes a part of theirs.

Threads of Python share the pieces of work of a kernel, which lets go of Python's global lock.
Numba's own parallel loops would be compiled four times over, with all that they call. Threads of
Python also work after a fork, and when several threads call kernels at once.
"""

from __future__ import annotations

import contextlib
import gc
import logging
import os
import time
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from threading import Lock
from typing import TYPE_CHECKING

import numba

if TYPE_CHECKING:
    from collections.abc import Callable

if numba.config.DISABLE_JIT:
    raise RuntimeError(
        "NUMBA_DISABLE_JIT is set, but splitcredit needs numba's compiler: unset it before Python "
        "starts"
    )

# Portions for each thread: with more, a thread that other programs slow down holds up less work.
PORTIONS = 4
# Seconds of a portion below which the next one is larger.
SHORT = 0.1
# Seconds of compiling in this process after which a warning says so: the kernels that take most of
# the time are compiled last.
LONG = 1.0
_seconds_left = [LONG]
# Whether numba has found a folder for the code of all kernels so far.
_is_kept = [True]

logger = logging.getLogger("splitcredit")


@contextlib.contextmanager
def threads(number: int):
    """Run the kernels in the block on so many threads."""
    before = numba.get_num_threads()
    numba.set_num_threads(number)
    try:
        yield
    finally:
        numba.set_num_threads(before)


def kernel(parallel: bool = False, inner: bool = False, inline: bool = False):
    """Compile the decorated function in nopython mode, without fastmath, and keep the code.

    With `parallel`, threads share its work. Its parameters begin with ``first, last``, the pieces
    of work that it is to do, and Python calls it with the number of pieces in place of the two.
    Pieces write to different places, and the function returns nothing. With `inner`, other kernels
    call it, and it is compiled as a part of them; from Python, call its ``py_func``: numba makes no
    wrapper, which saves a quarter of the time of compiling. With `inline`, it is also put into its
    callers before types are inferred: where LLVM would not inline a call that costs more than the
    work, or the argument is of several types.
    """

    def decorate(function):
        if inner or inline:
            options = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
            return numba.njit(inline="always" if inline else "never", **options)(function)
        return _Kernel(function, parallel)

    return decorate


class _Kernel:
    """A compiled function that Python calls, maybe in pieces of work that threads share."""

    def __init__(self, function, parallel):
        self.py_func, self.parallel, self.is_compiled = function, parallel, False
        # As numba compiles the bodies of its own parallel loops: a division by zero gives infinity
        # or NaN, without a check that would keep loops from vector instructions.
        options = {"nogil": True, "error_model": "numpy" if parallel else "python"}
        try:
            self.dispatcher = numba.njit(cache=True, **options)(function)
        except RuntimeError:  # numba finds no folder that can be written to
            _is_kept[0] = False
            self.dispatcher = numba.njit(**options)(function)

    def __call__(self, *arguments, done=None):
        """Call the kernel; report to `done` how many pieces were finished since its last call."""
        if not self.is_compiled:
            self._compile(arguments)
        if not self.parallel:
            return self.dispatcher(*arguments)
        n_pieces, *others = arguments
        return in_portions(self.dispatcher, n_pieces, others, done)

    def _compile(self, arguments):
        """Compile for the types of these arguments, or load the code; warn if it takes long."""
        given = (0, *arguments) if self.parallel else arguments
        began = time.process_time()
        with _no_garbage_collection():
            self.dispatcher.compile(tuple(map(numba.typeof, given)))
        self.is_compiled = True
        if not self.dispatcher.stats.cache_hits:  # else it was loaded
            _count(time.process_time() - began)


@contextlib.contextmanager
def _no_garbage_collection():
    """Turn garbage collection off: numba makes no garbage, and the search costs a tenth."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _count(seconds):
    """Warn, once in the life of a process, when compiling has taken long."""
    was_short = _seconds_left[0] > 0
    _seconds_left[0] -= seconds
    if was_short and _seconds_left[0] <= 0:
        _say()


def say_nothing() -> None:
    """Turn the notice off in this process, such as where compiling is all that was asked."""
    _seconds_left[0] = 0.0


def _say():
    _seconds_left[0] = 0.0
    logger.warning(
        "splitcredit compiles what this call needs for this processor, once; that takes about ten "
        "seconds%s. To compile everything beforehand: splitcredit warm-up",
        ", and later processes load it from numba's cache" if _is_kept[0] else "",
    )


def in_portions(kernel, n_pieces: int, arguments: tuple, done: Callable | None = None) -> None:
    """Call ``kernel(first, last, *arguments)`` for portions that make up ``range(n_pieces)``.

    The first portion is one piece. Portions double while they take less than `SHORT` seconds, so
    that an interrupt, which Python sees between two of them, soon ends the work. The calling thread
    calls `done` with the number of pieces that were taken since the last call.
    """
    n_threads = min(numba.get_num_threads(), n_pieces)
    if n_pieces < 1:
        return
    portions = _Portions(n_pieces, -(-n_pieces // (n_threads * PORTIONS)))

    def work(report=None):
        size = 1
        while span := portions.next(size):
            began = time.perf_counter()
            kernel(*span, *arguments)
            size *= 2 if time.perf_counter() - began < SHORT else 1
            if report:
                report(portions.newly_taken())

    others = [_pool().submit(work) for _ in range(n_threads - 1)]
    try:
        work(done)
    except BaseException:
        # Such as an interrupt: no thread begins another portion.
        portions.stop()
        raise
    finally:
        for other in others:
            other.result()
    if done and (rest := portions.newly_taken()):  # others may have taken the last
        done(rest)


class _Portions:
    """The pieces of work that no thread has taken yet; at most so many are taken at once."""

    def __init__(self, n_pieces, most):
        self._left, self._n, self._most, self._lock = 0, n_pieces, most, Lock()
        self._reported = 0

    def next(self, size):
        """Return the first of some pieces and the end behind the last, or None if none is left."""
        with self._lock:
            first = self._left
            self._left = min(self._n, first + min(size, self._most))
            return (first, self._left) if first < self._left else None

    def newly_taken(self):
        """Return the number of pieces taken since the last call."""
        before, self._reported = self._reported, self._left
        return self._reported - before

    def stop(self):
        """Leave no piece to take."""
        with self._lock:
            self._left = self._n


@cache
def _pool():
    return ThreadPoolExecutor(numba.config.NUMBA_NUM_THREADS, "splitcredit")


# A forked process has none of the threads of its parent.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.cache_clear)
