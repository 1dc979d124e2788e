"""MDA: how much worse a tree predicts its out-of-bag rows when a feature is permuted among them."""

from __future__ import annotations

import numpy as np
from numba import prange

from splitcredit.kernels.compiled import kernel
from splitcredit.kernels.tree_shap_plan import nodes_of


def loss_increases(forest, X, y, permutations) -> np.ndarray:
    """Mean loss of permuted rows minus that of the rows, float64 (n_trees, n_features).

    The loss is 1 where the leaf's largest class (the first of equals) is not that of the row, for
    a regressor the squared error. It is over the out-of-bag rows of each tree, NaN without any; 0
    exactly for features that the tree does not test.

    Parameters
    ----------
    forest : Forest
        With `inbag`.
    X : prepared training rows
    y : int64 or float64 (n_samples,)
        Index of the class of each row for a classifier, the target for a regressor.
    permutations : callable (tree, n) -> int64 (n_features, n)
        Orders of the n out-of-bag rows of a tree: row a is given the value of row ``[k, a]`` in
        feature k.
    """
    nodes, is_class = nodes_of(forest), forest.n_outputs > 1
    told = forest.value.argmax(axis=1).astype(np.float64) if is_class else forest.value[:, 0].copy()
    target = y.astype(np.float64)
    out = np.full((forest.n_trees, forest.n_features), np.nan)
    for t in range(forest.n_trees):
        rows = np.flatnonzero(forest.inbag[t] == 0)
        if len(rows) == 0:
            continue
        root, stop = forest.tree_offsets[t], forest.tree_offsets[t + 1]
        own = forest.feature[root:stop]
        used = np.unique(own[own >= 0]).astype(np.int64)
        orders = permutations(t, len(rows))
        out[t] = 0.0
        arguments = (*nodes[:6], root, X, target, told, is_class)
        out[t, used] = _increases(*arguments, rows, used, orders[used])
    return out


@kernel(parallel=True)
def _increases(
    feature,
    column,
    threshold,
    left,
    right,
    missing_left,
    root,
    X,
    target,
    told,
    is_class,
    rows,
    used,
    orders,
):
    out, n = np.zeros(len(used)), len(rows)
    place = np.zeros(X.shape[1], np.int64)
    place[used] = np.arange(len(used))
    before, tested = np.empty(n), np.zeros((n, len(used)), np.bool_)
    for a in range(n):
        i, k = rows[a], root
        while feature[k] >= 0:
            tested[a, place[feature[k]]] = True
            k = _child(column, threshold, left, right, missing_left, X, k, i)
        before[a] = _loss(told[k], target[i], is_class)
    for u in prange(len(used)):
        total = 0.0
        for a in range(n):
            i, other = rows[a], rows[orders[u, a]]
            # A row whose path does not test the feature, or that keeps its value, keeps its leaf.
            if not tested[a, u] or X[i, used[u]] == X[other, used[u]]:
                continue
            k = root
            while feature[k] >= 0:
                given = other if feature[k] == used[u] else i
                k = _child(column, threshold, left, right, missing_left, X, k, given)
            total += _loss(told[k], target[i], is_class) - before[a]
        out[u] = total / n
    return out


@kernel(inline=True)
def _child(column, threshold, left, right, missing_left, X, k, i):
    """The child of node k that the value of row i leads to."""
    x = X[i, column[k]]
    goes_left = missing_left[k] if x != x else x <= threshold[k]
    return left[k] if goes_left else right[k]


@kernel(inline=True)
def _loss(told, target, is_class):
    if is_class:
        return 1.0 if told != target else 0.0
    return (told - target) * (told - target)
