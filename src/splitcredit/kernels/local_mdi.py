"""Local MDI: sutera2021, Definition 1 (Eq. 8)."""

from __future__ import annotations

import numpy as np
from numba import prange

from splitcredit.kernels.compiled import kernel
from splitcredit.kernels.nodes import child_of, missing_of, packed

BLOCK = 64


def local_mdi(forest, X) -> np.ndarray:
    """Mean over trees of the impurity decreases on each row's path, (n_samples, n_features).

    Eq. 8 of sutera2021: node t on the path that tests X_m gives m the amount i(t) - i(t_x), where
    t_x is the child that x goes to. In units of the impurity (bits for entropy).
    """
    decrease = np.zeros(forest.n_nodes)
    inner = np.flatnonzero(forest.feature >= 0)
    for child in (forest.left[inner], forest.right[inner]):
        decrease[child] = forest.impurity[inner] - forest.impurity[child]
    nodes = packed(forest, decrease=decrease)
    roots = forest.tree_offsets[:-1]
    out = _local_mdi(nodes, roots, X, missing_of(forest, X), forest.n_features)
    out /= forest.n_trees
    return out


@kernel(parallel=True)
def _local_mdi(nodes, roots, X, missing_left, n_features):
    n = X.shape[0]
    out = np.zeros((n, n_features))
    for block in prange((n + BLOCK - 1) // BLOCK):
        for root in roots:
            for i in range(block * BLOCK, min(n, block * BLOCK + BLOCK)):
                k = root
                feature = nodes[k].feature
                while feature >= 0:
                    k = child_of(k, X[i, feature], nodes, missing_left)
                    out[i, feature] += nodes[k].decrease
                    feature = nodes[k].feature
    return out
