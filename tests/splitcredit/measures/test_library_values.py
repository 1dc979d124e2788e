"""Models of CatBoost with features of its own: CatBoost computes, and the result says so."""

from functools import cache

import numpy as np
import pandas as pd
import pytest
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import splitcredit
import twins
from splitcredit import TreeExplainer, explain, explain_chunks, importance, interactions

catboost = pytest.importorskip("catboost")
shap = pytest.importorskip("shap")
OPTIONS = {"iterations": 5, "depth": 3, "verbose": 0, "allow_writing_files": False}
RANDOM = np.random.default_rng(0)
X = pd.DataFrame(
    {
        "size": RANDOM.normal(size=300),
        "color": RANDOM.choice(["red", "green", "blue"], 300),
        "kind": RANDOM.choice(["a", "b"], 300),
    },
    index=np.arange(300) + 7,
)
SCORE = X["size"] + 2 * (X["color"] == "red") + (X["kind"] == "a")
TARGETS = {
    "numbers": (catboost.CatBoostRegressor, SCORE),
    "two": (catboost.CatBoostClassifier, np.where(SCORE > 1, "yes", "no")),
    "three": (catboost.CatBoostClassifier, np.digitize(SCORE, [0.5, 1.5])),
}


CATEGORIES = ["color", "kind"]


def pool_of(X, **more):
    return catboost.Pool(X, cat_features=CATEGORIES, **more)


@cache
def fitted(name, one_hot=2):
    kind, y = TARGETS[name]
    return kind(**OPTIONS, one_hot_max_size=one_hot).fit(X, y, cat_features=CATEGORIES)


@pytest.mark.parametrize("one_hot", [2, 10])
@pytest.mark.parametrize("name", TARGETS)
def test_values_are_those_of_catboost(name, one_hot):
    model, pool = fitted(name, one_hot), pool_of(X)
    own = np.asarray(model.get_feature_importance(pool, type="ShapValues")).reshape(300, -1, 4)
    raw = catboost.CatBoost.predict(model, X, prediction_type="RawFormulaVal").reshape(300, -1)
    for rows in (X, pool):
        attribution = explain(model, rows)
        assert attribution.values.tobytes() == own[:, :, :3].transpose(0, 2, 1).tobytes()
        assert attribution.parameters["computed_by"] == "CatBoost ShapValues"
        assert twins.largest_error(attribution.totals(), raw) < 1e-12
    assert list(explain(model, X).index) == list(X.index)
    means = importance(model, X, method="tree_shap")
    expected = np.abs(attribution.values).mean(axis=0).sum(axis=1)
    assert twins.largest_error(means.values, expected) < 1e-12


@pytest.mark.parametrize("form", ["Lossguide", "Depthwise"])
def test_values_of_catboost_that_do_not_add_up_are_refused(form):
    table = X.assign(label=np.random.default_rng(1).choice(list("uvwxyz"), 300))
    y = SCORE + (table["label"] == "u") * 2 + table["size"] * (table["label"] == "v")
    model = catboost.CatBoostRegressor(
        **{**OPTIONS, "iterations": 30, "depth": 6, "grow_policy": form}
    )
    model.fit(table, y, cat_features=["color", "kind", "label"])
    totals = splitcredit.tree_shap(model, table, check_additivity=False).totals()[:, 0]
    assert abs(totals - model.predict(table))[:3].max() > 0.01
    for call in (explain, importance):
        with pytest.raises(ValueError, match=r"ShapValues add up to .* grow_policy='Symmetric"):
            call(model, table, method="tree_shap")


def test_outputs_are_chosen_as_of_other_models():
    three, two = fitted("three"), fitted("two")
    every, scores = explain(three, X), explain(two, X)
    assert explain(three, X, output=1).totals().tobytes() == every.totals()[:, [1]].tobytes()
    predicted = explain(three, X, output="predicted")
    assert np.array_equal(predicted.output_index, three.predict(X)[:, 0])
    assert scores.output_names == ("yes",)
    assert np.array_equal(explain(two, X, output="no").values, -scores.values)
    predicted, is_second = explain(two, X, output="predicted"), two.predict(X) == "yes"
    assert np.array_equal(predicted.output_index, is_second)
    totals = scores.totals()[:, 0]
    assert np.array_equal(predicted.totals()[:, 0], np.where(is_second, totals, -totals))
    with pytest.raises(ValueError, match="an index below 2, or a name in"):
        explain(two, X, output="maybe")


