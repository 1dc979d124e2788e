"""Threads of Python that share the pieces of work of a kernel.

Kernels let go of Python's global lock, so threads of Python run them at the same time. Numba's own
parallel loops would be compiled four times over, with all that they call. Threads of Python also
work after a fork, and when several threads call kernels at once.
"""

from __future__ import annotations

import os
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import pairwise

import numba

# Portions for each thread: more even out what other programs take from one of the threads.
PORTIONS = 4


def in_portions(kernel, n_pieces: int, arguments: tuple) -> None:
    """Call ``kernel(first, last, *arguments)`` for portions that make up ``range(n_pieces)``."""
    n_threads = min(numba.get_num_threads(), n_pieces) if n_pieces > 1 else n_pieces
    if n_threads <= 1:
        if n_pieces > 0:
            kernel(0, n_pieces, *arguments)
        return
    n_portions = min(n_pieces, n_threads * PORTIONS)
    bounds = [n_pieces * i // n_portions for i in range(n_portions + 1)]
    # Each thread takes the next portion when it is free: the next of these is one step for Python.
    waiting = pairwise(bounds)

    def work():
        for first, last in waiting:
            kernel(first, last, *arguments)

    others = [_pool().submit(work) for _ in range(n_threads - 1)]
    try:
        work()
    except BaseException:
        # Such as an interrupt: no thread begins another portion.
        deque(waiting, maxlen=0)
        raise
    finally:
        for other in others:
            other.result()


@cache
def _pool():
    return ThreadPoolExecutor(numba.config.NUMBA_NUM_THREADS, "splitcredit")


# A forked process has none of the threads of its parent.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.cache_clear)
