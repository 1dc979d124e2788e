"""The inner nodes of trees, laid out in the order in which a traversal by quadrature meets them.

A layout holds the inner nodes below which some explained output still varies. The child with more
varying outputs is called `first` and is visited first. The sums of a node are written over those
of its first child (see `blocks`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from splitcredit.kernels.compiled import kernel
from splitcredit.kernels.nodes import nodes_of

# (node, output) pairs laid out at a time: bounds memory to some 40 MB whatever the forest.
CHUNK = 1 << 19

# One inner node.
ENTRY = np.dtype(
    [
        ("threshold", np.float64),
        ("ratio", np.float64),  # r: cover of the first child over that of both children
        ("z", np.float64),  # merged cover ratio of the feature above the node
        ("feature", np.int32),
        ("column", np.int32),  # of the rows, that is compared; the feature, but in tables
        ("above", np.int32),  # depth below the last edge that tests the feature, 0 if none
        ("first", np.int32),  # entry of the child, -1 if all outputs are constant below it
        ("second", np.int32),
        ("terms", np.int32),  # first of its terms
        ("n_terms", np.int32),  # outputs that vary below the node
        ("n_first", np.int32),  # those that vary below its first child: the first of its terms
        ("first_is_right", np.bool_),
        ("missing_left", np.bool_),
        ("repeats", np.bool_),  # whether a node below tests the same feature
        ("low", np.bool_),  # see `_is_low`
    ],
    align=True,
)

# One output that varies below an inner node.
TERM = np.dtype(
    [
        ("first_value", np.float64),  # value below the first child, if constant there
        ("second_value", np.float64),
        ("output", np.int32),
        ("second", np.int32),  # its place among the terms of the second child, -1 if constant
    ],
    align=True,
)


class TreeLayout(NamedTuple):
    """Entries of consecutive trees.

    Parameters
    ----------
    entries : `ENTRY` records
        Nodes of each tree, each before all that is below its second child, and that before all
        below its first: backwards, this is the order in which blocks credit nodes.
    terms : `TERM` records
    starts : int64 (n_trees + 1, 2)
        First entry and first term of each tree; it has none if all outputs are constant over it.
    n_features : int32 (n_trees,)
        Most distinct features on a path.
    depths : int32 (n_trees,)
        Most inner nodes on a path.
    places : int32 (n_trees,)
        Most sums held at a time on one stack.
    first : int
        Number of the first tree in the forest.
    """

    entries: np.ndarray
    terms: np.ndarray
    starts: np.ndarray
    n_features: np.ndarray
    depths: np.ndarray
    places: np.ndarray
    first: int


def make_layouts(forest, outputs):
    """Layouts of the forest for some outputs, a chunk of trees each.

    Parameters
    ----------
    forest : Forest
    outputs : int64 (n_explained,)
        Terms name an output by its place in here.
    """
    nodes, offsets, first = nodes_of(forest), forest.tree_offsets, 0
    while first < forest.n_trees:
        room = (offsets[first:] - offsets[first]) * len(outputs)
        last = first + max(1, int(np.searchsorted(room, CHUNK, side="right")) - 1)
        part = offsets[first : last + 1]
        layout = layout_of(nodes, forest.value, part, outputs, forest.n_features, first)
        if len(layout.entries):
            yield layout
        first = last


def layout_of(nodes, value, offsets, outputs, n_features, first=0) -> TreeLayout:
    """The layout of the trees between the first and the last of `offsets`, from tree `first` on."""
    shape = offsets[-1] - offsets[0], len(outputs)
    varies, constant = np.empty(shape, np.bool_), np.empty(shape)
    n_trees = len(offsets) - 1
    counts = np.zeros((n_trees, 2), np.int64)
    _find_varying(n_trees, nodes, value, offsets, outputs, varies, constant, counts)
    starts = np.concatenate([np.zeros((1, 2), np.int64), np.cumsum(counts, axis=0)])
    entries, terms = np.empty(starts[-1, 0], ENTRY), np.empty(starts[-1, 1], TERM)
    extents = np.zeros((n_trees, 3), np.int32)
    _fill(n_trees, nodes, offsets, varies, constant, starts, n_features, entries, terms, extents)
    return TreeLayout(entries, terms, starts, *np.ascontiguousarray(extents.T), first)


@kernel(parallel=True)
def _find_varying(first, last, nodes, value, offsets, outputs, varies, constant, counts):
    """Mark (node, output) where the output varies below the node, else note its one value.

    The numbers of entries and of terms of each tree go to `counts`, int64 (n_trees, 2).
    """
    n_outputs = len(outputs)
    feature, left, right = nodes.feature, nodes.left, nodes.right
    for t in range(first, last):
        n_entries, n_terms = 0, 0
        for node in range(offsets[t + 1] - 1, offsets[t] - 1, -1):
            k, some = node - offsets[0], False
            for c in range(n_outputs):
                if feature[node] < 0:
                    varies[k, c], constant[k, c] = False, value[node, outputs[c]]
                else:
                    a, b = left[node] - offsets[0], right[node] - offsets[0]
                    differ = constant[a, c] != constant[b, c]
                    varies[k, c] = varies[a, c] or varies[b, c] or differ
                    constant[k, c] = constant[a, c]
                    n_terms += varies[k, c]
                    some |= varies[k, c]
            n_entries += some
        counts[t, 0], counts[t, 1] = n_entries, n_terms


@kernel(parallel=True)
def _fill(
    first, last, nodes, offsets, varies, constant, starts, n_features, entries, terms, extents
):
    """Write entries and terms; most distinct features, depth and places of each tree."""
    n_outputs = varies.shape[1]
    for t in range(first, last):
        start, stop = starts[t, 0], starts[t + 1, 0]
        if stop == start:
            continue
        origin = offsets[0]
        triads = np.empty((stop - start, 3), np.int64)  # node, first and second child
        extents[t, 0], extents[t, 1] = _write_entries(
            nodes, offsets[t], origin, varies, n_features, starts[t], triads, entries
        )
        place, listed = np.full(n_outputs, -1, np.int32), np.zeros(n_outputs, np.bool_)
        places = np.zeros((stop - start, 2), np.int32)
        for e in range(stop - 1, start - 1, -1):
            node, a, b = triads[e - start]
            values = constant[a - origin], constant[b - origin]
            _write_terms(entries, terms, e, varies[node - origin], values, place, listed)
            _count_places(entries, e, start, places)
            entries[e].low = _is_low(entries, e)
        extents[t, 2] = max(places[0, 0], places[0, 1])


@kernel(inner=True)
def _write_entries(nodes, root, origin, varies, n_features, start, triads, entries):
    """Write the entries of one tree; most distinct features and most nodes on a path."""
    size, cover = len(triads), nodes.cover
    stack = np.empty((size + 1, 4), np.int64)  # node, depth, parent entry, whether first child
    # The path to the current entry, by depth below the edge: feature and merged ratio, and the
    # depth below the edge above that tests the same feature; and the last edge of each feature.
    path, merged = np.empty(size + 1, np.int32), np.empty(size + 1)
    above, last = np.empty(size + 1, np.int32), np.zeros(n_features, np.int32)
    by = np.empty(size + 1, np.int64)  # entry that the edge comes from
    stack[0, 0], stack[0, 1], stack[0, 2], stack[0, 3] = root, 0, -1, 0
    top, depth, unique, most, deepest = 1, 0, 0, 0, 0
    e, term = start[0], start[1]
    while top > 0:
        top -= 1
        node, d, parent, is_first = stack[top, 0], stack[top, 1], stack[top, 2], stack[top, 3]
        while depth > 0 and depth >= d:  # leave the edges that do not lead here
            last[path[depth]] = above[depth]
            unique -= above[depth] == 0
            depth -= 1
        if d > 0:
            j, ratio = entries[parent].feature, entries[parent].ratio
            if is_first:
                entries[parent].first = e
            else:
                entries[parent].second, ratio = e, 1 - ratio
            merged[d] = entries[parent].z * ratio
            path[d], above[d], by[d] = j, last[j], parent
            unique += last[j] == 0
            last[j], depth = d, d
        j, a, b = nodes.feature[node], nodes.left[node], nodes.right[node]
        in_a, in_b = varies[a - origin].sum(), varies[b - origin].sum()
        entries[e].first_is_right = in_b > in_a
        if in_b > in_a:
            a, b, in_a, in_b = b, a, in_b, in_a
        entries[e].threshold = nodes.threshold[node]
        entries[e].ratio = cover[a] / (cover[a] + cover[b])
        entries[e].z = merged[last[j]] if last[j] > 0 else 1.0
        entries[e].feature, entries[e].column, entries[e].above = j, nodes.column[node], last[j]
        entries[e].first, entries[e].second = -1, -1
        entries[e].terms, entries[e].n_terms = term, varies[node - origin].sum()
        entries[e].missing_left, entries[e].repeats = nodes.missing_left[node], False
        if last[j] > 0:
            entries[by[last[j]]].repeats = True
        triads[e - start[0], 0], triads[e - start[0], 1], triads[e - start[0], 2] = node, a, b
        term += entries[e].n_terms
        most, deepest = max(most, unique + (last[j] == 0)), max(deepest, d + 1)
        for child, varying, first in ((a, in_a, 1), (b, in_b, 0)):
            if varying:
                stack[top, 0], stack[top, 1], stack[top, 2], stack[top, 3] = child, d + 1, e, first
                top += 1
        e += 1
    return most, deepest


@kernel(inner=True)
def _write_terms(entries, terms, e, varies, values, place, listed):
    """Terms of one entry: the outputs of its first child in their order, then the others."""
    entry, n = entries[e], 0
    mine = terms[entry.terms : entry.terms + entry.n_terms]
    if entry.first >= 0:
        below = entries[entry.first]
        for i in range(below.n_terms):
            mine[n].output = terms[below.terms + i].output
            listed[mine[n].output] = True
            n += 1
    entries[e].n_first = n
    for c in range(len(varies)):
        if varies[c] and not listed[c]:
            mine[n].output = c
            n += 1
        listed[c], place[c] = False, -1
    if entry.second >= 0:
        below = entries[entry.second]
        for i in range(below.n_terms):
            place[terms[below.terms + i].output] = i
    for i in range(n):
        c = mine[i].output
        mine[i].first_value, mine[i].second_value = values[0][c], values[1][c]
        mine[i].second = place[c]


@kernel(inner=True)
def _count_places(entries, e, start, places):
    """Most sums held below an entry, on the stack that its sums go to and on the other one."""
    entry = entries[e]
    same, other = entry.n_terms, 0
    if entry.first >= 0:
        same = max(same, places[entry.first - start, 0])
        other = places[entry.first - start, 1]
    if entry.second >= 0:
        same = max(same, entry.n_first + places[entry.second - start, 1])
        other = max(other, places[entry.second - start, 0])
    places[e - start, 0], places[e - start, 1] = same, other


@kernel(inner=True)
def _is_low(entries, e):
    """Whether a node and its children can be taken together, in one pass over the rows.

    One output varies below it, it has grandchildren that are constant and no others, and none of
    the features is tested twice.
    """
    entry = entries[e]
    low = entry.n_terms == 1 and entry.above == 0 and entry.first >= 0
    for child in (entry.first, entry.second):
        if child >= 0:
            below = entries[child]
            low &= below.above == 0 and below.first < 0 and below.second < 0
    return low
