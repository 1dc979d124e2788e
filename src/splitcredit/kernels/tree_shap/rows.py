"""Path-dependent TreeSHAP by exact quadrature for few rows: one row at a time.

The formulas of `blocks`, which derives them, in the same order of operations, so that a
row gets the same bytes; without what it costs to set up loops over many rows. Down the entries of a
tree in their order with A, and back up with Q.
"""

from __future__ import annotations

import numpy as np

from splitcredit.kernels.compiled import kernel
from splitcredit.kernels.tree_shap.blocks import TRIPLE, quadratures


def attribute(forest, outputs, X, rows, out) -> None:
    """Add attributions to `out`; see `tree_shap`."""
    for arrays in quadratures(forest, outputs):
        take_one_by_one(len(rows), *arrays, X, rows, out)


def fixed(forest, outputs):
    """What the kernel takes of each part of the forest, whatever the rows."""
    return quadratures(forest, outputs)


def arguments(of_forest, X, rows, begun, out):
    """What the kernel is given for one of `fixed` and rows that one thread takes."""
    return 0, len(rows), *of_forest, X, rows, out


def compiled_for(arguments):
    """The compiled function that takes these `arguments`."""
    return take_one_by_one.for_types_of(*arguments)


@kernel(parallel=True)
def take_one_by_one(first, last, layout, extents, triples, points, weights, X, rows, out):
    """Take every row through every tree; one row is one thread's."""
    entries, terms, starts = layout.entries, layout.terms, layout.starts
    n_entries, n_terms, (deepest, most, _) = 0, 0, extents
    for t in range(len(triples)):
        n_entries = max(n_entries, starts[t + 1, 0] - starts[t, 0])
        n_terms = max(n_terms, starts[t + 1, 1] - starts[t, 1])
    most *= TRIPLE
    A = np.empty((n_entries, most))
    q = np.empty((3, n_entries, most))  # if x goes second, if first; as it goes
    scale = np.empty((n_entries, most))  # 1 / h^2
    Q = np.empty((n_terms, most))
    edge = np.empty((n_entries, 4))  # o below the edge into the entry, s, o z (s - r), o
    depth = np.empty(n_entries, np.int64)
    inside = np.empty(deepest)  # o below the edge into a depth of the path
    inside[0] = 1.0
    for i in range(first, last):
        for t in range(len(triples)):
            start, stop = starts[t, 0], starts[t + 1, 0]
            if start < stop:
                rule = triples[t]
                for k in range(TRIPLE * rule):
                    A[0, k] = weights[rule, k]
                depth[0] = 0
                for e in range(start, stop):
                    _down(
                        entries,
                        e,
                        start,
                        rule,
                        points,
                        X,
                        rows[i],
                        A,
                        q,
                        scale,
                        edge,
                        depth,
                        inside,
                    )
                for e in range(stop - 1, start - 1, -1):
                    _up(entries, terms, e, start, starts[t, 1], rule, A, q, scale, edge, Q, i, out)


@kernel(inline=True)
def _down(entries, e, start, rule, points, X, row, A, q, scale, edge, depth, inside):
    """Fill s, o z (s - r), q and 1 / h^2 of an entry; A and o of its children."""
    entry, here = entries[e], e - start
    if here > 0:
        inside[depth[here]] = edge[here, 0]
    o, z, ratio, x = inside[entry.above], entry.z, entry.ratio, X[row, entry.column]
    left = entry.missing_left if x != x else x <= entry.threshold
    s = 1.0 if left != entry.first_is_right else 0.0
    edge[here, 1], edge[here, 2], edge[here, 3] = s, o * z * (s - ratio), o
    for k in range(TRIPLE * rule):
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
            below = child - start
            edge[below, 0], depth[below] = o * (s if is_first else 1 - s), depth[here] + 1
            for k in range(TRIPLE * rule):
                A[below, k] = A[here, k] * (q[2, here, k] if is_first else 1 - q[2, here, k])


@kernel(inline=True)
def _up(entries, terms, e, start, first_term, rule, A, q, scale, edge, Q, i, out):
    """Q of the terms of an entry, and what they credit to its feature."""
    entry, here = entries[e], e - start
    # As in blocks, where a root is never taken together with its parent.
    bottom = here > 0 and entry.first < 0 and entry.second < 0
    for place in range(entry.n_terms):
        term, at = terms[entry.terms + place], entry.terms + place - first_term
        # The terms of the children with the same output, if it varies there.
        one = entries[entry.first].terms + place - first_term if place < entry.n_first else -1
        two = entries[entry.second].terms + term.second - first_term if term.second >= 0 else -1
        total, w = 0.0, term.first_value - term.second_value
        for g in range(rule):
            part = 0.0
            for k in range(g * TRIPLE, (g + 1) * TRIPLE):
                second = Q[two, k] if two >= 0 else term.second_value
                difference = (Q[one, k] if one >= 0 else term.first_value) - second
                weight = scale[here, k] * A[here, k]
                part += weight if one < 0 and two < 0 else weight * difference
                Q[at, k] = second + q[2, here, k] * difference
                if bottom and edge[here, 3] > 0:
                    low = second + q[0, here, k] * w
                    Q[at, k] = low + edge[here, 1] * (second + q[1, here, k] * w - low)
            total += part * w if one < 0 and two < 0 and not bottom else part
        credit = edge[here, 2] * total
        out[i, entry.feature, term.output] += credit * w if bottom else credit
