"""`TreeExplainer` on models beyond one numeric table and target: targets, categories, others."""

from functools import cache

import lightgbm
import numpy as np
import pandas as pd
import pytest
import shap
import xgboost
from sklearn import ensemble, tree
from sklearn.frozen import FrozenEstimator
from test_explainer import FEW, SINGLE, data, fitted

import splitcredit
import twins
import twins_interventional
from splitcredit import TreeExplainer


@pytest.mark.parametrize(
    ("kind", "target"),
    [
        (ensemble.RandomForestClassifier, "three"),
        (ensemble.ExtraTreesClassifier, "two"),
        (ensemble.RandomForestRegressor, "values"),
        (ensemble.ExtraTreesRegressor, "values"),
    ],
)
def test_the_mean_that_forests_are_checked_against_is_their_prediction(kind, target):
    """It is taken over their trees, and not by `predict`. Columns have names, some rows gaps."""
    X, y = data()
    X = pd.DataFrame(X.astype(float), columns=list("abcde")).mask(X > 1.5)
    model = kind(7, random_state=0).fit(X, y[target])
    predict = model.predict_proba if hasattr(model, "predict_proba") else model.predict
    prediction = TreeExplainer(model).model.own_prediction(X)
    assert twins.largest_error(prediction, predict(X).reshape(prediction.shape)) <= twins.ROUNDING


def test_the_prediction_of_several_targets_is_explained_for_each():
    X = data()[0]
    model = fitted("forest, targets")[0]
    explanation = TreeExplainer(model, X[50:90], model_output="predict")(X[:6])
    totals = explanation.base_values + explanation.values.sum(axis=1)
    assert np.allclose(totals, model.predict(X[:6]), rtol=0, atol=twins.ROUNDING)


def test_the_expected_value_of_a_frozen_model_has_the_shape_of_the_model_in_it():
    """A FrozenEstimator is of scikit-learn, whatever it holds; plots of shap need a number."""
    X, y = data()
    for model in (xgboost.XGBRegressor(**FEW), lightgbm.LGBMRegressor(verbose=-1, **FEW)):
        expected = TreeExplainer(model.fit(X, y["values"])).expected_value
        assert isinstance(expected, float)
        assert TreeExplainer(FrozenEstimator(model)).expected_value == expected
        assert isinstance(TreeExplainer(FrozenEstimator(model)).expected_value, float)
    of_sklearn = FrozenEstimator(tree.DecisionTreeRegressor(max_depth=2).fit(X, y["values"]))
    assert TreeExplainer(of_sklearn).expected_value.shape == (1,)


def test_catboost_is_explained_as_by_shap():
    catboost = pytest.importorskip(
        "catboost", reason="The package catboost is not installed; pip install catboost."
    )
    X, y = data()
    parameters = {"iterations": 5, "depth": 4, "verbose": 0, "allow_writing_files": False}
    for name, target in (("Regressor", "values"), ("Classifier", "two"), ("Classifier", "three")):
        model = getattr(catboost, f"CatBoost{name}")(**parameters).fit(X, y[target])
        ours, theirs = TreeExplainer(model), shap.TreeExplainer(model)
        expected = theirs.shap_values(X[:6])
        assert twins.largest_error(ours.shap_values(X[:6]), expected) <= twins.ROUNDING
        assert np.array_equal(ours.shap_values(catboost.Pool(X[:6])), ours.shap_values(X[:6]))
        assert np.allclose(ours.expected_value, theirs.expected_value, rtol=twins.ROUNDING)
        if target == "two":
            losses = [
                make(model, X[50:90], model_output="log_loss").shap_values(X[:6], y["two"][:6])
                for make in (TreeExplainer, shap.TreeExplainer)
            ]
            assert twins.largest_error(*losses) <= SINGLE


def test_a_ranker_of_catboost_is_compared_with_its_own_prediction():
    """Its method `predict` takes no type of prediction, as that of the other models does."""
    catboost = pytest.importorskip(
        "catboost", reason="The package catboost is not installed; pip install catboost."
    )
    X, y = data()
    parameters = {"iterations": 4, "verbose": 0, "allow_writing_files": False}
    queries = np.zeros(len(X), int)
    model = catboost.CatBoostRanker(**parameters).fit(X, y["two"], group_id=queries)
    explainer = TreeExplainer(model)
    total = explainer.shap_values(X).sum(axis=1) + explainer.expected_value
    assert twins.largest_error(total, model.predict(X)) <= twins.ROUNDING


