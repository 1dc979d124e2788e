"""Prediction: the value of the leaf, over the trees."""

from __future__ import annotations

import numpy as np
from numba import prange

from splitcredit.kernels.compiled import kernel
from splitcredit.kernels.nodes import (
    BLOCK,
    child_of,
    enter,
    goes_left,
    packed_nodes,
    reordered,
)


def predict(forest, X) -> np.ndarray:
    """Prediction for prepared rows, float64 (n_samples, n_outputs).

    Trees are added in their order and then averaged, as scikit-learn does.
    """
    out = _predict(*packed_nodes(forest), reordered(forest), X)
    if forest.aggregate == "mean":
        out /= forest.n_trees
    return out + forest.base


@kernel(parallel=True)
def _predict(nodes, roots, missing_left, value, X):
    n, n_outputs = X.shape[0], value.shape[1]
    out = np.zeros((n, n_outputs))
    for block in prange((n + BLOCK - 1) // BLOCK):
        first, stop = block * BLOCK, min(n, block * BLOCK + BLOCK)
        at, rows = np.empty(BLOCK, np.int32), np.empty(BLOCK, np.int32)
        leaf = np.empty(BLOCK, np.int32)
        for root in roots:
            leaf[:] = root
            active = enter(nodes, root, first, stop, at, rows)
            while active > 0:
                going = 0
                for a in range(active):
                    i, k = rows[a], at[a]
                    left = goes_left(X[i, nodes[k].feature], nodes, missing_left, k)
                    child = child_of(nodes, k, left)
                    leaf[i - first] = child
                    at[going], rows[going] = child, i
                    going += child < len(nodes)
                active = going
            for i in range(first, stop):
                for c in range(n_outputs):
                    out[i, c] += value[leaf[i - first], c]
    return out
