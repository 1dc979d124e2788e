"""MDA: how much worse a tree predicts its out-of-bag rows when a feature is permuted among them."""

from __future__ import annotations

import numpy as np

from splitcredit.kernels.compiled import kernel
from splitcredit.kernels.nodes import nodes_of

# Numbers of permutations that are held at once, at most, unless one tree has more: 64 MB.
ORDERS = 8_000_000


def loss_increases(forest, X, y, permutations, done=lambda n: None) -> np.ndarray:
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
    done : callable (n)
        Called when n more trees are measured.
    """
    nodes, is_class = nodes_of(forest), forest.n_outputs > 1
    classes, numbers = forest.value.argmax(axis=1), forest.value[:, 0]
    predicted = classes.astype(np.float64) if is_class else numbers.copy()
    out = np.full((forest.n_trees, forest.n_features), np.nan)
    n_rows = [np.flatnonzero(forest.inbag[t] == 0) for t in range(forest.n_trees)]
    # Orders of many trees are held at once, so that threads share trees, but not of all of them.
    at_once = max(1, ORDERS // max(1, forest.n_features * len(X)))
    for first in range(0, forest.n_trees, at_once):
        trees = np.arange(first, min(first + at_once, forest.n_trees))
        rows = [n_rows[t] for t in trees]
        orders = [permutations(t, len(r)).ravel() for t, r in zip(trees, rows, strict=True)]
        starts = np.concatenate([[0], np.cumsum([len(r) for r in rows])])
        held = (np.concatenate(rows), starts, np.concatenate(orders))
        arrays = X, y.astype(np.float64), predicted, is_class, trees, *held
        _increases(len(trees), *nodes[:6], forest.tree_offsets, *arrays, out)
        done(len(trees))
    return out


@kernel(parallel=True)
def _increases(
    first_tree,
    last_tree,
    feature,
    column,
    threshold,
    left,
    right,
    missing_left,
    offsets,
    X,
    target,
    predicted,
    is_class,
    trees,
    rows,
    starts,
    orders,
    out,
):
    """Fill in the rows of `out` of some trees; orders of tree t start at n_features starts[t]."""
    n_features = out.shape[1]
    for t in range(first_tree, last_tree):
        root, first, n = offsets[trees[t]], starts[t], starts[t + 1] - starts[t]
        if n == 0:
            continue
        # The node at which the path of a row first tests a feature; -1 for none.
        before, entry = np.empty(n), np.full((n_features, n), -1, np.int32)
        for a in range(n):
            i, k = rows[first + a], root
            while feature[k] >= 0:
                if entry[feature[k], a] < 0:
                    entry[feature[k], a] = k
                k = _child(column, threshold, left, right, missing_left, X, k, i)
            before[a] = _loss(predicted[k], target[i], is_class)
        for u in range(n_features):
            total = 0.0
            order = orders[n_features * first + u * n : n_features * first + (u + 1) * n]
            for a in range(n):
                k = np.int64(entry[u, a])
                # A row whose path does not test the feature, or that keeps its value, keeps its
                # leaf.
                if k < 0:
                    continue
                i, other = rows[first + a], rows[first + order[a]]
                if X[i, u] == X[other, u]:
                    continue
                while feature[k] >= 0:
                    source = other if feature[k] == u else i
                    k = _child(column, threshold, left, right, missing_left, X, k, source)
                total += _loss(predicted[k], target[i], is_class) - before[a]
            out[trees[t], u] = total / n


@kernel(inline=True)
def _child(column, threshold, left, right, missing_left, X, k, i):
    """The child of node k that the value of row i leads to."""
    x = X[i, column[k]]
    goes_left = missing_left[k] if x != x else x <= threshold[k]
    return left[k] if goes_left else right[k]


@kernel(inline=True)
def _loss(predicted, target, is_class):
    if is_class:
        return 1.0 if predicted != target else 0.0
    return (predicted - target) * (predicted - target)