@cache
def labeled():
    """A table with labels of categories, and targets."""
    random = np.random.default_rng(0)
    labels = np.array(["red", "green", "blue", "pink"])
    codes = random.integers(0, 4, 200)
    frame = pd.DataFrame(
        {
            "a": random.normal(size=200),
            "color": pd.Categorical(labels[codes], categories=labels),
            "b": random.normal(size=200),
        }
    )
    return frame, frame["a"] + np.array([3.0, -1, 0, 2])[codes] * frame["b"]


BY_LABELS = {
    "histograms": lambda: ensemble.HistGradientBoostingRegressor(
        max_iter=5, categorical_features="from_dtype"
    ),
    "xgboost": lambda: xgboost.XGBRegressor(max_depth=4, enable_categorical=True, **FEW),
    "lightgbm": lambda: lightgbm.LGBMRegressor(min_child_samples=5, verbose=-1, **FEW),
}


@pytest.mark.parametrize("perturbation", ["none", "interventional", "tree_path_dependent"])
@pytest.mark.parametrize("name", BY_LABELS)
def test_labels_of_categories_are_explained_and_shown(name, perturbation):
    """In any order of the columns; the check of additivity asks the model itself."""
    frame, y = labeled()
    model = BY_LABELS[name]().fit(frame, y)
    reordered = frame[["b", "color", "a"]]
    explanations = []
    for table in (frame, reordered):
        arguments = {"data": table[50:60], "feature_perturbation": perturbation}
        ours = TreeExplainer(model, **({} if perturbation == "none" else arguments))
        explanations.append(ours(table[:6]))
        assert ours.data is None or np.array_equal(ours.data, frame[50:60].to_numpy())
        interactions = ours.shap_interaction_values(table[:6])
        sums = interactions.sum(axis=2)
        assert twins.largest_error(sums, explanations[-1].values) <= twins.ROUNDING
    first, second = explanations
    assert np.array_equal(first.values, second.values)
    assert np.array_equal(first.data, frame[:6].to_numpy())
    assert np.array_equal(second.data, first.data)
    assert first.feature_names == second.feature_names == ["a", "color", "b"]
    if perturbation == "interventional":
        forest = splitcredit.to_forest(model)
        twin = twins_interventional.tree_shap_interventional(
            forest, forest.prepare(frame[:6]), forest.prepare(frame[50:60])
        )
        assert twins.largest_error(first.values, twin[:, :, 0]) <= twins.ROUNDING
    elif perturbation == "none" and name != "histograms":  # shap takes no labels there
        expected = shap.TreeExplainer(model).shap_values(frame[:6])
        assert twins.largest_error(first.values, expected) <= SINGLE


def test_labels_in_arrays_lists_and_series_are_those_of_the_frame():
    frame, y = labeled()
    table = frame.astype({"color": object})
    model = ensemble.HistGradientBoostingRegressor(max_iter=5, categorical_features=["color"])
    ours = TreeExplainer(model.fit(table, y), table[50:60])
    expected = ours.shap_values(table[:3])
    assert np.array_equal(ours.shap_values(table[:3].to_numpy()), expected)
    assert np.array_equal(ours.shap_values(table[:3].to_numpy().tolist()), expected)
    explanation = ours(table.iloc[1].tolist())
    assert (
        np.array_equal(explanation.values, expected[1]) and explanation.data[1] == table["color"][1]
    )
    of_turned_columns = ours(table[["b", "color", "a"]].iloc[1])
    assert np.array_equal(of_turned_columns.values, expected[1])
    assert np.array_equal(of_turned_columns.data, explanation.data)


def test_the_first_trees_of_a_model_with_categories_keep_their_splits():
    frame, y = labeled()
    model = BY_LABELS["xgboost"]().fit(frame, y)
    ours = TreeExplainer(model)
    values = ours.shap_values(frame[:6], tree_limit=2)
    margin = model.predict(frame[:6], iteration_range=(0, 2))
    assert np.allclose(ours.expected_value + values.sum(axis=1), margin, rtol=0, atol=SINGLE)


def test_a_masker_and_a_matrix_with_names_are_put_in_the_order_of_the_model():
    frame, y = labeled()
    frame = frame[["a", "b"]]
    model, reordered = xgboost.XGBRegressor(**FEW).fit(frame, y), frame[["b", "a"]]
    ours = TreeExplainer(model, shap.maskers.Independent(reordered[50:60]))
    assert np.array_equal(ours.data, frame[50:60]) and ours.data_feature_names == ["a", "b"]
    expected = TreeExplainer(model, frame[50:60]).shap_values(frame[:6])
    assert np.array_equal(ours.shap_values(reordered[:6]), expected)
    assert np.array_equal(ours(reordered[:6]).data, frame[:6])
    matrices = [xgboost.DMatrix(table[:6]) for table in (frame, reordered)]
    first, second = (TreeExplainer(model).shap_values(matrix) for matrix in matrices)
    assert np.array_equal(first, second)
