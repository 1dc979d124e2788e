"""Number sets of features of one size, and find them again by a hash table.

The key of a set is the number with its features as digits, in rising order, to the base of the
number of features. In the table, a set stands at its hash or at the next free place.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from splitcredit.kernels.compiled import kernel
from splitcredit.kernels.interactions.leaf_paths import leaf_paths
from splitcredit.kernels.nodes import cached_per_forest, readonly

# The golden ratio of 2**64: its multiples spread neighboring keys (Knuth, volume 3, 6.4).
_SPREAD = np.uint64(0x9E3779B97F4A7C15)
_SMALLEST = 4  # binary digits of the number of places in a table


class SetTable(NamedTuple):
    """Numbered sets of features."""

    keys: np.ndarray  # int64 (2**k,): -1 where the place is free
    numbers: np.ndarray  # int64 (2**k,)
    base: int  # number of features


def table_of(sets, n_features) -> SetTable:
    """Return the table of given sets, numbered as they stand, int64 (n_sets, size), each rising."""
    digits = max(_SMALLEST, int(2 * len(sets)).bit_length())
    keys, numbers = np.full(1 << digits, -1), np.full(1 << digits, -1)
    base = max(n_features, 2)
    _insert(sets @ _powers(base, sets.shape[1]), keys, numbers)
    return SetTable(readonly(keys), readonly(numbers), base)


@cached_per_forest
def present_sets(forest, size) -> tuple[np.ndarray, SetTable]:
    """Find the sets on the path to some leaf, int64 (n_sets, size), rising; and their table."""
    check_size(forest, size)
    paths, base = leaf_paths(forest), max(forest.n_features, 2)
    keys = np.full(1 << _SMALLEST, -1)
    first, n_keys = 0, 0
    while first < len(paths.leaves):
        first, n_keys = _collect(paths.starts, paths.conditions, size, base, first, n_keys, keys)
        if first < len(paths.leaves):
            kept, keys = keys[keys >= 0], np.full(4 * len(keys), -1)
            _insert(kept, keys, np.empty(len(keys), np.int64))
    keys = np.sort(keys[keys >= 0])
    sets = keys[:, None] // _powers(base, size) % base
    return readonly(sets), table_of(sets, forest.n_features)


def check_size(forest, size):
    """Raise a ValueError if the keys of sets of this size do not fit 63 bits."""
    if max(forest.n_features, 2) ** size >= 1 << 63:
        raise ValueError(
            f"sets of {size} of {forest.n_features} features are too many to be numbered: "
            "choose a smaller order"
        )


def _powers(base, size):
    return np.int64(base) ** np.arange(size - 1, -1, -1)


@kernel(inner=True)
def find(key, keys):
    """Return the place of a key, or the free place where it belongs."""
    mask = np.uint64(len(keys) - 1)
    hashed = np.uint64(key) * _SPREAD
    place = (hashed ^ (hashed >> np.uint64(32))) & mask
    while keys[place] >= 0 and keys[place] != key:
        place = (place + np.uint64(1)) & mask
    return place


@kernel()
def _insert(given, keys, numbers):
    for i in range(len(given)):
        place = find(given[i], keys)
        keys[place], numbers[place] = given[i], i


@kernel()
def _collect(starts, conditions, size, base, first, n_keys, keys):
    """Insert sets from leaf `first` on until the table is half full; return the next, and keys."""
    places = np.empty(size, np.int64)
    for leaf in range(first, len(starts) - 1):
        start, width = starts[leaf], starts[leaf + 1] - starts[leaf]
        if width < size:
            continue
        for i in range(size):
            places[i] = i
        going = True
        while going:
            if 2 * n_keys >= len(keys):
                return leaf, n_keys
            key = key_of(conditions, start, places, base)
            place = find(key, keys)
            if keys[place] < 0:
                keys[place] = key
                n_keys += 1
            going = next_set(places, width)
    return len(starts) - 1, n_keys


@kernel(inner=True)
def key_of(conditions, start, places, base):
    """Return the key of the set of features at these places of a path."""
    key = np.int64(0)
    for place in places:
        key = key * base + conditions[start + place].feature
    return key


@kernel(inner=True)
def next_set(places, width):
    """Step to the next set of places below `width`; return False after the last one."""
    size = len(places)
    i = size - 1
    while i >= 0 and places[i] == width - size + i:
        i -= 1
    if i < 0:
        return False
    places[i] += 1
    for later in range(i + 1, size):
        places[later] = places[later - 1] + 1
    return True
