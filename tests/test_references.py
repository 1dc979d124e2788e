"""References to arrays in compiled functions: none is lost, and none is counted in vain."""

from typing import NamedTuple

import numba
import numpy as np
import pytest
from numba.core.runtime import _nrt_python, rtsys
from numba.core.typed_passes import NativeLowering

from splitcredit.kernels.compiled import kernel


class Pair(NamedTuple):
    """Two arrays."""

    first: np.ndarray
    second: np.ndarray


@kernel(inner=True)
def make_pair(size):
    """A function that makes arrays and returns them."""
    return Pair(np.zeros(size), np.zeros((2, size)))


@kernel(inner=True)
def sum_over_room(numbers, room):
    """A function that makes an array for itself, and views."""
    copies = np.empty(len(numbers))
    for i in range(len(numbers)):
        copies[i] = numbers[i] + room.second[1, i]
    total = 0.0
    for i in range(len(numbers)):
        total += copies[i:][0]
    return total


@kernel(inner=True)
def add_to(room, numbers):
    """A function that works on what it is given, by views that last for several rounds."""
    row = room.second[1]
    for i in range(len(numbers)):
        if numbers[i] < 0:
            row = room.second[0]
        row[i] += numbers[i]


@kernel()
def total_of_rows(X):
    """A kernel that makes new arrays in a loop."""
    total = 0.0
    for i in range(len(X)):
        room = make_pair(X.shape[1])
        add_to(room, X[i])
        total += sum_over_room(X[i], room)
    return total


@pytest.fixture
def counted():
    """Numba counts the allocations of compiled functions."""
    _nrt_python.memsys_enable_stats()
    yield rtsys.get_allocation_stats
    _nrt_python.memsys_disable_stats()


def test_all_memory_is_given_back(counted):
    X = np.arange(12.0).reshape(3, 4)
    assert total_of_rows(X) == 2 * X.sum()
    before = counted()
    for _ in range(10):
        total_of_rows(X)
    after = counted()
    n_allocated, n_freed = after.alloc - before.alloc, after.free - before.free
    assert n_allocated == n_freed >= 10 * len(X)


ROOM = Pair(np.ones(2), np.ones((2, 2)))


@pytest.mark.parametrize(
    ("inner", "arguments", "counts"),
    [(add_to, (ROOM, np.ones(2)), False), (make_pair, (2,), True)],
)
def test_a_function_that_makes_no_arrays_counts_no_references(
    inner, arguments, counts, monkeypatch
):
    counting, run_pass = {}, NativeLowering.run_pass

    def noted(lowering, state):
        counting[state.func_id.func_name] = state.targetctx.enable_nrt
        return run_pass(lowering, state)

    monkeypatch.setattr(NativeLowering, "run_pass", noted)
    recompiled = kernel(inner=True)(inner.py_func)
    recompiled.dispatcher.compile(tuple(map(numba.typeof, arguments)))
    assert counting[inner.py_func.__name__] == counts
