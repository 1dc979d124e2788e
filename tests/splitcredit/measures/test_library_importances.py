"""Importances under the libraries' names: gain, weight and cover of splits, and permutation."""

import json
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from lightgbm import LGBMRegressor
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.inspection import permutation_importance
from sklearn.metrics import f1_score, make_scorer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from xgboost import DMatrix, XGBRegressor

import splitcredit
import twins
from splitcredit import importance, to_forest

RANDOM = np.random.default_rng(0)
X = pd.DataFrame(RANDOM.normal(size=(200, 4)), columns=["a", "b", "c", "d"])
Y = X["a"] * X["b"] + X["c"]


@pytest.mark.parametrize(("kind", "name"), [("weight", "split"), ("total_gain", "gain")])
def test_splits_are_counted_as_lightgbm_counts_them(kind, name):
    model = LGBMRegressor(n_estimators=5, verbose=-1, importance_type=name).fit(X, Y)
    for own in (model, model.booster_):
        ours = splitcredit.splits(own, kind=kind).values
        assert twins.largest_error(ours, model.feature_importances_) < 1e-12


@pytest.mark.parametrize("options", [{}, {"multi_strategy": "multi_output_tree"}])
@pytest.mark.parametrize("kind", ["weight", "gain", "total_gain", "cover", "total_cover"])
def test_all_kinds_are_of_the_trees_that_predict_after_early_stopping(kind, options):
    """And of leaves with a value for each target XGBoost adds the covers of all targets up."""
    y = np.column_stack([Y, -Y]) if options else Y
    model = XGBRegressor(n_estimators=60, learning_rate=0.9, early_stopping_rounds=9, **options)
    model.fit(X[:50], y[:50], eval_set=[(X[50:], y[50:])], verbose=False)
    booster = model.get_booster()
    assert model.best_iteration + 1 < booster.num_boosted_rounds()
    for own, trees in ((model, booster[: model.best_iteration + 1]), (booster, booster)):
        theirs = trees.get_score(importance_type=kind)
        expected = [theirs.get(name, 0.0) for name in X]
        ours = splitcredit.splits(own, kind=kind).values
        np.testing.assert_allclose(ours, expected, rtol=1e-6)


def test_permutation_is_that_of_scikit_learn():
    model = make_pipeline(StandardScaler(), RandomForestRegressor(9, random_state=0)).fit(X, Y)
    theirs = permutation_importance(model, X, Y, n_repeats=3, random_state=7)
    ours = splitcredit.permutation(model, X, Y, n_repeats=3, random_state=7)
    assert ours.values.tobytes() == theirs.importances_mean.tobytes()
    error = theirs.importances_std / np.sqrt(3)
    assert ours.standard_error.tobytes() == error.tobytes()
    assert ours.feature_names == ("a", "b", "c", "d")


def test_the_permutation_of_a_forest_is_that_of_its_model():
    for kind, y in ((RandomForestRegressor, Y), (RandomForestClassifier, Y > 0)):
        model = kind(9, random_state=0).fit(X, y)
        ours, own = (splitcredit.permutation(m, X, y).values for m in (to_forest(model), model))
        assert twins.largest_error(ours, own) < 1e-9
    booster = XGBRegressor(n_estimators=2).fit(X, Y).get_booster()
    correlation = lambda b, X, y: np.corrcoef(b.predict(DMatrix(X)), y)[0, 1]  # noqa: E731
    by_function = splitcredit.permutation(booster, X, Y, scoring=correlation)
    assert by_function.values.argmax() == importance(booster).values.argmax()
    forest = RandomForestClassifier(2, random_state=0).fit(X, Y > 0)
    of_forest = splitcredit.splits(forest)
    assert of_forest.values.sum() == (to_forest(forest).feature >= 0).sum()
    with pytest.raises(TypeError, match="asks the model for its score, and a Booster has none"):
        splitcredit.permutation(booster, X, Y)
    for scoring, message in (
        (["f1", "accuracy"], "one score at a time"),
        (lambda *_: np.nan, "is nan: "),
    ):
        with pytest.raises(ValueError, match=message):
            splitcredit.permutation(forest, X, Y > 0, scoring=scoring)
    for kind, message in (("gain", "only fitted models of XGBoost and L"), ("split", "available")):
        with pytest.raises(ValueError, match=message):
            splitcredit.splits(forest, kind=kind)


@pytest.mark.parametrize(
    "options",
    [
        {"sample_weight": np.arange(len(X))},
        {"max_samples": 0.5, "sample_weight": np.arange(len(X))},
        {"scoring": make_scorer(f1_score)},
        {"scoring": {"any": "f1"}},
    ],
)
def test_permutation_takes_what_that_of_scikit_learn_takes(options):
    model = RandomForestClassifier(5, random_state=0).fit(X, Y > 0)
    found = splitcredit.permutation(model, X, Y > 0, **options)
    theirs = options | ({"scoring": "f1"} if "scoring" in options else {})
    expected = permutation_importance(model, X, Y > 0, random_state=0, **theirs)
    assert found.values.tobytes() == expected.importances_mean.tobytes()
    assert found.parameters.get("weighted", False) == ("sample_weight" in options)
    json.dumps(found.parameters)
    if "scoring" not in options:
        of_forest = splitcredit.permutation(to_forest(model), X, Y > 0, **options).values
        assert twins.largest_error(of_forest, found.values) < 1e-9


@pytest.mark.parametrize("library", ["any", "polars", "pyarrow"])
def test_tables_of_other_libraries_are_permuted_by_the_names_of_their_columns(library):
    steps = ColumnTransformer([("scaled", StandardScaler(), ["b", "a"])])
    model = make_pipeline(steps, RandomForestRegressor(3, random_state=0)).fit(X, Y)
    if library == "any":
        table = SimpleNamespace(to_pandas=lambda: X)
    else:
        module = pytest.importorskip(library)
        table = getattr(module, "Table", module).from_pandas(X)
    expected = importance(model, X, Y, "permutation")
    found = importance(model, table, Y, "permutation")
    assert found.feature_names == expected.feature_names
    assert found.values.tobytes() == expected.values.tobytes()
