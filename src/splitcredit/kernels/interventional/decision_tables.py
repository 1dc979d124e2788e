"""Tabulate attributions over all decisions of a group of leaves, for shallow trees.

A group is the largest subtree that has, with the path to it, at most `BITS` inner nodes, and at
least `LEAST` leaves. A tree of depth 4 makes two groups of eight leaves. Deep trees have few
groups, and most of their leaves are taken one by one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from splitcredit.kernels.compiled import kernel
from splitcredit.kernels.interventional.failed_conditions import (
    CONDITION,
    ENTRY,
    hash_slots,
    histogram,
    merged,
    number,
    padded,
    share,
)

# Decisions of a group. Outcomes are bytes, and a table with its 256 rows stays in the fast caches.
BITS = 8
# Fewest leaves of a group that is not a whole tree. Tables of fewer take longer to fill than some
# hundred rows save by them: 1.2 to 1.9 times as long on 500 boosted trees of depth 8.
LEAST = 4
# Bytes of tables and outcomes in memory at a time, for forests of any size.
CHUNK = 1 << 24


class Groups(NamedTuple):
    """Groups of leaves; -1 stands where there are fewer than `BITS`."""

    decisions: np.ndarray  # int32 (n_groups, BITS): left children of the nodes of the outcome
    features: np.ndarray  # int32 (n_groups, BITS): those that the nodes test, each once
    starts: np.ndarray  # int64 (n_groups + 1,): leaves of group g begin at starts[g]
    leaves: np.ndarray  # int32 (n_grouped,)


def add_groups(edges, groups, value, XT, ZT, tasks, weights, out) -> None:
    """Add the attributions from groups of leaves to `out`."""
    decisions, features, starts, leaves = groups
    n_rows, shape = XT.shape[1], (features.shape[1], value.shape[1], 1 << BITS)
    step = max(1, min(len(decisions), CHUNK // (1 + n_rows + 8 * int(np.prod(shape)))))
    outcomes, table = np.empty((step, n_rows), np.uint8), np.empty((step, *shape))
    paths = np.empty((step, BITS), CONDITION)
    for first in range(0, len(decisions), step):
        some = slice(first, first + step)
        of_starts = starts[first : first + step + 1]
        shared = Groups(decisions[some], features[some], of_starts, leaves)
        room = paths, outcomes, table
        _fill(len(shared.decisions), edges, shared, value, XT, ZT, weights, room)
        _look_up(len(tasks), outcomes, features[some], table, tasks, out)


def grouped(edges, left, bits, least) -> tuple:
    """Return the groups of the leaves of all trees, and leaves in no group, int32 (n_rest,)."""
    group, decisions = _grouped(edges, left, bits, least)
    leaves = np.flatnonzero(left < 0).astype(np.int32)
    leaves = leaves[np.argsort(group[leaves], kind="stable")]
    starts = np.searchsorted(group[leaves], np.arange(len(decisions) + 1))
    features = _features(edges, decisions)
    groups = Groups(decisions, features, starts - starts[0], leaves[starts[0] :])
    return groups, leaves[: starts[0]]


@kernel()
def _grouped(edges, left, bits, least):
    """Return the group of every node, -1 for none, and the decisions of every group."""
    depth, below = _outline(edges, left)
    group, n_groups = np.full(len(edges), -1, np.int32), 0
    decisions = np.full((len(edges), BITS), -1, np.int32)
    sizes = np.zeros(len(edges), np.int32)
    for k in range(len(edges)):
        g = group[edges[k].parent] if edges[k].parent >= 0 else -1
        pays = depth[k] == 0 or below[k] + 1 >= least
        if g < 0 and pays and depth[k] + below[k] <= bits:
            g, above = n_groups, edges[k].parent
            n_groups += 1
            while above >= 0:
                decisions[g, sizes[g]] = left[above]
                sizes[g] += 1
                above = edges[above].parent
        group[k] = g
        if g >= 0 and left[k] >= 0:
            decisions[g, sizes[g]] = left[k]
            sizes[g] += 1
    return group, decisions[:n_groups].copy()


@kernel(inner=True)
def _outline(edges, left):
    """Count the nodes above each node, and the inner nodes in its subtree, itself included."""
    depth, below = np.zeros(len(edges), np.int32), np.zeros(len(edges), np.int32)
    for k in range(len(edges)):
        if edges[k].parent >= 0:
            depth[k] = depth[edges[k].parent] + 1
    for k in range(len(edges) - 1, -1, -1):
        below[k] += left[k] >= 0
        if edges[k].parent >= 0:
            below[edges[k].parent] += below[k]
    return depth, below


@kernel()
def _features(edges, decisions):
    features = np.full(decisions.shape, -1, np.int32)
    for g in range(len(decisions)):
        for k in decisions[g]:
            if k >= 0:
                s = 0
                while features[g, s] >= 0 and features[g, s] != edges[k].feature:
                    s += 1
                features[g, s] = edges[k].feature
    return features


@kernel(parallel=True)
def _fill(first, last, edges, groups, value, XT, ZT, weights, room):
    """Compute outcomes of all rows, and the table of every group at the outcomes that occur."""
    (decisions, features, starts, leaves), (paths, outcomes, table) = groups, room
    for g in range(first, last):
        _fill_outcomes(edges, decisions[g], XT, outcomes[g])
        used = _numbered(outcomes[g])
        n_used = len(used)
        for slot in range(features.shape[1]):
            for c in range(value.shape[1]):
                for u in range(n_used):
                    table[g, slot, c, u] = 0.0
        place = np.full(len(XT), -1, np.int32)
        distinct, index = np.empty(n_used, np.uint64), np.empty(n_used, np.int32)
        slots, shares, part = hash_slots(n_used), np.empty((n_used, padded(BITS))), np.empty(n_used)
        entries = np.empty(ZT.shape[1], ENTRY)
        failing = np.empty((BITS, (ZT.shape[1] + 63) // 64), np.uint64)
        for leaf in leaves[starts[g] : starts[g + 1]]:
            path = paths[g, : merged(edges, leaf, place, paths[g])]
            n_entries = histogram(path, ZT, entries, failing)
            wanted, tested = _bits(edges, decisions[g], leaf, path)
            patterns = _patterns(used, wanted, tested)
            n_patterns = number(patterns, slots, distinct, index)
            share(distinct[:n_patterns], len(path), entries[:n_entries], failing, weights, shares)
            _tabulate(shares, index, path, features[g], value[leaf], part, table[g])


@kernel(inner=True)
def _fill_outcomes(edges, decisions, XT, outcomes):
    """Write the outcome of every row: bit i says that it goes left at decision i."""
    outcomes[:] = 0
    for i in range(len(decisions)):
        if decisions[i] >= 0:
            edge = edges[decisions[i]]
            x, threshold, bit = XT[edge.column], edge.threshold, np.uint8(1 << i)
            for r in range(len(outcomes)):
                outcomes[r] |= bit * np.uint8(x[r] <= threshold)
            if edge.missing:
                for r in range(len(outcomes)):
                    outcomes[r] |= bit * np.uint8(x[r] != x[r])


@kernel(inner=True)
def _numbered(outcomes):
    """Return the outcomes that occur, and replace each row's outcome by its index among them."""
    numbers = np.full(1 << BITS, -1, np.int64)
    for r in range(len(outcomes)):
        numbers[outcomes[r]] = 0
    used, n_used = np.empty(1 << BITS, np.int64), 0
    for outcome in range(1 << BITS):
        if numbers[outcome] == 0:
            used[n_used], numbers[outcome] = outcome, n_used
            n_used += 1
    for r in range(len(outcomes)):
        outcomes[r] = numbers[outcomes[r]]
    return used[:n_used]


