"""Rows of tables as columns of a block, and back: eight rows at a time.

Rows lie one behind the other in memory, so eight of them are read or written as eight streams, and
eight numbers of a column of a block are one line of the caches.
"""

from __future__ import annotations

import math

from splitcredit.kernels.compiled import kernel
from splitcredit.kernels.tree_shap.vectors import EIGHT, exchange

# Lanes of a block beside those of its rows: columns a power of two apart would get into each
# other's way in the caches.
BESIDE = 40


def flattened(out):
    """A view of attributions that has one line a row, also if there are no rows."""
    return out.reshape(len(out), math.prod(out.shape[1:]))


@kernel(inner=True, apart=True)
def take_rows(table, rows, start, n_rows, block):
    """Copy ``table[rows[start + lane], j]`` to ``block[j, lane]``."""
    n_columns, width = table.shape[1], block.shape[1]
    whole = n_rows // EIGHT * EIGHT if n_columns >= EIGHT else 0
    for lane in range(0, whole, EIGHT):
        k = start + lane
        a, b, c, d = rows[k], rows[k + 1], rows[k + 2], rows[k + 3]
        e, f, g, h = rows[k + 4], rows[k + 5], rows[k + 6], rows[k + 7]
        for first in range(0, n_columns, EIGHT):
            j = min(first, n_columns - EIGHT)
            starts = (
                a * n_columns + j,
                b * n_columns + j,
                c * n_columns + j,
                d * n_columns + j,
                e * n_columns + j,
                f * n_columns + j,
                g * n_columns + j,
                h * n_columns + j,
            )
            exchange(table, starts, block, j * width + lane, width)
    for lane in range(whole, n_rows):
        for j in range(n_columns):
            block[j, lane] = table[rows[start + lane], j]


@kernel(inner=True, apart=True)
def holds_nan(block, n_rows):
    """Whether one of the rows of a block holds NaN."""
    for j in range(len(block)):
        count = 0
        for lane in range(n_rows):
            count += block[j, lane] != block[j, lane]
        if count > 0:
            return True
    return False


@kernel(inner=True, apart=True)
def take_sums(out, begun, start, n_rows, block):
    """Copy ``out[start + lane, j]`` to ``block[j, lane]``; zeros if no sum is begun."""
    if not begun:
        # Memory that nothing was written to is better not read: it would be mapped twice.
        for j in range(len(block)):
            for lane in range(block.shape[1]):
                block[j, lane] = 0.0
        return
    n_columns, width = out.shape[1], block.shape[1]
    whole = n_rows // EIGHT * EIGHT if n_columns >= EIGHT else 0
    for lane in range(0, whole, EIGHT):
        for first in range(0, n_columns, EIGHT):
            j = min(first, n_columns - EIGHT)
            starts = _eight_starts((start + lane) * n_columns + j, n_columns)
            exchange(out, starts, block, j * width + lane, width)
    for lane in range(whole, n_rows):
        for j in range(n_columns):
            block[j, lane] = out[start + lane, j]


@kernel(inner=True, apart=True)
def write_sums(block, start, n_rows, out):
    """Copy ``block[j, lane]`` to ``out[start + lane, j]``."""
    n_columns, width = out.shape[1], block.shape[1]
    whole = n_rows // EIGHT * EIGHT if n_columns >= EIGHT else 0
    for lane in range(0, whole, EIGHT):
        for first in range(0, n_columns, EIGHT):
            j = min(first, n_columns - EIGHT)
            starts = _eight_starts(j * width + lane, width)
            exchange(block, starts, out, (start + lane) * n_columns + j, n_columns)
    for lane in range(whole, n_rows):
        for j in range(n_columns):
            out[start + lane, j] = block[j, lane]


@kernel(inner=True)
def _eight_starts(at, stride):
    """Places at equal distances."""
    b, c, d, e = at + stride, at + 2 * stride, at + 3 * stride, at + 4 * stride
    return at, b, c, d, e, at + 5 * stride, at + 6 * stride, at + 7 * stride
