"""`TreeExplainer` beside shap's: values, shapes, expected values, arguments, refusals."""

import inspect
import pickle
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cache
from itertools import pairwise

import lightgbm
import numpy as np
import pandas as pd
import pytest
import shap
import xgboost
from matplotlib import pyplot
from scipy.sparse import csr_matrix
from sklearn import ensemble, tree

import forests
import splitcredit
import twins
from splitcredit import TreeExplainer
from splitcredit.models.formats.own import rounding
from splitcredit.views.explainer import tree_explainer
from splitcredit.views.explainer.rows import with_covers_of

# Basis of 1e-6: single precision, in which shap keeps leaves, weights and sums against a
# background, and XGBoost all of its own; the sums have tens of terms of at most the scale.
SINGLE = 1e-6
N, P = 200, 5


@cache
def data():
    """Float32 rows, so that shap's float32 thresholds send them all where the models do."""
    random = np.random.default_rng(0)
    X = random.normal(size=(N, P)).astype(np.float32)
    score = (X[:, 0] + X[:, 1] * X[:, 2]).astype(float)
    two, three = (score > 0) * 1, np.digitize(score, [-0.5, 0.5])
    of_other = np.digitize(X[:, 3], [-0.5, 0.5])
    targets = {"values": score, "two": two, "three": three, None: None}
    targets["targets"] = np.column_stack([score, 2 * X[:, 3] + score**2])
    return X, {**targets, "classes": np.column_stack([two, of_other])}


SMALL, FEW = {"max_depth": 4, "random_state": 0}, {"n_estimators": 5}
MODELS = {
    "decision tree": (tree.DecisionTreeRegressor(**SMALL), "values"),
    "decision tree, classes": (tree.DecisionTreeClassifier(**SMALL), "two"),
    "forest": (ensemble.RandomForestRegressor(5, **SMALL), "values"),
    "forest, classes": (ensemble.RandomForestClassifier(5, **SMALL), "three"),
    "extra-trees": (ensemble.ExtraTreesRegressor(5, **SMALL), "values"),
    "extra-trees, classes": (ensemble.ExtraTreesClassifier(5, **SMALL), "two"),
    "boosting": (ensemble.GradientBoostingRegressor(**FEW, random_state=0), "values"),
    "boosting, classes": (ensemble.GradientBoostingClassifier(**FEW, random_state=0), "two"),
    "histograms": (ensemble.HistGradientBoostingRegressor(max_iter=5), "values"),
    "histograms, classes": (ensemble.HistGradientBoostingClassifier(max_iter=5), "two"),
    "histograms, three classes": (ensemble.HistGradientBoostingClassifier(max_iter=5), "three"),
    "xgboost": (xgboost.XGBRegressor(**FEW, max_depth=4), "values"),
    "xgboost, classes": (xgboost.XGBClassifier(**FEW, max_depth=4), "two"),
    "xgboost, three classes": (xgboost.XGBClassifier(**FEW, max_depth=4), "three"),
    "lightgbm": (lightgbm.LGBMRegressor(**FEW, verbose=-1), "values"),
    "lightgbm, classes": (lightgbm.LGBMClassifier(**FEW, verbose=-1), "two"),
    "lightgbm, three classes": (lightgbm.LGBMClassifier(**FEW, verbose=-1), "three"),
}
MORE = {
    "isolation": (ensemble.IsolationForest(max_features=3, max_samples=33, random_state=0), None),
    "forest, targets": (ensemble.RandomForestRegressor(5, **SMALL), "targets"),
    "extra-trees, targets": (ensemble.ExtraTreesRegressor(5, **SMALL), "targets"),
    "decision tree, targets": (tree.DecisionTreeRegressor(**SMALL), "targets"),
    "xgboost, targets": (xgboost.XGBRegressor(max_depth=4, **FEW), "targets"),
    "xgboost, dart": (
        xgboost.XGBRegressor(max_depth=4, booster="dart", rate_drop=0.4, seed=1, **FEW),
        "values",
    ),
    "lightgbm, dart": (
        lightgbm.LGBMRegressor(boosting_type="dart", drop_rate=0.5, verbose=-1, **FEW),
        "values",
    ),
}
# Models that shap does not take, or does not add up for.
OURS = {
    "isolation, one row a tree": (ensemble.IsolationForest(max_samples=1, random_state=0), None),
    "forest, targets of classes": (ensemble.RandomForestClassifier(5, **SMALL), "classes"),
    "bagging": (ensemble.BaggingRegressor(tree.DecisionTreeRegressor(max_depth=4), 5), "targets"),
    # LightGBM gives the sum of its trees, and the converted forest the mean.
    "lightgbm, random forest": (
        lightgbm.LGBMRegressor(
            boosting_type="rf", bagging_freq=1, bagging_fraction=0.5, verbose=-1, **FEW
        ),
        "values",
    ),
    "votes": (ensemble.AdaBoostClassifier(n_estimators=5, random_state=0), "two"),
    "votes, three": (ensemble.AdaBoostClassifier(n_estimators=5, random_state=0), "three"),
    "xgboost, vectors": (
        xgboost.XGBRegressor(max_depth=4, multi_strategy="multi_output_tree", **FEW),
        "targets",
    ),
}


