"""Lay the inner nodes of trees out in the order in which a traversal meets them.

The sums of a node are written over those of its first child (see `blocks`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from splitcredit.kernels.compiled import kernel
from splitcredit.kernels.nodes import nodes_of

# (node, output) pairs laid out at a time: bounds memory to some 40 MB for any forest.
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
    """Entries of consecutive trees."""

    # `ENTRY` records: nodes of each tree, each before all that is below its second child, and that
    # before all below its first: backwards, this is the order in which blocks credit nodes
    entries: np.ndarray
    terms: np.ndarray  # `TERM` records
    # int64 (n_trees + 1, 2): first entry and first term of each tree; it has none if all outputs
    # are constant over it
    starts: np.ndarray
    n_features: np.ndarray  # int32 (n_trees,): most distinct features on a path
    depths: np.ndarray  # int32 (n_trees,): most inner nodes on a path
    places: np.ndarray  # int32 (n_trees,): most sums held at a time on one stack
    first: int  # number of the first tree in the forest


class Below(NamedTuple):
    """Properties of the leaves below each node of a chunk; nodes count from its first.

    Where an output does not vary below a node, every leaf there has its value. So one leaf stands
    for all, and no value is copied.
    """

    varies: np.ndarray  # bool (n_nodes, n_explained): whether the output varies below the node
    n_varying: np.ndarray  # int32 (n_nodes,): how many vary
    # int32 (n_nodes,): the leftmost leaf below the node, as a number of the forest; that of a leaf
    # is itself
    leaf: np.ndarray
    value: np.ndarray  # float64, of all nodes of the forest
    outputs: np.ndarray  # int64 (n_explained,)


def make_layouts(forest, outputs):
    """Yield layouts of the forest for some outputs, a chunk of trees each."""
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
    """Return the layout of the trees between two `offsets`, of which `first` is the first."""
    n_nodes, n_trees = offsets[-1] - offsets[0], len(offsets) - 1
    varies = np.empty((n_nodes, len(outputs)), np.bool_)
    below = Below(varies, *np.empty((2, n_nodes), np.int32), value, outputs)
    counts = np.zeros((n_trees, 2), np.int64)
    _find_varying(n_trees, nodes, offsets, below, counts)
    starts = np.concatenate([np.zeros((1, 2), np.int64), np.cumsum(counts, axis=0)])
    entries, terms = np.empty(starts[-1, 0], ENTRY), np.empty(starts[-1, 1], TERM)
    extents = np.zeros((n_trees, 3), np.int32)
    _fill(n_trees, nodes, offsets, below, starts, n_features, entries, terms, extents)
    return TreeLayout(entries, terms, starts, *np.ascontiguousarray(extents.T), first)


# The kernels below use few types of arrays, and no operation on whole arrays: numba compiles each
# of these anew, which takes longer than the rest. Indices have no sign: of others, each would be
# asked whether it counts from the end.


@kernel(parallel=True)
def _find_varying(first, last, nodes, offsets, below, counts):
    """Fill `below`, and `counts` with the entries and terms of each tree, int64 (n_trees, 2)."""
    varies, n_varying, leaf, value, outputs = below
    for t in range(first, last):
        n_entries, n_terms = 0, 0
        for number in range(offsets[t + 1] - 1, offsets[t] - 1, -1):
            node, k, n = np.uint64(number), np.uint64(number - offsets[0]), 0
            if nodes.feature[node] < 0:
                leaf[k] = number
                for c in range(np.uint64(len(outputs))):
                    varies[k, c] = False
            else:
                a = np.uint64(nodes.left[node] - offsets[0])
                b = np.uint64(nodes.right[node] - offsets[0])
                one, two = np.uint64(leaf[a]), np.uint64(leaf[b])
                leaf[k] = leaf[a]
                for c in range(np.uint64(len(outputs))):
                    output = np.uint64(outputs[c])
                    differ = value[one, output] != value[two, output]
                    varies[k, c] = varies[a, c] | varies[b, c] | differ
                    n += varies[k, c]
            n_varying[k] = n
            n_entries += n > 0
            n_terms += n
        counts[t, 0], counts[t, 1] = n_entries, n_terms


@kernel(parallel=True)
def _fill(first, last, nodes, offsets, below, starts, n_features, entries, terms, extents):
    """Write entries and terms; return most distinct features, depth and places of each tree."""
    n_outputs, origin = len(below.outputs), offsets[0]
    # By output: its place among the terms of the second child; -1 for others, and between entries.
    place = np.full(n_outputs, -1)
    last_edge = np.empty(n_features, np.int64)
    for t in range(first, last):
        start, stop = starts[t, 0], starts[t + 1, 0]
        if stop == start:
            continue
        # Node, first and second child of each entry; then its places, see `_count_places`.
        links, places = np.empty((stop - start, 3), np.int64), np.empty((stop - start, 2), np.int64)
        first_of = offsets[t], start, starts[t, 1]
        extents[t, 0], extents[t, 1] = _write_entries(
            nodes, first_of, origin, below.n_varying, last_edge, links, entries
        )
        if n_outputs == 1:
            _finish_single(entries, terms, start, below, links, places)
        else:
            for e in range(stop - 1, start - 1, -1):
                k, a, b = links[e - start, 0], links[e - start, 1], links[e - start, 2]
                _write_terms(entries, terms, e, below, k, a, b, place)
                _count_places(entries, e, start, places)
        extents[t, 2] = max(places[0, 0], places[0, 1])


# In one piece: nearly every line reads or writes the state of the way down.
@kernel(inner=True)
def _write_entries(nodes, first_of, origin, n_varying, last, links, entries):
    """Write the entries of one tree; return its most distinct features and nodes on a path."""
    root, start, term = first_of
    size, cover, one, start_entry = len(links), nodes.cover, np.uint64(1), np.uint64(start)
    # Node, depth, parent entry, whether first child; with room for two that are not taken.
    stack = np.empty((size + 3, 4), np.int64)
    # The path to the current entry, by depth below the edge: the feature, the depth below the edge
    # above that tests the same feature, and the entry that the edge comes from; the merged ratio;
    # and the last edge of each feature.
    path, merged = np.empty((size + 1, 3), np.int64), np.empty(size + 1)
    for j in range(np.uint64(len(last))):
        last[j] = 0
    stack[0, 0], stack[0, 1], stack[0, 2], stack[0, 3] = root, 0, -1, 0
    top, depth, unique, most, deepest = np.uint64(1), 0, 0, 0, 0
    e = start_entry
    while top > 0:
        top -= one
        d, is_first = stack[top, 1], stack[top, 3] > 0
        node, parent = np.uint64(stack[top, 0]), np.uint64(stack[top, 2])
        while depth > 0 and depth >= d:  # leave the edges that do not lead here
            here = np.uint64(depth)
            last[np.uint64(path[here, 0])] = path[here, 1]
            unique -= path[here, 1] == 0
            depth -= 1
        if d > 0:
            upper, here = entries[parent], np.uint64(d)
            j, ratio = np.uint64(upper.feature), upper.ratio
            if is_first:
                upper.first = np.int32(e)
            else:
                upper.second, ratio = np.int32(e), 1 - ratio
            merged[here] = upper.z * ratio
            path[here, 0], path[here, 1], path[here, 2] = upper.feature, last[j], stack[top, 2]
            unique += last[j] == 0
            last[j], depth = d, d
        left, right = np.int64(nodes.left[node]), np.int64(nodes.right[node])
        in_left = n_varying[np.uint64(left - origin)]
        in_right = n_varying[np.uint64(right - origin)]
        second_first = in_right > in_left
        a, b = (right, left) if second_first else (left, right)
        in_a, in_b = (in_right, in_left) if second_first else (in_left, in_right)
        j, entry, k = np.uint64(nodes.feature[node]), entries[e], np.int64(node) - origin
        above, n_terms = last[j], n_varying[np.uint64(k)]
        entry.first_is_right = second_first
        entry.threshold = nodes.threshold[node]
        entry.ratio = cover[np.uint64(a)] / (cover[np.uint64(a)] + cover[np.uint64(b)])
        entry.z = merged[np.uint64(above)] if above > 0 else 1.0
        entry.feature, entry.column, entry.above = nodes.feature[node], nodes.column[node], above
        entry.first, entry.second = -1, -1
        entry.terms, entry.n_terms = term, n_terms
        entry.missing_left, entry.repeats = nodes.missing_left[node], False
        if above > 0:
            entries[np.uint64(path[np.uint64(above), 2])].repeats = True
        row, number = e - start_entry, np.int64(e)
        links[row, 0], links[row, 1], links[row, 2] = k, a - origin, b - origin
        term += n_terms
        most, deepest = max(most, unique + (above == 0)), max(deepest, d + 1)
        # Without a jump for each child, which would be mispredicted.
        stack[top, 0], stack[top, 1], stack[top, 2], stack[top, 3] = a, d + 1, number, 1
        top += np.uint64(in_a > 0)
        stack[top, 0], stack[top, 1], stack[top, 2], stack[top, 3] = b, d + 1, number, 0
        top += np.uint64(in_b > 0)
        e += one
    return most, deepest


@kernel(inner=True)
def _finish_single(entries, terms, start, below, links, places):
    """Do what `_write_terms` and `_count_places` do, for a single output."""
    leaf, value, output = below.leaf, below.value, np.uint64(below.outputs[0])
    for number in range(len(links) - 1, -1, -1):
        row = np.uint64(number)
        entry = entries[np.uint64(start) + row]
        term = terms[np.uint64(entry.terms)]
        term.first_value = value[np.uint64(leaf[np.uint64(links[row, 1])]), output]
        term.second_value = value[np.uint64(leaf[np.uint64(links[row, 2])]), output]
        term.output, term.second = 0, -1
        n_first, here, there = 0, 1, 0
        if entry.first >= 0:
            at = np.uint64(entry.first - start)
            n_first, here, there = 1, places[at, 0], places[at, 1]
        if entry.second >= 0:
            at = np.uint64(entry.second - start)
            term.second = 0
            here = max(here, n_first + places[at, 1])
            there = max(there, places[at, 0])
        places[row, 0], places[row, 1] = here, there
        entry.n_first = n_first


@kernel(inner=True)
def _write_terms(entries, terms, e, below, k, a, b, place):
    """Write the terms of entry e of node k: outputs of its first child a in order, then others."""
    entry, varies = entries[e], below.varies
    start, n_terms, n_first, n, c = entry.terms, entry.n_terms, 0, 0, 0
    if entry.first >= 0:
        child = entries[entry.first]
        n = n_first = child.n_terms
        for i in range(n_first):
            terms[start + i].output = terms[child.terms + i].output
    # Without a jump for each output, which would be mispredicted.
    while n < n_terms:
        terms[start + n].output = c
        n += varies[k, c] & (not varies[a, c])
        c += 1
    if entry.second >= 0:
        child = entries[entry.second]
        for i in range(child.n_terms):
            place[terms[child.terms + i].output] = i
    value, outputs, one, two = below.value, below.outputs, below.leaf[a], below.leaf[b]
    for i in range(start, start + n_terms):
        term = terms[i]
        c = term.output
        term.second = place[c]
        term.first_value, term.second_value = value[one, outputs[c]], value[two, outputs[c]]
        place[c] = -1  # as it was before this entry
    entry.n_first = n_first


@kernel(inner=True)
def _count_places(entries, e, start, places):
    """Count the most sums held below an entry, on the stack of its sums and on the other."""
    entry, row = entries[e], e - start
    places[row, 0], places[row, 1] = entry.n_terms, 0
    if entry.first >= 0:
        below = entry.first - start
        places[row, 0] = max(places[row, 0], places[below, 0])
        places[row, 1] = places[below, 1]
    if entry.second >= 0:
        below = entry.second - start
        places[row, 0] = max(places[row, 0], entry.n_first + places[below, 1])
        places[row, 1] = max(places[row, 1], places[below, 0])
