"""`TreeExplainer` on models beyond one numeric table and target: targets, categories, others."""

from functools import cache

import lightgbm
import numpy as np
import pandas as pd
import pytest
import shap
import xgboost
from sklearn import ensemble
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
    predicted = model.predict(X) if target == "values" else model.predict_proba(X)
    prediction = TreeExplainer(model).model.own_prediction(X)
    assert twins.largest_error(prediction, predicted.reshape(prediction.shape)) <= twins.ROUNDING


@pytest.mark.parametrize("name", ["xgboost", "lightgbm", "decision tree"])
def test_the_expected_value_of_a_frozen_model_has_the_shape_of_the_model_in_it(name):
    """A FrozenEstimator is of scikit-learn, whatever it holds; plots of shap need a number."""
    model = fitted(name)[0]
    expected, frozen = (TreeExplainer(m).expected_value for m in (model, FrozenEstimator(model)))
    assert type(frozen) is type(expected) is (float if name != "decision tree" else np.ndarray)
    assert frozen == expected


@pytest.mark.parametrize(
    ("kind", "target"),
    [("Regressor", "values"), ("Classifier", "two"), ("Classifier", "three"), ("Ranker", "two")],
)
def test_catboost_is_explained_as_by_shap(kind, target):
    """A ranker is compared with its own prediction, whose method takes no type of prediction."""
    catboost = pytest.importorskip(
        "catboost", reason="The package catboost is not installed; pip install catboost."
    )
    X, y = data()
    parameters = {"iterations": 5, "depth": 4, "verbose": 0, "allow_writing_files": False}
    queries = {"group_id": np.zeros(len(X), int)} if kind == "Ranker" else {}
    model = getattr(catboost, f"CatBoost{kind}")(**parameters).fit(X, y[target], **queries)
    ours, rows = TreeExplainer(model), X[:6]
    values = ours.shap_values(rows)
    assert np.array_equal(ours.shap_values(catboost.Pool(rows)), values)
    if kind == "Ranker":
        total = values.sum(axis=1) + ours.expected_value
        assert twins.largest_error(total, model.predict(rows)) <= twins.ROUNDING
        return
    theirs = shap.TreeExplainer(model)
    assert twins.largest_error(values, theirs.shap_values(rows)) <= twins.ROUNDING
    assert np.allclose(ours.expected_value, theirs.expected_value, rtol=twins.ROUNDING)
    if target == "two":
        losses = [
            make(model, X[50:90], model_output="log_loss").shap_values(rows, y["two"][:6])
            for make in (TreeExplainer, shap.TreeExplainer)
        ]
        assert twins.largest_error(*losses) <= SINGLE


@cache
def labeled():
    """A table with labels of categories, and targets."""
    random = np.random.default_rng(0)
    labels = np.array(["red", "green", "blue", "pink"])
    codes = random.integers(0, 4, 200)
    frame = pd.DataFrame({"a": random.normal(size=200)})
    frame["color"] = pd.Categorical(labels[codes], categories=labels)
    frame["b"] = random.normal(size=200)
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
    model, explanations = BY_LABELS[name]().fit(frame, y), []
    for table in (frame, frame[["b", "color", "a"]]):
        arguments = {"data": table[50:60], "feature_perturbation": perturbation}
        ours = TreeExplainer(model, **({} if perturbation == "none" else arguments))
        explanation = ours(table[:6])
        explanations.append(explanation.values)
        assert ours.data is None or np.array_equal(ours.data, frame[50:60].to_numpy())
        sums = ours.shap_interaction_values(table[:6]).sum(axis=2)
        assert twins.largest_error(sums, explanation.values) <= twins.ROUNDING
        assert np.array_equal(explanation.data, frame[:6].to_numpy())
        assert explanation.feature_names == ["a", "color", "b"]
    values, of_reordered = explanations
    assert np.array_equal(values, of_reordered)
    if perturbation == "interventional":
        forest = splitcredit.to_forest(model)
        twin = twins_interventional.tree_shap_interventional(
            forest, forest.prepare(frame[:6]), forest.prepare(frame[50:60])
        )
        assert twins.largest_error(values, twin[:, :, 0]) <= twins.ROUNDING
    elif perturbation == "none" and name != "histograms":  # shap takes no labels there
        expected = shap.TreeExplainer(model).shap_values(frame[:6])
        assert twins.largest_error(values, expected) <= SINGLE


def test_labels_in_arrays_lists_and_series_are_those_of_the_frame():
    frame, y = labeled()
    table = frame.astype({"color": object})
    model = ensemble.HistGradientBoostingRegressor(max_iter=5, categorical_features=["color"])
    ours = TreeExplainer(model.fit(table, y), table[50:60])
    expected = ours.shap_values(table[:3])
    for rows in (table[:3].to_numpy(), table[:3].to_numpy().tolist()):
        assert np.array_equal(ours.shap_values(rows), expected)
    for row in (table.iloc[1].tolist(), table[["b", "color", "a"]].iloc[1]):
        explanation = ours(row)
        assert np.array_equal(explanation.values, expected[1])
        assert np.array_equal(explanation.data, table.iloc[1].to_numpy())


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
