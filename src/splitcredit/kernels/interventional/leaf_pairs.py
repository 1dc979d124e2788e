"""Explain leaves with too many features for a pattern: row by background row."""

from __future__ import annotations

import numpy as np

from splitcredit.kernels.compiled import kernel
from splitcredit.kernels.interventional.failed_conditions import CONDITION, failures, merged

# Leaves at a time: bounds the memory for their paths.
CHUNK = 256


def add_leaves(edges, leaves, value, XT, ZT, tasks, weights, out) -> None:
    """Add the attributions from leaves to `out`, for paths of any width."""
    for first in range(0, len(leaves), CHUNK):
        some = leaves[first : first + CHUNK]
        paths, sizes = merged_paths(edges, some, len(XT), len(weights) - 1)
        _blocks(len(tasks), (paths, sizes), some, value, XT, ZT, tasks, weights, out)


def merged_paths(edges, leaves, n_features, widest):
    """Merge the path to each leaf: return the conditions, (n_leaves, widest), and their numbers."""
    paths = np.empty((len(leaves), widest), CONDITION)
    sizes = np.empty(len(leaves), np.int64)
    _merge(len(leaves), edges, leaves, n_features, paths, sizes)
    return paths, sizes


@kernel(parallel=True)
def _merge(first, last, edges, leaves, n_features, paths, sizes):
    for i in range(first, last):
        place = np.full(n_features, -1, np.int32)
        sizes[i] = merged(edges, leaves[i], place, paths[i])


@kernel(parallel=True)
def _blocks(first_task, last_task, merged_paths, leaves, value, XT, ZT, tasks, weights, out):
    paths, sizes = merged_paths
    for task in range(first_task, last_task):
        start, stop, first, last = tasks[task]
        for i in range(len(leaves)):
            path = paths[i, : sizes[i]]
            of_x, of_z = fails(path, XT, start, stop), fails(path, ZT, 0, ZT.shape[1])
            phi = np.empty(len(path))
            for r in range(stop - start):
                phi[:] = 0
                for z in range(len(of_z)):
                    pair(of_x[r], of_z[z], weights, phi)
                for k in range(len(path)):
                    for c in range(first, last):
                        worth = value[leaves[i], c] * phi[k]
                        out[path[k].feature, c - first, start + r] += worth


@kernel(inner=True)
def fails(path, XT, start, stop):
    """Return whether each row fails each condition, bool (stop - start, len(path))."""
    fails = np.empty((stop - start, len(path)), np.bool_)
    bit = np.empty(stop - start, np.uint64)
    for k in range(len(path)):
        failures(path[k : k + 1], XT, start, bit)
        for r in range(len(bit)):
            fails[r, k] = bit[r] != 0
    return fails


@kernel(inner=True)
def pair(of_x, of_z, weights, phi):
    """Add the Shapley values of one pair, for a leaf of value 1."""
    a, b = 0, 0
    for k in range(len(phi)):
        if of_x[k] and of_z[k]:
            return
        a += of_z[k]
        b += of_x[k]
    for k in range(len(phi)):
        if of_z[k]:
            phi[k] += weights[b, a]
        elif of_x[k]:
            phi[k] -= weights[a, b]
