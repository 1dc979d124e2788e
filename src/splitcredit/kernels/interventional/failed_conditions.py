"""Describe rows and background at a leaf by the patterns of conditions that they fail.

Background rows with the same pattern are one entry with a count, and rows to explain with the same
pattern are worked out once.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from splitcredit.kernels.compiled import kernel

# Conditions that a pattern has room for.
BITS = 64
# Bytes of histograms in memory at a time, for forests of any size.
CHUNK = 1 << 24

# One entry of the histogram of a leaf.
ENTRY = np.dtype([("pattern", "u8"), ("count", "f8"), ("size", "i8")])
# Conditions that are added up together, as one or two instructions.
LANES = 8

_ONE = np.uint64(1)
_FULL = np.uint64(2**64 - 1)
# Odd, and the first 64 digits of the golden ratio: its multiples spread over the upper bits.
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
# De Bruijn: every run of six bits occurs once, so that these times 2^i tell i by their upper bits.
_DE_BRUIJN = np.uint64(0x03F79D71B4CB0A89)
_PLACE = np.zeros(64, np.int64)
_PLACE[[(int(_DE_BRUIJN) << i & (2**64 - 1)) >> 58 for i in range(64)]] = range(64)


# One merged condition of a feature: a number x in a column of the rows passes if
# ``low < x <= high``; low is NaN if there is none.
CONDITION = np.dtype(
    [("low", "f8"), ("high", "f8"), ("feature", "i4"), ("column", "i4"), ("missing", "?")],
    align=True,
)


def add_leaves(edges, leaves, value, XT, ZT, tasks, weights, out) -> None:
    """Add the attributions from leaves to `out`, one leaf after the other."""
    widest = min(BITS, len(weights) - 1)
    n_words = (ZT.shape[1] + 63) // 64
    bytes_a_leaf = ZT.shape[1] * ENTRY.itemsize + widest * (24 + 8 * n_words)
    step = max(1, min(len(leaves), CHUNK // bytes_a_leaf))
    paths, sizes = np.empty((step, widest), CONDITION), np.empty((step, 2), np.int64)
    entries = np.empty((step, ZT.shape[1]), ENTRY)
    failing = np.empty((step, widest, n_words), np.uint64)
    for first in range(0, len(leaves), step):
        some = leaves[first : first + step]
        _count(len(some), edges, some, ZT, paths, entries, failing, sizes)
        counted = Counted(paths, entries, failing, sizes)
        _blocks(len(tasks), counted, some, value, XT, tasks, weights, out)


class Counted(NamedTuple):
    """Paths of some leaves and their histograms of the background; see `histogram`."""

    paths: np.ndarray
    entries: np.ndarray
    failing: np.ndarray
    sizes: np.ndarray  # of each leaf, the conditions and the entries


@kernel(parallel=True)
def _count(first, last, edges, leaves, ZT, paths, entries, failing, sizes):
    """Write paths and histograms of some leaves; `sizes` counts their conditions and entries."""
    for i in range(first, last):
        place = np.full(len(ZT), -1, np.int32)
        m = merged(edges, leaves[i], place, paths[i])
        sizes[i, 0], sizes[i, 1] = m, histogram(paths[i, :m], ZT, entries[i], failing[i])


@kernel(parallel=True)
def _blocks(first_task, last_task, counted, leaves, value, XT, tasks, weights, out):
    """Take every block of rows over some leaves, in one order for every row."""
    paths, entries, failing, sizes = counted
    for task in range(first_task, last_task):
        start, stop, first, last = tasks[task]
        n = stop - start
        patterns, distinct = np.empty(n, np.uint64), np.empty(n, np.uint64)
        index, slots = np.empty(n, np.int32), hash_slots(n)
        shares, part = np.empty((n, padded(paths.shape[1]))), np.empty(n)
        for i in range(len(leaves)):
            path, of_z = paths[i, : sizes[i, 0]], entries[i, : sizes[i, 1]]
            failures(path, XT, start, patterns)
            n_distinct = number(patterns, slots, distinct, index)
            share(distinct[:n_distinct], len(path), of_z, failing[i], weights, shares)
            credit(path, shares, index, value[leaves[i], first:last], start, part, out)


@kernel(inner=True)
def credit(path, shares, index, worth, start, part, out):
    """Add the shares of the rows' patterns times what the leaf is worth."""
    for k in range(len(path)):
        for r in range(len(index)):
            part[r] = shares[index[r], k]
        for c in range(len(worth)):
            into, times = out[path[k].feature, c, start : start + len(part)], worth[c]
            for r in range(len(index)):
                into[r] += times * part[r]


@kernel(parallel=True)
def count_features(first, last, edges, leaves, n_features, width):
    """Count the different features on the path to each leaf, int64 (n_leaves,)."""
    for i in range(first, last):
        seen = np.zeros(n_features, np.bool_)
        k = leaves[i]
        while edges[k].parent >= 0:
            width[i] += not seen[edges[k].feature]
            seen[edges[k].feature] = True
            k = edges[k].parent


