"""Path-dependent interaction index of all pairs by tables over the outcomes of splits.

For shallow trees. The index is linear in the values of the leaves, as Shapley values are, so the
groups of splits of `tree_shap.split_groups` serve for pairs, too.
"""

from __future__ import annotations

import numpy as np

from splitcredit.kernels.compiled import kernel
from splitcredit.kernels.interactions.links import links_of
from splitcredit.kernels.interactions.pair_blocks import new_space, traverse, triples_and_rules
from splitcredit.kernels.interactions.sets import table_of
from splitcredit.kernels.interactions.shares import LANES
from splitcredit.kernels.nodes import as_readonly, cached_per_forest
from splitcredit.kernels.tree_shap import outcome_tables
from splitcredit.kernels.tree_shap.group_tables import (
    Tables,
    add_from_tables,
    cached_nodes,
    chunks,
    credited,
    empty_tables,
    room_of,
)
from splitcredit.kernels.tree_shap.layout import layout_of
from splitcredit.kernels.tree_shap.split_groups import BITS, groups_of

# The sets of a group: pairs of its features, by their numbers in it, and then each feature alone.
_LOW, _HIGH = np.triu_indices(BITS, 1)
_N_PAIRS, _N_SETS = len(_LOW), len(_LOW) + BITS
_TABLE = table_of(np.column_stack([_LOW, _HIGH]), BITS)
# Bytes of the tables of a forest. Larger ones might not be kept for the next call (`cache`), and to
# make them anew takes longer than to explain a few rows without them.
_MOST = 1 << 27
# Numbers in the tables made at a time; what `room_of` counts is for features, and sets are more.
_CHUNK = outcome_tables.CHUNK * BITS // _N_SETS


@cached_per_forest
def pays(forest) -> bool:
    """Return whether to use tables; only the trees decide, as both algorithms round differently."""
    if not outcome_tables.pays(forest):
        return False
    offsets = forest.tree_offsets[: outcome_tables.SAMPLE + 1]
    groups = groups_of(cached_nodes(forest), forest.value[: offsets[-1]].copy(), offsets)
    ends, n_features = groups.offsets[:-1], groups.n_features.astype(np.int64)
    if len(ends) == 0:
        return True
    varies = np.maximum.reduceat(groups.value, ends) != np.minimum.reduceat(groups.value, ends)
    n_sets = n_features * (n_features + 1) // 2
    numbers = np.left_shift(n_sets * varies.sum(axis=1), groups.n_splits).sum()
    return bool(numbers * 8 * forest.n_trees <= _MOST * (len(offsets) - 1))


def pair_index(forest, X, outputs, pairs) -> np.ndarray:
    """Compute the index of the pairs and, behind them, Shapley values of single features."""
    out = np.zeros((len(X), len(pairs) + forest.n_features, len(outputs)))
    (X,) = as_readonly(np.asarray(X, np.float64))
    key, rows = ("pairs", *outputs.tolist()), np.arange(len(X))
    add_from_tables(forest, key, lambda: _make(forest, outputs, pairs), X, rows, out)
    if forest.aggregate == "mean":
        out /= forest.n_trees
    return out


def _make(forest, outputs, pairs):
    """Yield the tables, a chunk of trees each."""
    value = np.ascontiguousarray(forest.value[:, outputs])
    for groups in chunks(forest, value, room_of(forest, value), _CHUNK):
        yield Tables(groups.splits, groups.n_splits, *_tables(groups, pairs, forest.n_features))


def _tables(groups, pairs, n_features):
    """Tabulate the numbers of each group for every outcome; return their places, too."""
    # A group has numbers for the pairs that meet on one of its paths and for each of its features.
    n_outputs, n_splits = groups.value.shape[1], groups.n_splits
    layout = layout_of(groups.nodes, groups.value, groups.offsets, np.arange(n_outputs), BITS)
    links = links_of(layout, _TABLE)
    of_link = np.repeat(np.arange(len(n_splits)), np.diff(links.starts[layout.starts[:, 0]]))
    counted = np.zeros((len(n_splits), _N_SETS), np.bool_)
    counted[of_link, links.links["number"]] = True
    counted[:, _N_PAIRS:] = np.arange(BITS) < groups.n_features[:, None]
    of_set, sets = np.nonzero(counted)
    n_sets = counted.sum(axis=1)
    first, group, which, output = credited(layout, n_sets)
    of_credit = (np.cumsum(n_sets) - n_sets)[group] + which
    within, places = sets * n_outputs, _places(groups.features[of_set], sets, pairs, n_features)
    starts, tables = empty_tables(first, n_splits)
    if len(tables):
        credits = first, within[of_credit] + output, n_outputs
        deepest = int(layout.depths.max()) + 2
        of_groups = layout, links, triples_and_rules(layout, True), deepest
        _fill_tables(len(n_splits), of_groups, n_splits, credits, starts, tables)
    return tables, starts, first, places[of_credit] * n_outputs + output


def _places(features, sets, pairs, n_features):
    """Return the number in the forest of each set of a group with these features, (n_sets,)."""
    lines, is_pair = np.arange(len(sets)), sets < _N_PAIRS
    pair, single = np.where(is_pair, sets, 0), np.where(is_pair, 0, sets - _N_PAIRS)
    both = np.column_stack([features[lines, _LOW[pair]], features[lines, _HIGH[pair]]])
    both.sort(axis=1)
    powers = np.array([n_features, 1])
    of_pair = np.searchsorted(pairs @ powers, both @ powers)
    return np.where(is_pair, of_pair, len(pairs) + features[lines, single])


@kernel(parallel=True)
def _fill_tables(first_group, last_group, of_groups, n_splits, credits, starts, tables):
    """Explain every outcome of every group; split b goes left where bit b is set."""
    layout, links, (triples, rules), deepest = of_groups
    first, within, n_outputs = credits
    phi = np.empty((_N_SETS * n_outputs, LANES))
    space, x = new_space(deepest, len(rules[0]) - 1, n_outputs), np.empty((BITS, 1))
    for g in range(first_group, last_group):
        tree = layout.starts[g, 0], layout.starts[g + 1, 0], triples[g], _N_PAIRS, n_outputs
        if first[g] == first[g + 1]:
            continue
        n_outcomes, n_credits = 1 << n_splits[g], first[g + 1] - first[g]
        lanes = min(LANES, n_outcomes)
        if x.shape[1] != lanes:
            x = np.empty((BITS, lanes))
        for start in range(0, n_outcomes, lanes):
            for b in range(BITS):
                for lane in range(lanes):
                    x[b, lane] = 1 - ((start + lane) >> b & 1)
            for i in range(first[g], first[g + 1]):
                for lane in range(lanes):
                    phi[within[i], lane] = 0.0
            traverse(layout, links, tree, rules, False, x, phi, space)
            for i in range(n_credits):
                row = within[first[g] + i]
                for lane in range(lanes):
                    tables[starts[g] + (start + lane) * n_credits + i] = phi[row, lane]
