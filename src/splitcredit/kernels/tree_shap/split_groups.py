"""Cut trees into groups of leaves with the few splits that lead to them, for `group_tables`."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from splitcredit.kernels.compiled import kernel
from splitcredit.kernels.nodes import Nodes

# Splits in a group; with more, tables outgrow the caches and take longer to fill.
BITS = 8


class Groups(NamedTuple):
    """Groups of leaves of consecutive trees, each as a small tree of its own.

    Leaves of other groups stand in it with the value 0, and its features are numbered anew.
    """

    nodes: Nodes  # of all groups; the column of a node is the number of its split within the group
    value: np.ndarray  # float64 (n_nodes, n_explained)
    offsets: np.ndarray  # int64 (n_groups + 1,)
    splits: np.ndarray  # int32 (n_groups, BITS): the nodes of the forest that the splits are
    n_splits: np.ndarray  # int32 (n_groups,)
    # int32 (n_groups, BITS): the features of the forest, by their number in the group
    features: np.ndarray
    n_features: np.ndarray  # int32 (n_groups,)


def groups_of(nodes, value, offsets) -> Groups:
    """Cut the trees between the first and the last of `offsets`."""
    sizes = _sizes(nodes, offsets)
    n_groups, n_nodes = _cut(nodes, value, offsets, sizes, _none(value.shape[1]), False)
    groups = _empty(n_groups, n_nodes, value.shape[1])
    _cut(nodes, value, offsets, sizes, groups, True)
    return groups


@lru_cache(maxsize=8)
def _none(n_outputs):
    """Return no groups, for the call of `_cut` that counts them."""
    return _empty(0, 0, n_outputs)


def _empty(n_groups, n_nodes, n_outputs):
    feature, column, left, right = np.full((4, n_nodes), -1, np.int32)
    threshold, cover = np.full(n_nodes, 0.5), np.zeros(n_nodes)
    missing_left = np.zeros(n_nodes, np.bool_)
    return Groups(
        Nodes(feature, column, threshold, left, right, missing_left, cover),
        np.zeros((n_nodes, n_outputs)),
        np.zeros(n_groups + 1, np.int64),
        np.full((n_groups, BITS), -1, np.int32),
        np.zeros(n_groups, np.int32),
        np.full((n_groups, BITS), -1, np.int32),
        np.zeros(n_groups, np.int32),
    )


@kernel()
def _sizes(nodes, offsets):
    """Count the inner nodes at and below every node of some trees."""
    sizes = np.zeros(offsets[-1] - offsets[0], np.int32)
    for node in range(offsets[-1] - 1, offsets[0] - 1, -1):
        if nodes.feature[node] >= 0:
            a, b = nodes.left[node] - offsets[0], nodes.right[node] - offsets[0]
            sizes[node - offsets[0]] = 1 + sizes[a] + sizes[b]
    return sizes


@kernel()
def _cut(nodes, value, offsets, sizes, groups, write):
    """Write the groups, or only count groups and nodes."""
    # Not literals, for which numba would compile inner functions once more.
    n_groups, n_nodes, top = np.int64(0), np.int64(0), np.int64(0)
    path = np.empty(BITS + 1, np.int64)  # nodes from the root to the parent of the node at hand
    stack = np.empty((len(sizes) + 1, 2), np.int64)
    for t in range(len(offsets) - 1):
        stack[0, 0], stack[0, 1], top = offsets[t], 0, 1
        while top > 0:
            top -= 1
            node, depth = stack[top, 0], stack[top, 1]
            size = sizes[node - offsets[0]]
            # A subtree is a group if its splits and those on the path to it fit.
            if depth + size <= BITS:
                if write:
                    _write_group(nodes, value, path, depth, node, n_groups, n_nodes, groups)
                n_groups += 1
                n_nodes += 2 * depth + 2 * size + 1
                continue
            path[depth] = node
            for child in (nodes.right[node], nodes.left[node]):
                stack[top, 0], stack[top, 1] = child, depth + 1
                top += 1
    return n_groups, n_nodes


@kernel(inner=True)
def _write_group(nodes, value, path, depth, node, g, start, groups):
    """Copy the path to a node, with leaves of value 0 beside it, and all that is below."""
    group_nodes, k = groups.nodes, start
    groups.offsets[g] = start
    for i in range(depth):
        _write_split(nodes, path[i], g, k, groups)
        ahead = path[i + 1] if i + 1 < depth else node
        is_left = nodes.left[path[i]] == ahead
        beside = nodes.right[path[i]] if is_left else nodes.left[path[i]]
        # The leaf beside comes first, so that what follows is next in line.
        group_nodes.cover[k + 1] = nodes.cover[beside]
        group_nodes.left[k], group_nodes.right[k] = (k + 2, k + 1) if is_left else (k + 1, k + 2)
        k += 2
    stack = np.empty((2 * BITS + 2, 3), np.int64)  # node, its parent's place, whether left
    stack[0, 0], stack[0, 1], stack[0, 2], top = node, -1, 0, 1
    while top > 0:
        top -= 1
        at, parent, is_left = stack[top, 0], stack[top, 1], stack[top, 2]
        if parent >= 0 and is_left:
            group_nodes.left[parent] = k
        elif parent >= 0:
            group_nodes.right[parent] = k
        group_nodes.cover[k] = nodes.cover[at]
        if nodes.feature[at] < 0:
            for c in range(value.shape[1]):
                groups.value[k, c] = value[at, c]
        else:
            _write_split(nodes, at, g, k, groups)
            stack[top, 0], stack[top, 1], stack[top, 2] = nodes.right[at], k, 0
            stack[top + 1, 0], stack[top + 1, 1], stack[top + 1, 2] = nodes.left[at], k, 1
            top += 2
        k += 1
    groups.offsets[g + 1] = k


@kernel(inner=True)
def _write_split(nodes, node, g, k, groups):
    """Number the split, and its feature if it is new in the group."""
    groups.splits[g, groups.n_splits[g]] = node
    groups.nodes.column[k] = groups.n_splits[g]
    groups.n_splits[g] += 1
    groups.nodes.cover[k] = nodes.cover[node]
    for j in range(groups.n_features[g]):
        if groups.features[g, j] == nodes.feature[node]:
            groups.nodes.feature[k] = j
            return
    groups.nodes.feature[k] = groups.n_features[g]
    groups.features[g, groups.n_features[g]] = nodes.feature[node]
    groups.n_features[g] += 1
