"""Sum in-bag and out-of-bag rows at every node, and compute the scores of loecher2022.

All scores of a forest are made of these sums alone.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from splitcredit.kernels.compiled import kernel
from splitcredit.kernels.nodes import BLOCK, inner_first, packed_nodes
from splitcredit.kernels.walks.predict import find_leaves

# In this order along the first axis of the sums.
INBAG, OOB = 0, 1
CORRECTIONS = ("none", "own", "oob")

# One penalized Gini score.
SCORE = np.dtype(
    [
        ("alpha", np.float64),
        ("penalty", np.float64),
        ("weights", np.int64),  # INBAG or OOB
        ("min_child_oob", np.int64),
        ("min_child_inbag", np.int64),
        ("correction", np.int64),  # place in CORRECTIONS
        ("per_row", np.int64),
    ]
)


class NodeSums(NamedTuple):
    """Sums over the rows of every node: the in-bag ones first, then the out-of-bag ones.

    In-bag rows count as often as they were drawn, out-of-bag rows once.
    """

    rows: np.ndarray  # float64 (2, n_nodes): numbers of rows
    # float64 (2, n_nodes, n_outputs): sums of y: one-hot for a classifier, for a regressor y minus
    # `center`
    targets: np.ndarray
    squares: np.ndarray  # float64 (2, n_nodes): sums of the squares of the same, over all outputs
    center: float  # mean of y for a regressor, so that variances do not cancel; 0 for a classifier


def node_sums(forest, X, y) -> NodeSums:
    """Return the sums of all nodes of a bagged forest."""
    is_class = forest.n_outputs > 1
    center = 0.0 if is_class else float(y.mean())
    column = y.astype(np.int64) if is_class else np.zeros(len(y), np.int64)
    value = np.ones(len(y)) if is_class else y - center
    rows, squares = np.zeros((2, forest.n_nodes)), np.zeros((2, forest.n_nodes))
    targets = np.zeros((2, forest.n_nodes, forest.n_outputs))
    sums = rows, targets, squares
    nodes = *packed_nodes(forest), inner_first(forest)
    _at_leaves(forest.n_trees, nodes, forest.inbag, X, column, value, sums)
    links = forest.feature, forest.left, forest.right, forest.tree_offsets
    _add_to_parents(forest.n_trees, *links, *sums)
    return NodeSums(rows, targets, squares, center)


def penalized_gini(forest, sums, scores) -> np.ndarray:
    """Compute penalized Gini scores of every tree, float64 (n_trees, n_scores, n_features).

    With m_in, m_oob the mean targets of a node (class fractions p for a classifier, D of them) and
    v = sum_d mean((y_d - m_d)^2), which is sum_d p_d (1 - p_d) there, the impurity of a node is

        PG(alpha, lambda) = alpha v_oob + (1 - alpha) v_in + lambda / 2 sum_d (m_oob,d - m_in,d)^2

    Eq. 1 of loecher2022, where the one penalty of two classes is half the sum over both. A split
    on feature k adds w(t) PG(t) - w(l) PG(l) - w(r) PG(r) to k, with w the number of in-bag or of
    out-of-bag rows. The bias correction (Eq. 2, 5) multiplies v by n / (n - 1), n being the node's
    number of rows of its own kind, or of out-of-bag rows for both.
    """
    f = forest
    out = np.zeros((f.n_trees, len(scores), f.n_features))
    links = f.feature, f.left, f.right, f.tree_offsets
    _penalized_gini(f.n_trees, *links, sums, scores, out)
    return out


def contributions_times_targets(forest, sums, kind) -> np.ndarray:
    """Sum f_{T,k}(x_i) y_i over the in-bag or out-of-bag rows i of every tree T.

    Eq. 8 and 10: at a split on k, every row of a child adds its y times the in-bag mean of the
    child minus that of the parent. Returns float64 (n_trees, n_features, n_outputs).
    """
    totals = sums.targets[kind] + sums.rows[kind][:, None] * sums.center
    f = forest
    rows, targets = sums.rows[INBAG], sums.targets[INBAG]
    out = np.zeros((f.n_trees, f.n_features, f.n_outputs))
    links = f.feature, f.left, f.right, f.tree_offsets
    _products(f.n_trees, *links, rows, targets, totals, out)
    return out


@kernel(parallel=True)
def _at_leaves(first, last, packed, inbag, X, column, value, sums):
    """Add every row to its leaf in every tree; a tree belongs to one thread."""
    (nodes, roots, missing_left, number), (rows, targets, squares) = packed, sums
    n = len(X)
    at, walking = np.empty(BLOCK, np.int32), np.empty(BLOCK, np.int32)
    leaf = np.empty(BLOCK, np.int32)
    for t in range(first, last):
        for start in range(0, n, BLOCK):
            stop = min(n, start + BLOCK)
            find_leaves(X, start, stop, nodes, roots[t], missing_left, at, walking, leaf)
            for i in range(start, stop):
                k, times = number[leaf[i - start]], float(inbag[t, i])
                kind, weight = (INBAG, times) if times > 0 else (OOB, 1.0)
                rows[kind, k] += weight
                targets[kind, k, column[i]] += weight * value[i]
                squares[kind, k] += weight * value[i] * value[i]


@kernel(parallel=True)
def _add_to_parents(first, last, feature, left, right, offsets, rows, targets, squares):
    for t in range(first, last):
        for k in range(offsets[t + 1] - 1, offsets[t] - 1, -1):
            if feature[k] >= 0:
                a, b = left[k], right[k]
                for kind in range(2):
                    rows[kind, k] = rows[kind, a] + rows[kind, b]
                    squares[kind, k] = squares[kind, a] + squares[kind, b]
                    for c in range(targets.shape[2]):
                        targets[kind, k, c] = targets[kind, a, c] + targets[kind, b, c]


@kernel(parallel=True)
def _penalized_gini(first, last, feature, left, right, offsets, sums, scores, out):
    rows, targets, squares, _ = sums
    for t in range(first, last):
        root, stop = offsets[t], offsets[t + 1]
        parts = np.empty((stop - root, 3))
        _fill_parts(root, rows, targets, squares, parts)
        weighted = np.empty(stop - root)
        for s in range(len(scores)):
            score = scores[s]
            whole = rows[score.weights, root] if score.per_row else 1.0
            for k in range(root, stop):
                n = rows[score.weights, k]
                pg = _impurity(score, rows[INBAG, k], rows[OOB, k], parts, k - root)
                weighted[k - root] = n * pg if n > 0 else 0.0
            for k in range(root, stop):
                if feature[k] >= 0 and whole > 0:
                    a, b = left[k], right[k]
                    few = min(rows[OOB, a], rows[OOB, b]) < score.min_child_oob
                    few |= min(rows[INBAG, a], rows[INBAG, b]) < score.min_child_inbag
                    if not few:
                        gain = weighted[k - root] - weighted[a - root] - weighted[b - root]
                        out[t, s, feature[k]] += gain / whole


@kernel(inner=True)
def _fill_parts(root, rows, targets, squares, parts):
    """Fill v_in, v_oob and the squared distance of the means, 0 without out-of-bag rows."""
    for offset in range(len(parts)):
        k = root + offset
        n_in, n_oob = rows[INBAG, k], max(rows[OOB, k], 1.0)
        v_in, v_oob, distance = squares[INBAG, k] / n_in, squares[OOB, k] / n_oob, 0.0
        for c in range(targets.shape[2]):
            m_in, m_oob = targets[INBAG, k, c] / n_in, targets[OOB, k, c] / n_oob
            v_in -= m_in * m_in
            v_oob -= m_oob * m_oob
            distance += (m_oob - m_in) * (m_oob - m_in)
        parts[offset, 0], parts[offset, 1] = v_in, v_oob
        parts[offset, 2] = distance if rows[OOB, k] > 0 else 0.0


@kernel(inline=True)
def _impurity(score, n_in, n_oob, parts, offset):
    v_in, v_oob = parts[offset, 0], parts[offset, 1]
    if score.correction > 0:
        v_oob *= _corrected(n_oob)
        v_in *= _corrected(n_in if score.correction == 1 else n_oob)
    return score.alpha * v_oob + (1 - score.alpha) * v_in + score.penalty / 2 * parts[offset, 2]


@kernel(inline=True)
def _corrected(n):
    """Return the factor n / (n - 1); 1 for a single row, whose variance is 0 anyway."""
    return n / (n - 1) if n > 1 else 1.0


@kernel(parallel=True)
def _products(first, last, feature, left, right, offsets, rows, targets, totals, out):
    n_outputs = targets.shape[1]
    for t in range(first, last):
        for k in range(offsets[t], offsets[t + 1]):
            if feature[k] >= 0:
                for child in (left[k], right[k]):
                    for c in range(n_outputs):
                        rise = targets[child, c] / rows[child] - targets[k, c] / rows[k]
                        out[t, feature[k], c] += rise * totals[child, c]
