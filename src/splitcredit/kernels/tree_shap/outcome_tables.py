"""Path-dependent TreeSHAP by tables over the outcomes of splits, for shallow trees and many rows.

Attributions are linear in the values of the leaves. So a tree is cut into groups of leaves, each
with the splits that lead to them, at most `BITS`; the attributions of a group are a function of the
outcomes of its splits and of nothing else. They are computed once for every combination of
outcomes, by quadrature (`blocks`), and a row then takes one look into one table a group.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from splitcredit.kernels.compiled import kernel
from splitcredit.kernels.nodes import Nodes, cached_per_forest, n_blocks, nodes_of
from splitcredit.kernels.tree_shap.blocks import LANES, extents, rules, traverse, triples, workspace
from splitcredit.kernels.tree_shap.layout import layout_of

# Splits in a group; with more, tables outgrow the caches and take longer to fill.
BITS = 8
# Rows in one block, one thread's work.
BLOCK = 512
# Numbers in the tables made at a time: 64 MB.
CHUNK = 1 << 23
# Nanoseconds, measured: quadrature of one node for a row, three points; one split of one row
# of a table; one split and one number of a table for a row.
_NODE, _FILL, _SPLIT, _NUMBER = 2.5, 8.0, 0.25, 0.6
# Depth up to which tables are taken of their own accord, and the rows for which they must pay.
SHALLOW, MANY = 5, 2000
# Trees that are cut to see what tables would cost.
_SAMPLE = 16


class Groups(NamedTuple):
    """Groups of leaves of consecutive trees, each as a small tree of its own.

    Leaves of other groups stand in it with the value 0, and its features are numbered anew.

    Parameters
    ----------
    nodes : Nodes
        Of all groups; the column of a node is the number of its split within the group.
    value : float64 (n_nodes, n_explained)
    offsets : int64 (n_groups + 1,)
    splits : int32 (n_groups, BITS)
        The nodes of the forest that the splits are.
    n_splits : int32 (n_groups,)
    features : int32 (n_groups, BITS)
        The features of the forest, by their number in the group.
    n_features : int32 (n_groups,)
    """

    nodes: Nodes
    value: np.ndarray
    offsets: np.ndarray
    splits: np.ndarray
    n_splits: np.ndarray
    features: np.ndarray
    n_features: np.ndarray


def attribute(forest, outputs, X, rows, out) -> None:
    """Add attributions to `out`; see `tree_shap`.

    Raises
    ------
    ValueError
        If a tree is deeper than `BITS`.
    """
    if _depth(forest) > BITS:
        raise ValueError(
            f"algorithm='tables' takes trees of depth at most {BITS}, and this forest has one of "
            f"depth {_depth(forest)}: use 'blocks', 'rows' or 'auto'"
        )
    any_nan = bool(np.isnan(X).any())
    nodes = nodes_of(forest)
    for groups, tables, starts in _chunks(forest, outputs, nodes):
        _look_up(n_blocks(len(rows), BLOCK), nodes, groups, tables, starts, X, any_nan, rows, out)


def _chunks(forest, outputs, nodes):
    """Groups with their tables, a chunk of trees each; those of small forests are kept."""
    if _room(forest, outputs)[-1] > CHUNK:
        return _make(forest, outputs, nodes)
    return _kept_tables(forest, tuple(outputs.tolist()))


@cached_per_forest
def _kept_tables(forest, outputs):
    """Tables in memory: for few rows it takes longer to fill them than to look into them."""
    return list(_make(forest, np.array(outputs, np.int64), nodes_of(forest)))


def _room(forest, outputs):
    """Bound on the numbers in the tables up to each tree: a group for every leaf."""
    leaves = np.add.reduceat(forest.feature < 0, forest.tree_offsets[:-1], dtype=np.int64)
    return np.cumsum(leaves * (len(outputs) << BITS) * BITS)


def _make(forest, outputs, nodes):
    value, room = np.ascontiguousarray(forest.value[:, outputs]), _room(forest, outputs)
    first = 0
    while first < forest.n_trees:
        before = room[first - 1] if first else 0
        last = max(first + 1, int(np.searchsorted(room, before + CHUNK, side="right")))
        groups = _groups(nodes, value, forest.tree_offsets[first : last + 1])
        if len(groups.n_splits):
            yield groups, *_tables(groups)
        first = last


@cached_per_forest
def pays(forest) -> bool:
    """Whether tables cost less than quadrature for `MANY` rows, by the measured constants."""
    if _depth(forest) > SHALLOW:
        return False
    offsets = forest.tree_offsets[: _SAMPLE + 1]
    groups = _groups(nodes_of(forest), forest.value[: offsets[-1], :1].copy(), offsets)
    outcomes = np.left_shift(1, groups.n_splits.astype(np.int64))
    fill = _FILL * (outcomes * groups.n_splits).sum()
    look = _SPLIT * groups.n_splits.sum() + _NUMBER * groups.n_features.sum()
    quadrature = _NODE * np.count_nonzero(forest.feature[: offsets[-1]] >= 0)
    return bool(fill + MANY * look < MANY * quadrature)


@cached_per_forest
def _depth(forest):
    """Most splits on a path, without a kernel that would have to be compiled for it."""
    level, depth = forest.tree_offsets[:-1], -1
    while len(level):
        inner = level[forest.feature[level] >= 0]
        level, depth = np.concatenate([forest.left[inner], forest.right[inner]]), depth + 1
    return depth


def _groups(nodes, value, offsets) -> Groups:
    """Cut the trees between the first and the last of `offsets`."""
    sizes = _sizes(nodes, offsets)
    n_groups, n_nodes = _cut(nodes, value, offsets, sizes, _empty(0, 0, value.shape[1]), False)
    groups = _empty(n_groups, n_nodes, value.shape[1])
    _cut(nodes, value, offsets, sizes, groups, True)
    return groups


def _empty(n_groups, n_nodes, n_outputs):
    integers = [np.full(n_nodes, -1, np.int32) for _ in range(4)]
    feature, column, left, right = integers
    threshold, cover = np.full(n_nodes, 0.5), np.zeros(n_nodes)
    missing_left = np.zeros(n_nodes, np.bool_)
    return Groups(
        Nodes(feature, column, threshold, left, right, missing_left, cover),
        np.zeros((n_nodes, n_outputs)),
        np.zeros(n_groups + 1, np.int64),
        np.full((n_groups, BITS), -1, np.int32),
        np.zeros(n_groups, np.int32),
        np.full((n_groups, BITS), -1, np.int32),
        np.zeros(n_groups, np.int32),
    )


def _tables(groups):
    """Attributions of each group for every outcome, one after the other, and where they start."""
    n_outputs = groups.value.shape[1]
    layout = layout_of(groups.nodes, groups.value, groups.offsets, np.arange(n_outputs), BITS)
    sizes = np.left_shift(groups.n_features.astype(np.int64) * n_outputs, groups.n_splits)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    tables = np.zeros(starts[-1])
    if len(layout.entries):
        shape = groups.n_splits, groups.n_features, starts
        arrays = layout, extents(layout), triples(layout), *rules(layout)
        _fill_tables(len(groups.n_splits), *arrays, *shape, n_outputs, tables)
    return tables, starts


@kernel()
def _sizes(nodes, offsets):
    """Inner nodes at and below every node of some trees."""
    sizes = np.zeros(offsets[-1] - offsets[0], np.int32)
    for node in range(offsets[-1] - 1, offsets[0] - 1, -1):
        if nodes.feature[node] >= 0:
            a, b = nodes.left[node] - offsets[0], nodes.right[node] - offsets[0]
            sizes[node - offsets[0]] = 1 + sizes[a] + sizes[b]
    return sizes


@kernel()
def _cut(nodes, value, offsets, sizes, groups, write):
    """Write the groups, or only count groups and nodes.

    A subtree is a group if its splits and those on the way to it fit; else its children are cut.
    """
    n_groups, n_nodes = 0, 0
    way = np.empty(BITS + 1, np.int64)  # nodes from the root to the parent of the node at hand
    stack = np.empty((len(sizes) + 1, 2), np.int64)
    for t in range(len(offsets) - 1):
        stack[0, 0], stack[0, 1], top = offsets[t], 0, 1
        while top > 0:
            top -= 1
            node, depth = stack[top, 0], stack[top, 1]
            size = sizes[node - offsets[0]]
            if depth + size <= BITS:
                if write:
                    _write_group(nodes, value, way, depth, node, n_groups, n_nodes, groups)
                n_groups += 1
                n_nodes += 2 * depth + 2 * size + 1
                continue
            way[depth] = node
            for child in (nodes.right[node], nodes.left[node]):
                stack[top, 0], stack[top, 1] = child, depth + 1
                top += 1
    return n_groups, n_nodes


@kernel(inner=True)
def _write_group(nodes, value, way, depth, node, g, start, groups):
    """Copy the way to a node, with leaves of value 0 beside it, and all that is below."""
    group_nodes, k = groups.nodes, start
    groups.offsets[g] = start
    for i in range(depth):
        _write_split(nodes, way[i], g, k, groups)
        ahead = way[i + 1] if i + 1 < depth else node
        is_left = nodes.left[way[i]] == ahead
        beside = nodes.right[way[i]] if is_left else nodes.left[way[i]]
        # The leaf beside comes first, so that what follows is next in line.
        group_nodes.cover[k + 1] = nodes.cover[beside]
        group_nodes.left[k], group_nodes.right[k] = (k + 2, k + 1) if is_left else (k + 1, k + 2)
        k += 2
    stack = np.empty((2 * BITS + 2, 3), np.int64)  # node, its parent's place, whether left
    stack[0, 0], stack[0, 1], stack[0, 2], top = node, -1, 0, 1
    while top > 0:
        top -= 1
        at, parent, is_left = stack[top, 0], stack[top, 1], stack[top, 2]
        if parent >= 0 and is_left:
            group_nodes.left[parent] = k
        elif parent >= 0:
            group_nodes.right[parent] = k
        group_nodes.cover[k] = nodes.cover[at]
        if nodes.feature[at] < 0:
            for c in range(value.shape[1]):
                groups.value[k, c] = value[at, c]
        else:
            _write_split(nodes, at, g, k, groups)
            stack[top, 0], stack[top, 1], stack[top, 2] = nodes.right[at], k, 0
            stack[top + 1, 0], stack[top + 1, 1], stack[top + 1, 2] = nodes.left[at], k, 1
            top += 2
        k += 1
    groups.offsets[g + 1] = k


@kernel(inner=True)
def _write_split(nodes, node, g, k, groups):
    """Number the split, and its feature if it is new in the group."""
    groups.splits[g, groups.n_splits[g]] = node
    groups.nodes.column[k] = groups.n_splits[g]
    groups.n_splits[g] += 1
    groups.nodes.cover[k] = nodes.cover[node]
    for j in range(groups.n_features[g]):
        if groups.features[g, j] == nodes.feature[node]:
            groups.nodes.feature[k] = j
            return
    groups.nodes.feature[k] = groups.n_features[g]
    groups.features[g, groups.n_features[g]] = nodes.feature[node]
    groups.n_features[g] += 1


@kernel(parallel=True)
def _fill_tables(
    first_group,
    last_group,
    layout,
    extents,
    triples,
    points,
    weights,
    n_splits,
    n_features,
    starts,
    n_outputs,
    tables,
):
    """Explain every outcome of every group; split b goes left where bit b is set."""
    space = workspace(extents)
    entries, terms, first_entries = layout.entries, layout.terms, layout.starts[:, 0]
    for g in range(first_group, last_group):
        if first_entries[g] == first_entries[g + 1]:
            continue
        n_outcomes, width = 1 << n_splits[g], n_features[g] * n_outputs
        for first in range(0, n_outcomes, LANES):
            lanes = min(LANES, n_outcomes - first)
            x, phi = np.empty((BITS, lanes)), np.zeros((width, lanes))
            for lane in range(lanes):
                for b in range(BITS):
                    x[b, lane] = 1 - ((first + lane) >> b & 1)
            total = np.zeros((3, lanes))
            tree = first_entries[g], triples[g], n_outputs
            traverse(entries, terms, tree, points, weights, False, x, phi, space, total)
            for j in range(width):
                at = starts[g] + j * n_outcomes + first
                for lane in range(lanes):
                    tables[at + lane] = phi[j, lane]


@kernel(parallel=True)
def _look_up(first, last, nodes, groups, tables, starts, X, any_nan, rows, out):
    """Add what the tables hold for the outcome of each row; one block is one thread's."""
    n, p, n_outputs = out.shape
    n_columns = X.shape[1]
    column, threshold, missing_left = nodes.column, nodes.threshold, nodes.missing_left
    splits, n_splits = groups.splits, groups.n_splits
    features, n_features = groups.features, groups.n_features
    for block in range(first, last):
        start, stop = block * BLOCK, min(n, (block + 1) * BLOCK)
        lanes = stop - start
        x, phi = np.empty((n_columns, lanes), X.dtype), np.empty((p * n_outputs, lanes))
        outcome = np.empty(lanes, np.int32)
        for lane in range(lanes):
            for j in range(n_columns):
                x[j, lane] = X[rows[start + lane], j]
            for j in range(p):
                for c in range(n_outputs):
                    phi[j * n_outputs + c, lane] = out[start + lane, j, c]
        for g in range(len(n_splits)):
            for lane in range(lanes):
                outcome[lane] = 0
            for b in range(n_splits[g]):
                k = splits[g, b]
                nan_left = any_nan and missing_left[k]
                _mark_left(column[k], threshold[k], np.int32(1 << b), nan_left, x, outcome)
            for j in range(n_features[g]):
                for c in range(n_outputs):
                    at = starts[g] + ((j * n_outputs + c) << n_splits[g])
                    _add(features[g, j] * n_outputs + c, tables, at, outcome, phi)
        for lane in range(lanes):
            for j in range(p):
                for c in range(n_outputs):
                    out[start + lane, j, c] = phi[j * n_outputs + c, lane]


@kernel(inner=True)
def _add(to, tables, at, outcome, phi):
    for lane in range(len(outcome)):
        phi[to, lane] += tables[at + outcome[lane]]


@kernel(inner=True)
def _mark_left(j, threshold, bit, nan_left, x, outcome):
    """Set one bit of the outcomes of the rows that go left."""
    none, threshold = np.int32(0), x.dtype.type(threshold)
    for lane in range(len(outcome)):
        outcome[lane] |= bit if x[j, lane] <= threshold else none
    if nan_left:
        for lane in range(len(outcome)):
            outcome[lane] |= bit if x[j, lane] != x[j, lane] else none
