"""Compute means and variances of the leaves below each node, weighted by cover."""

from __future__ import annotations

from copy import copy

import numpy as np

from splitcredit.kernels.compiled import kernel
from splitcredit.kernels.nodes import as_readonly, cached_per_forest, readonly


def expectations(forest) -> np.ndarray:
    """Average the leaves of each tree, float64 (n_trees, n_outputs).

    A node has ``r m_L + (1 - r) m_R`` with r the left child's share of the cover: what TreeSHAP
    takes for the expectation below it.
    """
    f, mean = forest, np.empty((forest.n_trees, forest.n_outputs))
    _weigh(f.n_trees, f.left, f.right, f.cover, f.value, f.tree_offsets, mean)
    return mean


@kernel(parallel=True)
def _weigh(first, last, left, right, cover, value, offsets, mean):
    """Write the means of trees; keep those of nodes for one tree at a time, in the caches."""
    n_outputs, most = value.shape[1], 0
    for t in range(first, last):
        most = max(most, offsets[t + 1] - offsets[t])
    below = np.empty((most, n_outputs))
    for t in range(first, last):
        root = offsets[t]
        for k in range(offsets[t + 1] - 1, root - 1, -1):
            a, b, total = left[k] - root, right[k] - root, 0.0
            if left[k] >= 0:
                total = cover[left[k]] + cover[right[k]]
            if total > 0.0:
                ratio = cover[left[k]] / total
                for c in range(n_outputs):
                    below[k - root, c] = ratio * below[a, c] + (1 - ratio) * below[b, c]
            else:
                for c in range(n_outputs):
                    below[k - root, c] = value[k, c]
        for c in range(n_outputs):
            mean[t, c] = below[0, c]


def summaries(left, right, cover, value) -> tuple[np.ndarray, np.ndarray, int]:
    """Compute mean and variance of the leaves below each node, as `formats._nodes` states them.

    Returns them, float64 (n_nodes,), and the first node whose children have cover 0 together, or
    -1. Children come after their parent, and are -1 at a leaf.
    """
    kinds = np.int32, np.int32, np.float64
    arrays = zip((left, right, cover), kinds, strict=True)
    nodes = as_readonly(*(np.asarray(array, kind) for array, kind in arrays))
    mean, variance = np.array(value, np.float64, order="C"), np.zeros(len(value))
    return mean, variance, _go_up(*nodes, mean, variance)


@cached_per_forest
def with_means(forest):
    """Return the forest with the mean of the leaves below as the value of each inner node.

    Scikit-learn keeps medians for the absolute error, and values within bounds for monotonic
    constraints.
    """
    f, outputs = forest, range(forest.n_outputs)
    means = [summaries(f.left, f.right, f.cover, f.value[:, k])[0] for k in outputs]
    changed = copy(forest)
    object.__setattr__(changed, "value", readonly(np.column_stack(means)))
    return changed


@kernel()
def _go_up(left, right, cover, mean, variance):
    """Write inner nodes, children first; return the first whose children have no cover, or -1."""
    uncovered, n = -1, len(left)
    for k in range(n - 1, -1, -1):
        a, b = left[k], right[k]
        # `Forest` refuses a node whose children do not come after it.
        if a <= k or b <= k or a >= n or b >= n:
            continue
        total = cover[a] + cover[b]
        if total == 0.0:
            uncovered = k
            continue
        ratio = cover[a] / total
        difference = mean[a] - mean[b]
        mean[k] = mean[b] + ratio * difference
        variance[k] = variance[b] + ratio * (variance[a] - variance[b])
        variance[k] += ratio * (1 - ratio) * (difference * difference)
    return uncovered
