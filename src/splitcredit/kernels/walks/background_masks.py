"""Average predictions over background rows as more and more features become known, by bit sets.

f_S(x) of `sage` is a mean over the rows z of the background of the prediction at ``(x_S, z_-S)``.
In a permutation S grows by a feature at each step. The rows go down a tree together, as a set, for
all steps at once: an item is a node, a set of background rows, and the steps from a to b at which
they come there. At a node whose feature becomes known at step m, all rows go where x goes from m
on. Before m the set is split by a mask, which has a bit for each row of the background: those that
go another way than x go there until m. A leaf adds its value at step a and takes it away at step b,
so the work does not grow with the number of features, but with the leaves that the rows come to.

Where the prediction is a function of the sum of the trees, such as softmax, each row of the
background has a sum of its own, and the mean is over that function.

The sums are made in the order of the trees, for each pair alone, so they depend neither on other
pairs nor on threads. Counts are exact.
"""

from __future__ import annotations

from typing import NamedTuple

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
# Numbers of the sums of background rows that a thread holds: 32 MB.
SUMS = 1 << 22
# What the mean is over; see `BackgroundMasks`.
LINKS = RAW, PROBABILITY, LOG_LOSS = "raw", "probability", "log_loss"
_ONES = np.uint64(0xFFFF_FFFF_FFFF_FFFF)
# Bits of a word that count pairs, fours and bytes, and the sum of all bytes in the highest one.
_PAIRS, _FOURS = np.uint64(0x5555_5555_5555_5555), np.uint64(0x3333_3333_3333_3333)
_BYTES, _EACH = np.uint64(0x0F0F_0F0F_0F0F_0F0F), np.uint64(0x0101_0101_0101_0101)