@cache
def fitted(name):
    """A model and its targets."""
    model, target = (MODELS | MORE | OURS)[name]
    X, y = data()
    return model.fit(X, y[target]), y[target]


def quietly(call, *arguments, **keywords):
    """What shap gives, without its warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return call(*arguments, **keywords)


def both(name, *arguments, **keywords):
    """Explainers of shap and of ours, with the same arguments."""
    made = (shap.TreeExplainer, TreeExplainer)
    return [quietly(make, fitted(name)[0], *arguments, **keywords) for make in made]


def background():
    return data()[0][50:90]


AGAINST = {"data": background()}
OF_TWO = ("xgboost, classes", "histograms, classes")
# What is explained -> how the explainers are made, what they are asked, and for which models.
CALLS = {
    # Against a background shap leaves out the weights that dropout gives to the trees.
    "background": (AGAINST, {}, [n for n in MODELS | MORE if n != "xgboost, dart"]),
    "covers": ({}, {}, MODELS | MORE),
    "probability": (
        AGAINST | {"model_output": "probability"},
        {},
        [*(n for n in MODELS if n.endswith(", classes") and "extra" not in n)],
    ),
    "predict_proba": (AGAINST | {"model_output": "predict_proba"}, {}, OF_TWO),
    "predict": (AGAINST | {"model_output": "predict"}, {}, ["histograms"]),
    "log_loss": (
        AGAINST | {"model_output": "log_loss"},
        {},
        ["xgboost, classes", "xgboost", "lightgbm, classes", "lightgbm"],
    ),
    "Saabas": ({}, {"approximate": True}, ["forest, classes", "boosting, classes", "xgboost"]),
    "first trees": (
        {},
        {"tree_limit": 3, "check_additivity": False},
        ["xgboost", "xgboost, three classes", "boosting", "lightgbm"],
    ),
}
# Models of which shap takes the base score of the first class for all.
FIRST_CLASS = ("xgboost, three classes", "xgboost, targets")


@pytest.mark.parametrize(("name", "call"), [(n, c) for c in CALLS for n in CALLS[c][2]])
def test_values_base_values_and_shapes_are_those_of_shap(name, call):
    made, asked, _ = CALLS[call]
    (model, targets), rows = fitted(name), data()[0][:6]
    y = targets[:6] if call == "log_loss" else None
    theirs, ours = both(name, **made)
    before_the_first = ours.expected_value
    expected = quietly(theirs.shap_values, rows, y, **asked)
    values = ours.shap_values(rows, y, **asked)
    assert values.shape == expected.shape
    assert twins.largest_error(values, expected) <= SINGLE
    if call == "first trees":
        return
    explanation, means = ours(rows, y), [theirs.expected_value, ours.expected_value]
    if call == "log_loss":
        means = [np.array([mean(target) for target in y]) for mean in means]
    else:
        assert np.array_equal(before_the_first, ours.expected_value)
        # Plots of shap take the length of what is no plain number.
        assert type(ours.expected_value) is float or np.ndim(ours.expected_value)
        assert np.shape(ours.expected_value) == np.shape(theirs.expected_value)
    if name in FIRST_CLASS and call == "background":
        means[0] = model.predict(background(), output_margin=True).mean(axis=0)
    assert np.allclose(*means, rtol=SINGLE, atol=SINGLE)
    assert np.allclose(explanation.base_values, means[1], rtol=twins.ROUNDING, atol=twins.ROUNDING)
    if call == "log_loss":
        return
    expected = quietly(theirs, rows)
    assert explanation.base_values.shape == expected.base_values.shape
    assert asked or np.array_equal(explanation.values, values)
    assert explanation.output_names == expected.output_names
    assert explanation.feature_names == expected.feature_names
    assert np.array_equal(explanation.data, expected.data)


@pytest.mark.parametrize("name", [name for name in MODELS if name != "xgboost, three classes"])
def test_attributes_of_the_model_are_those_of_shap(name):
    """But for XGBoost models of several classes, of which shap has one base score for all."""
    theirs, ours = both(name, background())
    assert ours.model.num_outputs == theirs.model.num_outputs
    # The raw prediction of one of three classes is not its log odds, as shap calls it.
    has_three_classes = "three classes" in name
    assert ours.model.tree_output == (None if has_three_classes else theirs.model.tree_output)
    assert (ours.feature_perturbation, ours.model_output) == ("interventional", "raw")
    predicted = ours.model.predict(data()[0][:3]), theirs.model.predict(data()[0][:3])
    assert np.allclose(*predicted, rtol=SINGLE, atol=SINGLE)


@pytest.mark.parametrize(
    ("name", "made", "asked"),
    [
        *((name, made, {}) for name in MODELS | MORE for made in ({}, AGAINST)),
        *((n, {}, {"tree_limit": 3}) for n in CALLS["first trees"][2]),
    ],
)
def test_interactions_add_up_to_the_values(name, made, asked):
    ours, rows = TreeExplainer(fitted(name)[0], **made), data()[0][:4]
    values, pairs = ours.shap_values(rows, **asked), ours.shap_interaction_values(rows, **asked)
    assert twins.largest_error(pairs.sum(axis=2), values) <= twins.ROUNDING
    if asked:
        all_trees = ours.shap_values(rows)
        assert not np.allclose(values, all_trees)
        assert np.array_equal(ours.shap_values(rows, tree_limit=-1), all_trees)


@pytest.mark.parametrize("made", [{}, AGAINST], ids=["covers", "background"])
@pytest.mark.parametrize("name", [*OURS, "xgboost, dart"])
def test_models_that_shap_does_not_take_add_up_to_their_own_prediction(name, made):
    """Which the check of additivity compares with, for every model of these libraries."""
    rows, ours = data()[0][:6], TreeExplainer(fitted(name)[0], **made)
    explanation = ours(rows)
    predicted = ours.model.own_prediction(rows)
    n = predicted.shape[1]
    assert explanation.values.shape == ((6, 5) if n == 1 else (6, 5, n))
    totals = (explanation.base_values + explanation.values.sum(axis=1)).reshape(predicted.shape)
    assert twins.largest_error(totals, predicted) <= SINGLE


@pytest.mark.parametrize(
    "name", ["forest, classes", "forest", "forest, targets", "lightgbm, classes"]
)
def test_outputs_that_shap_does_not_explain_add_up_to_the_models_own(name):
    """Class fractions and values are the raw prediction; LightGBM's probabilities are two."""
    model, X = fitted(name)[0], data()[0]
    output = "predict_proba" if name.endswith("classes") else "predict"
    explanation = TreeExplainer(model, background(), model_output=output)(X[:6])
    totals = explanation.base_values + explanation.values.sum(axis=1)
    assert np.allclose(totals, getattr(model, output)(X[:6]), rtol=0, atol=twins.ROUNDING)


