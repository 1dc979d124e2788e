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


SMALL = {"n_estimators": 5, "max_depth": 4, "random_state": 0}
RANDOM = np.random.default_rng(1)
ROWS = RANDOM.normal(size=(80, 7))
VALUES = ROWS[:, 0] * ROWS[:, 1] + np.abs(ROWS[:, 2]) + 0.3 * RANDOM.normal(size=80)
MODELS = {
    "boosted": lambda: grown(9, 3),
    "values": lambda: (ExtraTreesRegressor(**SMALL).fit(ROWS, VALUES), ROWS[:3]),
    "classes": lambda: (RandomForestClassifier(**SMALL).fit(ROWS, VALUES > 0.5), ROWS[:3]),
}


@pytest.mark.parametrize("searched", [1, 3, 6])
@pytest.mark.parametrize(
    ("name", "noise", "scale"),
    [
        ("boosted", perturbations.Normal(), 0.1),
        ("boosted", perturbations.Normal(), 2.0),
        ("values", perturbations.Uniform(), 0.8),
        ("classes", perturbations.Laplace(), 0.8),
        ("values", perturbations.Marginal(ROWS[:30]), 1.0),
    ],
)
def test_the_bound_is_not_below_the_best_of_all_orders(name, noise, scale, searched):
    model, X = MODELS[name]()
    best = best_ranking(model, X, noise, scale).pgi2
    bound = largest_pgi2(model, X, noise, scale, searched=searched)
    assert (bound.upper >= best * (1 - 1e-12)).all()
    assert not bound.exact.any() or np.allclose(bound.upper[bound.exact], best[bound.exact])


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