class BackgroundMasks:
    """Background rows that go left at each node of a forest, and means over them.

    With the link ``"raw"`` the mean is over the predictions of the forest. With ``"probability"``
    it is over the probabilities that they mean as scores of classes, by softmax, of a single score
    those of the two classes; with ``"log_loss"`` over the loss in nats of the class of each row in
    `targets`.
    """

    def __init__(self, forest, X, background, link=RAW, targets=None):
        self.forest, self.X, self.background = forest, X, background
        self.nodes, self.link = packed_nodes(forest), LINKS.index(link)
        self.targets = np.zeros(len(X), np.int64) if targets is None else targets
        self.n_outputs = {RAW: forest.n_outputs, LOG_LOSS: 1}.get(link, max(2, forest.n_outputs))
        n_inner = len(self.nodes[0])
        self.leaf_values = readonly(forest.value[inner_first(forest)[n_inner:]])
        self.deepest = _deepest(self.nodes[0])
        at_once = WORDS // max(1, n_inner)
        fits = n_blocks(len(background), BITS) <= at_once
        if link != RAW:
            at_once = min(at_once, SUMS // (BITS * (forest.n_features + 2) * forest.n_outputs))
        rows = BITS * max(1, at_once)
        # Nodes for each word of rows, and sums of each row, of which a function is taken.
        n_sums = forest.n_trees + (forest.n_features + 1) * self.n_outputs
        n_rows = 0 if link == RAW else len(background)
        self.steps_of_order = n_inner * n_blocks(len(background), BITS) + n_rows * n_sums
        self.chunks = [background[a : a + rows] for a in range(0, len(background), rows)]
        # What all pairs share is made once, if it may stay in memory as a whole.
        self.masks = [self._masks_of(chunk) for chunk in self.chunks] if fits else None

    def means(self, rows, known) -> np.ndarray:
        """Average for sets of known features, float64 (n_pairs, n_outputs)."""
        return self._means(rows, np.where(known, 0, 1), 1, 2)[:, 0]

    def along(self, rows, ranks) -> np.ndarray:
        """Average for 0, 1, ... known features, (n_pairs, n_features + 1, n_outputs)."""
        return self._means(rows, ranks, 0, self.forest.n_features + 1)

    def _means(self, rows, ranks, start, stop):
        """Average where the features of ranks below start, ..., stop - 1 are known."""
        forest = self.forest
        out = np.zeros((len(rows), stop - start, self.n_outputs))
        scale = 1 / forest.n_trees if forest.aggregate == "mean" else 1.0
        trees = Trees(*self.nodes, self.leaf_values, self.deepest)
        link = Link(self.link, self.targets, scale, forest.base)
        pairs = Pairs(self.X, rows, np.ascontiguousarray(ranks, np.int64), start)
        for p, chunk in enumerate(self.chunks):
            masks = self._masks_of(chunk) if self.masks is None else self.masks[p]
            _add_sums(len(rows), trees, Masks(*masks, len(chunk)), pairs, link, out)
        out /= len(self.background)
        if LINKS[self.link] != RAW:
            return out
        if forest.aggregate == "mean":
            out /= forest.n_trees
        return out + forest.base

    def _masks_of(self, rows):
        """Return bits of the rows that go left at each inner node, and of all rows."""
        nodes, _, missing_left = self.nodes
        n_words = n_blocks(len(rows), BITS)
        left, all_rows = np.zeros((len(nodes), n_words), np.uint64), np.full(n_words, _ONES)
        all_rows[-1] >>= np.uint64(BITS * n_words - len(rows))
        _fill_masks(n_blocks(len(nodes)), nodes, missing_left, np.ascontiguousarray(rows.T), left)
        return readonly(left), readonly(all_rows)


def _deepest(nodes):
    """Return the most splits on a path; children come after their parents."""
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


class Trees(NamedTuple):
    """Packed nodes, see `packed_nodes`; the values of leaves, and the most splits on a path."""

    nodes: np.ndarray
    roots: np.ndarray
    missing_left: np.ndarray
    values: np.ndarray
    deepest: int


class Masks(NamedTuple):
    """Bits of the background rows that go left at each node, and of all of them."""

    left: np.ndarray
    all_rows: np.ndarray
    n_background: int


class Pairs(NamedTuple):
    """Rows of X, and from which rank on the features of each become known."""

    X: np.ndarray
    rows: np.ndarray
    ranks: np.ndarray
    start: int


class Link(NamedTuple):
    """The number of a link, the class of each row of X, and how sums become predictions."""

    number: int
    targets: np.ndarray
    scale: float
    base: np.ndarray


@kernel(parallel=True)
def _add_sums(first, last, trees, masks, pairs, link, out):
    """Add the sums over the background to `out`; a pair belongs to one thread.

    In one piece: with a function for the way of an item to a leaf it takes three times as long.
    """
    (nodes, roots, missing_left, values, deepest), (left, all_rows, _) = trees, masks
    X, rows, ranks, start = pairs
    n_inner, n_words, n_outputs = np.uint64(len(nodes)), len(all_rows), values.shape[1]
    n_steps, n_slots = out.shape[1], masks.n_background if link.number > 0 else 1
    changes = np.empty((n_slots, n_steps + 1, n_outputs))
    # The item that goes on, behind those that wait; at each node on the path two may be left.
    sets = np.empty((2 * deepest + 3, n_words), np.uint64)
    waiting = np.empty((2 * deepest + 3, 3), np.int64)
    for pair in range(first, last):
        i = np.uint64(rows[pair])
        changes[:] = 0.0
        for t in range(len(roots)):
            at, waiting[0, 0], waiting[0, 1], waiting[0, 2] = 0, roots[t], start, start + n_steps
            sets[0] = all_rows
            while at >= 0:
                k, a, b = np.uint64(waiting[at, 0]), waiting[at, 1], waiting[at, 2]
                while k < n_inner:
                    j = np.uint64(nodes[k].feature)
                    known_from = ranks[pair, j] + 1
                    x_left = goes_left(X[i, j], nodes, missing_left, k)
                    with_x = nodes[k].left if x_left else nodes[k].right
                    if a >= known_from:
                        k = np.uint64(with_x)
                        continue
                    some_with, some_other = _split(left, k, x_left, n_words, at, sets, sets)
                    if not some_other:
                        k = np.uint64(with_x)
                        continue
                    other = nodes[k].right if x_left else nodes[k].left
                    if some_with:
                        # Those that go with x are behind: they go on, and the others wait.
                        _take_out(n_words, at, sets, sets)
                        waiting[at, 0], waiting[at, 1] = other, a
                        waiting[at, 2] = min(b, known_from)
                        at += 1
                        if b > known_from:
                            _insert(n_words, at, sets, sets)
                            waiting[at, 0], waiting[at, 1], waiting[at, 2] = with_x, known_from, b
                            at += 1
                        k = np.uint64(with_x)
                        continue
                    if b > known_from:
                        sets[at + 1] = sets[at]
                        waiting[at, 0], waiting[at, 1], waiting[at, 2] = with_x, known_from, b
                        at, b = at + 1, known_from
                    k = np.uint64(other)
                leaf = k - n_inner
                if link.number > 0:
                    _add_to_rows(n_words, at, sets, values, leaf, a - start, b - start, changes)
                else:
                    count = _size(n_words, at, sets)
                    for c in range(n_outputs):
                        changes[0, a - start, c] += count * values[leaf, c]
                        changes[0, b - start, c] -= count * values[leaf, c]
                at -= 1
        if link.number > 0:
            _add_linked(changes, link, pair, i, out)
            continue
        for c in range(n_outputs):
            total = 0.0
            for s in range(n_steps):
                total += changes[0, s, c]
                out[pair, s, c] += total


@kernel(inner=True)
def _add_to_rows(n_words, at, sets, values, leaf, a, b, changes):
    """Add the value of a leaf to the sums of the rows in a set, from step a to step b."""
    for w in range(n_words):
        word = sets[at, w]
        while word != 0:
            rest = word & (word - np.uint64(1))
            row = np.uint64(w * BITS) + _n_bits((word ^ rest) - np.uint64(1))
            for c in range(values.shape[1]):
                # Trees of boosted models have values for one class each.
                if values[leaf, c] != 0.0:
                    changes[row, a, c] += values[leaf, c]
                    changes[row, b, c] -= values[leaf, c]
            word = rest


@kernel(inner=True)
def _add_linked(changes, link, pair, i, out):
    """Add the linked sums of all rows to `out`; compute the link only where a sum changes."""
    number, targets, scale, base = link
    n_classes, n_linked = changes.shape[2], out.shape[2]
    totals, scores, linked = np.empty(n_classes), np.empty(n_classes + 1), np.empty(n_linked)
    for row in range(changes.shape[0]):
        totals[:] = 0.0
        for s in range(out.shape[1]):
            moves = s == 0
            for c in range(n_classes):
                totals[c] += changes[row, s, c]
                moves = moves or changes[row, s, c] != 0.0
            if moves:
                _link(totals, scale, base, number, targets[i], scores, linked)
            for c in range(n_linked):
                out[pair, s, c] += linked[c]


@kernel(inner=True)
def _link(totals, scale, base, link, target, scores, linked):
    """Return probabilities of the classes, or the loss of one, from the sums of the trees."""
    # A single score belongs to the second of two classes; the first one has 0.
    n = max(2, len(totals))
    scores[0] = 0.0
    for c in range(len(totals)):
        scores[n - len(totals) + c] = totals[c] * scale + base[c]
    largest = scores[0]
    for c in range(1, n):
        largest = max(largest, scores[c])
    total = 0.0
    for c in range(n):
        total += np.exp(scores[c] - largest)
    if link == 2:
        linked[0] = np.log(total) - (scores[target] - largest)
        return
    for c in range(n):
        linked[c] = np.exp(scores[c] - largest) / total


@kernel(inner=True)
def _split(left, k, x_left, n_words, at, sets, below):
    """Put the part of a set that goes with x behind it; return whether some rows do, and others."""
    some_with, some_other = np.uint64(0), np.uint64(0)
    flip = np.uint64(0) if x_left else _ONES
    for w in range(n_words):
        part = sets[at, w] & (left[k, w] ^ flip)
        below[at + 1, w] = part
        some_with |= part
        some_other |= part ^ sets[at, w]
    return some_with != 0, some_other != 0


@kernel(inner=True)
def _take_out(n_words, at, sets, below):
    """Leave in a set the rows that are not in the part behind it."""
    for w in range(n_words):
        sets[at, w] ^= below[at + 1, w]


@kernel(inner=True)
def _insert(n_words, at, sets, below):
    """Move a set one place back, and put a copy of the one before it in its place."""
    for w in range(n_words):
        below[at + 1, w] = sets[at, w]
        sets[at, w] = below[at - 1, w]


@kernel(inner=True)
def _size(n_words, at, sets):
    """Count the rows in a set."""
    total = np.uint64(0)
    for w in range(n_words):
        total += _n_bits(sets[at, w])
    return np.float64(total)


@kernel(inner=True)
def _n_bits(x):
    """Count the bits of a word, by pairs, fours and bytes."""
    x -= (x >> np.uint64(1)) & _PAIRS
    x = (x & _FOURS) + ((x >> np.uint64(2)) & _FOURS)
    x = (x + (x >> np.uint64(4))) & _BYTES
    return (x * _EACH) >> np.uint64(56)
