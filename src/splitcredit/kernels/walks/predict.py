"""Predict by the values of the leaves, summed over the trees."""

from __future__ import annotations

import numpy as np

from splitcredit.kernels.compiled import kernel
from splitcredit.kernels.nodes import BLOCK, enter, inner_first, n_blocks, packed_nodes, step


def predict(forest, X) -> np.ndarray:
    """Predict prepared rows, float64 (n_samples, n_outputs).

    Trees are added in their order and then averaged, as scikit-learn does.
    """
    out = np.zeros((len(X), forest.n_outputs))
    nodes = *packed_nodes(forest), inner_first(forest)
    _predict(n_blocks(len(X)), *nodes, forest.value, X, out)
    if forest.aggregate == "mean":
        out /= forest.n_trees
    return out + forest.base


@kernel(parallel=True)
def _predict(first, last, nodes, roots, missing_left, numbers, value, X, out):
    n, n_outputs = out.shape
    at, rows = np.empty(BLOCK, np.int32), np.empty(BLOCK, np.int32)
    leaf = np.empty(BLOCK, np.int32)
    for block in range(first, last):
        start, stop = block * BLOCK, min(n, block * BLOCK + BLOCK)
        for t in range(len(roots)):
            find_leaves(X, start, stop, nodes, roots[t], missing_left, at, rows, leaf)
            for i in range(start, stop):
                own = numbers[np.uint64(leaf[i - start])]
                for c in range(n_outputs):
                    out[i, c] += value[own, c]


@kernel(inline=True)
def find_leaves(X, start, stop, nodes, root, missing_left, at, rows, leaf):
    """Write the leaf that each of the rows start..stop comes to from a root."""
    for a in range(stop - start):
        leaf[a] = root
    active = enter(nodes, root, start, stop, at, rows)
    while active > 0:
        going = 0
        for a in range(np.uint64(active)):
            i, _, child = step(X, nodes, missing_left, at, rows, a)
            leaf[i - np.uint64(start)] = child
            at[going], rows[going] = child, i
            going += child < len(nodes)
        active = going
