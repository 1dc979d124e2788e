"""Rows of tables as columns of a block, and back: a few columns at a time, which fit the caches."""

from __future__ import annotations

import math

from splitcredit.kernels.compiled import kernel

# Columns taken together. They are one line of the caches of a row, and of the block as many lines
# as the caches hold for addresses that far apart.
TILE = 8


def flattened(out):
    """A view of attributions that has one line a row, also if there are no rows."""
    return out.reshape(len(out), math.prod(out.shape[1:]))


@kernel(inner=True, apart=True)
def take_rows(table, rows, start, n_rows, block):
    """Copy ``table[rows[start + lane], j]`` to ``block[j, lane]``."""
    n_columns = table.shape[1]
    for first in range(0, n_columns, TILE):
        last = min(n_columns, first + TILE)
        for lane in range(n_rows):
            row = rows[start + lane]
            for j in range(first, last):
                block[j, lane] = table[row, j]


@kernel(inner=True, apart=True)
def take_sums(out, begun, start, n_rows, block):
    """Copy ``out[start + lane, j]`` to ``block[j, lane]``; zeros if no sum is begun."""
    if not begun:
        # Memory that nothing was written to is better not read: it would be mapped twice.
        for j in range(len(block)):
            for lane in range(block.shape[1]):
                block[j, lane] = 0.0
        return
    for first in range(0, out.shape[1], TILE):
        last = min(out.shape[1], first + TILE)
        for lane in range(n_rows):
            for j in range(first, last):
                block[j, lane] = out[start + lane, j]


@kernel(inner=True, apart=True)
def write_sums(block, start, n_rows, out):
    """Copy ``block[j, lane]`` to ``out[start + lane, j]``."""
    for first in range(0, out.shape[1], TILE):
        last = min(out.shape[1], first + TILE)
        for lane in range(n_rows):
            for j in range(first, last):
                out[start + lane, j] = block[j, lane]
