"""Rows of tables as columns of a block, and back: eight rows at a time.

Rows lie one behind the other in memory, so eight of them are read or written as eight streams, and
eight numbers of a column of a block are one line of the caches.
"""

from __future__ import annotations

import math

from splitcredit.kernels.compiled import kernel

# Rows taken together. The functions below write them out.
EIGHT = 8


def flattened(out):
    """A view of attributions that has one line a row, also if there are no rows."""
    return out.reshape(len(out), math.prod(out.shape[1:]))


@kernel(inner=True, apart=True)
def take_rows(table, rows, start, n_rows, block):
    """Copy ``table[rows[start + lane], j]`` to ``block[j, lane]``."""
    whole = n_rows // EIGHT * EIGHT
    for lane in range(0, whole, EIGHT):
        k = start + lane
        some = rows[k], rows[k + 1], rows[k + 2], rows[k + 3]
        others = rows[k + 4], rows[k + 5], rows[k + 6], rows[k + 7]
        _take_eight(table, some, others, lane, block)
    for lane in range(whole, n_rows):
        row = rows[start + lane]
        for j in range(table.shape[1]):
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
    whole = n_rows // EIGHT * EIGHT
    for lane in range(0, whole, EIGHT):
        k = start + lane
        _take_eight(out, (k, k + 1, k + 2, k + 3), (k + 4, k + 5, k + 6, k + 7), lane, block)
    for lane in range(whole, n_rows):
        for j in range(out.shape[1]):
            block[j, lane] = out[start + lane, j]


@kernel(inner=True, apart=True)
def write_sums(block, start, n_rows, out):
    """Copy ``block[j, lane]`` to ``out[start + lane, j]``."""
    whole = n_rows // EIGHT * EIGHT
    for lane in range(0, whole, EIGHT):
        k = start + lane
        for j in range(out.shape[1]):
            out[k, j] = block[j, lane]
            out[k + 1, j] = block[j, lane + 1]
            out[k + 2, j] = block[j, lane + 2]
            out[k + 3, j] = block[j, lane + 3]
            out[k + 4, j] = block[j, lane + 4]
            out[k + 5, j] = block[j, lane + 5]
            out[k + 6, j] = block[j, lane + 6]
            out[k + 7, j] = block[j, lane + 7]
    for lane in range(whole, n_rows):
        for j in range(out.shape[1]):
            out[start + lane, j] = block[j, lane]


@kernel(inner=True, apart=True)
def _take_eight(table, some, others, lane, block):
    """Copy four rows and four others to eight lanes of a block."""
    (r0, r1, r2, r3), (r4, r5, r6, r7) = some, others
    for j in range(table.shape[1]):
        block[j, lane] = table[r0, j]
        block[j, lane + 1] = table[r1, j]
        block[j, lane + 2] = table[r2, j]
        block[j, lane + 3] = table[r3, j]
        block[j, lane + 4] = table[r4, j]
        block[j, lane + 5] = table[r5, j]
        block[j, lane + 6] = table[r6, j]
        block[j, lane + 7] = table[r7, j]
