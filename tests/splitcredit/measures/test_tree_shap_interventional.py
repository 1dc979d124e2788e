"""Interventional TreeSHAP against enumeration, fractions, shap's own C code and worked examples."""

from dataclasses import replace

import numpy as np
import pytest

import twins
import twins_interventional
from forests import (
    DRAWN,
    FITTED,
    along_caterpillar,
    caterpillar,
    fitted,
    grow,
    leaf,
    random_forest,
    rows_on_thresholds,
    split,
    stump,
)
from splitcredit import to_forest, tree_shap_interventional
from splitcredit.kernels.interventional import explain as kernel

# shap knows no NaN in a background.
FOR_SHAP = [n for n in FITTED if "NaN" not in n]

# The three ways to the same numbers, for any leaf: tables where they can be, patterns, pairs.
WAYS = {"tables": None, "small tables": (3, 64, 1), "patterns": (0, 64), "pairs": (0, 0)}
WAYS["tables, patterns and pairs"] = (2, 3, 1)


def rows(forest, n, n_background):
    """Rows to explain and a background, which share some rows."""
    all_rows = rows_on_thresholds(forest, n + n_background - 1)
    return all_rows[:n], all_rows[n - 1 :]


@pytest.mark.parametrize("name", ["float32, <=", "NaN, float64, <", "ten classes"])
def test_the_two_twins_agree(name):
    forest = DRAWN[name]()
    case = forest, *rows(forest, 3, 3)
    twin = twins_interventional.tree_shap_interventional(*case)
    assert twins.largest_error(twins_interventional.leaf_by_leaf(*case), twin) <= twins.ROUNDING


@pytest.mark.parametrize("name", FITTED)
def test_all_ways_agree_on_fitted_forests(name):
    """With more than 64 distinct patterns in the background."""
    model, X, _ = fitted(name)
    forest = to_forest(model)
    X = forest.prepare(X)
    background, X = X[:: max(1, len(X) // 90)], X[3 :: len(X) // 10]
    outputs = np.arange(forest.n_outputs)
    one_way, *other_ways = (
        kernel.tree_shap_interventional(forest, X, outputs, background, limits)
        for limits in WAYS.values()
    )
    for other_way in other_ways:
        assert twins.largest_error(other_way, one_way) <= twins.ROUNDING


def test_each_leaf_goes_the_way_that_its_path_says():
    deep = caterpillar(70, 70)
    routes = kernel.leaf_routes(deep, 8, 64, least=1)
    _, (decisions, _, starts, leaves), middle, long, longest = routes
    depth = {leaf: len(path) for leaf, path in twins.ways(deep, 0)}
    for group, shortest, largest in ((leaves, 1, 8), (middle, 9, 64), (long, 65, 70)):
        assert sorted(depth[k] for k in group)[:: max(1, len(group) - 1)] == [shortest, largest]
    assert longest == 70 and starts[-1] == len(leaves)
    assert sorted([*leaves, *middle, *long]) == np.flatnonzero(deep.feature < 0).tolist()
    assert (decisions >= 0).sum(axis=1).max() == 8


@pytest.mark.parametrize(("depth", "n_grouped"), [(1, 2), (3, 8), (6, 64), (8, 0)])
def test_only_whole_trees_and_groups_of_four_leaves_get_a_table(depth, n_grouped):
    """A group of a full tree of depth 8 has two leaves, and takes longer with a table."""

    def full(depth):
        if depth == 0:
            return leaf(1.0)
        return split(depth, 0.5, full(depth - 1), full(depth - 1))

    _, (*_, leaves), rest, _, _ = kernel.leaf_routes(grow([full(depth)], depth + 1), 8, 64)
    assert len(leaves) == n_grouped and len(leaves) + len(rest) == 2**depth


@pytest.mark.parametrize("name", FOR_SHAP)
def test_values_equal_those_of_shap(name):
    """On the model that shap explains: it rounds thresholds to float32, which moves rows.

    Basis of 2e-7: it keeps leaves, weights and sums in single precision too.
    """
    import shap

    model, X, _ = fitted(name)
    X = X.astype(np.float32)
    background, X = X[3 :: len(X) // 20], X[:: len(X) // 10]
    explainer = shap.TreeExplainer(model, background, feature_perturbation="interventional")
    theirs = explainer.shap_values(X, check_additivity=False).reshape(*X.shape, -1)
    forest = to_forest(model)
    rounded = replace(forest, threshold=forest.threshold.astype(np.float32))
    assert (
        twins.largest_error(theirs, tree_shap_interventional(rounded, X, background).values) <= 2e-7
    )


def test_an_and_of_two_features_shares_the_credit():
    """By hand: the prediction is 12 if both are 1, as in the row, else 0."""
    inner = split(1, 0.5, leaf(0.0), leaf(12.0))
    forest = grow([split(0, 0.5, leaf(0.0), inner)], 2)
    for z, expected in (([0, 0], [6, 6]), ([0, 1], [12, 0]), ([1, 0], [0, 12]), ([1, 1], [0, 0])):
        np.testing.assert_array_equal(
            tree_shap_interventional(forest, [[1, 1]], [z]).values[0, :, 0], expected
        )


@pytest.mark.parametrize(("depth", "n_features"), [(60, 60), (60, 7), (100, 100)])
def test_deep_trees_have_the_values_in_fractions(depth, n_features):
    """Paths with 60 features have patterns; with 100, the long ones are taken by pairs."""
    forest = caterpillar(depth, n_features, n_outputs=2)
    ends = along_caterpillar(forest, [depth, depth // 2, 9, 1])
    a = tree_shap_interventional(forest, ends, -ends)
    twin = twins_interventional.leaf_by_leaf(forest, ends, -ends)
    assert twins.largest_error(a.values, twin) <= twins.ROUNDING


@pytest.mark.parametrize("limits", WAYS.values())
def test_background_rows_count_as_often_as_they_occur(limits):
    """Values are means over background rows: 150 of them, of which 50 are there three times."""
    forest = random_forest(2, depth=11, n_outputs=2, missing=True)
    X, background = (forest.prepare(r) for r in rows(forest, 5, 50))
    outputs = np.array([0, 1])
    repeated = np.concatenate([background, background[::-1], background])
    ours = kernel.tree_shap_interventional(forest, X, outputs, repeated, limits)
    by_row = [kernel.tree_shap_interventional(forest, X, outputs, z[None]) for z in background]
    assert twins.largest_error(ours, np.mean(by_row, axis=0)) <= twins.ROUNDING


@pytest.mark.parametrize(
    ("background", "message"),
    [
        (np.zeros((2, 4)), r"background: X has 4 features, the model was fitted on 3"),
        (np.zeros(3), r"background: X has 1 dimension"),
        ([[np.nan, 0, 0]], r"background: X holds NaN"),
        (np.zeros((0, 3)), r"background has no rows: pass rows of the training data"),
    ],
)
def test_bad_backgrounds_are_refused(background, message):
    with pytest.raises(ValueError, match=message):
        tree_shap_interventional(stump(), np.zeros((1, 3)), background)
