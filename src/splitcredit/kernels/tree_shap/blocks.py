r"""Path-dependent TreeSHAP by exact quadrature, for blocks of rows and all outputs at once.

The guide of this folder has the idea and the symbols. In full, the Shapley value of j is::

    phi_j = sum over leaves of v (o_j - z_j) * integral of prod_{i != j} f_i(t) dt,
    f_i(t) = (1 - t) z_i + t o_i.

One traversal of a tree serves a block of rows. At a node at depth d that tests j, with (o, z) of
j as merged above (1, 1 if j is new), s = 1 if x goes to the first child, r the cover ratio of the
first child, h_k = t_k + (1 - t_k) z, and for each point k::

    q_k = (t_k s + (1 - t_k) z r) / h_k   if o = 1,   r   if o = 0   (share of the first child)
    A_k: product of the factors above, times the weight of the point; A q_k goes to the first
         child, A (1 - q_k) to the second
    Q_k: sum over the leaves below of v times the factors below; Q = Q_2 + q_k (Q_1 - Q_2)
    phi_j += o z (s - r) sum_k A_k / h_k^2 (Q_1 - Q_2)

The last line covers features that repeat on a path: the two ways of writing a leaf's term, with
the factor as merged above and below the node, differ by just this amount. A is the same for all
outputs. Q is made for the outputs that vary below the node and no others: most of the cost for
classifiers with pure leaves.

Q of a first child is held on the stack of its parent's own Q and is turned into that in its place;
Q of a second child is held on the other of the two stacks.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numba
import numpy as np

from splitcredit.kernels import cache
from splitcredit.kernels.compiled import kernel
from splitcredit.kernels.nodes import n_blocks
from splitcredit.kernels.tree_shap.lanes import (
    LANES,
    STRIDE,
    TRIPLE,
    WIDTH,
    add_child_weights,
    compute_shares,
    credit_feature,
    enter_edge,
    evaluate_bottom,
    fill,
    fill_shares,
    merge_both,
    merge_first,
    pass_weights,
    split_rows,
)
from splitcredit.kernels.tree_shap.layout import TreeLayout, make_layouts
from splitcredit.kernels.tree_shap.transposed import (
    BESIDE,
    flattened,
    take_lines,
    take_rows,
    write_lines,
)

# Rows of `Space.path`.
AT, DONE, STACK, BASE = 0, 1, 2, 3


class Space(NamedTuple):
    """Buffers of a traversal, for one tree at a time."""

    frames: np.ndarray  # float64 (depths, threes, 3 * STRIDE): A of three points
    sums: np.ndarray  # float64 (2, places, threes, 3 * STRIDE): Q, on two stacks
    # float64 (3, depths, STRIDE): o below the edge into the depth, s, and o z (s - r)
    lane_data: np.ndarray
    # float64 (3, depths, points): 1 / h^2, and q where o = 1: of rows that go to the first child,
    # and of the others
    shares: np.ndarray
    total: np.ndarray  # float64 (STRIDE,): sums over the points
    # int64 (5, depths): of each node on the path: its entry, its children done, the stack that its
    # Q goes to, and the heights of both stacks when it is entered
    path: np.ndarray
    heights: np.ndarray  # int64 (2,): of the stacks


class Quadrature(NamedTuple):
    """A layout with the space that its trees need, threes of points, and their rules."""

    layout: TreeLayout
    # most depths, threes of points and places of a tree, for `workspace`
    extents: tuple[int, int, int]
    triples: np.ndarray  # int64 (n_trees,): threes of points that are exact for each tree
    points: np.ndarray  # float64 (most triples + 1, points): on [0, 1], for each number of threes
    weights: np.ndarray  # float64 (most triples + 1, points)


def attribute(forest, outputs, X, rows, out) -> None:
    """Write attributions to `out`, which holds zeros."""
    # With each layout but the first, a block starts from what is in `out`, so that the sum over
    # trees is made in one order, wherever the layouts of the forest end.
    begun = False
    flat, size = flattened(out), _block_size(len(rows))
    for of_trees in quadratures(forest, outputs):
        _blocks(n_blocks(len(rows), size), of_trees, X, rows, size, len(outputs), begun, flat)
        begun = True


def _block_size(n_rows):
    """Return the rows of a block: one a lane, or fewer, so that all threads have work."""
    share = n_blocks(n_rows, numba.get_num_threads())
    return min(LANES, max(1, n_blocks(share, WIDTH)) * WIDTH)


def quadratures(forest, outputs):
    """Yield the quadrature of each layout of the forest."""

    def make():
        return map(quadrature, make_layouts(forest, outputs))

    return cache.ARRAYS.items(forest, ("quadratures", *outputs.tolist()), make)


def quadrature(layout) -> Quadrature:
    """Return the quadrature of the trees of a layout."""
    triples = (layout.n_features.astype(np.int64) + 2 * TRIPLE - 1) // (2 * TRIPLE)
    most = int(triples.max())
    extents = int(layout.depths.max()) + 2, most, int(layout.places.max())
    return Quadrature(layout, extents, triples, *gauss_legendre(most))


@lru_cache(maxsize=8)
def gauss_legendre(most):
    """Return the rules on [0, 1] with 0, 3, 6 ... points, one a row: points and weights."""
    points = np.zeros((most + 1, max(most * TRIPLE, 1)))
    weights = np.zeros_like(points)
    for rule in range(1, most + 1):
        k = rule * TRIPLE
        x, w = np.polynomial.legendre.leggauss(k)
        points[rule, :k] = (x + 1) / 2
        weights[rule, :k] = w / 2
    return points, weights


@kernel(parallel=True)
def _blocks(first, last, of_trees, X, rows, size, n_outputs, begun, out):
    """Take every block of rows through every tree; a block belongs to one thread."""
    layout, extents, triples, points, weights = of_trees
    entries, terms, starts = layout.entries, layout.terms, layout.starts
    space = workspace(extents)
    width = LANES + BESIDE
    x, phi = np.zeros((X.shape[1], width)), np.zeros((out.shape[1], width))
    for block in range(first, last):
        start = block * size
        n_rows = min(size, len(out) - start)
        any_nan = take_rows(X, rows, start, n_rows, x)
        take_lines(out, begun, start, n_rows, phi)
        for t in range(len(triples)):
            if starts[t, 0] < starts[t + 1, 0]:
                tree = starts[t, 0], triples[t], n_outputs, padded(n_rows)
                traverse(entries, terms, tree, points, weights, any_nan, x, phi, space)
        write_lines(phi, start, n_rows, out)


@kernel(inner=True)
def padded(lanes):
    """Return the lanes for so many rows: complete vectors, as a part of one costs as much."""
    return (lanes + WIDTH - 1) // WIDTH * WIDTH


@kernel(inner=True)
def workspace(extents):
    """Allocate buffers for trees of these depths, threes of points and places; see `Space`."""
    deepest, most, held = extents
    return Space(
        np.empty((deepest, most, TRIPLE * STRIDE)),
        np.empty((2, held, most, TRIPLE * STRIDE)),
        np.zeros((3, deepest, STRIDE)),
        np.empty((3, deepest, most * TRIPLE)),
        np.zeros(STRIDE),
        np.empty((5, deepest), np.int64),
        np.empty(2, np.int64),
    )


@kernel(inline=True)
def traverse(entries, terms, tree, points, weights, any_nan, x, phi, space):
    """Take one block of rows through one tree.

    No arrays and no views of them are made in here: numba would count references to them, at a cost
    greater than that of the arithmetic. So it is one function, too: in three, of which each takes
    the arrays out of the tuple, it took a tenth longer.
    """
    root, n_triples, n_outputs, lanes = tree
    frames, sums, lane_data, shares, total, path, top = space
    for lane in range(LANES):
        lane_data[0, 0, lane] = 1.0
    for k in range(n_triples * TRIPLE):
        for lane in range(k % TRIPLE * STRIDE, k % TRIPLE * STRIDE + LANES):
            frames[0, k // TRIPLE, lane] = weights[n_triples, k]
    # Not a literal, for which numba would compile inner functions once more.
    d = np.int64(0)
    top[0] = top[1] = d
    path[AT, 0], path[DONE, 0], path[STACK, 0], path[BASE, 0], path[BASE + 1, 0] = root, 0, 0, 0, 0
    while d >= 0:
        entry = entries[path[AT, d]]
        if path[DONE, d] == 0:
            split_rows(entry, d, lanes, x, any_nan, lane_data, lane_data)
            fill_shares(entry, d, n_triples, points, shares)
        if path[DONE, d] < 2:
            is_first = path[DONE, d] == 0
            path[DONE, d] += 1
            child = entry.first if is_first else entry.second
            if child < 0:
                continue
            into = path[STACK, d] if is_first else 1 - path[STACK, d]
            if entry.repeats:
                enter_edge(entry.above, d, lanes, is_first, lane_data, lane_data)
            below = entries[child]
            if below.first < 0 and below.second < 0:
                # Nothing varies below: its A need not be stored.
                split_rows(below, d + 1, lanes, x, any_nan, lane_data, lane_data)
                for g in range(n_triples):
                    taken, not_taken, scale = compute_shares(below, points, n_triples, g)
                    for k in range(TRIPLE):
                        shares[0, d + 1, g * TRIPLE + k] = scale[k]
                    where = d, g, lanes
                    add_child_weights(entry, where, is_first, frames, shares, lane_data, total)
                    for i in range(below.n_terms):
                        term = terms[below.terms + i]
                        v, w = term.second_value, term.first_value - term.second_value
                        low = v + not_taken[0] * w, v + not_taken[1] * w, v + not_taken[2] * w
                        high = v + taken[0] * w, v + taken[1] * w, v + taken[2] * w
                        values, own = (high, low, v + below.ratio * w), (into, top[into] + i)
                        where = d + 1, g, lanes
                        evaluate_bottom(below.above, where, values, lane_data, sums, own)
                for i in range(below.n_terms):
                    term = terms[below.terms + i]
                    difference = term.first_value - term.second_value
                    to = below.feature * n_outputs + term.output
                    credit_feature(d + 1, lanes, lane_data, total, difference, phi, to)
                top[into] += below.n_terms
                continue
            for g in range(n_triples):
                where = d, g, lanes
                pass_weights(entry, where, is_first, shares, lane_data, frames, frames)
            d += 1
            path[AT, d], path[DONE, d], path[STACK, d] = child, 0, into
            path[BASE, d], path[BASE + 1, d] = top[0], top[1]
            continue
        stack, other = path[STACK, d], 1 - path[STACK, d]
        for i in range(entry.n_terms):
            term = terms[entry.terms + i]
            own = stack, path[BASE + stack, d] + i
            second, v = np.int64(term.second), term.second_value
            if i >= entry.n_first:
                fill(n_triples, lanes, term.first_value, sums, own)
            if second >= 0:
                others = other, path[BASE + other, d] + second
                for g in range(n_triples):
                    where = d, g, lanes
                    merge_both(
                        entry, where, frames, shares, lane_data, sums, own, sums, others, total
                    )
            else:
                for g in range(n_triples):
                    where = d, g, lanes
                    merge_first(entry, where, frames, shares, lane_data, sums, own, v, total)
            to = entry.feature * n_outputs + term.output
            credit_feature(d, lanes, lane_data, total, 1.0, phi, to)
        top[stack] = path[BASE + stack, d] + entry.n_terms
        top[other] = path[BASE + other, d]
        d -= 1
