"""Prediction: the value of the leaf, over the trees."""

from __future__ import annotations

import numpy as np
from numba import prange

from splitcredit.kernels.compiled import kernel
from splitcredit.kernels.nodes import child_of, missing_of, packed

BLOCK = 64


def predict(forest, X) -> np.ndarray:
    """Prediction for prepared rows, float64 (n_samples, n_outputs).

    Trees are added in their order and then averaged, as scikit-learn does.
    """
    roots = forest.tree_offsets[:-1]
    out = _predict(packed(forest), roots, forest.value, X, missing_of(forest, X))
    if forest.aggregate == "mean":
        out /= forest.n_trees
    return out + forest.base


@kernel(parallel=True)
def _predict(nodes, roots, value, X, missing_left):
    n = X.shape[0]
    out = np.zeros((n, value.shape[1]))
    for block in prange((n + BLOCK - 1) // BLOCK):
        for root in roots:
            for i in range(block * BLOCK, min(n, block * BLOCK + BLOCK)):
                k = root
                while nodes[k].feature >= 0:
                    k = child_of(k, X[i, nodes[k].feature], nodes, missing_left)
                for c in range(value.shape[1]):
                    out[i, c] += value[k, c]
    return out
