"""Partial dependence: rows and the values of a grid go down each tree together.

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
    cached_per_forest,
    goes_left,
    inner_first,
    n_blocks,
    packed_nodes,
)

# Most blocks of rows of a weighted mean, each with sums of its own.
_BLOCKS = 32


def curves(forest, X, first, second, owner, outputs, weights=None) -> np.ndarray:
    """Predictions of prepared rows with studied features at each pair of grid values.

    `first` and `second` are prepared rows, (n_first, n_columns) and (n_second, n_columns), with the
    grid values in the studied columns; those of `first` are sorted. `owner` says for each column
    whose value counts: 0 that of X, 1 that of `first`, 2 that of `second`. Returns float64
    (n_samples, n_outputs, n_first, n_second), or with weights of the rows (n_samples,) their
    weighted mean, (1, n_outputs, n_first, n_second). Rows have the same bytes in any call.
    """
    size = BLOCK if weights is None else max(BLOCK, -(-len(X) // _BLOCKS))
    n_targets = len(X) if weights is None else n_blocks(len(X), size)
    out = np.zeros((n_targets, len(outputs), len(first) + 1, len(second)))
    _blocks(
        n_blocks(len(X), size),
        *packed_nodes(forest),
        inner_first(forest),
        *as_readonly(forest.value[:, outputs], X, np.concatenate([first, second]), owner),
        *as_readonly(np.zeros(0) if weights is None else weights),
        (size, len(first), _largest_tree(forest)),
        out,
    )
    if weights is not None:
        out = out.sum(axis=0, keepdims=True) / weights.sum()
    out = np.cumsum(out[:, :, :-1], axis=2)
    if forest.aggregate == "mean":
        out /= forest.n_trees
    return out + forest.base[outputs][:, None, None]


@cached_per_forest
def _largest_tree(forest):
    return int(np.diff(forest.tree_offsets).max())


@kernel(parallel=True)
def _blocks(
    begin, end, nodes, roots, missing_left, numbers, value, X, grid, owner, weights, sizes, out
):
    """Each block of rows goes down all trees, with the grid values that reach a node."""
    size, n_first, largest = sizes
    n, n_grid = len(X), len(grid)
    # Rows, and behind them second grid values; first ones need no list, as they stay sorted.
    order, spare = np.empty(size + n_grid, np.int64), np.empty(size + n_grid, np.int64)
    # Of each node to visit: its number, and where rows, first and second values begin and end.
    waiting = np.empty((largest + 1, 7), np.int64)
    for block in range(begin, end):
        start = block * size
        m = min(n, start + size) - start
        for t in range(len(roots)):
            for q in range(m):
                order[q] = start + q
            for q in range(n_first, n_grid):
                order[m + q - n_first] = q
            waiting[0, 0], waiting[0, 1], waiting[0, 2] = roots[t], 0, m
            waiting[0, 3], waiting[0, 4] = 0, n_first
            waiting[0, 5], waiting[0, 6] = m, m + n_grid - n_first
            top = 0
            while top >= 0:
                k = waiting[top, 0]
                if k >= len(nodes):
                    _add(numbers[k], value, order, waiting, top, weights, block, n_first, out)
                    top -= 1
                    continue
                part = owner[nodes[k].feature]
                low, high = waiting[top, 2 * part + 1], waiting[top, 2 * part + 2]
                if part == 0:
                    middle = _parted(X, nodes, missing_left, k, order, low, high, spare)
                elif part == 1:
                    middle = _bisected(grid, nodes, missing_left, k, low, high)
                else:
                    middle = _parted(grid, nodes, missing_left, k, order, low, high, spare)
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
def _parted(table, nodes, missing_left, k, order, low, high, spare):
    """Put those that go left before the others, both in their order; where the others begin."""
    column, middle, others = nodes[k].feature, low, 0
    for q in range(low, high):
        row = order[q]
        left = goes_left(table[row, column], nodes, missing_left, k)
        order[middle] = row
        spare[others] = row
        middle += left
        others += not left
    for q in range(others):
        order[middle + q] = spare[q]
    return middle


@kernel(inner=True)
def _bisected(grid, nodes, missing_left, k, low, high):
    """Where those of a sorted grid begin that do not go left."""
    column = nodes[k].feature
    while low < high:
        middle = (low + high) // 2
        if goes_left(grid[middle, column], nodes, missing_left, k):
            low = middle + 1
        else:
            high = middle
    return low


@kernel(inner=True)
def _add(leaf, value, order, waiting, top, weights, block, n_first, out):
    """Add the value of a leaf to each row, or times their weights to the sums of the block."""
    begin, end = waiting[top, 1], waiting[top, 2]
    if len(weights) == 0:
        for q in range(begin, end):
            for c in range(value.shape[1]):
                _add_between(value[leaf, c], order, waiting, top, order[q], c, n_first, out)
    else:
        total = 0.0
        for q in range(begin, end):
            total += weights[order[q]]
        for c in range(value.shape[1]):
            _add_between(total * value[leaf, c], order, waiting, top, block, c, n_first, out)


@kernel(inline=True)
def _add_between(worth, order, waiting, top, target, c, n_first, out):
    """Add at the first grid value that is left, and take off behind the last."""
    for q in range(waiting[top, 5], waiting[top, 6]):
        second = order[q] - n_first
        out[target, c, waiting[top, 3], second] += worth
        out[target, c, waiting[top, 4], second] -= worth
