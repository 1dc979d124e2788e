"""Local MDI: sutera2021, Definition 1 (Eq. 8)."""

from __future__ import annotations

import numpy as np

from splitcredit.kernels.compiled import kernel
from splitcredit.kernels.nodes import (
    BLOCK,
    cached_per_forest,
    child_of,
    credited,
    enter,
    goes_left,
    n_blocks,
    packed,
)


def local_mdi(forest, X) -> np.ndarray:
    """Mean over trees of the impurity decreases on each row's path, (n_samples, n_features).

    Eq. 8 of sutera2021: node t on the path that tests X_m gives m the amount i(t) - i(t_x), where
    t_x is the child that x goes to. In units of the impurity (bits for entropy).
    """
    out = np.zeros(X.shape)
    _local_mdi(n_blocks(len(X)), *_nodes(forest), X, out)
    out /= forest.n_trees
    return credited(forest, out)


@cached_per_forest
def _nodes(forest):
    decrease = np.zeros(forest.n_nodes)
    inner = np.flatnonzero(forest.feature >= 0)
    for child in (forest.left[inner], forest.right[inner]):
        decrease[child] = forest.impurity[inner] - forest.impurity[child]
    return packed(forest, decrease=decrease)


@kernel(parallel=True)
def _local_mdi(first, last, nodes, roots, missing_left, X, out):
    n = len(X)
    at, rows = np.empty(BLOCK, np.int32), np.empty(BLOCK, np.int32)
    for block in range(first, last):
        start, stop = block * BLOCK, min(n, block * BLOCK + BLOCK)
        for t in range(len(roots)):
            active = enter(nodes, roots[t], start, stop, at, rows)
            while active > 0:
                going = 0
                for a in range(np.uint64(active)):
                    i, k = np.uint64(rows[a]), np.uint64(at[a])
                    j = np.uint64(nodes[k].feature)
                    left = goes_left(X[i, j], nodes, missing_left, k)
                    child = np.uint64(child_of(nodes, k, left))
                    out[i, j] += nodes[k].decrease_left if left else nodes[k].decrease_right
                    at[going], rows[going] = child, i
                    going += child < len(nodes)
                active = going
