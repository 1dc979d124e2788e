r"""Interventional TreeSHAP: the Shapley values of ``f(x_S, z_-S)``, averaged over rows z.

One leaf with value v and one pair (x, z) make a game of their own. Merge the path to the leaf to
one condition per feature, and let Q be the set of the a features whose condition only z fails, P
that of the b features whose condition only x fails. If some feature fails for both, no mixture of
x and z reaches the leaf. Otherwise a mixture reaches it if S holds all of Q and none of P, and the
Shapley values of that are::

    v (a - 1)! b! / (a + b)!      for each of Q,
    -v a! (b - 1)! / (a + b)!     for each of P, and 0 for all others

(Lundberg et al. 2020; proof by Laberge and Pequignot 2022). Summed over the background, with n(Q)
rows of pattern Q, every x with pattern P gets there::

    phi_j = v sum of n(Q) (a - 1)! b! / (a + b)!    over Q with j, disjoint from P, if j is not in P
    phi_j = -v sum of n(Q) a! (b - 1)! / (a + b)!   over Q disjoint from P,         if j is in P

All sums are of positive numbers.
"""

from __future__ import annotations

import numba
import numpy as np

from splitcredit.kernels.interventional import (
    decision_tables,
    failed_conditions,
    leaf_pairs,
    rescaled,
)
from splitcredit.kernels.interventional.category_paths import category_paths
from splitcredit.kernels.nodes import cached_per_forest, columns, lowered

# Most rows in one block, one thread's work. The more rows, the more of them share a pattern.
BLOCK = 512


def tree_shap_interventional(forest, X, outputs, background, limits=None) -> np.ndarray:
    """Compute interventional TreeSHAP, float64 (n_samples, n_features, len(outputs)).

    With `limits`, other numbers for `leaf_routes`, tests can send any leaf any way.
    """
    routes = _default_routes(forest) if limits is None else leaf_routes(forest, *limits)
    tasks = [(a, b, 0, len(outputs)) for a, b in _blocks(0, len(X))]
    return _run(forest, routes, X, background, forest.value[:, outputs], tasks, len(outputs))


def tree_shap_interventional_one(forest, X, output, background) -> np.ndarray:
    """Compute interventional TreeSHAP for one output of each row, ``output[i]`` of row i."""
    order = np.argsort(output, kind="stable")
    outputs, starts = np.unique(output[order], return_index=True)
    ends = np.append(starts, len(X))[1:]
    tasks = [
        (a, b, c, c + 1)
        for c, (start, end) in enumerate(zip(starts, ends, strict=True))
        for a, b in _blocks(start, end)
    ]
    out, value = np.empty((len(X), forest.n_features)), forest.value[:, outputs]
    routes = _default_routes(forest)
    out[order] = _run(forest, routes, X[order], background, value, tasks, 1)[:, :, 0]
    return out


def tree_shap_rescaled(forest, X, background, factors, features=failed_conditions.BITS):
    """Compute interventional TreeSHAP of the only output, each pair times its factor.

    `features` is the most on a path that is not taken by pairs, and lower in tests only.
    """
    edges, _, rest, long, most = _ungrouped_routes(forest, features)
    paths = category_paths(forest)
    value, XT, ZT = _common_types(forest.value, paths.appended(X), paths.appended(background))
    tasks = np.array([(a, b, 0, 1) for a, b in _blocks(0, len(X))], np.int64).reshape(-1, 4)
    out = np.zeros((forest.n_features, 1, len(X)))
    arrays = value, XT, ZT, np.ascontiguousarray(factors), tasks, _weights(most)
    rescaled.add_leaves(edges, rest, *arrays, out=out)
    rescaled.add_wide_leaves(edges, long, *arrays, out=out)
    return _means(forest, out, len(background))[:, :, 0]


