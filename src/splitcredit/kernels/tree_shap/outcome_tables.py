"""Path-dependent TreeSHAP by tables over the outcomes of splits, for shallow trees and many rows.

Attributions are linear in the values of the leaves. So a tree is cut into groups of leaves, each
with the splits that lead to them, at most `BITS`; the attributions of a group are a function of the
outcomes of its splits and of nothing else. They are computed once for every combination of
outcomes, by quadrature (`blocks`), and a row then takes one look into one table a group.
"""

from __future__ import annotations

import math

import numpy as np

from splitcredit.kernels import kept
from splitcredit.kernels.compiled import kernel
from splitcredit.kernels.nodes import cached_per_forest, n_blocks, nodes_of, readonly
from splitcredit.kernels.tree_shap.blocks import LANES, padded, quadrature, traverse, workspace
from splitcredit.kernels.tree_shap.layout import layout_of
from splitcredit.kernels.tree_shap.rows import take_one_by_one
from splitcredit.kernels.tree_shap.split_groups import BITS, groups_of
from splitcredit.kernels.tree_shap.transposed import (
    BESIDE,
    flattened,
    holds_nan,
    take_rows,
    take_sums,
    write_sums,
)
from splitcredit.kernels.tree_shap.vectors import EIGHT, add_rows

# Rows in one block, one thread's work.
BLOCK = 256
# Numbers in the tables made at a time: 64 MB.
CHUNK = 1 << 23
# Nanoseconds: quadrature of one node for a row, three points; one split of one row of a table; one
# split and one number of a table for a row. They choose between algorithms that round differently,
# so a quicker look-up is no reason to change them.
_NODE, _FILL, _SPLIT, _NUMBER = 2.5, 8.0, 0.25, 0.6
# Depth up to which tables are taken of their own accord, and the rows for which they must pay.
SHALLOW, MANY = 5, 2000
# Trees that are cut to see what tables would cost.
_SAMPLE = 16
# Rows of split columns with all outcomes of a group: split b goes left where bit b is set.
_OUTCOMES = readonly(1.0 - (np.arange(1 << BITS)[:, None] >> np.arange(BITS) & 1))
# Bound of `_room` of all forests of a process whose tables are filled before the kernel that fills
# them faster is compiled. They take two seconds longer, and that kernel takes two and a half to
# compile.
_FEW = 1 << 30
_filled = [0]
# Numbers of one of its calls.
_PORTION = 1 << 20


def attribute(forest, outputs, X, rows, out, hurry=False) -> None:
    """Write attributions to `out`, which holds zeros; see `tree_shap`.

    In a hurry, a kernel that compiles sooner fills the tables of small forests, as long as the one
    that fills them faster is not compiled.

    Raises
    ------
    ValueError
        If a tree is deeper than `BITS`.
    """
    if not pays(forest) and _depth(forest, BITS) > BITS:
        raise ValueError(
            f"algorithm='tables' takes trees of depth at most {BITS}, and this forest has one of "
            f"depth {_depth(forest)}: use 'blocks', 'rows' or 'auto'"
        )
    flat, begun = flattened(out), False
    key = "tables", *outputs.tolist()
    for arrays in kept.ARRAYS.items(forest, key, lambda: _make(forest, outputs, hurry)):
        splits = _splits(forest)
        _look_up(n_blocks(len(rows), BLOCK), *splits, *arrays, X, rows, begun, flat)
        begun = True


def fixed(forest, outputs):
    """What the kernel takes of each part of the forest, whatever the rows; it is in a hurry."""
    key, splits = ("tables", *outputs.tolist()), _splits(forest)
    for arrays in kept.ARRAYS.items(forest, key, lambda: _make(forest, outputs, True)):
        yield *splits, *arrays


def arguments(of_forest, X, rows, begun, out):
    """What the kernel is given for one of `fixed` and one block of rows."""
    return 0, 1, *of_forest, X, rows, begun, out.reshape(len(out), -1)


def compiled_for(arguments):
    """The compiled function that takes these `arguments`."""
    return _look_up.for_types_of(*arguments)


@cached_per_forest
def _nodes(forest):
    """`nodes_of` a forest: a look at its depth comes before, so those of deep ones are not kept."""
    return nodes_of(forest)


def _splits(forest):
    """Column, threshold and rule for NaN of every node."""
    nodes = _nodes(forest)
    return nodes.column, nodes.threshold, nodes.missing_left


def _room(forest, value):
    """Bound on the numbers in the tables up to each tree: a group for every leaf."""
    roots = forest.tree_offsets[:-1]
    leaves = np.add.reduceat(forest.feature < 0, roots, dtype=np.int64)
    varies = np.maximum.reduceat(value, roots) != np.minimum.reduceat(value, roots)
    return np.cumsum(leaves * (varies.sum(axis=1) << BITS) * BITS)


