"""Path-dependent interaction index of pairs for few rows: one row at a time.

The formulas of `pair_blocks`, which derives them, in the same order of operations, so that a row
gets the same bytes; without what it costs to set up loops over many rows. Down the entries of a
tree with A, and back up with Q and the credits, in the order in which a block leaves the entries.
"""

from __future__ import annotations

import numpy as np

from splitcredit.kernels.compiled import kernel
from splitcredit.kernels.tree_shap.lanes import TRIPLE


@kernel(parallel=True)
def take_one_by_one(first, last, layout, links, triples, rules, X, extent, out):
    """Take every row through every tree; one row is one thread's."""
    entries, terms, starts = layout.entries, layout.terms, layout.starts
    linked, link_starts, depths = links.links, links.starts, links.depths
    (points, weights), (n_pairs, deepest) = rules, extent
    n_entries, n_terms, n_links = 0, 0, 0
    for t in range(len(triples)):
        n_entries = max(n_entries, starts[t + 1, 0] - starts[t, 0])
        n_terms = max(n_terms, starts[t + 1, 1] - starts[t, 1])
        n_links = max(n_links, link_starts[starts[t + 1, 0]] - link_starts[starts[t, 0]])
    most, n_sets, n_outputs = TRIPLE * (len(points) - 1), out.shape[1], out.shape[2]
    A, q = np.empty((n_entries, most)), np.empty((n_entries, most))
    scale = np.empty((n_entries, most))  # 1 / h^2
    Q = np.empty((n_terms, most))
    edge = np.empty((n_entries, 2))  # o below the edge into the entry, o z (s - r)
    inside = np.empty(deepest)  # o below the edge into a depth of the path
    inside[0] = 1.0
    satisfied = np.empty(n_links, np.bool_)
    path, order = np.empty(deepest, np.int64), np.empty(n_entries, np.int64)
    parts = np.empty((n_outputs, most))  # what each point of an entry credits to its feature
    quotients = np.empty((2, most))  # what parts are multiplied by if satisfied, and if not
    totals = np.empty(n_outputs)
    for row in range(first, last):
        for t in range(len(triples)):
            start, stop, rule = starts[t, 0], starts[t + 1, 0], triples[t]
            if rule == 0 or (n_sets == n_pairs and link_starts[start] == link_starts[stop]):
                continue
            for k in range(TRIPLE * rule):
                A[0, k] = weights[rule, k]
                quotients[1, k] = 1 / (points[rule, k] - 1)
            for e in range(start, stop):
                _down(
                    entries,
                    depths[e],
                    linked,
                    link_starts,
                    e,
                    start,
                    rule,
                    points,
                    X,
                    row,
                    A,
                    q,
                    scale,
                    edge,
                    inside,
                    satisfied,
                )
            _order_of_leaving(start, stop, depths, path, order)
            for i in range(stop - start):
                _up(
                    entries,
                    terms,
                    linked,
                    link_starts,
                    order[i],
                    start,
                    starts[t, 1],
                    rule,
                    points,
                    A,
                    q,
                    scale,
                    Q,
                    edge,
                    satisfied,
                    parts,
                    quotients,
                    totals,
                    n_pairs,
                    row,
                    out,
                )


@kernel(inner=True)
def _order_of_leaving(start, stop, depths, path, order):
    """Entries of a tree, each after all those below it, which come in their order."""
    n_left, n_open = 0, 0
    for e in range(start, stop + 1):
        depth = depths[e] if e < stop else 0
        while n_open > depth:
            n_open -= 1
            order[n_left] = path[n_open]
            n_left += 1
        path[depth] = e
        n_open = depth + 1


@kernel(inline=True)
def _down(
    entries,
    depth,
    linked,
    link_starts,
    e,
    start,
    rule,
    points,
    X,
    row,
    A,
    q,
    scale,
    edge,
    inside,
    satisfied,
):
    """Fill o z (s - r), q and 1 / h^2 of an entry; A and o of its children."""
    entry, here = entries[e], e - start
    if here > 0:
        inside[depth] = edge[here, 0]
    o, z, ratio, x = inside[entry.above], entry.z, entry.ratio, X[row, entry.column]
    left = entry.missing_left if x != x else x <= entry.threshold
    s = 1.0 if left != entry.first_is_right else 0.0
    edge[here, 1] = o * z * (s - ratio)
    for k in range(TRIPLE * rule):
        t, inverse = points[rule, k], 1.0
        low = (1 - t) * ratio
        if entry.above > 0:
            inverse = 1 / (t + (1 - t) * z)
            low = (1 - t) * z * ratio * inverse
        high = t * inverse + low
        scale[here, k] = inverse * inverse
        q[here, k] = low + s * (high - low) if o > 0 else ratio
    for child, is_first in ((entry.first, True), (entry.second, False)):
        if child >= 0:
            below = child - start
            edge[below, 0] = o * (s if is_first else 1 - s)
            for k in range(TRIPLE * rule):
                A[below, k] = A[here, k] * (q[here, k] if is_first else 1 - q[here, k])
    for place in range(link_starts[e], link_starts[e + 1]):
        satisfied[place - link_starts[start]] = inside[linked[place].above] > 0


@kernel(inline=True)
def _up(
    entries,
    terms,
    linked,
    link_starts,
    e,
    start,
    first_term,
    rule,
    points,
    A,
    q,
    scale,
    Q,
    edge,
    satisfied,
    parts,
    quotients,
    totals,
    n_pairs,
    row,
    out,
):
    """Q of the terms of an entry; what they credit to its feature, and to its pairs."""
    entry, here = entries[e], e - start
    for i in range(entry.n_terms):
        term, at = terms[entry.terms + i], entry.terms + i - first_term
        # The terms of the children with the same output, if it varies there.
        one = entries[entry.first].terms + i - first_term if i < entry.n_first else -1
        two = entries[entry.second].terms + term.second - first_term if term.second >= 0 else -1
        for k in range(TRIPLE * rule):
            second = Q[two, k] if two >= 0 else term.second_value
            difference = (Q[one, k] if one >= 0 else term.first_value) - second
            parts[i, k] = scale[here, k] * A[here, k] * difference * edge[here, 1]
            Q[at, k] = second + q[here, k] * difference
        whole, totals[i] = 0.0, 0.0
        for k in range(0, TRIPLE * rule, TRIPLE):
            whole += parts[i, k] + parts[i, k + 1] + parts[i, k + 2]
            part = quotients[1, k] * parts[i, k] + quotients[1, k + 1] * parts[i, k + 1]
            totals[i] += part + quotients[1, k + 2] * parts[i, k + 2]
        if n_pairs < out.shape[1]:
            out[row, n_pairs + entry.feature, term.output] += whole
    for place in range(link_starts[e], link_starts[e + 1]):
        z, pair = linked[place].z, linked[place].number
        if satisfied[place - link_starts[start]]:
            for k in range(TRIPLE * rule):
                quotients[0, k] = (1 - z) / (points[rule, k] + (1 - points[rule, k]) * z)
            for i in range(entry.n_terms):
                total = 0.0
                for k in range(0, TRIPLE * rule, TRIPLE):
                    part = quotients[0, k] * parts[i, k] + quotients[0, k + 1] * parts[i, k + 1]
                    total += part + quotients[0, k + 2] * parts[i, k + 2]
                out[row, pair, terms[entry.terms + i].output] += total
        else:
            for i in range(entry.n_terms):
                out[row, pair, terms[entry.terms + i].output] += totals[i]
