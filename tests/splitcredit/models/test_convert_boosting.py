"""Boosted models of all libraries to `Forest`: equal scores, and the values of inner nodes."""

import math
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
import pytest
from lightgbm import Dataset, LGBMClassifier
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingRegressor,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.exceptions import NotFittedError
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from xgboost import DMatrix, XGBClassifier

import splitcredit
import twins
from forests import BOOSTED, DRAWN, boosted, conversion_error, rows_on_thresholds
from splitcredit import Forest, explain, faithfulness, interactions, to_forest
from splitcredit.kernels import leaf_means
from splitcredit.models.forest import array_hash
from splitcredit.models.formats import _nodes
from twins_tree_shap import means_of_leaves

# Basis: rounding. XGBoost adds up in float32, 6e-8 a step; the others in float64.
SINGLE, DOUBLE = 1e-5, 1e-12


@pytest.mark.parametrize("name", BOOSTED)
def test_scores_are_those_of_the_library(name):
    """Of training rows, and of rows on thresholds and beside them, with NaN where it has a rule."""
    model, X, _ = boosted(name)
    forest, rng = to_forest(model), np.random.default_rng(3)
    assert "diabetes" not in name or forest.output_names == ("output",)
    rows = X[rng.integers(len(X), size=300)]
    awkward = np.where(rng.random(rows.shape) < 0.5, rows_on_thresholds(forest, 300), rows)
    assert np.isnan(awkward).any() == (forest.missing_left is not None)
    for given in (X, awkward):
        assert conversion_error(model, given) <= (SINGLE if "xgboost" in name else DOUBLE)


def below(forest, k):
    """Leaves below node k."""
    if forest.feature[k] < 0:
        return [k]
    return below(forest, forest.left[k]) + below(forest, forest.right[k])


@pytest.mark.parametrize("name", BOOSTED)
def test_inner_nodes_have_mean_and_variance_of_the_leaves_below(name):
    """By definition, from the leaves of each node.

    The tolerance is that of covers in float32: XGBoost's parents are off by 6e-8 from the sum of
    their leaves, which moves weights by as much for each level.
    """
    forest = to_forest(boosted(name)[0])
    scale = np.abs(forest.value).max()
    has_own_impurity = forest.criterion != "leaf variance"
    assert has_own_impurity == name.startswith("gradient")
    for k in range(0, forest.n_nodes, 3):
        leaves = below(forest, k)
        weights = forest.cover[leaves] / math.fsum(forest.cover[leaves])
        for c in range(forest.n_outputs):
            mean = math.fsum(weights * forest.value[leaves, c])
            assert abs(mean - forest.value[k, c]) <= 1e-6 * scale
        variance = math.fsum(
            math.fsum(weights * (forest.value[leaves, c] - forest.value[k, c]) ** 2)
            for c in range(forest.n_outputs)
        )
        assert has_own_impurity or abs(variance - forest.impurity[k]) <= 1e-6 * scale**2


def summaries(left, right, cover, value, offsets):
    """Values and impurities of the nodes of a model that is called Mine."""
    arrays = {"left": np.array(left), "right": np.array(right), "cover": np.array(cover)}
    made = _nodes.summarized(arrays, np.array(value), np.array(offsets), "Mine")
    return made["value"], made["impurity"]


def test_the_variance_of_large_equal_values_is_0():
    """A difference of two mean squares would leave 1e4 here."""
    left, right, value = [1, 3, -1, -1, -1], [2, 4, -1, -1, -1], [0.0, 0.0, *[1e10 / 3] * 3]
    mean, variance = summaries(left, right, [3.0, 2.0, 1.0, 0.7, 1.3], value, [0, 5])
    assert (mean == 1e10 / 3).all() and (variance == 0).all()


@pytest.mark.parametrize("name", DRAWN)
def test_the_expected_value_of_every_tree_equals_the_twin(name):
    """Also of a tree behind others, and where covers add up only nearly, as of single precision."""
    forest = DRAWN[name]()
    off = 1 + 1e-5 * np.random.default_rng(0).uniform(-1, 1, forest.n_nodes)
    for cover in (forest.cover, forest.cover * off):
        one = replace(forest, cover=cover)
        ours = leaf_means.expectations(one)
        assert twins.largest_error(ours, means_of_leaves(one)) <= twins.ROUNDING


def test_a_split_without_cover_is_refused():
    """Two trees; in the second, and then in both, children of a split have cover 0."""
    left, right = [-1, 2, 4, -1, -1, -1], [-1, 3, 5, -1, -1, -1]
    cover = [1.0, 3.0, 0.0, 3.0, 0.0, 0.0]
    with pytest.raises(ValueError, match=r"tree 1 of this Mine has a split.*without rows of weig"):
        summaries(left, right, cover, np.ones(6), [0, 1, 6])
    left, right = [1, -1, -1, 4, -1, -1], [2, -1, -1, 5, -1, -1]
    with pytest.raises(ValueError, match="tree 0 of this Mine has a split"):
        summaries(left, right, np.zeros(6), np.ones(6), [0, 3, 6])


