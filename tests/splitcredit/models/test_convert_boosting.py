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
from forests import BOOSTED, DRAWN, boosted, raw_score, rows_on_thresholds
from splitcredit import Forest, explain, faithfulness, interactions, to_forest
from splitcredit.kernels import leaf_means
from splitcredit.models.forest import array_hash
from splitcredit.models.formats import _nodes
from splitcredit.prediction_gap.exact_gap import pg2
from twins_tree_shap import means_of_leaves

# Basis: rounding. XGBoost adds up in float32, 6e-8 a step; the others in float64.
TOLERANCE = {"xgboost": 1e-5, "lightgbm": 1e-12, "gradient": 1e-12, "histogram": 1e-12}


def tolerance(name):
    """Of predictions, as a share of the largest."""
    return next(t for library, t in TOLERANCE.items() if name.startswith(library))


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
        error = twins.largest_error(forest.predict(given), raw_score(model, given))
        assert error <= tolerance(name)


def below(forest, k):
    """Leaves below node k."""
    if forest.feature[k] < 0:
        return [k]
    return below(forest, forest.left[k]) + below(forest, forest.right[k])


def summaries(left, right, cover, value, offsets, *columns):
    """Values and impurities of the nodes of a model that is called Mine."""
    arrays = {"left": left, "right": right, "cover": cover}
    made = _nodes.summarized(arrays, value, np.array(offsets), "Mine", *columns)
    return made["value"], made["impurity"]


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


def test_the_variance_of_large_equal_values_is_0():
    """A difference of two mean squares would leave 1e4 here."""
    left, right = np.array([1, 3, -1, -1, -1]), np.array([2, 4, -1, -1, -1])
    cover = np.array([3.0, 2.0, 1.0, 0.7, 1.3])
    value = np.array([0.0, 0.0, 1e10 / 3, 1e10 / 3, 1e10 / 3])
    mean, variance = summaries(left, right, cover, value, [0, 5])
    assert (mean == 1e10 / 3).all() and (variance == 0).all()


def test_the_expected_value_weighs_both_children_by_their_cover():
    """The formula with both shares, not with a difference: the last digits count."""
    value = np.array([[9.0, 9.0], [9.0, 9.0], [0.1, 0.7], [0.3, 1.1], [1.7, 0.9], [0.3, 0.2]])
    forest = Forest(
        feature=[0, 0, -1, -1, -1, -1],
        threshold=[0.5] * 6,
        left=[1, 3, -1, -1, -1, -1],
        right=[2, 4, -1, -1, -1, -1],
        value=value,
        cover=[3.1, 2.3, 0.8, 0.9, 1.4, 3.1],
        tree_offsets=[0, 5, 6],
        feature_names=["x"],
        output_names=["a", "b"],
    )
    upper = 0.9 / (0.9 + 1.4) * value[3] + (1 - 0.9 / (0.9 + 1.4)) * value[4]
    share = 2.3 / (2.3 + 0.8)
    expected = share * upper + (1 - share) * value[2]
    np.testing.assert_array_equal(leaf_means.expectations(forest), [expected, value[5]])


@pytest.mark.parametrize("name", DRAWN)
def test_the_expected_value_of_every_tree_equals_the_twin(name):
    """Also of a tree behind others, and where covers add up only nearly, as of single precision."""
    forest = DRAWN[name]()
    off = 1 + 1e-5 * np.random.default_rng(0).uniform(-1, 1, forest.n_nodes)
    for cover in (forest.cover, forest.cover * off):
        one = replace(forest, cover=cover)
        ours = leaf_means.expectations(one)
        assert twins.largest_error(ours, means_of_leaves(one)) <= twins.ROUNDING


def test_children_that_are_no_nodes_behind_their_parent_are_left_to_the_check():
    """Of a damaged file: the kernel must not look outside of its arrays."""
    left, right = np.array([1, 0, 10**6, -1]), np.array([2, 3, 3, -1])
    mean, variance = summaries(left, right, np.ones(4), np.ones(4), [0, 4])
    assert mean.tolist() == [[1], [1], [1], [1]] and not variance.any()


