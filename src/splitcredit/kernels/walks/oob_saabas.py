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
)
from splitcredit.kernels.walks.saabas import credits


def oob_saabas(forest, X, outputs, inbag) -> np.ndarray:
    """Saabas attributions, zero where a row is not of the kind, mean over all trees.

    Returns float64 (n_samples, n_features, n_explained).

    Parameters
    ----------
    forest : Forest
        With `inbag`.
    X : prepared training rows
    outputs : int64 (n_explained,)
    inbag : bool
        Whether trees explain the rows drawn for them (each once), or the others.
    """
    credit = readonly(np.ascontiguousarray(credits(forest)[:, outputs]))
    out = np.zeros((*X.shape, len(outputs)))
    _saabas(n_blocks(len(X)), *packed_nodes(forest), credit, forest.inbag, inbag, X, out)
    return credited(forest, out / forest.n_trees)


@kernel(parallel=True)
def _saabas(first, last, nodes, roots, missing_left, credit, counts, inbag, X, out):
    n, n_outputs = len(X), credit.shape[1]
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
                for a in range(np.uint64(active)):
                    i, k = np.uint64(rows[a]), np.uint64(at[a])
                    j = np.uint64(nodes[k].feature)
                    left = goes_left(X[i, j], nodes, missing_left, k)
                    child = np.uint64(child_of(nodes, k, left))
                    for c in range(n_outputs):
                        out[i, j, c] += credit[child, c]
                    at[going], rows[going] = child, i
                    going += child < len(nodes)
                active = going
