"""Compute partial dependence: rows and grid values go down each tree together.

A split on a studied feature parts the values of the grid, and the rows go both ways. Any other
split parts the rows. At a leaf, each of the rows that are left has its value at each of the grid
values that are left, so a tree is walked once for the whole grid. Of a sorted grid the values that
are left are neighbors: the value of the leaf is added at the first of them and taken off behind the
last, and sums along the grid give the predictions.
"""

from __future__ import annotations

import numpy as np

from splitcredit.kernels.compiled import kernel
from splitcredit.kernels.nodes import (
    BLOCK,
    as_readonly,
    goes_left,
    inner_first,
    n_blocks,
    packed_nodes,
)

# Most blocks of rows of a mean, each with sums of its own.
_BLOCKS = 32


def curves(forest, X, first, second, owner, outputs, weights=None) -> np.ndarray:
    """Predict prepared rows with the studied features set to each pair of grid values.

    `first` and `second` are prepared rows, (n_first, n_columns) and (n_second, n_columns), with the
    grid values in the studied columns; those of `first` are sorted. `owner` says for each column
    whose value counts: 0 that of X, 1 that of `first`, 2 that of `second`. Returns float64
    (n_samples, n_outputs, n_first, n_second), or with weights of the rows (n_samples,) their
    weighted mean, (1, n_outputs, n_first, n_second). Rows have the same bytes in any call.
    """
    is_mean = weights is not None
    size = max(BLOCK, -(-len(X) // _BLOCKS)) if is_mean else BLOCK
    n_targets = n_blocks(len(X), size) if is_mean else len(X)
    out = np.zeros((n_targets, len(outputs), len(first) + 1, len(second)))
    largest = int(np.diff(forest.tree_offsets).max())
    grid, weight = np.concatenate([first, second]), np.ones(len(X)) if weights is None else weights
    arrays = as_readonly(forest.value[:, outputs], X, grid, owner, weight)
    sizes = size, len(first), largest, is_mean
    nodes = *packed_nodes(forest), inner_first(forest)
    _blocks(n_blocks(len(X), size), *nodes, *arrays, sizes, out)
    if is_mean:
        out = out.sum(axis=0, keepdims=True) / weights.sum()
    out = np.cumsum(out[:, :, :-1], axis=2)
    if forest.aggregate == "mean":
        out /= forest.n_trees
    return out + forest.base[outputs][:, None, None]


@kernel(parallel=True)
def _blocks(
    begin, end, nodes, roots, missing_left, numbers, value, X, grid, owner, weights, sizes, out
):
    """Send each block of rows down all trees, together with the grid values."""
    size, n_first, largest, is_mean = sizes
    n_second = len(grid) - n_first
    # Rows, and behind them second grid values; first ones need no list, as they stay sorted.
    order, spare = np.empty(size + n_second, np.int64), np.empty(size + n_second, np.int64)
    # Of each node to visit: its number, and where rows, first and second values begin and end.
    waiting = np.empty((largest + 1, 7), np.int64)
    for block in range(begin, end):
        start = block * size
        m = min(len(X), start + size) - start
        for t in range(len(roots)):
            for q in range(m + n_second):
                order[q] = start + q if q < m else n_first + q - m
            waiting[0, 0], waiting[0, 1], waiting[0, 2] = roots[t], 0, m
            waiting[0, 3], waiting[0, 4] = 0, n_first
            waiting[0, 5], waiting[0, 6] = m, m + n_second
            top = 0
            while top >= 0:
                k = waiting[top, 0]
                if k >= len(nodes):
                    target = block if is_mean else -1
                    _add(numbers[k], value, order, waiting, top, weights, target, n_first, out)
                    top -= 1
                    continue
                part = owner[nodes[k].feature]
                low, high = waiting[top, 2 * part + 1], waiting[top, 2 * part + 2]
                if part == 1:
                    middle = _bisect(grid, nodes, missing_left, k, low, high)
                else:
                    table = grid if part == 2 else X
                    middle = _partition(table, nodes, missing_left, k, order, low, high, spare)
                # The left child takes the place of its parent, and the right one waits behind it.
                beside = top + (middle > low)
                if middle < high:
                    for f in range(7):
                        waiting[beside, f] = waiting[top, f]
                    waiting[beside, 0], waiting[beside, 2 * part + 1] = nodes[k].right, middle
                if middle > low:
                    waiting[top, 0], waiting[top, 2 * part + 2] = nodes[k].left, middle
                top += (middle > low) + (middle < high) - 1


@kernel(inner=True)
def _partition(table, nodes, missing_left, k, order, low, high, spare):
    """Sort entries that go left before those that go right; return where the latter begin."""
    column, middle, others = nodes[k].feature, low, 0
    for q in range(low, high):
        row = order[q]
        left = goes_left(table[row, column], nodes, missing_left, k)
        order[middle], spare[others] = row, row
        middle += left
        others += not left
    for q in range(others):
        order[middle + q] = spare[q]
    return middle


@kernel(inner=True)
def _bisect(grid, nodes, missing_left, k, low, high):
    """Return the first place of a sorted grid that goes right."""
    while low < high:
        middle = (low + high) // 2
        if goes_left(grid[middle, nodes[k].feature], nodes, missing_left, k):
            low = middle + 1
        else:
            high = middle
    return low


@kernel(inner=True)
def _add(leaf, value, order, waiting, top, weights, target, n_first, out):
    """Add a leaf's value to each row; with a target, add it to that once, times all weights."""
    end, total = waiting[top, 2], 0.0
    for q in range(waiting[top, 1], end):
        total += weights[order[q]]
        if target >= 0 and q < end - 1:
            continue
        row = target if target >= 0 else order[q]
        for c in range(value.shape[1]):
            for s in range(waiting[top, 5], waiting[top, 6]):
                second = order[s] - n_first
                out[row, c, waiting[top, 3], second] += total * value[leaf, c]
                out[row, c, waiting[top, 4], second] -= total * value[leaf, c]
        total = 0.0
