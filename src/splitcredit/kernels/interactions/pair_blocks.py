r"""Path-dependent interaction index of pairs, for blocks of rows and all outputs at once.

`tree_shap.blocks` derives what a node with feature k credits to k: with A, h, Q and the quadrature
as there, o z (s - r) sum over the points of A / h^2 (Q_1 - Q_2). Each point's part of this is the
difference that the node makes to the sum of the leaves' terms with (o_k - z_k) / f_k as the factor
of k. For the pair of k and a feature j tested above, that sum has the factor
(o_j - z_j) / f_j, too, with o_j and z_j as merged above the node. So the node credits::

    o z (s - r) sum over the points of A / h^2 (Q_1 - Q_2) (o_j - z_j) / f_j

to the pair, and every pair of features of a path is credited at the lower of the two. What a
node below does to the factor of j, if it tests j again, is credited there. The quotient is
(1 - z_j) / (t + (1 - t) z_j) for the rows with o_j = 1, and -1 / (1 - t), whatever j, for the
others; so for each j there is one sum over the points, and another for all j together.

The integrand has the degree m - 2 for m features on a path: ceil((m - 1) / 2) points are exact.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from splitcredit.kernels.compiled import kernel
from splitcredit.kernels.interactions.links import linked_layouts
from splitcredit.kernels.interactions.shares import LANES, pass_weights, write_shares
from splitcredit.kernels.nodes import n_blocks
from splitcredit.kernels.tree_shap.blocks import gauss_legendre
from splitcredit.kernels.tree_shap.lanes import TRIPLE, compute_shares, enter_edge, split_rows
from splitcredit.kernels.tree_shap.transposed import flattened, take_lines, write_lines


class Space(NamedTuple):
    """Buffers of a traversal, for one tree at a time."""

    frames: np.ndarray  # float64 (depths, threes, 6 * LANES): A and then q of three points
    # float64 (depths, 2, terms, threes, 3 * LANES): Q of the nodes at a depth: of a second child
    # and of a first child
    sums: np.ndarray
    # float64 (3, depths, LANES): o below the edge into the depth, s, and o z (s - r)
    lane_data: np.ndarray
    scale: np.ndarray  # float64 (depths, points): 1 / h^2
    # float64 (threes, 3 * LANES): what each point of a node credits to its feature
    by_point: np.ndarray
    # float64 (2, LANES): sums over points, for rows with o_j = 1 and with o_j = 0
    total: np.ndarray
    path: np.ndarray  # int64 (depths,): the entries above


def pair_index(forest, X, outputs, table, n_pairs, singles, keep) -> np.ndarray:
    """Compute the index of numbered pairs and, behind them, Shapley values if `singles`."""
    n_sets = n_pairs + (forest.n_features if singles else 0)
    out = np.zeros((len(X), n_sets, len(outputs)))
    X = np.array(X, np.float64)
    any_nan = bool(np.isnan(X).any())
    for layout, links in linked_layouts(forest, outputs, table, keep):
        triples, rules = triples_and_rules(layout, singles)
        extent = n_pairs, int(layout.depths.max()) + 2, len(outputs)
        arrays = layout, links, triples, rules, X, any_nan, extent, flattened(out)
        _blocks(n_blocks(len(out), LANES), *arrays)
    if forest.aggregate == "mean":
        out /= forest.n_trees
    return out


def triples_and_rules(layout, singles) -> tuple:
    """Return the threes of points that are exact for each tree, and the rules by their number."""
    # With single features the degree is m - 1, as in `tree_shap`.
    degrees = layout.n_features.astype(np.int64) - (1 if singles else 2)
    triples = np.where(degrees >= 0, degrees // (2 * TRIPLE) + 1, 0)
    return triples, gauss_legendre(int(triples.max()))


@kernel(parallel=True)
def _blocks(first_block, last_block, layout, links, triples, rules, X, any_nan, extent, out):
    """Take every block of rows through every tree with a wanted pair, or any single feature."""
    starts, link_starts = layout.starts, links.starts
    n_pairs, deepest, n_outputs = extent
    n_sets = out.shape[1] // n_outputs
    space = new_space(deepest, len(rules[0]) - 1, n_outputs)
    for block in range(first_block, last_block):
        start = block * LANES
        lanes = min(LANES, len(out) - start)
        x, phi = np.empty((X.shape[1], lanes)), np.empty((out.shape[1], lanes))
        take_lines(X, True, start, lanes, x)
        take_lines(out, True, start, lanes, phi)
        for t in range(len(triples)):
            first, last = starts[t, 0], starts[t + 1, 0]
            if triples[t] > 0 and (n_sets > n_pairs or link_starts[first] < link_starts[last]):
                tree = first, last, triples[t], n_pairs, n_outputs
                traverse(layout, links, tree, rules, any_nan, x, phi, space)
        write_lines(phi, start, lanes, out)


@kernel(inner=True)
def new_space(deepest, most, n_outputs):
    """Allocate buffers for trees of so many depths, threes of points and outputs."""
    return Space(
        np.empty((deepest, most, 2 * TRIPLE * LANES)),
        np.empty((deepest, 2, n_outputs, most, TRIPLE * LANES)),
        np.zeros((3, deepest, LANES)),
        np.empty((deepest, most * TRIPLE)),
        np.empty((most, TRIPLE * LANES)),
        np.zeros((2, LANES)),
        np.empty(deepest, np.int64),
    )


@kernel(inline=True)
def traverse(layout, links, tree, rules, any_nan, x, phi, space):
    """Take a block of rows down to each entry of a tree, and up from it once all below are done.

    It becomes a part of its callers, and takes the arrays out of the tuples before its loops: numba
    counts references to what an inner function takes out of a tuple, and to the arrays of one that
    calls others.
    """
    root, behind, n_triples, n_pairs, n_outputs = tree
    points, weights = rules
    entries, terms, depths = layout.entries, layout.terms, links.depths
    linked, link_starts = links.links, links.starts
    frames, sums, lane_data = space.frames, space.sums, space.lane_data
    scale, by_point, total, path = space.scale, space.by_point, space.total, space.path
    lanes = x.shape[1]
    for lane in range(LANES):
        lane_data[0, 0, lane] = 1.0
    for k in range(n_triples * TRIPLE):
        for lane in range(lanes):
            frames[0, k // TRIPLE, k % TRIPLE * LANES + lane] = weights[n_triples, k]
    open_entries, last = np.int64(0), n_triples - 1
    n_own = 1 if n_pairs * n_outputs < len(phi) else 0
    for e in range(root, behind + 1):
        d = np.int64(depths[e]) if e < behind else np.int64(0)
        # Those that are not above it are done: credit their pairs, and make their Q.
        while open_entries > d:
            open_entries -= 1
            top, done = open_entries, path[open_entries]
            entry = entries[done]
            side = np.int64(top > 0 and entries[path[top - 1]].first == done)
            begin, end = link_starts[done], link_starts[done + 1]
            for i in range(entry.n_terms):
                term = terms[entry.terms + i]
                has_first, own = i < entry.n_first, (side, i)
                for g in range(n_triples):
                    where = top, g, lanes
                    _merge_children(
                        term, has_first, where, own, scale, frames, lane_data, sums, sums, by_point
                    )
                for g in range(n_triples if begin < end else 0):
                    k = g * TRIPLE
                    t0, t1 = points[n_triples, k], points[n_triples, k + 1]
                    t2 = points[n_triples, k + 2]
                    c0, c1, c2 = 1 / (t0 - 1), 1 / (t1 - 1), 1 / (t2 - 1)
                    keep = 0.0 if g == 0 else 1.0
                    for lane in range(lanes):
                        part = c0 * by_point[g, lane] + c1 * by_point[g, LANES + lane]
                        part += c2 * by_point[g, 2 * LANES + lane]
                        total[1, lane] = keep * total[1, lane] + part
                # The entry's own feature, if wanted, comes before its pairs.
                for place in range(begin - n_own, end):
                    z, above = 1.0, np.int64(0)
                    to = (n_pairs + entry.feature) * n_outputs + term.output
                    if place >= begin:
                        z, above = linked[place].z, np.int64(linked[place].above)
                        to = linked[place].number * n_outputs + term.output
                    for g in range(n_triples):
                        k = g * TRIPLE
                        t0, t1 = points[n_triples, k], points[n_triples, k + 1]
                        t2 = points[n_triples, k + 2]
                        c0, c1, c2 = 1.0, 1.0, 1.0
                        if place >= begin:
                            c0, c1 = (1 - z) / (t0 + (1 - t0) * z), (1 - z) / (t1 + (1 - t1) * z)
                            c2 = (1 - z) / (t2 + (1 - t2) * z)
                        keep = 0.0 if g == 0 else 1.0
                        if g < last:
                            for lane in range(lanes):
                                part = c0 * by_point[g, lane] + c1 * by_point[g, LANES + lane]
                                part += c2 * by_point[g, 2 * LANES + lane]
                                total[0, lane] = keep * total[0, lane] + part
                            continue
                        # The total of rows with o_j = 1, or with o_j = 0.
                        for lane in range(lanes):
                            part = c0 * by_point[g, lane] + c1 * by_point[g, LANES + lane]
                            part += c2 * by_point[g, 2 * LANES + lane]
                            part += keep * total[0, lane]
                            is_inside = lane_data[0, above, lane] > 0
                            phi[to, lane] += part if is_inside else total[1, lane]
        if e < behind:
            if d > 0:
                is_first = entries[path[d - 1]].first == e
                above = entries[path[d - 1]].above
                enter_edge(above, d - 1, lanes, is_first, lane_data, lane_data)
                for g in range(n_triples):
                    pass_weights(d - 1, g, lanes, is_first, frames, frames)
            path[d] = e
            open_entries = d + 1
            new = entries[e]
            split_rows(new, d, lanes, x, any_nan, lane_data, lane_data)
            for g in range(n_triples):
                taken, not_taken, inverse = compute_shares(new, points, n_triples, g)
                for k in range(TRIPLE):
                    scale[d, g * TRIPLE + k] = inverse[k]
                above, ratio = new.above, new.ratio
                write_shares(above, ratio, d, g, lanes, lane_data, taken, not_taken, frames)


# The loops below run over lanes, with unit stride and constant distances, so that the compiler
# makes vector instructions of them.


@kernel(inner=True)
def _merge_children(
    term, in_first, where, own, scales, frames, lane_data, children, sums, by_point
):
    """Compute Q of a node from its children; return what each of three points credits."""
    (d, g, lanes), (side, place) = where, own
    u, v, in_second, other = term.first_value, term.second_value, term.second >= 0, term.second
    other = other if in_second else 0
    for k in range(TRIPLE):
        scale = scales[d, g * TRIPLE + k]
        for lane in range(lanes):
            at = k * LANES + lane
            below = children[d + 1, 0, other, g, at] if in_second else v
            difference = (children[d + 1, 1, place, g, at] if in_first else u) - below
            by_point[g, at] = scale * frames[d, g, at] * difference * lane_data[2, d, lane]
            sums[d, side, place, g, at] = below + frames[d, g, 3 * LANES + at] * difference
