"""`TreeExplainer` beside shap's: values, shapes, expected values, arguments, refusals."""

import inspect
import pickle
import subprocess
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
AGAINST = [(n, p) for n in MODELS | MORE for p in ("interventional", "tree_path_dependent")]
# Against a background shap leaves out the weights that dropout gives to the trees.
AGAINST.remove(("xgboost, dart", "interventional"))


@cache
def fitted(name):
    """A model and its targets."""
    model, target = (MODELS | MORE | OURS)[name]
    X, y = data()
    return model.fit(X, y[target]), y[target]


def both(name, *arguments, **keywords):
    """Explainers of shap and of ours, with the same arguments."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [
            make(fitted(name)[0], *arguments, **keywords)
            for make in (shap.TreeExplainer, TreeExplainer)
        ]


def of_shap(call, *arguments, **keywords):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return call(*arguments, **keywords)


@pytest.mark.parametrize(("name", "perturbation"), AGAINST)
def test_values_base_values_and_shapes_are_those_of_shap(name, perturbation):
    X = data()[0]
    rows = X[:6]
    theirs, ours = both(name, X[50:90] if perturbation == "interventional" else None)
    before_the_first = ours.expected_value
    expected, values = of_shap(theirs.shap_values, rows), ours.shap_values(rows)
    assert values.shape == expected.shape
    assert twins.largest_error(values, expected) <= SINGLE
    assert np.array_equal(before_the_first, ours.expected_value)
    # Plots of shap take the length of what is no plain number.
    assert type(ours.expected_value) is float or np.ndim(ours.expected_value)
    assert np.shape(ours.expected_value) == np.shape(theirs.expected_value)
    mean = theirs.expected_value
    if name in ("xgboost, three classes", "xgboost, targets") and ours.data is not None:
        # shap takes the base score of the first class for all.
        mean = fitted(name)[0].predict(X[50:90], output_margin=True).mean(axis=0)
    assert np.allclose(ours.expected_value, mean, rtol=SINGLE, atol=SINGLE)
    expected, explanation = of_shap(theirs, rows), ours(rows)
    assert np.array_equal(explanation.values, values)
    assert explanation.base_values.shape == expected.base_values.shape
    assert (explanation.base_values == ours.expected_value).all()
    assert explanation.output_names == expected.output_names
    assert explanation.feature_names == expected.feature_names
    assert np.array_equal(explanation.data, expected.data)
    interactions = ours.shap_interaction_values(rows)
    assert twins.largest_error(interactions.sum(axis=2), values) <= twins.ROUNDING


@pytest.mark.parametrize("against_background", [False, True])
@pytest.mark.parametrize("name", [*OURS, "xgboost, dart"])
def test_models_that_shap_does_not_take_add_up_to_their_own_prediction(name, against_background):
    """Which the check of additivity compares with, for every model of these libraries."""
    X, model = data()[0], fitted(name)[0]
    ours = TreeExplainer(model, X[50:90] if against_background else None)
    explanation = ours(X[:6])
    predicted = ours.model.own_prediction(X[:6])
    totals = (explanation.base_values + explanation.values.sum(axis=1)).reshape(predicted.shape)
    assert twins.largest_error(totals, predicted) <= SINGLE
    assert explanation.values.shape == (
        (6, 5) if predicted.shape[1] == 1 else (6, 5, predicted.shape[1])
    )


@pytest.mark.parametrize(
    ("name", "output"),
    [
        ("xgboost, classes", "probability"),
        ("xgboost, classes", "predict_proba"),
        ("xgboost, classes", "log_loss"),
        ("xgboost", "log_loss"),
        ("lightgbm, classes", "probability"),
        ("lightgbm, classes", "log_loss"),
        ("lightgbm", "log_loss"),
        ("boosting, classes", "probability"),
        ("histograms, classes", "probability"),
        ("histograms, classes", "predict_proba"),
        ("histograms", "predict"),
        ("forest, classes", "probability"),
        ("decision tree, classes", "probability"),
    ],
)
def test_probabilities_and_losses_are_those_of_shap(name, output):
    X, y = data()[0][:6], fitted(name)[1][:6]
    theirs, ours = both(name, data()[0][50:90], model_output=output)
    y = y if output == "log_loss" else None
    expected, values = theirs.shap_values(X, y), ours.shap_values(X, y)
    assert values.shape == expected.shape
    assert twins.largest_error(values, expected) <= SINGLE
    if output == "log_loss":
        means = [[explainer.expected_value(target) for target in y] for explainer in (theirs, ours)]
        assert np.allclose(*means, rtol=SINGLE, atol=SINGLE)
        assert np.allclose(ours(X, y).base_values, means[0], rtol=SINGLE, atol=SINGLE)
        with pytest.raises(ValueError, match="interactions are of the raw prediction, not of 'log"):
            ours.shap_interaction_values(X)
    else:
        assert np.allclose(ours.expected_value, theirs.expected_value, rtol=SINGLE, atol=SINGLE)
        base = theirs(X).base_values
        assert np.allclose(ours(X).base_values, base, rtol=SINGLE, atol=SINGLE)


@pytest.mark.parametrize("name", ["forest, classes", "forest", "lightgbm, classes"])
def test_outputs_that_shap_does_not_explain_add_up_to_the_models_own(name):
    """Class fractions and values are the raw prediction; LightGBM's probabilities are two."""
    model, X = fitted(name)[0], data()[0]
    output = "predict" if name == "forest" else "predict_proba"
    explanation = TreeExplainer(model, X[50:90], model_output=output)(X[:6])
    totals = explanation.base_values + explanation.values.sum(axis=1)
    assert np.allclose(totals, getattr(model, output)(X[:6]), rtol=0, atol=twins.ROUNDING)