@kernel(inner=True)
def _bits(edges, decisions, leaf, path):
    """Return the outcome that leads to a leaf, and the bits that decide each of its conditions."""
    wanted, tested = 0, np.zeros(len(path), np.int64)
    k = leaf
    while edges[k].parent >= 0:
        i, c = 0, 0
        while edges[decisions[i]].parent != edges[k].parent:
            i += 1
        while path[c].feature != edges[k].feature:
            c += 1
        wanted |= int(edges[k].left) << i
        tested[c] |= 1 << i
        k = edges[k].parent
    return wanted, tested


@kernel(inner=True)
def _patterns(outcomes, wanted, tested):
    """Return the pattern of each outcome: bit c says that it fails condition c."""
    patterns = np.zeros(len(outcomes), np.uint64)
    for c in range(len(tested)):
        for u in range(len(outcomes)):
            wrong = ((outcomes[u] ^ wanted) & tested[c]) != 0
            patterns[u] |= np.uint64(wrong) << np.uint64(c)
    return patterns


@kernel(inner=True)
def _tabulate(shares, index, path, features, value, part, table):
    """Add a leaf to the table of its group."""
    for k in range(len(path)):
        slot = 0
        while features[slot] != path[k].feature:
            slot += 1
        for u in range(len(part)):
            part[u] = shares[index[u], k]
        for c in range(len(value)):
            into, worth = table[slot, c], value[c]
            for u in range(len(part)):
                into[u] += worth * part[u]


@kernel(parallel=True)
def _look_up(first_task, last_task, outcomes, features, table, tasks, out):
    """Add the tables to the rows of every block, group after group."""
    for task in range(first_task, last_task):
        start, stop, first, last = tasks[task]
        for g in range(len(features)):
            for slot in range(features.shape[1]):
                if features[g, slot] >= 0:
                    for c in range(first, last):
                        into = out[features[g, slot], c - first, start:stop]
                        of_row, worth = outcomes[g, start:stop], table[g, slot, c]
                        for r in range(stop - start):
                            into[r] += worth[of_row[r]]