def test_values_stand_in_the_column_of_the_class_of_their_tree():
    """A tree of two nodes of the second class, and one node of the first."""
    arrays = {"left": np.full(3, -1), "right": np.full(3, -1), "cover": np.ones(3)}
    values, offsets = np.array([1.0, 2.0, 3.0]), np.array([0, 2, 3])
    made = _nodes.summarized(arrays, values, offsets, "Mine", np.array([1, 0]), 2)
    assert made["value"].tolist() == [[0, 1], [0, 2], [3, 0]]


SHAP = "tree_shap"
OWN = [(n, m) for n in BOOSTED if n.startswith("xgboost") for m in ("saabas", SHAP)]
OWN += [(n, SHAP) for n in BOOSTED if n.startswith("lightgbm")]


def own_attributions(model, X, approximate=False):
    """What the library itself attributes, (n_rows, n_features + 1, n_outputs)."""
    if hasattr(model, "get_booster"):
        options = {"pred_contribs": True, "approx_contribs": approximate}
        theirs = model.get_booster().predict(DMatrix(X, enable_categorical=True), **options)
    else:
        theirs = model.booster_.predict(X, pred_contrib=True)
        if model.boosting_type == "rf":  # it adds up here the trees of which it predicts means
            theirs = theirs / model.booster_.current_iteration()
    return theirs.reshape(len(X), -1, X.shape[1] + 1).transpose(0, 2, 1)


@pytest.mark.parametrize(("name", "method"), OWN)
def test_attributions_equal_those_of_the_library(name, method):
    model, X, _ = boosted(name)
    ours, theirs = explain(model, X[::10], method), own_attributions(model, X[::10], method != SHAP)
    if name.startswith("xgboost"):
        tolerance = SINGLE * np.abs(theirs).max()
        assert np.abs(ours.values - theirs[:, :-1]).max() <= tolerance
        assert np.abs(ours.baseline - theirs[0, -1]).max() <= tolerance
    else:
        assert twins.largest_error(ours.values, theirs[:, :-1]) <= twins.UNWINDING
        assert twins.largest_error(ours.baseline, theirs[0, -1]) <= twins.UNWINDING


@pytest.mark.parametrize(("label", "name"), [(0, "1"), (1, "not 1"), ("a", "not a")])
@pytest.mark.parametrize("model", [HistGradientBoostingClassifier, LGBMClassifier], ids=str)
def test_the_score_of_a_model_of_one_class_is_that_of_what_is_not_this_class(model, label, name):
    X = np.arange(40.0)[:, None]
    model = model(**({"verbosity": -1} if model is LGBMClassifier else {})).fit(X, [label] * 40)
    forest = to_forest(model)
    assert forest.output_names == (name,)
    assert (forest.predict(X) < -30).all() and (model.predict(X) == label).all()


@pytest.mark.parametrize(
    "model",
    [
        LGBMClassifier(objective="multiclass", num_class=3, n_estimators=2, verbose=-1),
        XGBClassifier(objective="multi:softprob", num_class=3, n_estimators=3),
    ],
    ids=["lightgbm", "xgboost"],
)
def test_a_class_that_is_declared_but_absent_in_training_is_an_output(model):
    """As in a fold without a rare class: names were missing, and every function failed."""
    X = np.random.default_rng(0).normal(size=(90, 3))
    model.fit(X, [0, 1] * 45)
    attribution, theirs = explain(model, X), own_attributions(model, X)
    assert attribution.output_names == ("0", "1", "2")
    assert twins.largest_error(attribution.values, theirs[:, :3]) <= SINGLE
    assert twins.largest_error(attribution.baseline, theirs[0, 3]) <= SINGLE


TWO_CLASSES = {
    "xgboost": XGBClassifier(n_estimators=3),
    "lightgbm": LGBMClassifier(n_estimators=3, verbose=-1),
    "histogram": HistGradientBoostingClassifier(max_iter=3),
    "gradient": GradientBoostingClassifier(n_estimators=3),
    "votes": AdaBoostClassifier(n_estimators=3),
}