@pytest.mark.parametrize("name", ["forest, classes", "boosting, classes", "xgboost"])
def test_approximate_values_are_those_of_shap(name):
    theirs, ours = both(name)
    X = data()[0][:6]
    expected = of_shap(theirs.shap_values, X, approximate=True)
    assert twins.largest_error(ours.shap_values(X, approximate=True), expected) <= SINGLE
    with pytest.raises(ValueError, match="make the explainer without data"):
        TreeExplainer(fitted(name)[0], X).shap_values(X, approximate=True)


@pytest.mark.parametrize(
    ("estimator", "settings"),
    [
        (ensemble.RandomForestRegressor, {"criterion": "absolute_error"}),
        (ensemble.RandomForestRegressor, {"monotonic_cst": [1, 0, 0], "max_depth": 4}),
        (ensemble.RandomForestClassifier, {"monotonic_cst": [1, 0, 0], "max_depth": 4}),
    ],
)
def test_approximate_values_start_from_the_expected_value(estimator, settings):
    """Nodes with medians, or with values within bounds: values did not add up to the prediction."""
    random = np.random.default_rng(0)
    X = random.normal(size=(120, 3))
    y = X[:, 0] + 3 * random.exponential(size=120)
    is_classifier = estimator is ensemble.RandomForestClassifier
    model = estimator(8, random_state=0, **settings).fit(X, y > 3 if is_classifier else y)
    values = TreeExplainer(model).shap_values(X[:5], approximate=True)
    theirs = shap.TreeExplainer(model).shap_values(X[:5], approximate=True)
    assert twins.largest_error(values, theirs) <= twins.ROUNDING
    predicted = model.predict_proba(X[:5]) if is_classifier else model.predict(X[:5])
    totals = TreeExplainer(model).expected_value + values.sum(axis=1)
    assert np.allclose(totals, predicted, rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", ["xgboost", "xgboost, three classes", "boosting", "lightgbm"])
def test_the_first_trees_alone_are_explained_as_by_shap(name):
    theirs, ours = both(name)
    X = data()[0][:6]
    expected = of_shap(theirs.shap_values, X, tree_limit=3, check_additivity=False)
    values = ours.shap_values(X, tree_limit=3)
    assert twins.largest_error(values, expected) <= SINGLE
    pairs = ours.shap_interaction_values(X, tree_limit=3)
    assert twins.largest_error(pairs.sum(axis=2), values) <= twins.ROUNDING
    all_trees = ours.shap_values(X)
    assert not np.allclose(values, all_trees)
    assert np.array_equal(ours.shap_values(X, tree_limit=-1), all_trees)


@pytest.mark.parametrize("name", ["xgboost, three classes", "forest", "forest, classes"])
def test_interactions_are_those_of_shap(name):
    """XGBoost's own, in single precision, lose digits by differences of two runs."""
    theirs, ours = both(name)
    X = data()[0][:4]
    expected = of_shap(theirs.shap_interaction_values, X)
    matrices = ours.shap_interaction_values(X)
    assert matrices.shape == expected.shape
    assert twins.largest_error(matrices, expected) <= 10 * SINGLE
    assert np.array_equal(ours.shap_interaction_values(X[1]), matrices[1])
    explanation = ours(X, interactions=True)
    assert np.array_equal(explanation.values, matrices)
    assert explanation.base_values.shape == ours(X).base_values.shape


def test_the_expected_value_is_that_of_the_trees_that_were_explained_last():
    model, X = fitted("xgboost")[0], data()[0][:6]
    ours = TreeExplainer(model)
    values = ours.shap_values(X, tree_limit=2)
    totals = ours.expected_value + values.sum(axis=1)
    assert np.allclose(totals, model.predict(X, iteration_range=(0, 2)), rtol=0, atol=SINGLE)
    ours.shap_values(X)
    assert ours.expected_value == TreeExplainer(model).expected_value


def stopped_early():
    X, y = data()[0], data()[1]["values"]
    model = xgboost.XGBRegressor(n_estimators=40, learning_rate=1.0, early_stopping_rounds=5)
    model.fit(X[:100], y[:100], eval_set=[(X[100:], y[100:])], verbose=False)
    assert model.best_iteration < model.get_booster().num_boosted_rounds() - 1
    return model, X[:6]


def test_trees_after_the_best_iteration_are_left_out_as_by_shap():
    model, X = stopped_early()
    ours, theirs = TreeExplainer(model), shap.TreeExplainer(model)
    assert twins.largest_error(ours.shap_values(X), theirs.shap_values(X)) <= SINGLE
    assert ours.model.forest.n_trees == model.best_iteration + 1


@pytest.mark.parametrize("part", ["all", "best"])
def test_a_Booster_is_explained_with_the_trees_of_its_predict(part):
    """Where shap leaves out the trees after the best iteration, which ``predict`` does not."""
    model, X = stopped_early()
    booster = model.get_booster()
    booster = booster if part == "all" else booster[: booster.best_iteration + 1]
    ours = TreeExplainer(booster)
    theirs = booster.predict(xgboost.DMatrix(X), pred_contribs=True)
    assert twins.largest_error(ours.shap_values(X), theirs[:, :-1]) <= SINGLE
    assert abs(ours.expected_value - theirs[0, -1]) <= SINGLE
    assert ours.model.forest.n_trees == booster.num_boosted_rounds()
    assert np.array_equal(ours.shap_values(X), splitcredit.explain(booster, X).values[:, :, 0])


@pytest.mark.parametrize("kind", [np.asarray, pd.DataFrame])
def test_of_a_larger_background_the_same_100_rows_are_taken_as_by_shap(kind):
    X = kind(data()[0])
    theirs, ours = both("forest", X)
    assert ours.data.shape == (100, P)
    assert np.array_equal(ours.data, theirs.data)


def test_a_masker_gives_as_many_rows_as_it_holds():
    frame = pd.DataFrame(data()[0], columns=list("abcde"))
    masker = shap.maskers.Independent(frame, max_samples=150)
    theirs, ours = both("forest", masker)
    assert np.array_equal(ours.data, theirs.data) and len(ours.data) == 150
    with pytest.raises(ValueError, match="Partition masker: pass the rows, or an Independent"):
        TreeExplainer(fitted("forest")[0], shap.maskers.Partition(frame))


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


def test_single_rows_frames_series_and_matrices_give_the_same_values():
    model, X = fitted("xgboost, three classes")[0], data()[0]
    frame = pd.DataFrame(X)
    for background_rows in (None, X[50:60]):
        ours = TreeExplainer(model, background_rows)
        expected = ours.shap_values(X[:3])
        assert np.array_equal(ours.shap_values(frame[:3]), expected)
        assert np.array_equal(ours.shap_values(X[:3].tolist()), expected)
        assert np.array_equal(ours.shap_values(X[1]), expected[1])
        assert np.array_equal(ours.shap_values(frame.iloc[1]), expected[1])
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


@pytest.mark.parametrize("name", [name for name in MODELS if name != "xgboost, three classes"])
def test_attributes_of_the_model_are_those_of_shap(name):
    """But for XGBoost models of several classes, of which shap has one base score for all."""
    theirs, ours = both(name, data()[0][:20])
    assert ours.model.num_outputs == theirs.model.num_outputs
    # The raw prediction of one of three classes is not its log odds, as shap calls it.
    has_three_classes = "three classes" in name
    assert ours.model.tree_output == (None if has_three_classes else theirs.model.tree_output)
    assert (ours.feature_perturbation, ours.model_output) == ("interventional", "raw")
    predicted = ours.model.predict(data()[0][:3]), theirs.model.predict(data()[0][:3])
    assert np.allclose(*predicted, rtol=SINGLE, atol=SINGLE)


def test_an_explainer_can_be_pickled():
    model, X = fitted("xgboost, classes")[0], data()[0]
    ours = TreeExplainer(model, X[:20], model_output="log_loss")
    restored = pickle.loads(pickle.dumps(ours))
    y = fitted("xgboost, classes")[1]
    assert np.array_equal(restored.shap_values(X, y), ours.shap_values(X, y))
    assert restored.expected_value(1) == ours.expected_value(1)


@pytest.mark.long  # test_groups_and_plots.py asks for values without shap in this process
def test_values_need_no_shap():
    code = (
        "import sys; sys.modules['shap'] = None\n"
        "import numpy as np, splitcredit\n"
        "from sklearn.tree import DecisionTreeRegressor\n"
        "X = np.arange(8.0).reshape(4, 2)\n"
        "model = DecisionTreeRegressor().fit(X, X[:, 0])\n"
        "print(splitcredit.TreeExplainer(model, X).shap_values(X).shape)"
    )
    process = subprocess.run(
        [sys.executable, "-c", code], text=True, capture_output=True, check=True
    )
    assert process.stdout == "(4, 2)\n"


@pytest.mark.parametrize("against", [None, "background"])
def test_attributions_that_do_not_add_up_are_refused(monkeypatch, against):
    """As a defect of a kernel would make them: one value is off by a thousandth."""
    from splitcredit.views.explainer import tree_explainer

    module = tree_explainer.tree_shap_interventional if against else tree_explainer.tree_shap
    correct = module.attribute

    def wrong(*arguments, **keywords):
        attribution = correct(*arguments, **keywords)
        attribution.values[4:5, 1] += 1e-3
        return attribution

    X = data()[0]
    ours = TreeExplainer(fitted("forest")[0], None if against is None else X[:9])
    monkeypatch.setattr(module, "attribute", wrong)
    with pytest.raises(ValueError, match=r"additivity check: for row 4 the attributions add up to"):
        ours.shap_values(X[:6])
    ours.shap_values(X[:6], check_additivity=False)


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


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("forest", {"model_output": "margin"}, "unknown model_output 'margin': available are raw"),
        ("forest", {"model_output": "probability"}, "whose raw output is log_odds or probability"),
        ("forest, classes", {"model_output": "log_loss"}, "that of this RandomForestClassifier is"),
        ("xgboost, three classes", {"model_output": "probability"}, "is none of shap's: call"),
        ("xgboost, classes", {"model_output": "probability", "data": None}, "only: pass data"),
        ("forest, targets", {"model_output": "log_loss"}, "one output, and this RandomForestRegr"),
        ("votes", {"model_output": "probability"}, "whose raw output is log_odds or probability"),
        ("forest", {"feature_perturbation": "global"}, "available are 'auto', 'interventional'"),
        ("forest", {"data": [[0.0] * P]}, "data is a list: pass an array or DataFrame of rows"),
        ("forest", {"data": np.zeros((3, P + 1))}, "background: X has 6 features"),
        ("xgboost", {"data": csr_matrix(np.eye(P))}, r"data is sparse: pass data.toarray\(\)"),
    ],
)
def test_what_cannot_be_explained_is_refused(name, arguments, message):
    model, arguments = fitted(name)[0], {"data": data()[0][:9], **arguments}
    with pytest.raises(ValueError, match=message):
        TreeExplainer(model, **arguments)


