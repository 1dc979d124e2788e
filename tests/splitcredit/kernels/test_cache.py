"""What kernels keep for a forest between calls."""

import gc
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from splitcredit.kernels.cache import Cache


class Owner:
    """Stands for a forest."""


class Maker:
    """Gives some arrays of 80 bytes, and counts how often it was n_calls."""

    def __init__(self, n_arrays=1):
        self.n_arrays, self.n_calls = n_arrays, 0

    def __call__(self):
        self.n_calls += 1
        return (((np.zeros(10),), 1) for _ in range(self.n_arrays))


@pytest.mark.parametrize(("n_arrays", "times"), [(2, 1), (3, 4)])
def test_only_what_fits_the_bound_is_made_once(n_arrays, times):
    """A list beyond the bound is begun once more, to see that it does not fit."""
    store, owner, make = Cache(160), Owner(), Maker(n_arrays)
    for _ in range(3):
        assert len(list(store.items(owner, "a", make))) == n_arrays
    assert make.n_calls == times


def test_the_oldest_list_makes_room_for_the_newest():
    store, owners, makers = Cache(160), (Owner(), Owner()), [Maker() for _ in range(3)]
    for number in (0, 1, 2, 1, 2):
        store.items(owners[number % 2], number, makers[number])
    assert [maker.n_calls for maker in makers] == [1, 1, 1]
    store.items(owners[0], 0, makers[0])
    assert makers[0].n_calls == 2


def test_nothing_is_kept_longer_than_the_forest():
    store, owner = Cache(160), Owner()
    array = store.items(owner, "a", Maker())[0][0][0]
    assert store.items(owner, "a", Maker())[0][0][0] is array
    assert len(store._lists) == 1
    del owner
    gc.collect()
    assert len(store._lists) == 0


def test_threads_that_keep_lists_at_once_do_not_disturb_each_other():
    """Without a lock a thread goes through what another one changes."""
    store, interval = Cache(800), sys.getswitchinterval()
    owners = [Owner() for _ in range(40)]

    def use(number):
        key = number % 7
        ((array,),) = store.items(owners[number % 40], key, lambda: iter([(np.full(10, key),)]))
        return (array == key).all()

    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(16) as pool:
            assert all(pool.map(use, range(4000)))
    finally:
        sys.setswitchinterval(interval)
