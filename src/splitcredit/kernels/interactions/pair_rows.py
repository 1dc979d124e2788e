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
    path, order = np.empty(deepest, np.uint64), np.empty(n_entries, np.uint64)
    parts = np.empty((n_outputs, most))  # what each point of an entry credits to its feature
    quotients = np.empty((2, most))  # what parts are multiplied by if satisfied, and if not
    totals = np.empty(n_outputs)
    for i in range(first, last):
        row = np.uint64(i)
        for t in range(len(triples)):
            start, stop = np.uint64(starts[t, 0]), np.uint64(starts[t + 1, 0])
            first_link, rule = np.uint64(link_starts[start]), np.uint64(triples[t])
            if rule == 0 or (n_sets == n_pairs and link_starts[start] == link_starts[stop]):
                continue
            for k in range(np.uint64(TRIPLE) * rule):
                A[0, k] = weights[rule, k]
                quotients[1, k] = 1 / (points[rule, k] - 1)
            for e in range(start, stop):
                _down(
                    entries,
                    np.uint64(depths[e]),
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
                    first_link,
                )
            _order_of_leaving(start, stop, depths, path, order)
            for number in range(stop - start):
                _up(
                    entries,
                    terms,
                    linked,
                    link_starts,
                    order[number],
                    start,
                    np.uint64(starts[t, 1]),
                    rule,
                    points,
                    A,
                    q,
                    scale,
                    Q,
                    edge,
                    satisfied,
                    first_link,
                    parts,
                    quotients,
                    totals,
                    n_pairs,
                    row,
                    out,
                )


# Indices have no sign: of others, each would be asked whether it counts from the end.


@kernel(inner=True)
def _order_of_leaving(start, stop, depths, path, order):
    """Entries of a tree, each after all those below it, which come in their order."""
    n_left, n_open = 0, 0
    for e in range(start, stop + np.uint64(1)):
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
    first_link,
):
    """Fill o z (s - r), q and 1 / h^2 of an entry; A and o of its children."""
    entry, here, n_points = entries[e], e - start, np.uint64(TRIPLE) * rule
    if here > 0:
        inside[depth] = edge[here, 0]
    o, z, ratio = inside[np.uint64(entry.above)], entry.z, entry.ratio
    x = X[row, np.uint64(entry.column)]
    left = entry.missing_left if x != x else x <= entry.threshold
    s = 1.0 if left != entry.first_is_right else 0.0
    edge[here, 1] = o * z * (s - ratio)
    for k in range(n_points):
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
            below = np.uint64(child) - start
            edge[below, 0] = o * (s if is_first else 1 - s)
            for k in range(n_points):
                A[below, k] = A[here, k] * (q[here, k] if is_first else 1 - q[here, k])
    for place in range(np.uint64(link_starts[e]), np.uint64(link_starts[e + np.uint64(1)])):
        satisfied[place - first_link] = inside[np.uint64(linked[place].above)] > 0


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
    first_link,
    parts,
    quotients,
    totals,
    n_pairs,
    row,
    out,
):
    """Q of the terms of an entry; what they credit to its feature, and to its pairs."""
    entry, here, triple = entries[e], e - start, np.uint64(TRIPLE)
    n_terms, its_terms = np.uint64(entry.n_terms), np.uint64(entry.terms)
    feature = np.uint64(n_pairs) + np.uint64(entry.feature)
    for i in range(n_terms):
        term, at = terms[its_terms + i], its_terms + i - first_term
        # The terms of the children with the same output, if it varies there.
        has_first, has_second = i < entry.n_first, term.second >= 0
        one, two = np.uint64(0), np.uint64(0)
        if has_first:
            one = np.uint64(entries[np.uint64(entry.first)].terms) + i - first_term
        if has_second:
            two = np.uint64(entries[np.uint64(entry.second)].terms)
            two += np.uint64(term.second) - first_term
        whole, outside = 0.0, 0.0
        for g in range(rule):
            k = triple * g
            for point in range(k, k + triple):
                second = Q[two, point] if has_second else term.second_value
                difference = (Q[one, point] if has_first else term.first_value) - second
                weight = scale[here, point] * A[here, point]
                parts[i, point] = weight * difference * edge[here, 1]
                Q[at, point] = second + q[here, point] * difference
            p0, p1, p2 = parts[i, k], parts[i, k + np.uint64(1)], parts[i, k + np.uint64(2)]
            whole += p0 + p1 + p2
            c0, c1 = quotients[1, k], quotients[1, k + np.uint64(1)]
            outside += c0 * p0 + c1 * p1 + quotients[1, k + np.uint64(2)] * p2
        totals[i] = outside
        if n_pairs < out.shape[1]:
            out[row, feature, np.uint64(term.output)] += whole
    for place in range(np.uint64(link_starts[e]), np.uint64(link_starts[e + np.uint64(1)])):
        z, pair = linked[place].z, np.uint64(linked[place].number)
        if satisfied[place - first_link]:
            for k in range(triple * rule):
                quotients[0, k] = (1 - z) / (points[rule, k] + (1 - points[rule, k]) * z)
            for i in range(n_terms):
                total = 0.0
                for g in range(rule):
                    k = triple * g
                    c0, c1 = quotients[0, k], quotients[0, k + np.uint64(1)]
                    part = c0 * parts[i, k] + c1 * parts[i, k + np.uint64(1)]
                    total += part + quotients[0, k + np.uint64(2)] * parts[i, k + np.uint64(2)]
                out[row, pair, np.uint64(terms[its_terms + i].output)] += total
        else:
            for i in range(n_terms):
                out[row, pair, np.uint64(terms[its_terms + i].output)] += totals[i]