@pytest.mark.parametrize("name", TARGETS)
def test_an_explainer_has_the_values_of_shap(name):
    model = fitted(name)
    ours, theirs = TreeExplainer(model), shap.TreeExplainer(model)
    assert twins.largest_error(ours.shap_values(X), theirs.shap_values(pool_of(X))) < 1e-12
    assert twins.largest_error(ours.expected_value, theirs.expected_value) < 1e-12
    explanation, pairs = ours(X), ours(X, interactions=True)
    raw = catboost.CatBoost.predict(model, X, prediction_type="RawFormulaVal")
    assert twins.largest_error(explanation.base_values + explanation.values.sum(1), raw) < 1e-12
    assert twins.largest_error(pairs.values.sum(1), explanation.values) < 1e-9
    frozen = TreeExplainer(FrozenEstimator(model))
    assert frozen.shap_values(X).tobytes() == ours.shap_values(X).tobytes()


def test_offsets_of_a_pool_are_in_the_baseline():
    model, pool = fitted("numbers"), pool_of(X, baseline=SCORE)
    assert twins.largest_error(explain(model, pool).totals()[:, 0], model.predict(pool)) < 1e-6
    explanation = TreeExplainer(model)(pool)
    totals = explanation.base_values + explanation.values.sum(1)
    assert twins.largest_error(totals, model.predict(pool)) < 1e-6
    with pytest.raises(ValueError, match="the baseline of this Pool adds"):
        TreeExplainer(model).shap_values(pool)


@pytest.mark.parametrize("name", TARGETS)
def test_columns_go_by_their_names_in_tables_rows_and_chunks_of_a_pool(name):
    """Red if values, data or interactions stand under the names of other features."""
    model, given = fitted(name), X[["kind", "size", "color"]]
    expected, explainer = explain(model, X), TreeExplainer(model)
    found, shown, row = explain(model, given), explainer(given), explainer(given.iloc[3])
    assert found.values.tobytes() == expected.values.tobytes()
    assert np.array_equal(found.data, X) and np.array_equal(shown.data, X)
    assert list(row.data) == list(X.iloc[3])
    assert row.values.tobytes() == explainer.shap_values(X)[3].tobytes()
    pairs = explainer.shap_interaction_values(given.iloc[3])
    assert pairs.tobytes() == explainer.shap_interaction_values(X)[3].tobytes()
    parts = list(explain_chunks(model, pool_of(given), chunk_rows=70))
    assert np.concatenate([part.values for part in parts]).tobytes() == expected.values.tobytes()
    none = explain(model, X[:0])
    assert none.values.shape == (0, *expected.values.shape[1:]) and none.data.shape == (0, 3)
    assert np.array_equal(none.baseline, expected.baseline)
    assert len(explainer.shap_values(X[:0])) == len(explainer(X[:0], interactions=True)) == 0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda X: X.assign(more=1.0), r"missing \[\], not expected \['more'\]; leave out"),
        (lambda X: X.drop(columns="size"), r"missing \['size'\]"),
        (lambda X: X.to_numpy()[:, :2], "X has 2 features, the model was fitted on 3"),
        (lambda X: X.assign(kind=None), "missing values in 'kind'.* replace them by the label"),
        (lambda X: X.assign(size="big"), "X does not fit the model, CatBoost says: .*'big'"),
        (lambda X: catboost.Pool(X[["size", "kind"]], cat_features=["kind"]), r"\['color'\]"),
        (lambda X: catboost.Pool(X.assign(more=1.0), cat_features=[1, 2]), r"\['more'\]; leave"),
    ],
)
def test_rows_that_do_not_fit_are_refused_as_of_other_models(change, message):
    """Red if only CatBoost or Python explains the error, or further columns count."""
    model = fitted("numbers")
    for call in (explain, lambda model, X: TreeExplainer(model).shap_values(X)):
        with pytest.raises(ValueError, match=message):
            call(model, change(X))


ONLY_CATBOOST = "has categorical features, whose tables only CatBoost"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda model: explain(model, X, "saabas"), ONLY_CATBOOST),
        (importance, ONLY_CATBOOST),
        (lambda model: interactions(model, X), ONLY_CATBOOST),
        (lambda model: splitcredit.tree_shap_interventional(model, X, X), ONLY_CATBOOST),
        (lambda model: explain(model, X.iloc[0]), r"a table, which .* such as X\.iloc\[\[0\]\]"),
        (lambda model: explain(model, X, groups={"a": [0, 1]}), "takes no 'groups': leave it out"),
        (lambda model: TreeExplainer(model, X), "leave data and model_output out"),
        (lambda model: TreeExplainer(model).shap_values(X, approximate=True), "from all its trees"),
        (lambda model: TreeExplainer(model).shap_values(X, tree_limit=2), "from all its trees"),
        (lambda model: TreeExplainer(make_pipeline(FunctionTransformer(), model)), "its last step"),
    ],
)
def test_what_catboost_does_not_compute_is_refused(call, message):
    with pytest.raises((TypeError, ValueError), match=message):
        call(fitted("numbers"))
