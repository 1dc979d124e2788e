"""Path-dependent TreeSHAP by tables over the outcomes of splits, for many rows.

Attributions are linear in the values of the leaves. So a tree is cut into groups of leaves, each
with the splits that lead to them, at most `BITS`; the attributions of a group are a function of the
outcomes of its splits and of nothing else. They are computed once for every combination of
outcomes, by quadrature (`blocks`), and a row then takes one look into one table a group.
"""

from __future__ import annotations

import math

import numpy as np

from splitcredit.kernels.compiled import kernel
from splitcredit.kernels.nodes import cached_per_forest
from splitcredit.kernels.tree_shap.blocks import LANES, quadrature, traverse, workspace
from splitcredit.kernels.tree_shap.group_tables import (
    Tables,
    add_from_tables,
    cached_nodes,
    chunks,
    credited,
    empty_tables,
    room_of,
)
from splitcredit.kernels.tree_shap.lanes import TRIPLE
from splitcredit.kernels.tree_shap.layout import layout_of
from splitcredit.kernels.tree_shap.split_groups import BITS, groups_of

# Numbers in the tables made at a time: 64 MB.
CHUNK = 1 << 23
# Nanoseconds: quadrature of one node for a row, at all and for three points; one split of one row
# of a table; one split and one number of a table for a row. They choose between algorithms that
# round differently, so a gain of some per cent is no reason to change them.
_NODE, _THREE, _FILL, _SPLIT, _NUMBER = 1.0, 1.5, 8.0, 0.25, 0.6
# Up to this depth the trees alone choose, as for so many rows: a row gets the same bytes with any
# others. Tables of deeper trees take longer to make, and with fewer rows they never pay.
SHALLOW, MANY, FEWEST = 5, 2000, 500
# Trees that are cut to estimate the cost of tables.
SAMPLE = 16


def attribute(forest, outputs, X, rows, out) -> None:
    """Write attributions to `out`, which holds zeros."""
    if _depth(forest, BITS) > BITS:
        raise ValueError(
            f"algorithm='tables' takes trees of depth at most {BITS}, and this forest has one of "
            f"depth {_depth(forest)}: use 'blocks', 'rows' or 'auto'"
        )
    key = "tables", *outputs.tolist()
    add_from_tables(forest, key, lambda: _make(forest, outputs), X, rows, out)


def _make(forest, outputs):
    """Yield the tables, a chunk of trees each."""
    value = np.ascontiguousarray(forest.value[:, outputs])
    room = room_of(forest, value)
    for groups in chunks(forest, value, room, CHUNK):
        yield Tables(groups.splits, groups.n_splits, *_tables(groups))


def pays(forest, n_rows=0) -> bool:
    """Return whether tables cost less than quadrature, by the measured constants."""
    if _depth(forest, SHALLOW) <= SHALLOW:
        n_rows = MANY
    if n_rows < FEWEST or _depth(forest, BITS) > BITS:
        return False
    fill, look, walk = _costs(forest)
    return fill + n_rows * look < n_rows * walk


@cached_per_forest
def _costs(forest):
    """Estimate nanoseconds to make the tables of trees, to look a row up, and by quadrature."""
    offsets = forest.tree_offsets[: SAMPLE + 1]
    groups = groups_of(cached_nodes(forest), forest.value[: offsets[-1], :1].copy(), offsets)
    outcomes = np.left_shift(1, groups.n_splits.astype(np.int64))
    fill = _FILL * (outcomes * groups.n_splits).sum()
    look = _SPLIT * groups.n_splits.sum() + _NUMBER * groups.n_features.sum()
    threes = math.ceil(min(_depth(forest, BITS), forest.n_features) / (2 * TRIPLE))
    walk = (_NODE + _THREE * threes) * np.count_nonzero(forest.feature[: offsets[-1]] >= 0)
    return fill, look, walk


@cached_per_forest
def _depth(forest, most=math.inf):
    """Return the most splits on a path, or ``most + 1``; no kernel, to save its compilation."""
    # Shallow trees have few nodes, which takes no look at the nodes.
    if most < math.inf and forest.n_nodes >= (2 << most) * forest.n_trees:
        return most + 1
    level, depth = forest.tree_offsets[:-1], -1
    while len(level) and depth <= most:
        inner = level[forest.feature[level] >= 0]
        level, depth = np.concatenate([forest.left[inner], forest.right[inner]]), depth + 1
    return depth


def _tables(groups):
    """Return attributions of each group for every outcome, where they start, and their features."""
    n_outputs = groups.value.shape[1]
    layout = layout_of(groups.nodes, groups.value, groups.offsets, np.arange(n_outputs), BITS)
    first, group, feature, output = credited(layout, groups.n_features)
    within = feature * n_outputs + output
    place = groups.features[group, feature].astype(np.int64) * n_outputs + output
    starts, tables = empty_tables(first, groups.n_splits)
    if len(tables):
        sizes, credits = (groups.n_splits, groups.n_features), (first, within, n_outputs)
        _fill_tables(len(groups.n_splits), quadrature(layout), sizes, credits, starts, tables)
    return tables, starts, first, place


@kernel(parallel=True)
def _fill_tables(first_group, last_group, of_groups, sizes, credits, starts, tables):
    """Explain every outcome of every group; split b goes left where bit b is set."""
    layout, extents, triples, points, weights = of_groups
    (n_splits, n_features), (first_credited, within, n_outputs) = sizes, credits
    space = workspace(extents)
    entries, terms, first_entries = layout.entries, layout.terms, layout.starts[:, 0]
    x, phi = np.empty((BITS, LANES)), np.empty((BITS * n_outputs, LANES))
    written = -1  # First outcome of those in x.
    for g in range(first_group, last_group):
        if first_entries[g] == first_entries[g + 1]:
            continue
        n_outcomes, width = 1 << n_splits[g], n_features[g] * n_outputs
        n_credits = first_credited[g + 1] - first_credited[g]
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
            for i in range(n_credits):
                row = within[first_credited[g] + i]
                for lane in range(lanes):
                    tables[starts[g] + (first + lane) * n_credits + i] = phi[row, lane]