@pytest.mark.parametrize(
    "model",
    [
        ensemble.RandomForestRegressor(8, criterion="absolute_error", random_state=0),
        ensemble.RandomForestRegressor(8, monotonic_cst=[1, 0, 0], max_depth=4, random_state=0),
        ensemble.RandomForestClassifier(8, monotonic_cst=[1, 0, 0], max_depth=4, random_state=0),
    ],
)
def test_approximate_values_start_from_the_expected_value(model):
    """Nodes with medians, or with values within bounds: values did not add up to the prediction."""
    random = np.random.default_rng(0)
    X = random.normal(size=(120, 3))
    y = X[:, 0] + 3 * random.exponential(size=120)
    is_classifier = isinstance(model, ensemble.RandomForestClassifier)
    ours, X = TreeExplainer(model.fit(X, y > 3 if is_classifier else y)), X[:5]
    values = ours.shap_values(X, approximate=True)
    theirs = shap.TreeExplainer(model).shap_values(X, approximate=True)
    assert twins.largest_error(values, theirs) <= twins.ROUNDING
    predicted = model.predict_proba(X) if is_classifier else model.predict(X)
    totals = ours.expected_value + values.sum(axis=1)
    assert np.allclose(totals, predicted, rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", ["xgboost, three classes", "forest", "forest, classes"])
def test_interactions_are_those_of_shap(name):
    """XGBoost's own, in single precision, lose digits by differences of two runs."""
    theirs, ours = both(name)
    X = data()[0][:4]
    expected, matrices = quietly(theirs.shap_interaction_values, X), ours.shap_interaction_values(X)
    assert matrices.shape == expected.shape
    assert twins.largest_error(matrices, expected) <= 10 * SINGLE
    assert np.array_equal(ours.shap_interaction_values(X[1]), matrices[1])
    explanation = ours(X, interactions=True)
    assert np.array_equal(explanation.values, matrices)
    assert explanation.base_values.shape == ours(X).base_values.shape
    of_row = ours(X[1], interactions=True)
    assert np.array_equal(of_row.values, matrices[1])
    assert of_row.base_values.shape == ours(X[:1]).base_values.shape


def test_the_expected_value_is_that_of_the_trees_that_were_explained_last():
    model, X = fitted("xgboost")[0], data()[0][:6]
    ours = TreeExplainer(model)
    values = ours.shap_values(X, tree_limit=2)
    totals = ours.expected_value + values.sum(axis=1)
    assert np.allclose(totals, model.predict(X, iteration_range=(0, 2)), rtol=0, atol=SINGLE)
    ours.shap_values(X)
    assert ours.expected_value == TreeExplainer(model).expected_value


@pytest.mark.parametrize("part", ["model", "all", "best"])
def test_trees_are_those_of_the_predict_of_the_model_after_early_stopping(part):
    """But shap leaves out the trees after the best iteration of a Booster, too."""
    X, y = data()[0], data()[1]["values"]
    model = xgboost.XGBRegressor(n_estimators=40, learning_rate=1.0, early_stopping_rounds=5)
    model.fit(X[:100], y[:100], eval_set=[(X[100:], y[100:])], verbose=False)
    best, booster, X = model.best_iteration + 1, model.get_booster(), X[:6]
    assert best < booster.num_boosted_rounds()
    booster = booster if part == "all" else booster[:best]
    ours = TreeExplainer(model if part == "model" else booster)
    theirs = booster.predict(xgboost.DMatrix(X), pred_contribs=True)
    assert twins.largest_error(ours.shap_values(X), theirs[:, :-1]) <= SINGLE
    assert abs(ours.expected_value - theirs[0, -1]) <= SINGLE
    assert ours.model.forest.n_trees == booster.num_boosted_rounds()
    assert np.array_equal(ours.shap_values(X), splitcredit.explain(booster, X).values[:, :, 0])


@pytest.mark.parametrize("kind", [np.asarray, pd.DataFrame, shap.maskers.Independent])
def test_of_a_larger_background_the_same_rows_are_taken_as_by_shap(kind):
    """A hundred, and of a masker as many as it holds."""
    is_masker = kind is shap.maskers.Independent
    rows = kind(data()[0], max_samples=150) if is_masker else kind(data()[0])
    theirs, ours = both("forest", rows)
    assert ours.data.shape == (150 if is_masker else 100, P)
    assert np.array_equal(ours.data, theirs.data)


def test_a_background_that_is_none_or_large_warns_as_in_shap():
    model = fitted("forest")[0]
    with pytest.warns(FutureWarning, match="needs a background, and there is none"):
        ours = TreeExplainer(model, feature_perturbation="interventional")
    assert ours.feature_perturbation == "tree_path_dependent"
    rows = shap.maskers.Independent(np.resize(data()[0], (1001, P)), max_samples=2000)
    with pytest.warns(UserWarning, match="the background has 1001 rows"):
        TreeExplainer(model, rows)


def test_covers_of_a_background_are_those_of_shap_where_its_rows_come():
    """In a tree of depth 1 rows of the background come to all leaves."""
    X, y = data()
    model = ensemble.RandomForestRegressor(5, max_depth=1, random_state=0).fit(X, y["values"])
    arguments = {"data": X[50:90], "feature_perturbation": "tree_path_dependent"}
    theirs, ours = shap.TreeExplainer(model, **arguments), TreeExplainer(model, **arguments)
    assert twins.largest_error(ours.shap_values(X), theirs.shap_values(X)) <= twins.ROUNDING
    assert np.shape(ours.expected_value) == np.shape(theirs.expected_value) == ()
    assert np.allclose(ours.expected_value, theirs.expected_value, rtol=twins.ROUNDING)


def test_covers_count_the_background_and_elsewhere_keep_the_models_shares():
    forest = splitcredit.to_forest(fitted("histograms")[0])
    rows = data()[0][:3].astype(float)
    rows[0, 0] = np.nan
    rows = forest.prepare(rows)
    covers = with_covers_of(forest, rows).cover
    expected = np.zeros(forest.n_nodes)
    for row in rows:
        expected[[k for path in twins.paths(forest, row) for k in path]] += 1
    assert np.array_equal(np.round(covers), expected)
    unseen = np.flatnonzero((expected == 0) & (forest.feature >= 0))
    assert unseen.size
    share, of_model = (
        cover[forest.left[unseen]] / cover[unseen] for cover in (covers, forest.cover)
    )
    assert np.allclose(share, of_model, rtol=twins.ROUNDING)


@pytest.mark.parametrize("made", [{}, AGAINST], ids=["covers", "background"])
def test_single_rows_frames_series_and_matrices_give_the_same_values(made):
    X, ours = data()[0][:3], TreeExplainer(fitted("xgboost, three classes")[0], **made)
    expected, frame = ours.shap_values(X), pd.DataFrame(X)
    for rows in (frame, X.tolist()):
        assert np.array_equal(ours.shap_values(rows), expected)
    for row in (X[1], frame.iloc[1]):
        assert np.array_equal(ours.shap_values(row), expected[1])
    explanation = ours(X[1])
    assert np.array_equal(explanation.values, expected[1])
    assert explanation.base_values.shape == (3,) and explanation.data.shape == (P,)


def test_what_a_matrix_of_xgboost_does_not_hold_is_missing():
    model, X = fitted("xgboost")[0], data()[0][:4].copy()
    X[0, 1] = np.nan
    X[1, 2] = 0.0
    ours = TreeExplainer(model)
    matrix = xgboost.DMatrix(X)
    assert np.array_equal(ours.shap_values(matrix), ours.shap_values(X))
    assert np.array_equal(ours(matrix).data, X, equal_nan=True)


def test_explanations_have_the_names_of_the_rows_or_of_the_background():
    X, model = data()[0], fitted("forest")[0]
    frame = pd.DataFrame(X, columns=list("abcde"))
    assert TreeExplainer(model)(frame[:3]).feature_names == list("abcde")
    assert TreeExplainer(model, frame)(X[:3]).feature_names == list("abcde")
    assert TreeExplainer(model, feature_names=list("vwxyz"))(X[:3]).feature_names == list("vwxyz")
    assert TreeExplainer(model)(X[:3]).feature_names is None
    slices = TreeExplainer(model)(frame)[2:5, ["b", "d"]]
    assert slices.values.shape == (3, 2) and slices.feature_names == ["b", "d"]


def test_signatures_take_the_arguments_of_shap_in_its_order():
    for name in ("__init__", "__call__", "shap_values", "shap_interaction_values"):
        theirs, ours = (
            list(inspect.signature(getattr(cls, name)).parameters)
            for cls in (shap.TreeExplainer, TreeExplainer)
        )
        assert ours == theirs, name


def test_an_explainer_can_be_pickled():
    model, X = fitted("xgboost, classes")[0], data()[0]
    ours = TreeExplainer(model, X[:20], model_output="log_loss")
    restored = pickle.loads(pickle.dumps(ours))
    y = fitted("xgboost, classes")[1]
    assert np.array_equal(restored.shap_values(X, y), ours.shap_values(X, y))
    assert restored.expected_value(1) == ours.expected_value(1)


@pytest.mark.parametrize("made", [{}, {"data": data()[0][:9]}], ids=["covers", "background"])
def test_attributions_that_do_not_add_up_are_refused(monkeypatch, made):
    """As a defect of a kernel would make them: one value is off by a thousandth."""
    module = tree_explainer.tree_shap_interventional if made else tree_explainer.tree_shap
    correct = module.attribute

    def wrong(*arguments, **keywords):
        attribution = correct(*arguments, **keywords)
        attribution.values[4:5, 1] += 1e-3
        return attribution

    ours, X = TreeExplainer(fitted("forest")[0], **made), data()[0][:6]
    monkeypatch.setattr(module, "attribute", wrong)
    with pytest.raises(ValueError, match=r"additivity check: for row 4 the attributions add up to"):
        ours.shap_values(X)
    ours.shap_values(X, check_additivity=False)


@pytest.mark.parametrize("name", MODELS | MORE | OURS)
def test_a_conversion_that_predicts_otherwise_is_refused(name):
    model, X = fitted(name)[0], data()[0]
    ours = TreeExplainer(model)
    forest = ours.model.forest
    changed = {"value": forest.value * (1 + 1e-3), "base": forest.base + 1e-3}
    ours.model.forest = replace(forest, **changed)
    with pytest.raises(ValueError, match=r"the converted trees predict .*, and the model gives"):
        ours.shap_values(X[:6])
    ours.shap_values(X[:6], check_additivity=False)


def test_the_model_itself_is_asked_at_the_first_call_and_ever_more_seldom(monkeypatch):
    """A check at every call would make a single row take a hundred times as long."""
    ours, X = TreeExplainer(fitted("forest")[0]), data()[0]
    calls, calls_with_check, own_prediction = [], [], ours.model.own_prediction

    def counted(rows):
        calls_with_check.append(len(calls))
        return own_prediction(rows)

    monkeypatch.setattr(ours.model, "own_prediction", counted)
    for call in range(1, 20):
        calls.append(call)
        ours.shap_values(X[:1])
    assert calls_with_check == [1, 2, 4, 8, 16]


def test_the_check_allows_what_single_precision_may_lose():
    """300 trees of XGBoost, whose sums in float32 lose several digits."""
    X, y = data()
    model = xgboost.XGBRegressor(n_estimators=300, max_depth=2, learning_rate=0.05, n_jobs=1)
    ours = TreeExplainer(model.fit(X, 1e3 + y["values"]))
    ours.shap_values(X[:3])
    gap = abs(ours.model.predict(X) - model.predict(X)).max()
    assert 0 < gap <= rounding(ours.model.forest)


NINE = {"data": data()[0][:9]}
PARTITION = shap.maskers.Partition(data()[0][:9])


@pytest.mark.parametrize(
    ("name", "made", "asked", "message"),
    [
        ("forest", NINE | {"model_output": "margin"}, {}, "unknown model_output 'margin'"),
        ("forest", NINE | {"model_output": "probability"}, {}, "output is log_odds or probability"),
        ("forest, classes", NINE | {"model_output": "log_loss"}, {}, "this RandomForestClass"),
        ("xgboost, three classes", NINE | {"model_output": "probability"}, {}, "unknown to shap"),
        ("xgboost, classes", {"model_output": "probability"}, {}, "only: pass data"),
        ("forest, targets", NINE | {"model_output": "log_loss"}, {}, "one output, and this Random"),
        ("votes", NINE | {"model_output": "probability"}, {}, "output is log_odds or probability"),
        ("forest", NINE | {"feature_perturbation": "global"}, {}, "available are 'auto', 'inter"),
        ("forest", {"data": [[0.0] * P]}, {}, "data is a list"),
        ("forest", {"data": np.zeros((3, P + 1))}, {}, "background: X has 6 features"),
        ("forest", {"data": PARTITION}, {}, "Partition masker: pass the rows, or an Independent"),
        ("xgboost", {"data": csr_matrix(np.eye(P))}, {}, r"pass data.toarray\(\)"),
        ("forest", NINE, {"approximate": True}, "make the explainer without data"),
        ("forest", {}, {"tree_limit": 2}, "this one averages its trees"),
        (
            "lightgbm, three classes",
            {},
            {"tree_limit": 3},
            "shap counts rounds without a background",
        ),
        ("xgboost, three classes", {}, {"tree_limit": 2}, "leaves no tree"),
        ("boosting", {}, {"tree_limit": 0}, "leaves no tree"),
        *(("xgboost", {}, {"tree_limit": n}, "tree_limit=.*whole") for n in ("a", 1.5, True)),
    ],
)
def test_what_cannot_be_explained_is_refused(name, made, asked, message):
    with pytest.raises(ValueError, match=message):
        TreeExplainer(fitted(name)[0], **made).shap_values(data()[0][:2], **asked)


def test_interactions_of_losses_are_refused():
    explainer = TreeExplainer(fitted("xgboost")[0], model_output="log_loss", **NINE)
    with pytest.raises(ValueError, match="interactions are of the raw prediction, not of 'log"):
        explainer.shap_interaction_values(data()[0][:2])


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (np.ma.masked_equal(np.eye(2, 3), 1.0), "X has masked values"),
        ([[1.0] * 3, [1.0]], "X is not a table"),
        (np.zeros((1, 2)), "X has 2 features"),
        (np.full((1, 3), np.nan), "X holds NaN"),
    ],
)
def test_rows_that_do_not_fit_are_refused_without_the_check_as_well(rows, message):
    explainer = TreeExplainer(forests.stump(x_dtype="float32"))
    for explain in (explainer.shap_values, explainer.shap_interaction_values, explainer):
        options = {"check_additivity": False} if explain == explainer.shap_values else {}
        with pytest.raises(ValueError, match=message):
            explain(rows, **options)
    too_large, infinite = (
        explainer.shap_values(np.full((1, 3), value), check_additivity=False)
        for value in (1e39, np.inf)
    )
    assert too_large.tolist() == infinite.tolist()


