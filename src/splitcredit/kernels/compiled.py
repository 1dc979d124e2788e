"""The decorator of every kernel: numba's, with a cache that cannot go stale.

Numba notices an edit only in the file of the function that is called, not in a function inlined
from another file, and would then go on with old machine code. So the cache is a folder named
after the sources of all kernels, the versions and the processor.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from functools import cache
from pathlib import Path

import llvmlite.binding as llvm
import numba
import numpy


@cache
def cache_directory() -> Path:
    """Folder of the compiled code, below NUMBA_CACHE_DIR or the user's cache folder."""
    text = hashlib.sha256()
    here = Path(__file__).parent
    # Guides hold no code, so that nothing is compiled anew when a word of theirs changes.
    for source in sorted(p for p in here.rglob("*.py") if p.name != "__init__.py"):
        text.update(source.relative_to(here).as_posix().encode() + source.read_bytes())
    processor = f"{llvm.get_host_cpu_name()} {llvm.get_host_cpu_features().flatten()}"
    text.update(f"{numba.__version__} {numpy.__version__} {processor}".encode())
    user = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    base = numba.config.CACHE_DIR or os.path.join(user, "splitcredit", "numba")
    return Path(base) / text.hexdigest()[:16]


@contextlib.contextmanager
def threads(number: int):
    """Run the kernels in the block on so many threads."""
    before = numba.get_num_threads()
    numba.set_num_threads(number)
    try:
        yield
    finally:
        numba.set_num_threads(before)


def kernel(parallel: bool = False, inline: bool = False):
    """Compile the decorated function in nopython mode, without fastmath, and cache the code.

    Parameters
    ----------
    parallel : bool
        Whether its `numba.prange` loops run on several threads.
    inline : bool
        Whether it is put into its callers before they are optimized.
    """

    def decorate(function):
        # Numba reads the folder here and never again; other libraries keep their own.
        directory = str(cache_directory())
        before, numba.config.CACHE_DIR = numba.config.CACHE_DIR, directory
        try:
            inlining = "always" if inline else "never"
            return numba.njit(cache=True, parallel=parallel, inline=inlining)(function)
        finally:
            numba.config.CACHE_DIR = before

    return decorate
