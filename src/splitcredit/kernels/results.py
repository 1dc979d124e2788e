"""Allocate the array that a call in chunks returns; kernels write the chunks into it.

The first touch of a large array takes as long as the work on it, so values that are written to an
array of their own and copied would pay for it twice.
"""

from __future__ import annotations

import contextlib
from contextvars import ContextVar

import numpy as np

_current: ContextVar[ResultArray | None] = ContextVar("current", default=None)


class ResultArray:
    """The values of all rows, allocated with the first chunk."""

    def __init__(self, n_rows: int, dtype=np.float64):
        self.n_rows, self.dtype, self.values = n_rows, np.dtype(dtype), None
        self._start, self._n_rows, self._place = 0, 0, None

    @contextlib.contextmanager
    def chunk(self, start: int, n_rows: int):
        """Let `zeros` give the place of these rows within the context, once."""
        self._start, self._n_rows, self._place = start, n_rows, None
        token = _current.set(self)
        try:
            yield
        finally:
            _current.reset(token)

    def place(self, shape) -> np.ndarray | None:
        """Return zeros for the rows of the chunk; None if these are others, or it is taken."""
        if self.dtype != np.float64 or shape[0] != self._n_rows or self._place is not None:
            return None
        if self.values is None:
            self.values = np.zeros((self.n_rows, *shape[1:]))
        if self.values.shape[1:] != tuple(shape[1:]):
            return None
        self._place = self.values[self._start : self._start + self._n_rows]
        return self._place

    def put(self, start: int, values) -> None:
        """Copy the values of a chunk, unless they were written to their place."""
        if values is self._place:
            return
        if self.values is None or self.values.shape[1:] != values.shape[1:]:
            self.values = np.empty((self.n_rows, *values.shape[1:]), self.dtype)
        self.values[start : start + len(values)] = values


def zeros(shape) -> np.ndarray:
    """Return zeros for the values of the rows of a call, in the result array if there is one."""
    result = _current.get()
    place = None if result is None else result.place(shape)
    return np.zeros(shape) if place is None else place