@pytest.mark.parametrize(
    "model",
    [
        xgboost.XGBRegressor(n_estimators=3, objective="reg:absoluteerror"),
        xgboost.XGBRegressor(n_estimators=3, objective="reg:quantileerror", quantile_alpha=0.3),
        lightgbm.LGBMRegressor(n_estimators=3, objective="huber", verbose=-1),
    ],
)
def test_regressors_whose_raw_output_is_the_prediction_are_explained_as_such(model):
    X, y = data()[0], data()[1]["values"]
    explainer = TreeExplainer(model.fit(X, y), X[:20], model_output="predict")
    total = explainer.shap_values(X[:5]).sum(axis=1) + explainer.expected_value
    # XGBoost predicts in single precision.
    np.testing.assert_allclose(total, model.predict(X[:5]), rtol=1e-5, atol=1e-6)


def test_the_check_allows_two_roundings_a_tree_and_no_more():
    forest = forests.random_forest(0, n_trees=3, aggregate="sum", base=[2.0])
    largest = [abs(forest.value[start:stop]).max() for start, stop in pairwise(forest.tree_offsets)]
    assert rounding(forest) == pytest.approx(2.0**-23 * 4 * (sum(largest) + 2.0))


def test_threads_with_other_limits_of_trees_get_their_own_values():
    random = np.random.default_rng(0)
    X = random.normal(size=(50, 4))
    model = xgboost.XGBRegressor(n_estimators=40, max_depth=3, n_jobs=1).fit(X, X[:, 0] * X[:, 1])
    explainer = TreeExplainer(model)
    expected = {limit: explainer.shap_values(X, tree_limit=limit) for limit in (None, 3)}

    def differs(i):
        limit = 3 if i % 2 else None
        return not np.array_equal(explainer.shap_values(X, tree_limit=limit), expected[limit])

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(4) as pool:
            assert sum(pool.map(differs, range(200))) == 0
    finally:
        sys.setswitchinterval(interval)


