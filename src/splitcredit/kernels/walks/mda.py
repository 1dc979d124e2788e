"""MDA: how much worse a tree predicts its out-of-bag rows when a feature is permuted among them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from splitcredit.kernels.compiled import kernel
from splitcredit.kernels.nodes import nodes_of

# Numbers of permutations that are held at once, at most, unless one tree has more: 64 MB.
ORDERS = 8_000_000


def loss_increases(forest, X, y, permutations, done=lambda n: None) -> np.ndarray:
    """Average the loss of permuted rows minus the loss of the rows, (n_trees, n_features).

    The loss is 1 where the leaf's largest class (the first of equals) is not that of the row, for
    a regressor the squared error. It is over the out-of-bag rows of each tree, NaN without any; 0
    exactly for features that the tree does not test.
    """
    nodes, is_class = nodes_of(forest), forest.n_outputs > 1
    classes, numbers = forest.value.argmax(axis=1), forest.value[:, 0]
    predicted = classes.astype(np.float64) if is_class else numbers.copy()
    losses = Losses(predicted, y.astype(np.float64), is_class)
    out = np.full((forest.n_trees, forest.n_features), np.nan)
    n_rows = [np.flatnonzero(forest.inbag[t] == 0) for t in range(forest.n_trees)]
    # Orders of many trees are held at once, so that threads share trees, but not of all of them.
    at_once = max(1, ORDERS // max(1, forest.n_features * len(X)))
    for first in range(0, forest.n_trees, at_once):
        trees = np.arange(first, min(first + at_once, forest.n_trees))
        rows = [n_rows[t] for t in trees]
        orders = [permutations(t, len(r)).ravel() for t, r in zip(trees, rows, strict=True)]
        starts = np.concatenate([[0], np.cumsum([len(r) for r in rows])])
        drawn = Drawn(trees, np.concatenate(rows), starts, np.concatenate(orders))
        _increases(len(trees), nodes, forest.tree_offsets, X, losses, drawn, out)
        done(len(trees))
    return out


class Losses(NamedTuple):
    """The prediction of each leaf and the target of each row, which losses compare."""

    predicted: np.ndarray
    target: np.ndarray
    is_class: bool


class Drawn(NamedTuple):
    """Trees and their out-of-bag rows; permutations of tree t start at n_features starts[t]."""

    trees: np.ndarray
    rows: np.ndarray
    starts: np.ndarray
    orders: np.ndarray


class Workspace(NamedTuple):
    """Buffers for the rows of a tree: loss, leaf, and the node and number of walking rows."""

    before: np.ndarray
    leaf: np.ndarray
    at: np.ndarray
    walking: np.ndarray


@kernel(parallel=True)
def _increases(first_tree, last_tree, nodes, offsets, X, losses, drawn, out):
    """Fill in the rows of `out` of some trees."""
    (trees, all_rows, starts, orders), n_features, most = drawn, out.shape[1], 0
    for t in range(first_tree, last_tree):
        most = max(most, starts[t + 1] - starts[t])
    work = Workspace(
        np.empty(most), np.empty(most, np.int32), np.empty(most, np.int32), np.empty(most, np.int32)
    )
    for t in range(first_tree, last_tree):
        begin, n = starts[t], starts[t + 1] - starts[t]
        if n == 0:
            continue
        rows = all_rows[begin : begin + n]
        # The node at which the path of a row first tests a feature; -1 for none.
        entry = np.full((n_features, n), -1, np.int32)
        _walk_to_leaves(nodes, offsets[trees[t]], X, rows, entry, work)
        for a in range(n):
            work.before[a] = _loss(losses, work.leaf[a], rows[a])
        for u in range(n_features):
            order = orders[n_features * begin + u * n : n_features * begin + (u + 1) * n]
            _walk_permuted(nodes, u, X, rows, order, entry[u], work)
            total = 0.0
            for a in range(n):
                if work.leaf[a] >= 0:
                    total += _loss(losses, work.leaf[a], rows[a]) - work.before[a]
            out[trees[t], u] = total / n


@kernel(inner=True)
def _walk_to_leaves(nodes, root, X, rows, entry, work):
    """Take the rows of a tree down, and write where they first meet each feature."""
    feature, column, threshold, left, right, missing_left, _ = nodes
    _, leaf, at, walking = work
    for a in range(len(rows)):
        at[a], walking[a], leaf[a] = root, a, root
    active = len(rows) if feature[root] >= 0 else 0
    while active > 0:
        going = 0
        for b in range(np.uint64(active)):
            k, a = np.uint64(at[b]), np.uint64(walking[b])
            u = np.uint64(feature[k])
            entry[u, a] = entry[u, a] if entry[u, a] >= 0 else at[b]
            x = X[np.uint64(rows[a]), np.uint64(column[k])]
            goes_left = missing_left[k] if x != x else x <= threshold[k]
            child = right[k] + np.int32(goes_left) * (left[k] - right[k])
            leaf[a] = child
            at[going], walking[going] = child, a
            going += feature[np.uint64(child)] >= 0
        active = going


@kernel(inner=True)
def _walk_permuted(nodes, u, X, rows, order, entry, work):
    """Take the rows down with the values of others in feature u; leaf -1 if they keep theirs."""
    feature, column, threshold, left, right, missing_left, _ = nodes
    _, leaf, at, walking = work
    # A row whose path does not test the feature, or that keeps its value, keeps its leaf.
    active = 0
    for a in range(len(rows)):
        leaf[a] = -1
        at[active], walking[active] = entry[a], a
        changes = X[rows[a], u] != X[rows[order[a]], u]
        active += entry[a] >= 0 and changes
    while active > 0:
        going = 0
        for b in range(np.uint64(active)):
            k, a = np.uint64(at[b]), np.uint64(walking[b])
            own, other = rows[a], rows[order[a]]
            # By arithmetic: as jumps, both choices would be mispredicted every other time.
            i = np.uint64(own + (other - own) * (feature[k] == u))
            x = X[i, np.uint64(column[k])]
            goes_left = missing_left[k] if x != x else x <= threshold[k]
            child = right[k] + np.int32(goes_left) * (left[k] - right[k])
            leaf[a] = child
            at[going], walking[going] = child, a
            going += feature[np.uint64(child)] >= 0
        active = going


@kernel(inline=True)
def _loss(losses, leaf, row):
    predicted, target = losses.predicted[leaf], losses.target[row]
    if losses.is_class:
        return 1.0 if predicted != target else 0.0
    return (predicted - target) * (predicted - target)