def _make(forest, outputs, hurry):
    """What `_look_up` takes of the groups, and their tables, a chunk of trees each."""
    nodes, first = _nodes(forest), 0
    value = np.ascontiguousarray(forest.value[:, outputs])
    room = _room(forest, value)
    hurry = hurry and _filled[0] + room[-1] <= _FEW
    while first < forest.n_trees:
        before = room[first - 1] if first else 0
        last = max(first + 1, int(np.searchsorted(room, before + CHUNK, side="right")))
        groups = groups_of(nodes, value, forest.tree_offsets[first : last + 1])
        if len(groups.n_splits):
            size = room[last - 1] - before if hurry else 0
            yield groups.splits, groups.n_splits, *_tables(groups, size)
        first = last


@cached_per_forest
def pays(forest) -> bool:
    """Whether tables cost less than quadrature for `MANY` rows, by the measured constants."""
    # Shallow trees have few nodes, which takes no look at the nodes.
    if forest.n_nodes >= (2 << SHALLOW) * forest.n_trees or _depth(forest, SHALLOW) > SHALLOW:
        return False
    offsets = forest.tree_offsets[: _SAMPLE + 1]
    groups = groups_of(_nodes(forest), forest.value[: offsets[-1], :1].copy(), offsets)
    outcomes = np.left_shift(1, groups.n_splits.astype(np.int64))
    fill = _FILL * (outcomes * groups.n_splits).sum()
    look = _SPLIT * groups.n_splits.sum() + _NUMBER * groups.n_features.sum()
    walk = _NODE * np.count_nonzero(forest.feature[: offsets[-1]] >= 0)
    return bool(fill + MANY * look < MANY * walk)


@cached_per_forest
def _depth(forest, most=math.inf):
    """Most splits on a path, or ``most + 1``; no kernel, which would have to be compiled."""
    level, depth = forest.tree_offsets[:-1], -1
    while len(level) and depth <= most:
        inner = level[forest.feature[level] >= 0]
        level, depth = np.concatenate([forest.left[inner], forest.right[inner]]), depth + 1
    return depth


