"""Mean prediction over background rows where some features are known: sets of rows as bits.

f_S(x) of `sage` is a mean over the rows z of the background of the prediction at ``(x_S, z_-S)``.
The rows go down a tree together, as a set: at a node that tests a known feature all go where x
goes; at another one the set is split in two by a mask, which has a bit for each row of the
background. A leaf counts the rows that reach it. An empty set goes no further.

The sums over the leaves are made in the order of the trees, for each pair alone, so they depend
neither on other pairs nor on threads. Counts are exact.
"""

from __future__ import annotations

import numpy as np

from splitcredit.kernels.compiled import kernel
from splitcredit.kernels.nodes import (
    BLOCK,
    goes_left,
    inner_first,
    n_blocks,
    packed_nodes,
    readonly,
)

# Rows in one word of a mask.
BITS = 64
# Words of the masks that are held at once: 128 MB.
WORDS = 1 << 24
# Pairs that share working memory, one thread's work.
PAIRS = 64
_ONES = np.uint64(0xFFFF_FFFF_FFFF_FFFF)
# Bits of a word that count pairs, fours and bytes, and the sum of all bytes in the highest one.
_PAIRS, _FOURS = np.uint64(0x5555_5555_5555_5555), np.uint64(0x3333_3333_3333_3333)
_BYTES, _EACH = np.uint64(0x0F0F_0F0F_0F0F_0F0F), np.uint64(0x0101_0101_0101_0101)


class BackgroundMasks:
    """Background rows that go left at each node of a forest, and means over them.

    Parameters
    ----------
    forest : Forest
    X, background : prepared rows
    """

    def __init__(self, forest, X, background):
        self.forest, self.X, self.background = forest, X, background
        self.nodes = packed_nodes(forest)
        n_inner = len(self.nodes[0])
        self.leaf_values = readonly(forest.value[inner_first(forest)[n_inner:]])
        self.deepest = _deepest(self.nodes[0])
        rows = BITS * max(1, WORDS // max(1, n_inner))
        self.parts = [background[a : a + rows] for a in range(0, len(background), rows)]
        # What all pairs share is made once, if it may stay in memory as a whole.
        self.masks = self._masks_of(self.parts[0]) if len(self.parts) == 1 else None

    def means(self, rows, known) -> np.ndarray:
        """Mean predictions, float64 (n_pairs, n_outputs).

        Parameters
        ----------
        rows : int64 (n_pairs,)
            Rows of X.
        known : bool (n_pairs, n_columns)
            Which columns of the prepared rows are those of x.
        """
        out = np.zeros((len(rows), self.forest.n_outputs))
        for part in self.parts:
            masks = self._masks_of(part) if self.masks is None else self.masks
            arrays = *self.nodes, self.leaf_values, *masks, self.deepest, self.X, rows, known
            _add_means(n_blocks(len(rows), PAIRS), *arrays, out)
        out /= len(self.background)
        if self.forest.aggregate == "mean":
            out /= self.forest.n_trees
        return out + self.forest.base

    def _masks_of(self, rows):
        """Bits of the rows that go left at each inner node, and of all rows."""
        nodes, _, missing_left = self.nodes
        n_words = n_blocks(len(rows), BITS)
        left, all_rows = np.zeros((len(nodes), n_words), np.uint64), np.full(n_words, _ONES)
        all_rows[-1] >>= np.uint64(BITS * n_words - len(rows))
        _fill_masks(n_blocks(len(nodes)), nodes, missing_left, np.ascontiguousarray(rows.T), left)
        return readonly(left), readonly(all_rows)


def _deepest(nodes):
    """Most splits on a path; children come after their parents."""
    depth = np.zeros(len(nodes) + 1, np.int64)
    _fill_depths(nodes, depth)
    return int(depth.max()) + 1


@kernel()
def _fill_depths(nodes, depth):
    for k in range(len(nodes)):
        for child in (nodes[k].left, nodes[k].right):
            if child < len(nodes):
                depth[child] = depth[k] + 1


@kernel(parallel=True)
def _fill_masks(first, last, nodes, missing_left, columns, left):
    n = columns.shape[1]
    for k in range(first * BLOCK, min(len(nodes), last * BLOCK)):
        j = nodes[k].feature
        for w in range(left.shape[1]):
            word = np.uint64(0)
            for row in range(w * BITS, min(n, (w + 1) * BITS)):
                bit = goes_left(columns[j, row], nodes, missing_left, k)
                word |= np.uint64(bit) << np.uint64(row - w * BITS)
            left[k, w] = word


@kernel(parallel=True)
def _add_means(
    first, last, nodes, roots, missing_left, values, left, all_rows, deepest, X, rows, known, out
):
    """Add to `out` the sums over the background; one pair is one thread's."""
    n_inner, n_words, n_outputs = np.uint64(len(nodes)), len(all_rows), out.shape[1]
    # The set that goes on, behind those that wait, each at the node in its place.
    sets, waiting = np.empty((deepest + 1, n_words), np.uint64), np.empty(deepest, np.uint64)
    for pair in range(first * PAIRS, min(len(rows), last * PAIRS)):
        i = np.uint64(rows[pair])
        for t in range(len(roots)):
            k, n_waiting = np.uint64(roots[t]), 0
            for w in range(n_words):
                sets[0, w] = all_rows[w]
            while True:
                while k < n_inner:
                    j = np.uint64(nodes[k].feature)
                    some_left = some_right = True
                    if known[pair, j]:
                        some_left = goes_left(X[i, j], nodes, missing_left, k)
                        some_right = not some_left
                    else:
                        some_left, some_right = _split(left, k, n_words, n_waiting, sets, sets)
                    if some_left and some_right:
                        _take_out(n_words, n_waiting, sets, sets)
                        waiting[n_waiting] = nodes[k].right
                        n_waiting += 1
                    k = np.uint64(nodes[k].left if some_left else nodes[k].right)
                count = _size(n_words, n_waiting, sets)
                for c in range(n_outputs):
                    out[pair, c] += count * values[k - n_inner, c]
                if n_waiting == 0:
                    break
                n_waiting -= 1
                k = waiting[n_waiting]


@kernel(inner=True)
def _split(left, k, n_words, at, sets, below):
    """Put the part of a set that goes left behind it; whether some rows go left, and right."""
    some_left, some_right = np.uint64(0), np.uint64(0)
    for w in range(n_words):
        part = sets[at, w] & left[k, w]
        below[at + 1, w] = part
        some_left |= part
        some_right |= part ^ sets[at, w]
    return some_left != 0, some_right != 0


@kernel(inner=True)
def _take_out(n_words, at, sets, below):
    """Leave in a set what is not in the part behind it."""
    for w in range(n_words):
        sets[at, w] ^= below[at + 1, w]


@kernel(inner=True)
def _size(n_words, at, sets):
    """Number of rows in a set: of bits, by pairs, fours and bytes."""
    total = np.uint64(0)
    for w in range(n_words):
        x = sets[at, w]
        x -= (x >> np.uint64(1)) & _PAIRS
        x = (x & _FOURS) + ((x >> np.uint64(2)) & _FOURS)
        x = (x + (x >> np.uint64(4))) & _BYTES
        total += (x * _EACH) >> np.uint64(56)
    return np.float64(total)