def _blocks(start, stop):
    """Cut rows into blocks, at least one a thread."""
    size = max(1, min(BLOCK, -(-(stop - start) // numba.get_num_threads())))
    return [(a, min(a + size, stop)) for a in range(start, stop, size)]


def _run(forest, routes, X, background, value, tasks, n_wanted):
    """Sum over leaves and background rows, in one order for every row, and average."""
    edges, groups, rest, long, most = routes
    paths = category_paths(forest)
    value, XT, ZT = _common_types(value, paths.appended(X), paths.appended(background))
    tasks = np.array(tasks, np.int64).reshape(-1, 4)
    out = np.zeros((forest.n_features, n_wanted, len(X)))
    arrays = value, XT, ZT, tasks, _weights(most), out
    decision_tables.add_groups(edges, groups, *arrays)
    failed_conditions.add_leaves(edges, rest, *arrays)
    leaf_pairs.add_leaves(edges, long, *arrays)
    return _means(forest, out, len(background))


def _common_types(value, X, background):
    """Copy arrays to one type for the compiled code; float32 and thresholds lose nothing."""
    return [np.array(a, np.float64, order="C") for a in (value, X.T, background.T)]


def _means(forest, sums, n_background):
    """Turn sums over background and trees into what the forest predicts, with the rows first."""
    sums /= n_background
    if forest.aggregate == "mean":
        sums /= forest.n_trees
    return np.ascontiguousarray(sums.transpose(2, 0, 1))


@cached_per_forest
def _default_routes(forest):
    return leaf_routes(forest, decision_tables.BITS, failed_conditions.BITS)


@cached_per_forest
def _ungrouped_routes(forest, features):
    return leaf_routes(forest, 0, features)


def leaf_routes(forest, decisions, features, least=decision_tables.LEAST):
    """Assign each leaf to one of three algorithms by the tree above and around it.

    Returns the edges, the groups of leaves, the other leaves with at most so many features on their
    paths and those with more, int32, and the most features on any path.
    """
    edges = _edges(forest)
    leaves = np.flatnonzero(forest.feature < 0)
    width = np.zeros(len(leaves), np.int64)
    failed_conditions.count_features(len(leaves), edges, leaves, forest.n_features, width)
    groups, ungrouped = decision_tables.grouped(edges, forest.left, decisions, least)
    short = width[np.searchsorted(leaves, ungrouped)] <= features
    return edges, groups, ungrouped[short], ungrouped[~short], int(width.max())


def _edges(forest):
    """Describe how each node is entered: its parent, the test there, and what passes it.

    A number passes if it is at most the threshold (which is `lowered`) and the node is a `left`
    child, or neither; NaN passes if `missing`. If the feature is split by categories, `passes` is
    the column that `category_paths` makes for this edge and those of the feature above it, else -1.
    """
    fields = [("threshold", "f8"), ("parent", "i4"), ("feature", "i4"), ("column", "i4")]
    fields += [("passes", "i4"), ("left", "?"), ("missing", "?")]
    edges = np.zeros(forest.n_nodes, np.dtype(fields, True))
    edges["parent"] = -1
    edges["passes"] = category_paths(forest).column
    inner = np.flatnonzero(forest.feature >= 0)
    for child, left in ((forest.left[inner], True), (forest.right[inner], False)):
        edges["threshold"][child] = lowered(forest)[inner]
        edges["parent"][child] = inner
        edges["feature"][child] = forest.feature[inner]
        edges["column"][child] = columns(forest)[inner]
        edges["left"][child] = left
        missing_left = True if forest.missing_left is None else forest.missing_left[inner]
        edges["missing"][child] = missing_left == left
    return edges


def _weights(most):
    """Tabulate (a - 1)! b! / (a + b)! at [b, a]; 0 at a = 0. By ratios, as factorials overflow."""
    weights = np.zeros((most + 1, most + 1))
    weights[0, 1:] = 1 / np.arange(1, most + 1)
    for b in range(1, most + 1):
        weights[b, 1:] = weights[b - 1, 1:] * (b / np.arange(b + 1, b + most + 1))
    return weights