@kernel(inner=True)
def merged(edges, leaf, place, path):
    """Merge the path to a leaf into one condition per feature, in `path`; return their number."""
    m, k = 0, leaf  # `place` is -1 for every feature, before and after
    while edges[k].parent >= 0:
        edge = edges[k]
        i = place[edge.feature]
        if i < 0:
            i = place[edge.feature] = m
            path[i].feature, path[i].missing = edge.feature, True
            path[i].low, path[i].high = np.nan, np.inf
            # By categories the last edge has a column for all the edges of the feature above it.
            path[i].column = edge.feature if edge.passes < 0 else edge.passes
            m += 1
        if edge.passes >= 0:
            path[i].high = 0.5
            k = edge.parent
            continue
        path[i].missing &= edge.missing
        if edge.left:
            path[i].high = min(path[i].high, edge.threshold)
        elif not path[i].low >= edge.threshold:
            path[i].low = edge.threshold
        k = edge.parent
    for i in range(m):
        place[path[i].feature] = -1
    return m


@kernel(inner=True)
def failures(path, XT, start, patterns):
    """Write the patterns of rows from `start` on: bit i says that a row fails condition i."""
    patterns[:] = 0
    for i in range(len(path)):
        low, high, bit = path[i].low, path[i].high, np.uint64(i)
        x = XT[path[i].column, start : start + len(patterns)]
        # NaN is not above `high`, and not at most that either.
        if path[i].missing:
            for r in range(len(patterns)):
                patterns[r] |= np.uint64((x[r] > high) | (x[r] <= low)) << bit
        else:
            for r in range(len(patterns)):
                patterns[r] |= np.uint64((not x[r] <= high) | (x[r] <= low)) << bit


@kernel(inner=True)
def hash_slots(n):
    """Allocate a hash table for at most n patterns: a power of two, at least twice as many."""
    size = 2
    while size < 2 * n:
        size *= 2
    return np.empty(size, np.int32)


@kernel(inner=True)
def number(patterns, slots, distinct, index):
    """Number the distinct patterns; row r has the pattern `distinct[index[r]]`. Return how many."""
    n, last, shift = 0, len(slots) - 1, np.uint64(64)
    while (1 << (64 - shift)) < len(slots):
        shift -= _ONE
    slots[:] = -1
    for r in range(len(patterns)):
        slot = np.int64((patterns[r] * _GOLDEN) >> shift)
        while slots[slot] >= 0 and distinct[slots[slot]] != patterns[r]:
            slot = (slot + 1) & last
        if slots[slot] < 0:
            slots[slot] = n
            distinct[n] = patterns[r]
            n += 1
        index[r] = slots[slot]
    return n


@kernel(inner=True)
def histogram(path, ZT, entries, failing):
    """Count the background's patterns, and for each condition the entries that fail it, as bits."""
    n = ZT.shape[1]
    patterns, distinct = np.empty(n, np.uint64), np.empty(n, np.uint64)
    index = np.empty(n, np.int32)
    failures(path, ZT, 0, patterns)
    n_entries = number(patterns, hash_slots(n), distinct, index)
    failing[:] = 0
    for e in range(n_entries):
        entries[e].pattern, entries[e].count, entries[e].size = distinct[e], 0.0, 0
        for i in range(len(path)):
            failed = (distinct[e] >> np.uint64(i)) & _ONE
            failing[i, e >> 6] |= failed << np.uint64(e & 63)
            entries[e].size += np.int64(failed)
    for r in range(n):
        entries[index[r]].count += 1
    return n_entries


@kernel(inner=True)
def share(patterns, m, entries, failing, weights, shares):
    """Sum the shares of each condition of a leaf of value 1 in each pattern over the background.

    Entries that fail a condition that the row fails have no part. Each of the b conditions that
    the row fails bears an equal share of the loss, which follows from what the others gain: the
    gains and losses of an entry add up to 0 or, where the background reaches the leaf, to -1.
    """
    failed, inside = np.empty(BITS, np.int64), 0.0
    for e in range(len(entries)):
        inside += entries[e].count if entries[e].size == 0 else 0.0
    for i in range(len(patterns)):
        b = listed(patterns[i], failed)
        for k in range(padded(m)):
            shares[i, k] = 0.0
        for word in range((len(entries) + 63) >> 6):
            some = _set_of(len(entries) - (word << 6))
            for k in range(b):
                some &= ~failing[failed[k], word]
            while some:
                entry = (word << 6) + _lowest(some)
                some &= some - _ONE
                gain = entries[entry].count * weights[b, entries[entry].size]
                add_where(entries[entry].pattern, gain, padded(m), i, shares)
        if b > 0:
            gained = 0.0
            for k in range(m):
                gained += shares[i, k]
            loss = (inside + gained) / b
            for k in range(b):
                shares[i, failed[k]] = -loss


@kernel(inner=True)
def add_where(pattern, gain, width, row, shares):
    """Add the gain where the bit is set: without jumps, which would be mispredicted."""
    for k in range(width):
        shares[row, k] += gain if (pattern >> np.uint64(k)) & _ONE else 0.0


@kernel(inline=True)
def padded(m):
    """Return the next multiple of `LANES`."""
    return (m + LANES - 1) // LANES * LANES


@kernel(inline=True)
def _set_of(n):
    """Return a word with the first n bits set, or all if there are fewer."""
    return _FULL if n >= 64 else (_ONE << np.uint64(n)) - _ONE


@kernel(inline=True)
def _lowest(word):
    """Return the place of the lowest bit that is set."""
    return _PLACE[((word & (~word + _ONE)) * _DE_BRUIJN) >> np.uint64(58)]


@kernel(inner=True)
def listed(pattern, places):
    """List the bits that are set; return how many."""
    n = 0
    while pattern:
        places[n] = _lowest(pattern)
        pattern &= pattern - _ONE
        n += 1
    return n