def _tables(groups, size):
    """Attributions of each group for every outcome, and where they start and are credited.

    Of several classes most boosted trees have values for one only: a group has attributions for
    the outputs that vary in it, and each of its features. Each `EIGHT` of them, or fewer, have a
    table of their own, which has a row of eight numbers for each outcome. A `size` above 0, which
    counts in `_filled`, allows that they are filled by rows.
    """
    n_outputs = groups.value.shape[1]
    layout = layout_of(groups.nodes, groups.value, groups.offsets, np.arange(n_outputs), BITS)
    first, within, place = _credited(groups, layout, n_outputs)
    widths = -(-np.diff(first) // EIGHT) * EIGHT
    starts = np.concatenate([[0], np.cumsum(np.left_shift(widths, groups.n_splits))])
    tables = _on_whole_lines(starts[-1])
    if len(tables):
        arrays = quadrature(layout)
        shape = groups.n_splits, groups.n_features, starts, first, within, n_outputs, tables
        if size and not _fill_tables.is_ready(*arrays, *shape):
            _filled[0] += int(size)
            _fill_by_rows(arrays, *shape)
        else:
            _fill_tables(len(groups.n_splits), *arrays, *shape)
    return tables, starts, first, place


def _on_whole_lines(size):
    """Room for numbers whose rows of eight are lines of the caches."""
    room = np.empty(size + EIGHT)
    first = -room.ctypes.data // room.itemsize % EIGHT
    return room[first : first + size]


def _fill_by_rows(arrays, n_splits, n_features, starts, first, within, n_outputs, tables):
    """Do what `_fill_tables` does, with the same bytes, by a kernel that compiles sooner.

    Every group is a tree with features of its own, and every outcome is a row.
    """
    layout, extents, triples, points, weights = arrays
    entries, n_entries = layout.entries.copy(), np.diff(layout.starts[:, 0])
    step = max(1, _PORTION // (len(_OUTCOMES) * BITS * n_outputs))
    for start in range(0, len(n_splits), step):
        part = slice(start, start + step)
        before = np.cumsum(n_features[part]) - n_features[part]
        of_part = slice(*layout.starts[[start, min(start + step, len(n_splits))], 0])
        entries["feature"][of_part] += np.repeat(before, n_entries[part]).astype(np.int32)
        trees = layout._replace(entries=entries, starts=layout.starts[start : start + step + 1])
        phi = np.zeros((len(_OUTCOMES), n_features[part].sum(), n_outputs))
        rows = np.arange(len(phi)), phi
        take_one_by_one(len(phi), trees, extents, triples[part], points, weights, _OUTCOMES, *rows)
        phi = phi.reshape(len(phi), -1)
        for g in range(start, min(start + step, len(n_splits))):
            columns = before[g - start] * n_outputs + within[first[g] : first[g + 1]]
            n_outcomes = 1 << n_splits[g]
            of_group = tables[starts[g] : starts[g + 1]].reshape(-1, n_outcomes, EIGHT)
            for table, i in zip(of_group, range(0, len(columns), EIGHT), strict=True):
                some = columns[i : i + EIGHT]
                table[:, : len(some)] = phi[:n_outcomes, some]


def _credited(groups, layout, n_outputs):
    """What each group has attributions for.

    Returns
    -------
    first : int64 (n_groups + 1,)
        The first one of each group.
    within, place : int64 (n_credited,)
        Feature times n_outputs plus output, with the numbers of features of the group and of the
        forest.
    """
    root, varies = layout.starts[:-1, 0], np.diff(layout.starts[:, 0]) > 0
    n_varying, terms = np.zeros((2, len(root)), np.int64)
    n_varying[varies] = layout.entries["n_terms"][root[varies]]
    terms[varies] = layout.entries["terms"][root[varies]]
    counts = groups.n_features * n_varying
    first = np.concatenate([[0], np.cumsum(counts)])
    group = np.repeat(np.arange(len(counts)), counts)
    feature, term = np.divmod(np.arange(first[-1]) - first[group], n_varying[group])
    output = layout.terms["output"][terms[group] + term]
    of_forest = groups.features[group, feature].astype(np.int64)
    return first, feature * n_outputs + output, of_forest * n_outputs + output


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
    first_credited,
    within,
    n_outputs,
    tables,
):
    """Explain every outcome of every group; split b goes left where bit b is set."""
    space = workspace(extents)
    entries, terms, first_entries = layout.entries, layout.terms, layout.starts[:, 0]
    x, phi = np.empty((BITS, LANES)), np.empty((BITS * n_outputs, LANES))
    written = -1  # First outcome of those in x.
    for g in range(first_group, last_group):
        if first_entries[g] == first_entries[g + 1]:
            continue
        n_outcomes, width = 1 << n_splits[g], n_features[g] * n_outputs
        for first in range(0, n_outcomes, LANES):
            lanes = min(LANES, n_outcomes - first)
            if first != written:
                written = first
                for b in range(BITS):
                    for lane in range(LANES):
                        x[b, lane] = 1 - ((first + lane) >> b & 1)
            for row in range(width):
                for lane in range(lanes):
                    phi[row, lane] = 0.0
            tree = first_entries[g], triples[g], n_outputs, lanes
            traverse(entries, terms, tree, points, weights, False, x, phi, space)
            for i in range(first_credited[g + 1] - first_credited[g]):
                at = starts[g] + i // EIGHT * EIGHT * n_outcomes + first * EIGHT + i % EIGHT
                row = within[first_credited[g] + i]
                for lane in range(lanes):
                    tables[at + lane * EIGHT] = phi[row, lane]


@kernel(parallel=True)
def _look_up(
    first,
    last,
    column,
    threshold,
    missing_left,
    splits,
    n_splits,
    tables,
    starts,
    first_credited,
    place,
    X,
    rows,
    begun,
    out,
):
    """Add what the tables hold for the outcome of each row; one block is one thread's."""
    width = BLOCK + BESIDE if len(out) > BLOCK else padded(len(out))
    x, phi = np.empty((X.shape[1], width), X.dtype), np.empty((out.shape[1], width))
    outcome = np.empty(width, np.uint8)
    for block in range(first, last):
        start = block * BLOCK
        n_rows = min(BLOCK, len(out) - start)
        lanes = padded(n_rows)
        take_rows(X, rows, start, n_rows, x)
        any_nan = holds_nan(x, n_rows)
        take_sums(out, begun, start, n_rows, phi)
        for g in range(len(n_splits)):
            for lane in range(lanes):
                outcome[lane] = 0
            for b in range(n_splits[g]):
                k = splits[g, b]
                nan_left = any_nan and missing_left[k]
                _mark_left(column[k], threshold[k], np.uint8(1 << b), nan_left, lanes, x, outcome)
            at = starts[g]
            for i in range(first_credited[g], first_credited[g + 1], EIGHT):
                n = min(EIGHT, first_credited[g + 1] - i)
                add_rows(tables, at, outcome, lanes, place, i, n, phi)
                at += EIGHT << n_splits[g]
        write_sums(phi, start, n_rows, out)


@kernel(inner=True, apart=True)
def _mark_left(j, threshold, bit, nan_left, lanes, x, outcome):
    """Set one bit of the outcomes of the rows that go left."""
    none, threshold = np.uint8(0), x.dtype.type(threshold)
    for lane in range(lanes):
        outcome[lane] |= bit if x[j, lane] <= threshold else none
    if nan_left:
        for lane in range(lanes):
            outcome[lane] |= bit if x[j, lane] != x[j, lane] else none
