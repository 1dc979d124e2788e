"""Estimate prediction gaps: means of ``(f(x) - f(x'))^2`` or ``|f(x) - f(x')|`` over samples.

The trees are restricted first (`restricted_trees`) to the features of a pair and to the range that
their samples reach. Only features that the restricted trees test are perturbed. The base and all
that x' does not change cancel without rounding.

A block has `PARTIAL_SUMS` sums, the same for every list of counts: a mean over the first n samples
depends on those samples alone.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from splitcredit.kernels.compiled import kernel
from splitcredit.kernels.nodes import as_readonly
from splitcredit.kernels.prediction_gap.restricted_trees import (
    add_all,
    nodes_of,
    restrict,
    space,
    tested_features,
)

# Samples in one block: those of ten features stay in the first cache.
BLOCK = 512
# Sums of a block that are added up at its end.
PARTIAL_SUMS = 8


def sampled_gaps(
    forest, output, X, perturbed, scale, pool, streams, counts, *, absolute=False
) -> np.ndarray:
    """Average squared or absolute gaps over the first samples, float64 (n_pairs, n_counts)."""
    out = np.zeros((len(X), len(counts)))
    # Pairs of one stream follow each other, and every thread gets some of all sizes.
    order = np.argsort(streams, kind="stable")
    reached = pool[:, :, : counts[-1]]
    pairs = Pairs(*as_readonly(X, perturbed, streams, order))
    noise = Noise(*as_readonly(scale, pool, reached.min(axis=2), reached.max(axis=2)))
    (counts,) = as_readonly(counts)
    _means(len(order), nodes_of(forest, output), pairs, noise, counts, absolute, out)
    if forest.aggregate == "mean":
        out /= forest.n_trees if absolute else forest.n_trees**2
    return out


class Pairs(NamedTuple):
    """Rows, the features perturbed in each, the stream of its noise, and the order of the work."""

    X: np.ndarray
    perturbed: np.ndarray
    streams: np.ndarray
    order: np.ndarray


class Noise(NamedTuple):
    """The scale of each feature, the noise, and its smallest and largest values by stream."""

    scale: np.ndarray
    pool: np.ndarray
    low: np.ndarray
    high: np.ndarray


@kernel(parallel=True)
def _means(first, last, nodes, pairs, noise, counts, absolute, out):
    """Fill `out`; a pair belongs to one thread."""
    for at in range(first, last):
        _pair_means(nodes, pairs, pairs.order[at], noise, counts, absolute, out)


@kernel(inner=True)
def _pair_means(nodes, pairs, pair, noise, counts, absolute, out):
    (X, perturbed, streams, _), (scale, pool, lows, highs) = pairs, noise
    stream = streams[pair]
    ends = lows[stream], highs[stream]
    columns = np.full(X.shape[1], -1, np.int32)
    low, high = X[pair].copy(), X[pair].copy()
    n_columns = 0
    for j in range(X.shape[1]):
        if perturbed[pair, j]:
            columns[j] = n_columns
            _widen(X[pair, j], scale[j], ends, n_columns, j, low, high)
            n_columns += 1
    trees = space(nodes)
    n_trees = restrict(nodes, X, pair, columns, low, high, trees)
    if n_trees == 0:
        return
    tested = tested_features(nodes, X.shape[1], trees, n_trees)
    x = np.empty((n_columns, BLOCK), X.dtype)
    gap = np.empty(BLOCK)
    left, right = np.empty(BLOCK, nodes.value.dtype), np.empty(BLOCK, nodes.value.dtype)
    total, c, last = 0.0, 0, counts[-1]
    for first in range(0, last, BLOCK):
        n = min(BLOCK, last - first)
        for j in range(X.shape[1]):
            if tested[j]:
                _perturb(X[pair, j], scale[j], pool, stream, columns[j], first, n, x)
        add_all(nodes, columns, trees, n_trees, x, n, gap, left, right)
        while c < len(counts) and counts[c] <= first + n:
            out[pair, c] = (total + _sum(gap, counts[c] - first, absolute)) / counts[c]
            c += 1
        total += _sum(gap, n, absolute)


@kernel(inner=True)
def _widen(x, scale, ends, column, j, low, high):
    """Return the least and largest of x and its samples; NaN, which decides no split, if drawn."""
    center, scale = np.float64(x), np.float64(scale)
    low[j], high[j] = center + scale * ends[0][column], center + scale * ends[1][column]
    if low[j] > x:
        low[j] = x
    if high[j] < x:
        high[j] = x


@kernel(inner=True)
def _perturb(x, scale, pool, stream, column, first, n, out):
    """Draw samples of one feature, in the type in which the forest compares."""
    center, scale, start = np.float64(x), np.float64(scale), np.uint64(first)
    for i in range(np.uint64(n)):
        out[column, i] = center + scale * pool[stream, column, start + i]


@kernel(inner=True)
def _sum(gap, n, absolute):
    """Sum squares or absolute values of the first n, by `PARTIAL_SUMS` sums."""
    partial, whole = np.zeros(PARTIAL_SUMS), n - n % PARTIAL_SUMS
    for i in range(0, whole, PARTIAL_SUMS):
        for p in range(PARTIAL_SUMS):
            partial[p] += abs(gap[i + p]) if absolute else gap[i + p] * gap[i + p]
    for i in range(whole, n):
        partial[i - whole] += abs(gap[i]) if absolute else gap[i] * gap[i]
    total = 0.0
    for p in range(PARTIAL_SUMS):
        total += partial[p]
    return total
