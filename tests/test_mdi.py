"""Global MDI against its twin, scikit-learn and a printed example."""

import math
from dataclasses import replace

import numpy as np
import pytest

import twins
from forests import BOOSTED, DRAWN, FITTED, boosted, fitted, grow, leaf, single_leaf, split, stump
from splitcredit import to_forest
from splitcredit.importances import get_method

TWINS = {"none": twins.mdi, "trees": twins.mdi_normalized_by_tree}


def importance(forest, *arguments, **parameters):
    """MDI as an array."""
    return get_method("mdi", "importance")(forest, *arguments, **parameters).values


@pytest.mark.parametrize("normalize", TWINS)
@pytest.mark.parametrize("name", DRAWN)
def test_mdi_equals_the_twin(name, normalize):
    forest = DRAWN[name]()
    error = twins.largest_error(importance(forest, normalize), TWINS[normalize](forest))
    assert error <= twins.ROUNDING


@pytest.mark.parametrize("normalize", TWINS)
@pytest.mark.parametrize("name", FITTED)
def test_mdi_of_fitted_forests_equals_the_twin(name, normalize):
    forest = to_forest(fitted(name)[0])
    error = twins.largest_error(importance(forest, normalize), TWINS[normalize](forest))
    assert error <= twins.ROUNDING


@pytest.mark.parametrize("name", FITTED)
def test_mdi_is_the_mean_of_scikit_learns_importances_before_normalization(name):
    model, _, _ = fitted(name)
    trees = [e.tree_ for e in getattr(model, "estimators_", [model])]
    theirs = np.mean([t.compute_feature_importances(normalize=False) for t in trees], axis=0)
    assert twins.largest_error(importance(to_forest(model)), theirs) <= twins.ROUNDING


@pytest.mark.parametrize("name", FITTED)
def test_mdi_by_trees_is_feature_importances_(name):
    model, _, _ = fitted(name)
    ours = importance(to_forest(model), normalize="trees")
    assert twins.largest_error(ours, model.feature_importances_) <= twins.ROUNDING


@pytest.mark.parametrize("name", [n for n in BOOSTED if n.startswith("gradient")])
def test_mdi_by_trees_is_feature_importances_of_gradient_boosting(name):
    model, _, _ = boosted(name)
    ours = importance(to_forest(model), normalize="trees")
    assert twins.largest_error(ours, model.feature_importances_) <= twins.ROUNDING


def test_the_two_forms_differ_by_more_than_a_factor():
    """Otherwise the tests above could not tell them apart."""
    forest = to_forest(fitted("extra-trees, shallow, wine")[0])
    by_forest = importance(forest)
    assert twins.largest_error(by_forest / by_forest.sum(), importance(forest, "trees")) > 0.01


def test_example_2_of_sutera2021():
    """P(Y=1) = 1/4; Y is known for x = 1 and even for x = 0: I(Y; X) bits."""
    entropy = -(0.25 * math.log2(0.25) + 0.75 * math.log2(0.75))
    tree = split(0, 0.5, leaf(0.5, 2.0, 1.0), leaf(0.0, 2.0, 0.0), impurity=entropy)
    assert importance(grow([tree], 1))[0] == pytest.approx(entropy - 0.5, abs=twins.ROUNDING)


@pytest.mark.parametrize("normalize", TWINS)
def test_unused_features_get_exactly_zero(normalize):
    assert importance(stump(), normalize).nonzero()[0].tolist() == [1]
    model, _, _ = fitted("tree, constant column")
    assert importance(to_forest(model), normalize)[-1] == 0.0


@pytest.mark.parametrize("normalize", TWINS)
def test_trees_without_a_split_have_no_importance(normalize):
    np.testing.assert_array_equal(importance(single_leaf(3), normalize), np.zeros(3))


@pytest.mark.parametrize("normalize", TWINS)
def test_splits_without_a_decrease_have_no_importance(normalize):
    forest = replace(stump(), impurity=np.zeros(3))
    np.testing.assert_array_equal(importance(forest, normalize), np.zeros(3))


def test_a_forest_without_impurities_is_refused():
    forest = replace(stump(), impurity=None)
    with pytest.raises(ValueError, match=r"MDI needs the impurity.*Forest\(impurity=\.\.\.\)"):
        importance(forest)


def test_an_unknown_normalization_is_refused():
    with pytest.raises(ValueError, match="normalize='sum': available are 'none', 'trees'"):
        importance(stump(), normalize="sum")
