"""What measures need of a model, compared with recipes before the first job."""

import numpy as np
import pytest

from reproduction import models, peers
from reproduction.planning import checks, sweep
from reproduction.planning import configuration as config
from splitcredit import measures
from splitcredit.models.formats import to_forest

GRID = {"data": "led_sampled", "model": "extra_trees"}


def planned(importance, **axes):
    """The points of a sweep of one importance; a model may be given by its recipe."""
    recipe = axes.pop("model", None)
    models = {"mine": recipe} if recipe else {}
    grid = {**GRID, **axes, **({"model": "mine"} if recipe else {})}
    experiment = {
        "importances": [importance],
        "metrics": ["scores"],
        "sweep": [{"grid": grid}],
    }
    return config.load({"models": models, "experiments": {"e": experiment}})


FORESTS = "a forest with bootstrap: true, without folds, whose rows are drawn for each tree"
ONCE = "a model of its library, fitted once: without folds, and not recorded"
XGBOOST = {"estimator": "XGBRegressor", "n_estimators": 2}


@pytest.mark.parametrize(
    ("importance", "axes", "needed"),
    [
        ("ufi", {}, FORESTS),
        ("ufi", {"model.bootstrap": [True, False]}, FORESTS),
        ("mda", {"model": {"estimator": "RandomForestClassifier", "folds": 2}}, FORESTS),
        ("pg_10", {"model": XGBOOST}, FORESTS),
        ("local_mdi_treeinterpreter", {"model": XGBOOST}, "a forest of scikit-learn"),
        ("saabas_xgboost", {}, "a model of XGBoost"),
        ("tree_shap_shap", {"model.folds": 2}, ONCE),
        ("tree_shap_shap", {"model": XGBOOST, "model.recorded": "gajewski2025_wine_tree"}, ONCE),
    ],
)
def test_a_measure_that_cannot_take_a_model_is_named_before_the_first_job(importance, axes, needed):
    with pytest.raises(config.ConfigError) as caught:
        planned(importance, **axes)
    name = "mine" if "model" in axes else "extra_trees"
    place = f"experiments.e.sweep.0: importance.{importance} of {name}: "
    assert str(caught.value).startswith(place)
    assert f" needs {needed}; this " in str(caught.value)


@pytest.mark.parametrize("swept", [False, True])
def test_the_first_rows_of_folds_are_refused_before_the_first_job(swept):
    recipe = {"importance": "local_mdi", **({} if swept else {"n_rows": 3})}
    axes = {"importance.first.n_rows": [None, 3]} if swept else {}
    grid = {**GRID, "model.folds": 2, **axes}
    experiment = {"importances": ["first"], "metrics": ["scores"], "sweep": [{"grid": grid}]}
    with pytest.raises(config.ConfigError, match="n_rows takes the first rows, and folds explain"):
        config.load({"importances": {"first": recipe}, "experiments": {"e": experiment}})


@pytest.mark.parametrize(
    ("importance", "axes"),
    [
        ("ufi", {"model.bootstrap": True}),
        ("mda", {"model": {"estimator": "RandomForestRegressor"}}),
        ("air", {"model.folds": 2}),
        ("local_mdi", {"model.folds": 2}),
        ("saabas_treeinterpreter", {"model": {"estimator": "DecisionTreeClassifier"}}),
    ],
)
def test_a_measure_that_can_is_planned(importance, axes):
    assert len(sweep.expand(planned(importance, **axes), "e")) == 1


RECIPES = [
    {"estimator": name, **given}
    for name in models.ESTIMATORS
    for given in ({}, {"bootstrap": True}, {"bootstrap": False})
    if given.keys() <= models.parameters(name)
]


@pytest.mark.parametrize("recipe", RECIPES, ids=str)
def test_models_that_are_offered_as_bagged_know_their_bags(recipe):
    """The converter's answer is the one that measures get."""
    X = np.random.default_rng(0).normal(size=(60, 3))
    y = (X[:, 0] > 0).astype(int)
    forest = to_forest(models.fit(recipe, X, y), X_train=X)
    assert ("bootstrap" in models.offers(recipe)) == (forest.inbag is not None)


def test_every_word_that_a_measure_requires_is_known():
    """Every model of a recipe meets the words that are for the library's users."""
    words = set(models.REQUIREMENTS) | {"impurity", "refit", "score", "gains", "prediction"}
    for name in [*measures.names(), *peers.available()]:
        assert set(checks.constant("importance", name, "REQUIRES")) <= words, name
