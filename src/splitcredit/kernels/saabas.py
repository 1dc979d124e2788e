"""Saabas' method: the change of the node's prediction along each row's path."""

from __future__ import annotations

import numpy as np
from numba import prange

from splitcredit.kernels.compiled import kernel
from splitcredit.kernels.nodes import child_of, missing_of, packed, readonly

BLOCK = 64


def saabas(forest, X, outputs=None) -> np.ndarray:
    """Saabas attributions, float64 (n_samples, n_features, len(outputs)); all outputs by default.

    Saabas (2014), the "path" method of lundberg2017: node t on the path that tests X_m gives m
    the amount value(t_x) - value(t), where t_x is the child that x goes to.
    """
    roots = forest.tree_offsets[:-1]
    missing = missing_of(forest, X)
    value = forest.value
    if outputs is not None:
        value = readonly(np.ascontiguousarray(value[:, outputs]))
    out = _saabas(packed(forest), roots, value, X, missing, forest.n_features)
    return _aggregated(forest, out)


def saabas_one(forest, X, output) -> np.ndarray:
    """Saabas attributions for output ``output[i]`` of row i, float64 (n_samples, n_features)."""
    roots = forest.tree_offsets[:-1]
    missing = missing_of(forest, X)
    out = _saabas_one(packed(forest), roots, forest.value, X, missing, forest.n_features, output)
    return _aggregated(forest, out)


def baseline(forest) -> np.ndarray:
    """Values at the roots, averaged or summed over the trees, (n_outputs,)."""
    total = forest.value[forest.tree_offsets[:-1]].sum(axis=0)
    return forest.base + (total / forest.n_trees if forest.aggregate == "mean" else total)


def _aggregated(forest, out):
    if forest.aggregate == "mean":
        out /= forest.n_trees
    return out


@kernel(parallel=True)
def _saabas(nodes, roots, value, X, missing_left, n_features):
    n, n_outputs = X.shape[0], value.shape[1]
    out = np.zeros((n, n_features, n_outputs))
    for block in prange((n + BLOCK - 1) // BLOCK):
        for root in roots:
            for i in range(block * BLOCK, min(n, block * BLOCK + BLOCK)):
                k = root
                feature = nodes[k].feature
                while feature >= 0:
                    child = child_of(k, X[i, feature], nodes, missing_left)
                    for c in range(n_outputs):
                        out[i, feature, c] += value[child, c] - value[k, c]
                    k = child
                    feature = nodes[k].feature
    return out


@kernel(parallel=True)
def _saabas_one(nodes, roots, value, X, missing_left, n_features, output):
    n = X.shape[0]
    out = np.zeros((n, n_features))
    for block in prange((n + BLOCK - 1) // BLOCK):
        for root in roots:
            for i in range(block * BLOCK, min(n, block * BLOCK + BLOCK)):
                c = output[i]
                k = root
                feature = nodes[k].feature
                before = value[k, c]
                while feature >= 0:
                    k = child_of(k, X[i, feature], nodes, missing_left)
                    after = value[k, c]
                    out[i, feature] += after - before
                    before = after
                    feature = nodes[k].feature
    return out
