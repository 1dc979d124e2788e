"""Local MDI against its twin, and what sutera2021 proves of it."""

import math
from dataclasses import replace

import numpy as np
import pytest

import twins
from forests import DRAWN, FITTED, fitted, grow, leaf, rows_on_thresholds, split, stump
from splitcredit import explain, to_forest
from splitcredit.importances import get_method


def global_mdi(forest, *arguments):
    """Global MDI as an array."""
    return get_method("mdi", "importance")(forest, *arguments).values


BAGGED = ["forest, gini, cancer", "forest, squared error, diabetes", "extra-trees, bagged, cancer"]
UNBAGGED = [
    "tree, gini, iris",
    "tree, entropy, wine",
    "tree, squared error, diabetes",
    "tree, best first, digits",
    "tree, constant column",
    "tree, NaN",
    "tree of one node",
    "forest, unbagged, wine",
    "extra-trees, shallow, wine",
    "extra-trees, entropy, digits",
    "extra-trees, entropy, iris",
    "extra-trees, squared error, made",
]
# Unbagged, every leaf pure.
FULLY_GROWN = [
    "tree, entropy, wine",
    "tree, NaN",
    "extra-trees, entropy, digits",
    "extra-trees, entropy, iris",
]


def local_mdi(model, X):
    """Values without the axis of the one output."""
    return explain(model, X, "local_mdi").values[:, :, 0]


@pytest.mark.parametrize("name", DRAWN)
def test_local_mdi_equals_the_twin(name):
    forest = DRAWN[name]()
    X = rows_on_thresholds(forest, 100)
    error = twins.largest_error(local_mdi(forest, X), twins.local_mdi(forest, X))
    assert error <= twins.ROUNDING


@pytest.mark.parametrize("name", FITTED)
def test_local_mdi_of_fitted_forests_equals_the_twin(name):
    model, X, _ = fitted(name)
    forest, X = to_forest(model), X[::17]
    error = twins.largest_error(local_mdi(forest, X), twins.local_mdi(forest, X))
    assert error <= twins.ROUNDING


@pytest.mark.parametrize("name", DRAWN)
def test_local_mdi_sums_to_the_decrease_from_the_roots_to_the_leaves(name):
    forest = DRAWN[name]()
    X = rows_on_thresholds(forest, 50)
    ours = local_mdi(forest, X).sum(axis=1)
    ends = [[(path[0], path[-1]) for path in twins.paths(forest, row)] for row in X]
    decrease = [np.mean([forest.impurity[a] - forest.impurity[b] for a, b in row]) for row in ends]
    assert twins.largest_error(ours, decrease) <= twins.ROUNDING


@pytest.mark.parametrize("name", UNBAGGED)
def test_the_mean_over_the_training_rows_is_global_mdi(name):
    """Eq. 9 of sutera2021."""
    model, X, _ = fitted(name)
    mean = local_mdi(model, X).mean(axis=0)
    assert twins.largest_error(mean, global_mdi(to_forest(model))) <= twins.ROUNDING


@pytest.mark.parametrize("name", BAGGED)
def test_with_bootstrap_the_mean_over_the_training_rows_is_something_else(name):
    """Eq. 9 of sutera2021 holds for the rows that a tree was grown on, so not here."""
    model, X, _ = fitted(name)
    mean = local_mdi(model, X).mean(axis=0)
    assert twins.largest_error(mean, global_mdi(to_forest(model))) > 1e-3


@pytest.mark.parametrize("name", ["forest, gini, cancer", "forest, squared error, diabetes"])
def test_with_bootstrap_eq_9_holds_for_each_tree_and_the_rows_drawn_for_it(name):
    model, X, _ = fitted(name)
    for tree, counts in zip(model.estimators_, to_forest(model).inbag, strict=True):
        mean = np.average(local_mdi(tree, X), axis=0, weights=counts)
        assert twins.largest_error(mean, global_mdi(to_forest(tree))) <= twins.ROUNDING


@pytest.mark.parametrize("name", FULLY_GROWN)
def test_in_fully_grown_trees_every_training_row_sums_to_the_entropy_of_Y(name):
    """In bits. The leaf of a training row is pure, the root has the impurity H(Y)."""
    model, X, y = fitted(name)
    shares = np.bincount(y) / len(y)
    entropy = -math.fsum(p * math.log2(p) for p in shares)
    sums = local_mdi(model, X).sum(axis=1)
    assert twins.largest_error(sums, np.full(len(X), entropy)) <= twins.ROUNDING


def test_example_2_of_sutera2021():
    """The printed -0.19 and +0.81: a feature can make the output of a row less certain."""
    entropy = -(0.25 * math.log2(0.25) + 0.75 * math.log2(0.75))
    tree = split(0, 0.5, leaf(0.5, 2.0, 1.0), leaf(0.0, 2.0, 0.0), impurity=entropy)
    values = local_mdi(grow([tree], 1), [[0.0], [1.0]])
    np.testing.assert_array_equal(values[:, 0], [entropy - 1.0, entropy])
    assert [f"{v:.2f}" for v in values[:, 0]] == ["-0.19", "0.81"]


def test_the_output_is_named_after_the_criterion():
    model, X, _ = fitted("forest, squared error, diabetes")
    attribution = explain(model, X[:3], "local_mdi")
    assert attribution.output_names == ("squared_error",)
    np.testing.assert_array_equal(attribution.baseline, [0.0])
    nameless = explain(replace(stump(), criterion=None), np.zeros((1, 3)), "local_mdi")
    assert nameless.output_names == ("impurity",)


def test_a_forest_without_impurities_is_refused():
    forest = replace(stump(), impurity=None)
    with pytest.raises(ValueError, match=r"local MDI needs the impurity.*Forest\(impurity=\.\.\."):
        explain(forest, np.zeros((1, 3)), "local_mdi")
