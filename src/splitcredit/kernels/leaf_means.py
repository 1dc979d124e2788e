"""Means and variances of the leaves below each node, weighted by cover."""

from __future__ import annotations

import numpy as np

from splitcredit.kernels.compiled import kernel
from splitcredit.kernels.nodes import as_readonly


def expectations(left, right, cover, value) -> np.ndarray:
    """Means of the leaves below each node, float64 (n_nodes, n_outputs).

    A node has ``r m_L + (1 - r) m_R`` with r the left child's share of the cover: what TreeSHAP
    takes for the expectation below it.

    Parameters
    ----------
    left, right : int (n_nodes,)
        Children, which come after their parent; -1 at a leaf.
    cover : float64 (n_nodes,)
    value : float64 (n_nodes, n_outputs)
        Of the leaves; ignored at inner nodes.
    """
    mean = np.array(value, np.float64, order="C")
    _go_up(*_nodes(left, right, cover), mean, np.empty(0), False)
    return mean


def summaries(left, right, cover, value) -> tuple[np.ndarray, np.ndarray, int]:
    """Mean and variance of the leaves below each node, by the formulas of `convert._nodes`.

    Parameters
    ----------
    value : float64 (n_nodes,)
    left, right, cover
        As for `expectations`.

    Returns
    -------
    mean, variance : float64 (n_nodes,)
    uncovered : int
        The first node whose children have cover 0 together, or -1.
    """
    mean, variance = np.array(value, np.float64, order="C"), np.zeros(len(value))
    uncovered = _go_up(*_nodes(left, right, cover), mean[:, None], variance, True)
    return mean, variance, uncovered


def _nodes(left, right, cover):
    kinds = np.int32, np.int32, np.float64
    arrays = zip((left, right, cover), kinds, strict=True)
    return as_readonly(*(np.asarray(array, kind) for array, kind in arrays))


@kernel()
def _go_up(left, right, cover, mean, variance, with_variance):
    """Write inner nodes, children first; the first whose children have no cover, or -1.

    A node whose children do not come after it is passed over: `Forest` refuses it.
    """
    uncovered, n = -1, len(left)
    for k in range(n - 1, -1, -1):
        a, b = left[k], right[k]
        if a <= k or b <= k or a >= n or b >= n:
            continue
        total = cover[a] + cover[b]
        if total == 0.0:
            uncovered = k
            continue
        ratio = cover[a] / total
        if with_variance:
            difference = mean[a, 0] - mean[b, 0]
            mean[k, 0] = mean[b, 0] + ratio * difference
            variance[k] = variance[b] + ratio * (variance[a] - variance[b])
            variance[k] += ratio * (1 - ratio) * (difference * difference)
        else:
            for c in range(mean.shape[1]):
                mean[k, c] = ratio * mean[a, c] + (1 - ratio) * mean[b, c]
    return uncovered
