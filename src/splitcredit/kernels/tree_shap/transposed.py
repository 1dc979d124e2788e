"""Copy rows of tables to columns of a block, and back."""

from __future__ import annotations

import math

from splitcredit.kernels.compiled import kernel

# Lanes of a block beside those of its rows: columns a power of two apart would get into each
# other's way in the caches.
BESIDE = 40


def flattened(out):
    """Return a view of attributions with one line a row, also if there are no rows."""
    return out.reshape(len(out), math.prod(out.shape[1:]))


@kernel(inner=True)
def take_rows(table, rows, start, n_rows, block):
    """Copy ``table[rows[start + lane], j]`` to ``block[j, lane]``; return whether NaN occurs."""
    any_nan = False
    for lane in range(n_rows):
        row = rows[start + lane]
        for j in range(table.shape[1]):
            block[j, lane] = table[row, j]
            any_nan |= table[row, j] != table[row, j]
    return any_nan


@kernel(inner=True)
def take_lines(table, begun, start, n_rows, block):
    """Copy ``table[start + lane, j]`` to ``block[j, lane]``; zeros if no sum is begun."""
    if not begun:
        # Memory that nothing was written to is better not read: it would be mapped twice.
        for j in range(block.shape[0]):
            for lane in range(block.shape[1]):
                block[j, lane] = 0.0
        return
    for lane in range(n_rows):
        for j in range(block.shape[0]):
            block[j, lane] = table[start + lane, j]


@kernel(inner=True)
def write_lines(block, start, n_rows, out):
    """Copy ``block[j, lane]`` to ``out[start + lane, j]``."""
    for lane in range(n_rows):
        for j in range(block.shape[0]):
            out[start + lane, j] = block[j, lane]