@pytest.mark.parametrize("name", TWO_CLASSES)
def test_one_score_stands_for_two_classes(name):
    """The number 0 gave class 1, and 1 was an error; the predicted class was the second always."""
    X = np.random.default_rng(0).normal(size=(80, 3))
    model = TWO_CLASSES[name].fit(X, (X[:, 0] > 0).astype(int))
    background = partial(splitcredit.tree_shap_interventional, model, X, X)
    calls = [
        partial(explain, model, X),
        partial(explain, model, X, "saabas"),
        background,
        partial(interactions, model, X),
    ]
    for call in calls:
        second, both = call(output="all"), [call(output=0), call(output=1)]
        assert second.output_names == ("1",)
        for number, sign in ((0, -1), (1, 1)):
            of_class = both[number]
            assert of_class.output_names == (str(number),)
            assert np.array_equal(of_class.values, sign * second.values)
            assert np.array_equal(of_class.baseline, sign * second.baseline)
            assert not np.signbit(of_class.values[of_class.values == 0]).any()
            assert np.array_equal(call(output=str(number)).values, of_class.values)
    if name != "votes":
        calls.append(partial(background, model_output="probability"))
    for call in calls:
        own, both = call(output="predicted"), [call(output=0), call(output=1)]
        assert own.output_names == ("predicted",)
        assert np.array_equal(own.output_index, model.predict(X))
        for row, one in enumerate(own.output_index):
            assert np.array_equal(own.values[row], both[one].values[row])
            assert own.baseline[row] == both[one].baseline
    with pytest.raises(ValueError, match="an index below 2, or a name in"):
        explain(model, X, output=2)
    restored = Forest.from_arrays(to_forest(model).to_arrays())
    assert np.array_equal(explain(restored, X, output=0).values, -explain(model, X).values)
    gap = partial(faithfulness, model, X, "tree_shap", "pg2", scale=1)
    assert np.array_equal(gap(output="predicted"), gap())
    np.testing.assert_allclose(gap(output=0), gap(), rtol=1e-12)
    forest = to_forest(model)
    tied = replace(forest, value=np.zeros_like(forest.value), base=[0.0])
    assert not explain(tied, X, output="predicted").output_index.any()


# Library -> a model of classes, and what its Booster calls features of an array, and outputs.
OF_CLASSES = {
    "scikit-learn": (DecisionTreeClassifier, None),
    "xgboost": (partial(XGBClassifier, n_estimators=2, n_jobs=1), "x0 x1 x2"),
    "lightgbm": (
        partial(LGBMClassifier, n_estimators=2, n_jobs=1, verbose=-1),
        "Column_0 Column_1 Column_2",
    ),
}


@pytest.mark.parametrize("library", OF_CLASSES)
def test_labels_come_from_the_model_and_training_rows_leave_their_hash_only(library):
    make, made_up = OF_CLASSES[library]
    X = np.random.default_rng(0).normal(size=(120, 3))
    frame = pd.DataFrame(X, columns=["größe", "b", "c"])
    codes, numbers = np.digitize(X[:, 0], [-0.5, 0.5]), ("0", "1", "2")
    y = codes if library == "xgboost" else np.array(["low", "mid", "high"])[codes]
    model = make().fit(frame, y)
    forest = to_forest(model, X)
    assert forest.names_given and forest.feature_names == ("größe", "b", "c")
    assert forest.output_names == (numbers if library == "xgboost" else ("high", "low", "mid"))
    assert forest.training_hash == array_hash(X) == to_forest(model, frame).training_hash
    assert to_forest(model).training_hash is None
    with pytest.raises(ValueError, match="X has 2 features, the model was fitted on 3"):
        to_forest(model, X[:, :2])
    reordered = forest.predict(frame[["c", "größe", "b"]])
    assert reordered.tobytes() == forest.predict(frame).tobytes()
    unnamed = make().fit(X, y == y[0])
    if made_up is not None:
        unnamed = getattr(unnamed, "booster_", None) or unnamed.get_booster()
        booster = getattr(model, "booster_", None) or model.get_booster()
        assert to_forest(booster).output_names == numbers
        assert to_forest(unnamed).output_names == ("1",)
    assert not to_forest(unnamed).names_given
    assert to_forest(unnamed).feature_names == tuple((made_up or "x0 x1 x2").split())


UNFITTED = [DecisionTreeRegressor, RandomForestClassifier, BaggingRegressor]
UNFITTED += [GradientBoostingClassifier, HistGradientBoostingClassifier]
UNFITTED += [XGBClassifier, LGBMClassifier]


@pytest.mark.parametrize("kind", UNFITTED)
def test_unfitted_models_are_refused(kind):
    message = rf"this {kind.__name__} is not fitted: call fit\(X, y\)"
    with pytest.raises(NotFittedError, match=message):
        to_forest(kind())


@pytest.mark.parametrize("kind", [DMatrix, Dataset])
def test_rows_in_place_of_a_model_are_refused(kind):
    message = f"cannot convert {kind.__name__} to a Forest: give the B"
    with pytest.raises(TypeError, match=message):
        to_forest(kind(np.eye(3)))
