"""The upper bound of PGI2 of all orders: not below the optimum, and equal if nothing is left."""

import numpy as np
import pytest
from sklearn.ensemble import ExtraTreesRegressor, RandomForestClassifier
from xgboost import XGBRegressor

import twins
import twins_bounds
from forests import grow, leaf, split
from reproduction import datasets
from splitcredit.models.formats import to_forest
from splitcredit.prediction_gap import perturbations
from splitcredit.prediction_gap.bounds import largest_pgi2
from splitcredit.prediction_gap.greedy import greedy_ranking
from splitcredit.prediction_gap.optimum import best_ranking


def grown(n_features, depth, n_trees=12):
    """A boosted model, and rows that it was not fitted on."""
    recipe = {"dataset": "friedman", "n_samples": 200, "n_test": 4, "n_features": n_features}
    data = datasets.load(recipe)
    parameters = {"n_estimators": n_trees, "max_depth": depth, "learning_rate": 0.3, "n_jobs": 1}
    model = XGBRegressor(**parameters, random_state=0).fit(data.training.X, data.training.y)
    return to_forest(model), data.explained.X


@pytest.mark.parametrize("scale", [0.1, 0.5, 2.0])
@pytest.mark.parametrize("searched", [1, 2, 4, 6])
def test_the_bound_is_not_below_the_best_of_all_orders(searched, scale):
    forest, X = grown(9, 3)
    best = best_ranking(forest, X, scale=scale).pgi2
    bound = largest_pgi2(forest, X, scale=scale, searched=searched)
    assert (bound.upper >= best * (1 - 1e-12)).all()
    assert not bound.exact.any() or np.allclose(bound.upper[bound.exact], best[bound.exact])


@pytest.mark.parametrize(
    "perturbation",
    [
        perturbations.Uniform(),
        perturbations.Laplace(),
        perturbations.Marginal(np.random.default_rng(0).normal(size=(30, 7))),
    ],
    ids=["uniform", "laplace", "marginal"],
)
def test_the_bound_holds_for_other_noise_and_for_means_over_trees(perturbation):
    random = np.random.default_rng(1)
    X = random.normal(size=(80, 7))
    y = X[:, 0] * X[:, 1] + np.abs(X[:, 2]) + 0.3 * random.normal(size=80)
    regression = ExtraTreesRegressor(5, max_depth=4, random_state=0).fit(X, y)
    classes = RandomForestClassifier(5, max_depth=4, random_state=0).fit(X, y > y.mean())
    for model, output in ((regression, None), (classes, 1)):
        scale = 1.0 if isinstance(perturbation, perturbations.Marginal) else 0.8
        arguments = model, X[:3], perturbation, scale, output
        best = best_ranking(*arguments).pgi2
        for searched in (1, 3, 5):
            assert (largest_pgi2(*arguments, searched=searched).upper >= best * (1 - 1e-12)).all()


def test_where_few_features_have_an_effect_the_bound_is_the_optimum():
    """Twenty features, of which two trees of depth two split on six at most."""
    forest, X = grown(20, 2, n_trees=2)
    split_on = np.unique(forest.feature[forest.feature >= 0])
    bound = largest_pgi2(forest, X, scale=0.5, searched=8)
    assert bound.exact.all() and len(split_on) <= 6
    greedy = greedy_ranking(forest, X, scale=0.5).pgi2
    assert (greedy <= bound.upper * (1 + 1e-12)).all()
    # An order may wait with features that have no effect at its largest gap.
    few_features, few_rows = grown(5, 2, n_trees=2)
    optimum = best_ranking(few_features, few_rows, scale=0.5).pgi2
    assert np.allclose(largest_pgi2(few_features, few_rows, scale=0.5).upper, optimum, rtol=1e-13)


def test_more_features_searched_are_tighter():
    forest, X = grown(18, 3)
    uppers = [largest_pgi2(forest, X, scale=0.3, searched=s).upper.sum() for s in (4, 8, 12)]
    assert uppers[0] > uppers[1] > uppers[2]
    greedy = greedy_ranking(forest, X, scale=0.3).pgi2.sum()
    assert greedy <= uppers[2] < 1.5 * greedy


def test_wrong_numbers_of_features_and_blanks_are_refused():
    forest, X = grown(5, 2)
    for searched in (0, 17):
        with pytest.raises(ValueError, match=rf"^searched={searched}: expected 1 to 16 features"):
            largest_pgi2(forest, X, searched=searched)
    assert largest_pgi2(forest, X, searched=16).exact.all()
    X[1, 2] = np.nan
    with pytest.raises(ValueError, match=r"NaN in row 1, feature 'x2'"):
        largest_pgi2(forest, X)


@pytest.mark.parametrize(("searched", "aggregate"), [(1, "mean"), (2, "sum"), (3, "sum")])
def test_the_bound_is_that_of_its_formulas(searched, aggregate):
    """Not only no smaller than the optimum: one of 0.999 times the size would pass for that."""
    random = np.random.default_rng(4)

    def tree(depth):
        if depth == 0:
            return leaf(random.normal())
        children = tree(depth - 1), tree(depth - 1)
        return split(int(random.integers(5)), random.choice(np.arange(-8, 9)) / 8, *children)

    forest = grow([tree(3) for _ in range(3)], 5, aggregate=aggregate)
    # On multiples of 1/8, so that values meet thresholds.
    X = random.integers(-8, 9, (3, 5)) / 8
    bound = largest_pgi2(forest, X, scale=0.4, searched=searched)
    expected = [twins_bounds.largest_pgi2(forest, x, 0.4, searched) for x in X]
    assert twins.largest_error(bound.upper, expected) <= twins.ROUNDING
