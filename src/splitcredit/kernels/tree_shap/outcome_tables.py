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
from splitcredit.kernels.nodes import cached_per_forest, readonly
from splitcredit.kernels.tree_shap.blocks import LANES, quadrature, traverse, workspace
from splitcredit.kernels.tree_shap.group_tables import (
    add_from_tables,
    chunks,
    credited,
    empty_tables,
    kept_nodes,
    look_up,
    room_of,
    splits_of,
)
from splitcredit.kernels.tree_shap.layout import layout_of
from splitcredit.kernels.tree_shap.rows import take_one_by_one
from splitcredit.kernels.tree_shap.split_groups import BITS, groups_of
from splitcredit.kernels.tree_shap.vectors import EIGHT

# Numbers in the tables made at a time: 64 MB.
CHUNK = 1 << 23
# Nanoseconds: quadrature of one node for a row, three points; one split of one row of a table; one
# split and one number of a table for a row. They choose between algorithms that round differently,
# so a quicker look-up is no reason to change them.
_NODE, _FILL, _SPLIT, _NUMBER = 2.5, 8.0, 0.25, 0.6
# Depth up to which tables are taken of their own accord, and the rows for which they must pay.
SHALLOW, MANY = 5, 2000
# Trees that are cut to see what tables would cost.
SAMPLE = 16
# Rows of split columns with all outcomes of a group: split b goes left where bit b is set.
_OUTCOMES = readonly(1.0 - (np.arange(1 << BITS)[:, None] >> np.arange(BITS) & 1))
# Bound of `room_of` all forests of a process whose tables are filled before the kernel that fills
# them faster is compiled. They take one to three seconds longer, the most for small forests, and
# that kernel takes two and a half to compile.
_FEW = 1 << 28
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
    key = "tables", *outputs.tolist()
    add_from_tables(forest, key, lambda: _make(forest, outputs, hurry), X, rows, out)


def fixed(forest, outputs):
    """What the kernel takes of each part of the forest, whatever the rows; it is in a hurry."""
    key, splits = ("tables", *outputs.tolist()), splits_of(forest)
    for arrays in kept.ARRAYS.items(forest, key, lambda: _make(forest, outputs, True)):
        yield *splits, *arrays


def arguments(of_forest, X, rows, begun, out):
    """What the kernel is given for one of `fixed` and one block of rows."""
    return 0, 1, *of_forest, X, rows, begun, out.reshape(len(out), -1)


def compiled_for(arguments):
    """The compiled function that takes these `arguments`."""
    return look_up.for_types_of(*arguments)


def _make(forest, outputs, hurry):
    """What `look_up` takes of the groups, and their tables, a chunk of trees each."""
    value = np.ascontiguousarray(forest.value[:, outputs])
    room = room_of(forest, value)
    hurry = hurry and _filled[0] + room[-1] <= _FEW
    for groups, size in chunks(forest, value, room, CHUNK):
        yield groups.splits, groups.n_splits, *_tables(groups, size if hurry else 0)


@cached_per_forest
def pays(forest) -> bool:
    """Whether tables cost less than quadrature for `MANY` rows, by the measured constants."""
    # Shallow trees have few nodes, which takes no look at the nodes.
    if forest.n_nodes >= (2 << SHALLOW) * forest.n_trees or _depth(forest, SHALLOW) > SHALLOW:
        return False
    offsets = forest.tree_offsets[: SAMPLE + 1]
    groups = groups_of(kept_nodes(forest), forest.value[: offsets[-1], :1].copy(), offsets)
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
    the outputs that vary in it, and each of its features. A `size` above 0, which counts in
    `_filled`, allows that the tables are filled by rows.
    """
    n_outputs = groups.value.shape[1]
    layout = layout_of(groups.nodes, groups.value, groups.offsets, np.arange(n_outputs), BITS)
    first, group, feature, output = credited(layout, groups.n_features)
    within = feature * n_outputs + output
    place = groups.features[group, feature].astype(np.int64) * n_outputs + output
    starts, tables = empty_tables(first, groups.n_splits)
    if len(tables):
        arrays = quadrature(layout)
        shape = groups.n_splits, groups.n_features, starts, first, within, n_outputs, tables
        if size and not _fill_tables.is_ready(*arrays, *shape):
            _filled[0] += int(size)
            _fill_by_rows(arrays, *shape)
        else:
            _fill_tables(len(groups.n_splits), *arrays, *shape)
    return tables, starts, first, place


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
