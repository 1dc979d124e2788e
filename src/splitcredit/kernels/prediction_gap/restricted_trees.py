"""Restrict trees to some features for one row, and evaluate them on many samples.

Splits on other features are decided by the row, and so are those that no sample crosses; trees
that become constant are left out. What remains is evaluated on a block of samples at a time, a tree
of at most `UNIT` splits on a path by comparing and selecting at all its nodes at once: no sample
waits for another, and the compiler makes vector code of it. Trees of one more level are two such
units below a split; deeper ones are walked. Leaves are centered at the tree's value for the row.

Arrays are taken out of their tuples before a loop: each access in it would count a reference.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from splitcredit.kernels.compiled import kernel
from splitcredit.kernels.nodes import lowered, readonly

# Most splits on a path of a tree that is evaluated at all its nodes. With more, the compiler would
# have to prove more pairs of arrays apart than it is willing to.
UNIT = 3


class Nodes(NamedTuple):
    """Nodes of a forest, with the values of one output."""

    feature: np.ndarray  # int32 (n_nodes,)
    left: np.ndarray  # int32 (n_nodes,)
    right: np.ndarray  # int32 (n_nodes,)
    # x_dtype (n_nodes,): for the comparison ``x <= threshold``; see
    # `splitcredit.kernels.nodes.lowered`
    threshold: np.ndarray
    missing_left: np.ndarray  # bool (n_nodes,)
    # float32 or float64 (n_nodes,): in single precision where that holds all of them, as XGBoost's:
    # selecting takes half the time then
    value: np.ndarray
    offsets: np.ndarray  # int64 (n_trees + 1,)


class Restricted(NamedTuple):
    """Trees of a forest as functions of the perturbed features only; space for one pair."""

    # int32 (n_nodes,): the node that stands for each: itself, or the one below at which a perturbed
    # feature is tested or a leaf is reached
    node: np.ndarray
    # int32 (n_nodes,): most splits on a path down from it, of nodes that stand for themselves
    height: np.ndarray
    steps: np.ndarray  # int32 (n_trees, 2): height and root of each tree that is not constant
    center: np.ndarray  # float64 (n_trees,): its value at x
    # Splits of the tree by their place, if its height is at most `UNIT` + 1: the root of the whole
    # at 0, then two units of 7, numbered from 1 and 9 as in a heap.
    column: np.ndarray  # uint32 (n_trees, 16)
    threshold: np.ndarray  # x_dtype (n_trees, 16)
    value: np.ndarray  # like Nodes.value (n_trees, 16): the leaves of the two units


def nodes_of(forest, output) -> Nodes:
    """Return the nodes of a forest, with the values of one output, given by its index."""
    missing_left = forest.missing_left
    if missing_left is None:
        missing_left = readonly(np.zeros(forest.n_nodes, np.bool_))
    value = np.ascontiguousarray(forest.value[:, output])
    leaves = value[forest.feature < 0]
    with np.errstate(over="ignore"):
        if forest.x_dtype == "float32" and (leaves.astype(np.float32) == leaves).all():
            value = value.astype(np.float32)
    links = forest.feature, forest.left, forest.right
    threshold = readonly(lowered(forest))
    return Nodes(*links, threshold, missing_left, readonly(value), forest.tree_offsets)


@kernel(inner=True)
def space(nodes):
    """Allocate space for `restrict`."""
    n_nodes, n_trees = len(nodes.feature), len(nodes.offsets) - 1
    return Restricted(
        np.empty(n_nodes, np.int32),
        np.empty(n_nodes, np.int32),
        np.empty((n_trees, 2), np.int32),
        np.empty(n_trees),
        np.empty((n_trees, 16), np.uint32),
        np.empty((n_trees, 16), nodes.threshold.dtype),
        np.empty((n_trees, 16), nodes.value.dtype),
    )


@kernel(inner=True)
def restrict(nodes, X, row, columns, low, high, trees):
    """Restrict all trees to some features and ranges; return how many are not constant.

    `columns` numbers the features that are left, -1 for the others, whose splits the row decides.
    The values of the former are from `low` to `high`, between which the row's own lies.
    """
    feature, _, _, threshold, _, value, offsets = nodes
    node, height, steps, center = trees.node, trees.height, trees.steps, trees.center
    leaf = np.empty(len(feature), np.int32)  # of x, from each node on
    _restrict_nodes(nodes, X, row, columns, low, high, leaf, node, height)
    n_left = 0
    for t in range(len(offsets) - 1):
        top = node[offsets[t]]
        if height[top] > 0:
            # Not as a pair: numba would compile how to say that the lengths differ.
            steps[n_left, 0], steps[n_left, 1] = height[top], top
            center[n_left] = value[leaf[offsets[t]]]
            n_left += 1
    for t in range(n_left):
        levels, top = np.int64(steps[t, 0]), steps[t, 1]
        if levels <= UNIT:
            _fill(nodes, columns, trees, t, top, 0, levels)
        elif levels == UNIT + 1:
            trees.column[t, 0] = columns[feature[top]]
            trees.threshold[t, 0] = threshold[top]
            _fill(nodes, columns, trees, t, node[nodes.left[top]], 0, UNIT)
            _fill(nodes, columns, trees, t, node[nodes.right[top]], 8, UNIT)
    return n_left


@kernel(inner=True)
def _restrict_nodes(nodes, X, row, columns, low, high, leaf, node, height):
    """Restrict all nodes, children first."""
    feature, left, right, threshold, missing_left, value, _ = nodes
    for k in range(len(feature) - 1, -1, -1):
        node[k] = leaf[k] = k
        height[k] = 0
        j = feature[k]
        if j < 0:
            continue
        x = X[row, j]
        ahead = left[k] if x <= threshold[k] or (x != x and missing_left[k]) else right[k]
        leaf[k] = leaf[ahead]
        a, b = node[left[k]], node[right[k]]
        below = max(height[a], height[b])
        if columns[j] < 0 or high[j] <= threshold[k] or low[j] > threshold[k]:
            node[k] = node[ahead]
        elif below == 0 and value[a] == value[b]:
            node[k] = a
        else:
            height[k] = 1 + below


@kernel(inner=True)
def tested_features(nodes, n_features, trees, n_trees):
    """Return whether each feature is tested in the restricted trees: bool (n_features,)."""
    feature, left, right = nodes.feature, nodes.left, nodes.right
    node, height, steps = trees.node, trees.height, trees.steps
    tested = np.zeros(n_features, np.bool_)
    reached = np.zeros(len(feature), np.bool_)
    for t in range(n_trees):
        reached[steps[t, 1]] = True
    # Children come after their parents.
    for k in range(len(feature)):
        if reached[k] and height[k] > 0:
            tested[feature[k]] = True
            reached[node[left[k]]] = reached[node[right[k]]] = True
    return tested


@kernel(inner=True)
def _fill(nodes, columns, trees, t, top, start, levels):
    """Write a tree as a full one of that height; below a leaf, its splits separate nothing."""
    feature, left, right, threshold, _, value, _ = nodes
    node, height = trees.node, trees.height
    to_column, to_threshold, to_value = trees.column, trees.threshold, trees.value
    place = np.empty(16, np.int32)
    place[1] = top
    inner = 1 << levels
    for p in range(1, inner):
        k = place[p]
        place[2 * p] = place[2 * p + 1] = k
        to_column[t, start + p] = 0
        to_threshold[t, start + p] = 0
        if height[k] > 0:
            to_column[t, start + p] = columns[feature[k]]
            to_threshold[t, start + p] = threshold[k]
            place[2 * p], place[2 * p + 1] = node[left[k]], node[right[k]]
    for p in range(inner):
        to_value[t, start + p] = value[place[inner + p]]


@kernel(inner=True)
def add_all(nodes, columns, trees, n_trees, x, n, gap, left, right):
    """Write the sums of the trees, less those for the row, of n samples."""
    column, threshold, value, center = trees.column, trees.threshold, trees.value, trees.center
    steps = trees.steps
    gap[:n] = 0.0
    for t in range(n_trees):
        height, top = steps[t, 0], steps[t, 1]
        if height == 1:
            _add_1(column, threshold, value, center, t, x, n, gap)
        elif height == 2:
            _add_2(column, threshold, value, center, t, x, n, gap)
        elif height == 3:
            _put_3(column, threshold, value, t, 0, x, n, left)
            _add(center, t, left, n, gap)
        elif height == 4:
            _put_3(column, threshold, value, t, 0, x, n, left)
            _put_3(column, threshold, value, t, 8, x, n, right)
            _add_choice(column, threshold, center, t, x, n, left, right, gap)
        else:
            _walk(nodes, columns, trees, t, top, x, n, gap)


@kernel(inline=True)
def _add_1(column, threshold, value, center, t, x, n, gap):
    """Add a tree of one split."""
    c, cut, middle = column[t, 1], threshold[t, 1], center[t]
    v0, v1 = value[t, 0], value[t, 1]
    for i in range(n):
        gap[i] += np.float64(v0 if x[c, i] <= cut else v1) - middle


@kernel(inline=True)
def _add_2(column, threshold, value, center, t, x, n, gap):
    """Add a tree of height 2."""
    c1, c2, c3 = column[t, 1], column[t, 2], column[t, 3]
    t1, t2, t3 = threshold[t, 1], threshold[t, 2], threshold[t, 3]
    v0, v1, v2, v3 = value[t, 0], value[t, 1], value[t, 2], value[t, 3]
    middle = center[t]
    for i in range(n):
        b1, b2, b3 = x[c1, i] <= t1, x[c2, i] <= t2, x[c3, i] <= t3
        left, right = v0 if b2 else v1, v2 if b3 else v3
        gap[i] += np.float64(left if b1 else right) - middle


@kernel(inner=True)
def _put_3(column, threshold, value, t, s, x, n, out):
    """Write the values of a unit of height 3 that starts at place s."""
    c1, c2, c3, c4 = column[t, s + 1], column[t, s + 2], column[t, s + 3], column[t, s + 4]
    c5, c6, c7 = column[t, s + 5], column[t, s + 6], column[t, s + 7]
    t1, t2, t3 = threshold[t, s + 1], threshold[t, s + 2], threshold[t, s + 3]
    t4, t5 = threshold[t, s + 4], threshold[t, s + 5]
    t6, t7 = threshold[t, s + 6], threshold[t, s + 7]
    v0, v1, v2, v3 = value[t, s], value[t, s + 1], value[t, s + 2], value[t, s + 3]
    v4, v5, v6, v7 = value[t, s + 4], value[t, s + 5], value[t, s + 6], value[t, s + 7]
    for i in range(n):
        b1, b2, b3, b4 = x[c1, i] <= t1, x[c2, i] <= t2, x[c3, i] <= t3, x[c4, i] <= t4
        b5, b6, b7 = x[c5, i] <= t5, x[c6, i] <= t6, x[c7, i] <= t7
        w0, w1, w2, w3 = v0 if b4 else v1, v2 if b5 else v3, v4 if b6 else v5, v6 if b7 else v7
        left, right = w0 if b2 else w1, w2 if b3 else w3
        out[i] = left if b1 else right


@kernel(inline=True)
def _add(center, t, values, n, gap):
    middle = center[t]
    for i in range(n):
        gap[i] += np.float64(values[i]) - middle


@kernel(inline=True)
def _add_choice(column, threshold, center, t, x, n, left, right, gap):
    """Add, of two units, the one that the split at place 0 chooses."""
    c, cut, middle = column[t, 0], threshold[t, 0], center[t]
    for i in range(n):
        a, b = left[i], right[i]
        gap[i] += np.float64(a if x[c, i] <= cut else b) - middle


@kernel(inner=True)
def _walk(nodes, columns, trees, t, top, x, n, gap):
    """Add a deep tree, sample by sample."""
    feature, left, right, threshold, _, value, _ = nodes
    node, height, middle = trees.node, trees.height, trees.center[t]
    for i in range(n):
        k = top
        while height[k] > 0:
            k = node[left[k] if x[columns[feature[k]], i] <= threshold[k] else right[k]]
        gap[i] += np.float64(value[k]) - middle
