"""List the conditions on the path to each leaf, one for each feature that the path tests."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from splitcredit.kernels.compiled import kernel
from splitcredit.kernels.interventional.category_paths import category_paths
from splitcredit.kernels.nodes import cached_per_forest, nodes_of, readonly

# The condition of one feature on the path to one leaf: low < x <= high in a column of the rows.
CONDITION = np.dtype(
    [
        ("low", np.float64),
        ("high", np.float64),
        ("z", np.float64),  # product of the cover ratios of the edges that test the feature
        ("feature", np.int32),
        ("column", np.int32),  # the feature, or one of `category_paths`
        ("missing", np.bool_),  # whether NaN satisfies it
    ],
    align=True,
)


class LeafPaths(NamedTuple):
    """Leaves of a forest and the conditions on their paths."""

    leaves: np.ndarray  # int64 (n_leaves,): as nodes of the forest
    starts: np.ndarray  # int64 (n_leaves + 1,): first condition of each leaf
    # `CONDITION` records: those of a leaf stand in the order of their features
    conditions: np.ndarray


@cached_per_forest
def leaf_paths(forest) -> LeafPaths:
    """Return the paths of all leaves of a forest."""
    nodes = nodes_of(forest)
    parent = np.full(forest.n_nodes, -1, np.int64)
    inner = np.flatnonzero(forest.feature >= 0)
    parent[forest.left[inner]] = parent[forest.right[inner]] = inner
    leaves = np.flatnonzero(forest.feature < 0)
    width = np.zeros(len(leaves), np.int64)
    _distinct_features(len(leaves), nodes.feature, parent, leaves, width)
    starts = np.concatenate([[0], np.cumsum(width)])
    conditions = np.empty(starts[-1], CONDITION)
    passes = category_paths(forest).column
    _write_conditions(len(leaves), nodes, passes, parent, leaves, starts, conditions)
    return LeafPaths(*(readonly(a) for a in (leaves, starts, conditions)))


@kernel(parallel=True)
def _distinct_features(first, last, feature, parent, leaves, width):
    """Count the different features that are tested above each leaf."""
    for leaf in range(first, last):
        node = parent[leaves[leaf]]
        while node >= 0:
            below, is_last = parent[node], True
            while below >= 0:
                if feature[below] == feature[node]:
                    is_last = False
                    break
                below = parent[below]
            width[leaf] += is_last
            node = parent[node]


@kernel(parallel=True)
def _write_conditions(first_leaf, last_leaf, nodes, passes, parent, leaves, starts, conditions):
    """Climb from each leaf to the root and merge the tests of a feature."""
    feature, left, right, cover = nodes.feature, nodes.left, nodes.right, nodes.cover
    for leaf in range(first_leaf, last_leaf):
        start, stop = starts[leaf], starts[leaf]
        node, above = leaves[leaf], parent[leaves[leaf]]
        while above >= 0:
            j, place = feature[above], start
            while place < stop and conditions[place].feature < j:
                place += 1
            if place == stop or conditions[place].feature != j:
                for later in range(stop, place, -1):
                    conditions[later] = conditions[later - 1]
                conditions[place].feature, conditions[place].z = j, 1.0
                conditions[place].low, conditions[place].high = -np.inf, np.inf
                conditions[place].missing, conditions[place].column = True, j
                if passes[node] >= 0:
                    # The last edge has a column for all the edges of the feature above it.
                    conditions[place].column, conditions[place].high = passes[node], 0.5
                    conditions[place].missing = False
                stop += 1
            first = cover[left[above]] / (cover[left[above]] + cover[right[above]])
            is_left = node == left[above]
            conditions[place].z *= first if is_left else 1 - first
            if passes[node] < 0:
                if is_left:
                    conditions[place].high = min(conditions[place].high, nodes.threshold[above])
                else:
                    conditions[place].low = max(conditions[place].low, nodes.threshold[above])
                conditions[place].missing &= nodes.missing_left[above] == is_left
            node, above = above, parent[above]


@kernel(inner=True)
def group_rows(conditions, path, x, group, bits):
    """Group the rows that satisfy the same conditions of a path; return the number of groups."""
    first, last = path
    n_rows, n_groups = x.shape[1], 1
    number = np.empty(2 * n_rows + 2, np.int64)
    for row in range(n_rows):
        group[row] = 0
    for place in range(first, last):
        condition, n_new = conditions[place], 0
        for old in range(2 * n_groups):
            number[old] = -1
        for row in range(n_rows):
            old = 2 * group[row] + _satisfies(condition, x[condition.column, row])
            if number[old] < 0:
                number[old] = n_new
                n_new += 1
            group[row] = number[old]
        n_groups = n_new
    n_seen = 0
    for row in range(n_rows):
        # Groups are numbered in the order of their first rows.
        if group[row] == n_seen:
            for place in range(first, last):
                condition = conditions[place]
                bits[n_seen, place - first] = _satisfies(condition, x[condition.column, row])
            n_seen += 1
    return n_groups


@kernel(inline=True)
def _satisfies(condition, value):
    inside = condition.low < value and value <= condition.high
    return condition.missing if value != value else inside
