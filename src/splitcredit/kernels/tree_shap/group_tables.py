"""Lay out tables over the outcomes of splits in memory, and look rows up in them.

A tree is cut into groups of splits (`split_groups`). For every outcome of the splits of a group the
tables hold what the group adds to the credits of some features (`outcome_tables`), or of pairs of
features (`interactions.pair_tables`). The numbers of an outcome lie side by side.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from splitcredit.kernels import cache
from splitcredit.kernels.compiled import kernel
from splitcredit.kernels.nodes import cached_per_forest, n_blocks, nodes_of
from splitcredit.kernels.tree_shap.blocks import padded
from splitcredit.kernels.tree_shap.lanes import WIDTH
from splitcredit.kernels.tree_shap.split_groups import BITS, groups_of
from splitcredit.kernels.tree_shap.transposed import flattened, take_rows

# Fewest and most rows in one block, one thread's work, and numbers that stay in the caches.
FEWEST, MOST, IN_CACHE = 128, 256, 1 << 12


class Tables(NamedTuple):
    """Groups of splits, and what they add for each outcome."""

    splits: np.ndarray  # int32 (n_groups, BITS): nodes of the forest
    n_splits: np.ndarray  # int32 (n_groups,)
    tables: np.ndarray  # float64 (n_numbers,)
    starts: np.ndarray  # int64 (n_groups + 1,): where the numbers of each group start
    first: np.ndarray  # int64 (n_groups + 1,): the first credit of each group
    place: np.ndarray  # int64 (n_credits,): where each credit is added in the attributions of a row


def add_from_tables(forest, key, make, X, rows, out) -> None:
    """Add what the tables hold for the outcomes of each row to `out`, which holds zeros."""
    flat = flattened(out)
    size = block_size(flat)
    for tables in cache.ARRAYS.items(forest, key, make):
        look_up(n_blocks(len(rows), size), splits_of(forest), tables, X, rows, size, flat)


def block_size(out) -> int:
    """Return the rows of a block: as many as keep their part of `out` in the caches."""
    return max(FEWEST, min(MOST, IN_CACHE // max(out.shape[1], 1) // WIDTH * WIDTH))


@cached_per_forest
def cached_nodes(forest):
    """Return the `nodes_of` a forest, cached; callers check first that it is not deep."""
    return nodes_of(forest)


def splits_of(forest):
    """Return column, threshold and rule for NaN of every node."""
    nodes = cached_nodes(forest)
    return nodes.column, nodes.threshold, nodes.missing_left


def room_of(forest, value):
    """Bound the numbers in the tables up to each tree: a group for every leaf."""
    roots = forest.tree_offsets[:-1]
    leaves = np.add.reduceat(forest.feature < 0, roots, dtype=np.int64)
    varies = np.maximum.reduceat(value, roots) != np.minimum.reduceat(value, roots)
    return np.cumsum(leaves * (varies.sum(axis=1) << BITS) * BITS)


def chunks(forest, value, room, most):
    """Yield groups of consecutive trees, a chunk at a time."""
    nodes, first = cached_nodes(forest), 0
    while first < forest.n_trees:
        before = room[first - 1] if first else 0
        last = max(first + 1, int(np.searchsorted(room, before + most, side="right")))
        groups = groups_of(nodes, value, forest.tree_offsets[first : last + 1])
        if len(groups.n_splits):
            yield groups
        first = last


def credited(layout, counts):
    """List what each group is credited with, for the outputs that vary in it.

    Returns the first credit of each group, int64 (n_groups + 1,), and of each credit its group,
    which feature or set of the group it is of, and its output, int64 (n_credits,).
    """
    root, varies = layout.starts[:-1, 0], np.diff(layout.starts[:, 0]) > 0
    n_varying, terms = np.zeros((2, len(root)), np.int64)
    n_varying[varies] = layout.entries["n_terms"][root[varies]]
    terms[varies] = layout.entries["terms"][root[varies]]
    n_credits = counts * n_varying
    first = np.concatenate([[0], np.cumsum(n_credits)])
    group = np.repeat(np.arange(len(n_credits)), n_credits)
    which, term = np.divmod(np.arange(first[-1]) - first[group], n_varying[group])
    return first, group, which, layout.terms["output"][terms[group] + term]


def empty_tables(first, n_splits):
    """Return where the tables of each group start, and memory for all of them."""
    starts = np.concatenate([[0], np.cumsum(np.left_shift(np.diff(first), n_splits))])
    return starts, np.empty(starts[-1])


@kernel(parallel=True)
def look_up(first, last, forest, of_groups, X, rows, size, out):
    """Add what the tables hold for the outcome of each row; a block belongs to one thread."""
    column, threshold, missing_left = forest
    splits, n_splits, tables, starts, first_credited, place = of_groups
    x = np.empty((X.shape[1], padded(min(size, len(out)))))
    outcome = np.empty(x.shape[1], np.uint8)
    for block in range(first, last):
        start = block * size
        n_rows = min(size, len(out) - start)
        lanes = padded(n_rows)
        any_nan = take_rows(X, rows, start, n_rows, x)
        for g in range(len(n_splits)):
            for lane in range(lanes):
                outcome[lane] = 0
            for b in range(n_splits[g]):
                k = splits[g, b]
                nan_left = any_nan and missing_left[k]
                _mark_left(column[k], threshold[k], np.uint8(1 << b), nan_left, lanes, x, outcome)
            _add_numbers(tables, starts[g], first_credited, g, outcome, start, n_rows, place, out)


@kernel(inner=True)
def _mark_left(j, threshold, bit, nan_left, lanes, x, outcome):
    """Set one bit of the outcomes of the rows that go left."""
    none = np.uint8(0)
    for lane in range(lanes):
        outcome[lane] |= bit if x[j, lane] <= threshold else none
    if nan_left:
        for lane in range(lanes):
            outcome[lane] |= bit if x[j, lane] != x[j, lane] else none


@kernel(inner=True)
def _add_numbers(tables, at, first_credited, g, outcome, start, n_rows, place, out):
    """Add the numbers that a group has for the outcome of each row, four at a time."""
    begin, end = np.uint64(first_credited[g]), np.uint64(first_credited[g + 1])
    n, first_row, origin = end - begin, np.uint64(start), np.uint64(at) - begin
    whole = end - n % np.uint64(4)
    for i in range(begin, whole, np.uint64(4)):
        a, b = np.uint64(place[i]), np.uint64(place[i + np.uint64(1)])
        c, d = np.uint64(place[i + np.uint64(2)]), np.uint64(place[i + np.uint64(3)])
        for lane in range(np.uint64(n_rows)):
            row, k = first_row + lane, origin + np.uint64(outcome[lane]) * n + i
            one, two = out[row, a] + tables[k], out[row, b] + tables[k + np.uint64(1)]
            out[row, a], out[row, b] = one, two
            one = out[row, c] + tables[k + np.uint64(2)]
            two = out[row, d] + tables[k + np.uint64(3)]
            out[row, c], out[row, d] = one, two
    for i in range(whole, end):
        a = np.uint64(place[i])
        for lane in range(np.uint64(n_rows)):
            out[first_row + lane, a] += tables[origin + np.uint64(outcome[lane]) * n + i]