@pytest.mark.parametrize(
    ("name", "limit", "message"),
    [
        ("forest", 2, "is for boosted models, and this one averages its trees"),
        ("lightgbm, three classes", 3, "shap counts rounds without a background and trees with"),
        ("xgboost, three classes", 2, "leaves no tree: pass None or -1"),
        ("boosting", 0, "leaves no tree"),
        *(("xgboost", limit, "tree_limit=.*whole number") for limit in ("a", 1.5, True)),
    ],
)
def test_limits_without_a_meaning_are_refused(name, limit, message):
    with pytest.raises(ValueError, match=message):
        TreeExplainer(fitted(name)[0]).shap_values(data()[0][:2], tree_limit=limit)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (np.ma.masked_equal(np.eye(2, 3), 1.0), "X has masked values"),
        ([[1.0] * 3, [1.0]], "X is no table"),
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


def test_an_interventional_explainer_without_a_background_warns_as_shap_does():
    with pytest.warns(FutureWarning, match="needs a background, and there is none"):
        ours = TreeExplainer(fitted("forest")[0], feature_perturbation="interventional")
    assert ours.feature_perturbation == "tree_path_dependent"


@pytest.mark.parametrize("objective", ["reg:absoluteerror", "reg:quantileerror"])
def test_regressors_whose_raw_output_is_the_prediction_are_explained_as_such(objective):
    X = np.random.default_rng(0).normal(size=(60, 3))
    options = {"quantile_alpha": 0.3} if "quantile" in objective else {}
    model = xgboost.XGBRegressor(n_estimators=3, objective=objective, **options).fit(X, X[:, 0])
    explainer = TreeExplainer(model, X[:20], model_output="predict")
    total = explainer.shap_values(X[:5]).sum(axis=1) + explainer.expected_value
    # XGBoost predicts in single precision.
    np.testing.assert_allclose(total, model.predict(X[:5]), rtol=1e-5, atol=1e-6)
    rows = X[:20]
    huber = lightgbm.LGBMRegressor(n_estimators=3, objective="huber", verbose=-1).fit(X, X[:, 0])
    values = TreeExplainer(huber, rows, model_output="predict").shap_values(X[:5])
    assert values.shape == (5, 3)


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
    X, _ = data()
    explainer = TreeExplainer(
        ensemble.RandomForestClassifier(3, random_state=0).fit(X, X[:, 0] > 0)
    )
    values, predicted = explainer.shap_values(X), explainer.model.predict(X)
    explainer.assert_additivity(values, predicted)
    explainer.assert_additivity([values[..., 0], values[..., 1]], predicted)
    with pytest.raises(ValueError, match="additivity check"):
        explainer.assert_additivity(values, predicted + 0.1)


def test_a_background_of_more_than_1000_rows_warns_as_in_shap():
    X, _ = data()
    model = ensemble.RandomForestRegressor(2, random_state=0).fit(X, X[:, 0])
    rows = shap.maskers.Independent(np.resize(X, (1001, X.shape[1])), max_samples=2000)
    with pytest.warns(UserWarning, match="the background has 1001 rows"):
        TreeExplainer(model, rows)


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
