"""Interventional TreeSHAP with one factor for each pair of a row and a background row.

A prediction that goes through a curve, such as the logistic function, makes a game of every pair
(x, z) that is the game of the trees times the slope of the curve's chord between f(z) and f(x). The
slopes differ from pair to pair, so rows to explain with the same pattern no longer have the same
attributions. What they share is the work on the background: its rows are gathered by pattern, and a
row adds up its factors over each pattern that has no condition in common with its own.
"""

from __future__ import annotations

import numpy as np

from splitcredit.kernels.compiled import kernel
from splitcredit.kernels.interventional.failed_conditions import (
    BITS,
    CONDITION,
    add_where,
    credit,
    failures,
    hash_slots,
    listed,
    merged,
    number,
    padded,
)
from splitcredit.kernels.interventional.leaf_pairs import CHUNK, fails, merged_paths, pair


def add_leaves(edges, leaves, value, XT, ZT, factors, tasks, weights, *, out) -> None:
    """Add the attributions from leaves to `out`, each pair of rows times its factor."""
    paths = np.empty((len(tasks), min(BITS, len(weights) - 1)), CONDITION)
    _blocks(len(tasks), edges, leaves, value, (XT, ZT, factors), tasks, weights, paths, out)


@kernel(parallel=True)
def _blocks(first, last, edges, leaves, value, pairs, tasks, weights, paths, out):
    """Take every block of rows over all leaves; shares as in `failed_conditions.share`."""
    XT, ZT, factors = pairs
    for task in range(first, last):
        start, n, n_background = tasks[task, 0], tasks[task, 1] - tasks[task, 0], ZT.shape[1]
        place = np.full(len(XT), -1, np.int32)
        of_x, of_z = np.empty(n, np.uint64), np.empty(n_background, np.uint64)
        distinct, slots = np.empty(n_background, np.uint64), hash_slots(n_background)
        index, members = np.empty(n_background, np.int32), np.empty(n_background, np.int32)
        starts, sizes = np.empty(n_background + 1, np.int64), np.empty(n_background, np.int64)
        failed, rows = np.empty(BITS, np.int64), np.arange(n, dtype=np.int32)
        shares, part = np.empty((n, padded(paths.shape[1]))), np.empty(n)
        for leaf in leaves:
            path = paths[task, : merged(edges, leaf, place, paths[task])]
            failures(path, XT, start, of_x)
            failures(path, ZT, 0, of_z)
            n_entries = number(of_z, slots, distinct, index)
            _gather(index, n_entries, members, starts)
            for e in range(n_entries):
                sizes[e] = listed(distinct[e], failed)
            m = len(path)
            for r in range(n):
                b = listed(of_x[r], failed)
                inside = 0.0
                for k in range(padded(m)):
                    shares[r, k] = 0.0
                for e in range(n_entries):
                    if distinct[e] & of_x[r]:
                        continue
                    total = _gathered(factors, start + r, members, starts, e)
                    if sizes[e] == 0:
                        inside += total
                    else:
                        add_where(distinct[e], total * weights[b, sizes[e]], padded(m), r, shares)
                if b > 0:
                    gained = 0.0
                    for k in range(m):
                        gained += shares[r, k]
                    loss = (inside + gained) / b
                    for k in range(b):
                        shares[r, failed[k]] = -loss
            credit(path, shares, rows, value[leaf], start, part, out)


@kernel(inner=True)
def _gather(index, n_entries, members, starts):
    """List the background rows of entry e as ``members[starts[e]:starts[e + 1]]``."""
    starts[: n_entries + 1] = 0
    for z in range(len(index)):
        starts[index[z] + 1] += 1
    for e in range(n_entries):
        starts[e + 1] += starts[e]
    place = starts[:n_entries].copy()
    for z in range(len(index)):
        members[place[index[z]]] = z
        place[index[z]] += 1


@kernel(inner=True)
def _gathered(factors, row, members, starts, e):
    """Sum the factors of a row with the background rows of an entry."""
    total = 0.0
    for i in range(starts[e], starts[e + 1]):
        total += factors[row, members[i]]
    return total


def add_wide_leaves(edges, leaves, value, XT, ZT, factors, tasks, weights, *, out) -> None:
    """Add the attributions from leaves with paths of any width; see `add_leaves`."""
    for first in range(0, len(leaves), CHUNK):
        some = leaves[first : first + CHUNK]
        paths, sizes = merged_paths(edges, some, len(XT), len(weights) - 1)
        pairs = XT, ZT, factors
        _wide_blocks(len(tasks), (paths, sizes), some, value, pairs, tasks, weights, out)


@kernel(parallel=True)
def _wide_blocks(first, last, merged_paths, leaves, value, pairs, tasks, weights, out):
    (paths, sizes), (XT, ZT, factors) = merged_paths, pairs
    for task in range(first, last):
        start, stop = tasks[task, 0], tasks[task, 1]
        for i in range(len(leaves)):
            path = paths[i, : sizes[i]]
            of_x = fails(path, XT, start, stop)
            of_z = fails(path, ZT, 0, ZT.shape[1])
            phi, total = np.empty(len(path)), np.empty(len(path))
            for r in range(stop - start):
                total[:] = 0
                for z in range(len(of_z)):
                    phi[:] = 0
                    pair(of_x[r], of_z[z], weights, phi)
                    for k in range(len(path)):
                        total[k] += factors[start + r, z] * phi[k]
                for k in range(len(path)):
                    out[path[k].feature, 0, start + r] += value[leaves[i], 0] * total[k]
