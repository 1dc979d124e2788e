"""Path-dependent TreeSHAP by exact quadrature for few rows: one row at a time.

The operations of `blocks` in the same order, so that a row gets the same bytes. Down the entries of
a tree in their order with A, and back up with Q.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from splitcredit.kernels.compiled import kernel
from splitcredit.kernels.tree_shap.blocks import TRIPLE, quadratures


def attribute(forest, outputs, X, rows, out) -> None:
    """Add attributions to `out`; see `tree_shap`."""
    for of_trees in quadratures(forest, outputs):
        take_one_by_one(len(rows), of_trees, X, rows, out)


class Work(NamedTuple):
    """Numbers of the entries and terms of a tree, for one row."""

    A: np.ndarray
    q: np.ndarray  # if x goes second, if first; as it goes
    scale: np.ndarray  # 1 / h^2
    edge: np.ndarray  # o below the edge into the entry, s, o z (s - r), o
    depth: np.ndarray
    inside: np.ndarray  # o below the edge into a depth of the path
    Q: np.ndarray


@kernel(parallel=True)
def take_one_by_one(first, last, of_trees, X, rows, out):
    """Take every row through every tree; a row belongs to one thread."""
    layout, extents, triples, points, weights = of_trees
    entries, terms, starts = layout.entries, layout.terms, layout.starts
    n_entries, n_terms, (deepest, most, _) = 0, 0, extents
    for t in range(len(triples)):
        n_entries = max(n_entries, starts[t + 1, 0] - starts[t, 0])
        n_terms = max(n_terms, starts[t + 1, 1] - starts[t, 1])
    most *= TRIPLE
    work = Work(
        np.empty((n_entries, most)),
        np.empty((3, n_entries, most)),
        np.empty((n_entries, most)),
        np.empty((n_entries, 4)),
        np.empty(n_entries, np.int64),
        np.empty(deepest),
        np.empty((n_terms, most)),
    )
    work.inside[0] = 1.0
    for i in range(first, last):
        row = np.uint64(rows[i])
        for t in range(len(triples)):
            start, stop = np.uint64(starts[t, 0]), np.uint64(starts[t + 1, 0])
            if start < stop:
                first_term, rule = np.uint64(starts[t, 1]), np.uint64(triples[t])
                for k in range(np.uint64(TRIPLE) * rule):
                    work.A[0, k] = weights[rule, k]
                work.depth[0] = 0
                for e in range(start, stop):
                    _down(entries, e, start, rule, points, X, row, work)
                for below in range(stop - start):
                    e = stop - below - np.uint64(1)
                    _up(entries, terms, e, start, first_term, rule, work, i, out)


# Indices have no sign: of others, each would be asked whether it counts from the end.


@kernel(inline=True)
def _down(entries, e, start, rule, points, X, row, work):
    """Fill s, o z (s - r), q and 1 / h^2 of an entry; A and o of its children."""
    A, q, scale, edge, depth, inside, _ = work
    entry, here, n_points = entries[e], e - start, np.uint64(TRIPLE) * rule
    if here > 0:
        inside[np.uint64(depth[here])] = edge[here, 0]
    o, z, ratio = inside[np.uint64(entry.above)], entry.z, entry.ratio
    x = X[row, np.uint64(entry.column)]
    left = entry.missing_left if x != x else x <= entry.threshold
    s = 1.0 if left != entry.first_is_right else 0.0
    edge[here, 1], edge[here, 2], edge[here, 3] = s, o * z * (s - ratio), o
    for k in range(n_points):
        t, inverse = points[rule, k], 1.0
        low = (1 - t) * ratio
        if entry.above > 0:
            inverse = 1 / (t + (1 - t) * z)
            low = (1 - t) * z * ratio * inverse
        high = t * inverse + low
        scale[here, k] = inverse * inverse
        q[0, here, k], q[1, here, k] = low, high
        q[2, here, k] = low + s * (high - low) if o > 0 else ratio
    for child, is_first in ((entry.first, True), (entry.second, False)):
        if child >= 0:
            below = np.uint64(child) - start
            edge[below, 0], depth[below] = o * (s if is_first else 1 - s), depth[here] + 1
            for k in range(n_points):
                A[below, k] = A[here, k] * (q[2, here, k] if is_first else 1 - q[2, here, k])


@kernel(inline=True)
def _up(entries, terms, e, start, first_term, rule, work, i, out):
    """Compute Q of the terms of an entry, and credit its feature."""
    A, q, scale, edge, _, _, Q = work
    entry, here, triple = entries[e], e - start, np.uint64(TRIPLE)
    row, j = np.uint64(i), np.uint64(entry.feature)
    # As in blocks, where a root is never taken together with its parent.
    bottom = here > 0 and entry.first < 0 and entry.second < 0
    for place in range(np.uint64(entry.n_terms)):
        at = np.uint64(entry.terms) + place
        term, at = terms[at], at - first_term
        total, w, v = 0.0, term.first_value - term.second_value, term.second_value
        if bottom:
            s, taken = edge[here, 1], edge[here, 3] > 0
            for g in range(rule):
                part = 0.0
                for k in range(triple * g, triple * g + triple):
                    part += scale[here, k] * A[here, k]
                    if taken:
                        low = v + q[0, here, k] * w
                        Q[at, k] = low + s * (v + q[1, here, k] * w - low)
                    else:
                        Q[at, k] = v + q[2, here, k] * w
                total += part
            out[row, j, np.uint64(term.output)] += edge[here, 2] * total * w
            continue
        # The terms of the children with the same output, if it varies there.
        has_first, has_second = place < entry.n_first, term.second >= 0
        one, two = np.uint64(0), np.uint64(0)
        if has_first:
            one = np.uint64(entries[np.uint64(entry.first)].terms) + place - first_term
        if has_second:
            two = np.uint64(entries[np.uint64(entry.second)].terms)
            two += np.uint64(term.second) - first_term
        for g in range(rule):
            part = 0.0
            for k in range(triple * g, triple * g + triple):
                second = Q[two, k] if has_second else v
                difference = (Q[one, k] if has_first else term.first_value) - second
                part += scale[here, k] * A[here, k] * difference
                Q[at, k] = second + q[2, here, k] * difference
            total += part
        out[row, j, np.uint64(term.output)] += edge[here, 2] * total