def test_a_split_without_cover_is_refused():
    """Two trees; in the second both children of the second split have cover 0."""
    left = np.array([-1, 2, 4, -1, -1, -1])
    right = np.array([-1, 3, 5, -1, -1, -1])
    cover = np.array([1.0, 3.0, 0.0, 3.0, 0.0, 0.0])
    with pytest.raises(ValueError, match=r"tree 1 of this Mine has a split.*without rows of weig"):
        summaries(left, right, cover, np.ones(6), [0, 1, 6])
    left, right = np.array([1, -1, -1, 4, -1, -1]), np.array([2, -1, -1, 5, -1, -1])
    with pytest.raises(ValueError, match="tree 0 of this Mine has a split"):  # the first of two
        summaries(left, right, np.zeros(6), np.ones(6), [0, 3, 6])


OWN = [(n, m) for n in BOOSTED if n.startswith("xgboost") for m in ("saabas", "tree_shap")]
OWN += [(n, "tree_shap") for n in BOOSTED if n.startswith("lightgbm")]


@pytest.mark.parametrize(("name", "method"), OWN)
def test_attributions_equal_those_of_the_library(name, method):
    """Basis of the tolerance: sums of XGBoost in float32."""
    model, X, _ = boosted(name)
    ours = explain(model, X[::10], method)
    if name.startswith("xgboost"):
        theirs = model.get_booster().predict(
            DMatrix(X[::10]), pred_contribs=True, approx_contribs=method == "saabas"
        )
    else:
        theirs = model.booster_.predict(X[::10], pred_contrib=True)
    theirs = theirs.reshape(len(ours.values), ours.values.shape[2], -1).transpose(0, 2, 1)
    if "lightgbm, random forest" in name:  # which adds up here the trees of which it predicts means
        theirs = theirs / model.booster_.current_iteration()
    if name.startswith("xgboost"):
        tolerance = 1e-5 * np.abs(theirs).max()
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


def test_values_stand_in_the_column_of_the_class_of_their_tree():
    """Also with two classes: a tree of two nodes of the second, and one node of the first."""
    leaves, value = np.full(3, -1), np.array([1.0, 2.0, 3.0])
    columns, _ = summaries(leaves, leaves, np.ones(3), value, [0, 2, 3], np.array([1, 0]), 2)
    assert columns.tolist() == [[0, 1], [0, 2], [3, 0]]
    assert summaries(leaves, leaves, np.ones(3), value, [0, 2, 3])[0].shape == (3, 1)


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
    attribution = explain(model, X)
    assert attribution.output_names == ("0", "1", "2")
    if isinstance(model, LGBMClassifier):
        theirs = model.predict(X, pred_contrib=True)
    else:
        theirs = model.get_booster().predict(DMatrix(X), pred_contribs=True)
    theirs = theirs.reshape(len(X), 3, 4).transpose(0, 2, 1)
    tolerance = max(TOLERANCE.values())
    assert twins.largest_error(attribution.values, theirs[:, :3]) <= tolerance
    assert twins.largest_error(attribution.baseline, theirs[0, 3]) <= tolerance


TWO_CLASSES = {
    "xgboost": XGBClassifier(n_estimators=3),
    "lightgbm": LGBMClassifier(n_estimators=3, verbose=-1),
    "histogram": HistGradientBoostingClassifier(max_iter=3),
    "gradient": GradientBoostingClassifier(n_estimators=3),
    "votes": AdaBoostClassifier(n_estimators=3),
}


@pytest.mark.parametrize("name", TWO_CLASSES)
def test_the_number_of_an_output_is_that_of_a_class_where_one_score_stands_for_two(name):
    """The number 0 gave class 1, and 1 was an error; a forest gave 0 and 1."""
    X = np.random.default_rng(0).normal(size=(80, 3))
    model = TWO_CLASSES[name].fit(X, (X[:, 0] > 0).astype(int))
    second = explain(model, X)
    assert second.output_names == ("1",)
    for calls in (
        lambda output: explain(model, X, output=output),
        lambda output: explain(model, X, "saabas", output=output),
        lambda output: splitcredit.tree_shap_interventional(model, X, background=X, output=output),
        lambda output: interactions(model, X, output=output),
    ):
        for number, sign in ((0, -1), (1, 1)):
            of_class, of_second = calls(number), calls("all")
            assert of_class.output_names == (str(number),)
            assert np.array_equal(of_class.values, sign * of_second.values)
            assert np.array_equal(of_class.baseline, sign * of_second.baseline)
            assert not np.signbit(of_class.values[of_class.values == 0]).any()
            assert np.array_equal(calls(str(number)).values, of_class.values)
    with pytest.raises(ValueError, match="an index below 2, or a name in"):
        explain(model, X, output=2)
    restored = Forest.from_arrays(to_forest(model).to_arrays())
    assert np.array_equal(explain(restored, X, output=0).values, -second.values)
    assert pg2(model, X[:3], [0], scale=1.0, output=0) == pytest.approx(
        pg2(model, X[:3], [0], scale=1.0)
    )