def test_assert_additivity_allows_what_shap_allows():
    explainer, X = TreeExplainer(fitted("forest, classes")[0]), data()[0]
    values, predicted = explainer.shap_values(X), explainer.model.predict(X)
    explainer.assert_additivity(values, predicted)
    explainer.assert_additivity([values[..., 0], values[..., 1], values[..., 2]], predicted)
    with pytest.raises(ValueError, match="additivity check"):
        explainer.assert_additivity(values, predicted + 0.1)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, ">f8", ">f4", np.float16, np.longdouble])
def test_rows_of_numbers_are_read_as_explain_reads_them(dtype):
    """LightGBM reads numbers in another order of bytes in single precision, too."""
    forest = forests.stump(float(np.float32(0.1)), cover_kind="leaf_count")
    rows = np.full((1, 3), np.nextafter(float(np.float32(0.1)), 1)).astype(dtype)
    values = TreeExplainer(forest).shap_values(rows, check_additivity=False)
    assert values.tobytes() == splitcredit.explain(forest, rows).values.tobytes()


def test_explanations_and_interactions_are_drawn_by_the_plots_of_shap():
    """Those of single rows, of columns, and of matrices; the first test compares their numbers."""
    rows = pd.DataFrame(data()[0][:40], columns=list("abcde"))
    explained = TreeExplainer(fitted("xgboost, classes")[0])(rows)
    shap.force_plot(explained.base_values[0], explained.values, rows)
    shap.plots.waterfall(explained[0], show=False)
    shap.plots.scatter(explained[:, 1], color=explained, show=False)
    shap.plots.bar(explained.cohorts(2).abs.mean(0), show=False)
    assert pyplot.gcf().axes
    pyplot.close("all")
    matrices = TreeExplainer(fitted("xgboost")[0]).shap_interaction_values(rows.to_numpy())
    shap.summary_plot(matrices, rows.to_numpy(), show=False)
    assert len(pyplot.gcf().axes) >= 4
