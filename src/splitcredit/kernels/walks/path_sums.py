"""Sum values of the steps from node to child over the path of each row."""

from __future__ import annotations

import numpy as np

from splitcredit.kernels.compiled import kernel
from splitcredit.kernels.nodes import (
    BLOCK,
    enter,
    inner_first,
    n_blocks,
    packed_nodes,
    readonly,
    step,
)


def changes(forest, values) -> np.ndarray:
    """Subtract from the values of each node those of its parent, (n_nodes, ...); 0 at roots."""
    change, inner = np.zeros(values.shape), np.flatnonzero(forest.feature >= 0)
    for child in (forest.left[inner], forest.right[inner]):
        change[child] = values[child] - values[inner]
    return readonly(change[inner_first(forest)])


def path_sums(forest, credit, X) -> np.ndarray:
    """Sum the steps of each row, credited to columns, float64 (n_samples, n_columns)."""
    out = np.zeros(X.shape)
    _add_steps(n_blocks(len(X)), *packed_nodes(forest), credit, X, out)
    return out


@kernel(parallel=True)
def _add_steps(first, last, nodes, roots, missing_left, credit, X, out):
    n = len(X)
    at, rows = np.empty(BLOCK, np.int32), np.empty(BLOCK, np.int32)
    for block in range(first, last):
        start, stop = block * BLOCK, min(n, block * BLOCK + BLOCK)
        for t in range(len(roots)):
            active = enter(nodes, roots[t], start, stop, at, rows)
            while active > 0:
                going = 0
                for a in range(np.uint64(active)):
                    i, j, child = step(X, nodes, missing_left, at, rows, a)
                    out[i, j] += credit[np.uint64(child)]
                    at[going], rows[going] = child, i
                    going += child < len(nodes)
                active = going
