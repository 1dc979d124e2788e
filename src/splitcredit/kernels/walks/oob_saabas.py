"""Saabas' method where each tree explains only its in-bag or its out-of-bag rows."""

from __future__ import annotations

import numpy as np

from splitcredit.kernels.compiled import kernel
from splitcredit.kernels.nodes import (
    BLOCK,
    child_of,
    credited,
    goes_left,
    n_blocks,
    packed_nodes,
    readonly,
    reordered,
)


def oob_saabas(forest, X, outputs, inbag) -> np.ndarray:
    """Saabas attributions, zero where a row is not of the kind, mean over all trees.

    Parameters
    ----------
    forest : Forest
        With `inbag`.
    X : prepared training rows
    outputs : int64 (n_explained,)
    inbag : bool
        Whether trees explain the rows drawn for them (each once), or the others.

    Returns
    -------
    float64 (n_samples, n_features, n_explained)
    """
    value = readonly(np.ascontiguousarray(reordered(forest)[:, outputs]))
    out = np.zeros((*X.shape, len(outputs)))
    _saabas(n_blocks(len(X)), *packed_nodes(forest), value, forest.inbag, inbag, X, out)
    return credited(forest, out / forest.n_trees)


@kernel(parallel=True)
def _saabas(first, last, nodes, roots, missing_left, value, counts, inbag, X, out):
    n, n_outputs = len(X), value.shape[1]
    at, rows = np.empty(BLOCK, np.int32), np.empty(BLOCK, np.int32)
    for block in range(first, last):
        for t in range(len(roots)):
            active = 0
            if roots[t] < len(nodes):
                for i in range(block * BLOCK, min(n, block * BLOCK + BLOCK)):
                    if (counts[t, i] > 0) == inbag:
                        at[active], rows[active] = roots[t], i
                        active += 1
            while active > 0:
                going = 0
                for a in range(active):
                    i, k = rows[a], at[a]
                    j = nodes[k].feature
                    child = child_of(nodes, k, goes_left(X[i, j], nodes, missing_left, k))
                    for c in range(n_outputs):
                        out[i, j, c] += value[child, c] - value[k, c]
                    at[going], rows[going] = child, i
                    going += child < len(nodes)
                active = going