@pytest.mark.parametrize("name", TWO_CLASSES)
def test_predicted_is_the_class_of_each_row_where_one_score_stands_for_two(name):
    """It was the second class in all rows, and of a forest that of the row."""
    X = np.random.default_rng(0).normal(size=(80, 3))
    model = TWO_CLASSES[name].fit(X, (X[:, 0] > 0).astype(int))
    background = partial(splitcredit.tree_shap_interventional, model, X, X)
    calls = [
        partial(explain, model, X),
        partial(explain, model, X, "saabas"),
        background,
        partial(interactions, model, X),
    ]
    if name != "votes":
        calls.append(partial(background, model_output="probability"))
    for call in calls:
        own, both = call(output="predicted"), [call(output=0), call(output=1)]
        assert own.output_names == ("predicted",)
        assert np.array_equal(own.output_index, model.predict(X))
        for row, one in enumerate(own.output_index):
            assert np.array_equal(own.values[row], both[one].values[row])
            assert own.baseline[row] == both[one].baseline
    for metric in ("pgi2", "pg2"):
        of_predicted = faithfulness(model, X, "tree_shap", metric, scale=1, output="predicted")
        assert np.array_equal(of_predicted, faithfulness(model, X, "tree_shap", metric, scale=1))
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
    kinds, codes = np.array(["low", "mid", "high"]), np.digitize(X[:, 0], [-0.5, 0.5])
    y = codes if library == "xgboost" else kinds[codes]
    model = make().fit(frame, y)
    forest = to_forest(model, X)
    assert forest.names_given and forest.feature_names == ("größe", "b", "c")
    numbers = ("0", "1", "2")
    assert forest.output_names == (numbers if library == "xgboost" else ("high", "low", "mid"))
    assert forest.training_hash == array_hash(X) == to_forest(model, frame).training_hash
    assert to_forest(model).training_hash is None
    with pytest.raises(ValueError, match="X has 2 features, the model was fitted on 3"):
        to_forest(model, X[:, :2])
    reordered = forest.predict(frame[["c", "größe", "b"]])
    assert reordered.tobytes() == forest.predict(frame).tobytes()
    if made_up is None:
        unnamed = to_forest(make().fit(X, y))
        assert not unnamed.names_given and unnamed.feature_names == ("x0", "x1", "x2")
        return
    two_classes = make().fit(X, y == y[0])
    booster, of_two = (
        m.get_booster() if library == "xgboost" else m.booster_ for m in (model, two_classes)
    )
    assert to_forest(booster).output_names == numbers
    unnamed = to_forest(of_two)
    assert not unnamed.names_given and unnamed.feature_names == tuple(made_up.split())
    assert unnamed.output_names == ("1",)
    if library == "lightgbm":
        assert to_forest(two_classes).output_names == ("True",)


UNFITTED = [DecisionTreeRegressor, RandomForestClassifier, BaggingRegressor]
UNFITTED += [GradientBoostingClassifier, HistGradientBoostingClassifier, XGBClassifier]
UNFITTED += [LGBMClassifier]


@pytest.mark.parametrize("kind", UNFITTED)
def test_unfitted_models_are_refused(kind):
    message = rf"this {kind.__name__} is not fitted: call fit\(X, y\)"
    with pytest.raises(NotFittedError, match=message):
        to_forest(kind())


@pytest.mark.parametrize(
    "data", [DMatrix(np.eye(3)), Dataset(np.eye(3))], ids=["DMatrix", "Dataset"]
)
def test_rows_in_place_of_a_model_are_refused(data):
    with pytest.raises(
        TypeError, match=f"cannot convert {type(data).__name__} to a Forest: give the B"
    ):
        to_forest(data)
