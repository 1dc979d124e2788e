"""Arrays of half a megabyte or more in large pages of memory, which cost less to touch first.

The first touch of a page of 4 kB takes as long as ten passes over it, and a page of 2 MB has 512
times the room for the price of some dozen small ones. The system gives large pages to those who ask
for them; NumPy asks from 4 MB on. Smaller arrays are cut from such a piece, of which only the pages
that are touched take memory.
"""

from __future__ import annotations

import math

import numpy as np

_PAGE = 1 << 21
# Bytes from which large pages are worth it, and those from which NumPy asks for them.
_LEAST, _ASKED = 1 << 19, 1 << 22


def empty(shape: tuple[int, ...], dtype=np.float64) -> np.ndarray:
    """An array whose numbers are not set, as `np.empty` makes it."""
    dtype = np.dtype(dtype)
    size = math.prod(shape) * dtype.itemsize
    if not _LEAST <= size < _ASKED:
        return np.empty(shape, dtype)
    piece = np.empty(max(size + _PAGE, _ASKED), np.uint8)
    start = -piece.ctypes.data % _PAGE
    return piece[start : start + size].view(dtype).reshape(shape)


def zeros(shape: tuple[int, ...]) -> np.ndarray:
    """An array of zeros, float64."""
    size = math.prod(shape) * 8
    if not _LEAST <= size < _ASKED:
        return np.zeros(shape)  # pages that the system has just cleared
    array = empty(shape)
    array.fill(0)
    return array


def cast(array: np.ndarray, dtype) -> np.ndarray:
    """A C-contiguous array of a type with the numbers of another one, which it may be itself."""
    if array.dtype == dtype and array.flags.c_contiguous:
        return array
    out = empty(array.shape, dtype)
    np.copyto(out, array, casting="unsafe")
    return out
