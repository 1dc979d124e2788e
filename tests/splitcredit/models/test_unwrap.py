"""Models as people hold them: pipelines, searches, files, and what they do to rows and names."""

import re
from functools import partial

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import TransformedTargetRegressor, make_column_transformer
from sklearn.ensemble import (
    RandomForestClassifier,
    RandomForestRegressor,
    StackingClassifier,
    StackingRegressor,
)
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import RFE, RFECV, SelectFromModel
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import RANSACRegressor
from sklearn.model_selection import (
    FixedThresholdClassifier,
    GridSearchCV,
    KFold,
    TunedThresholdClassifierCV,
)
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier, OutputCodeClassifier
from sklearn.multioutput import MultiOutputClassifier, MultiOutputRegressor
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler, TargetEncoder
from sklearn.semi_supervised import SelfTrainingClassifier

import splitcredit
import twins
from splitcredit import TreeExplainer, to_forest
from splitcredit.models.formats import _unwrap
from splitcredit.models.training import targets_of
from splitcredit.prediction_gap import exact_gap, greedy, optimum, sampling
from splitcredit.prediction_gap.randomizing import randomized_rmse


@pytest.fixture(scope="module")
def data():
    """Rows with a column of text, and targets."""
    random = np.random.default_rng(0)
    X = pd.DataFrame({"age": random.normal(40, 9, 90), "dose": random.normal(5, 2, 90)})
    X["color"] = random.choice(["red", "green", "blue"], 90)
    return X, X["age"] / 9 + X["dose"] * (X["color"] == "red")


def forest_model(**parameters):
    return RandomForestRegressor(6, max_depth=4, random_state=0, **parameters)


def encoder():
    return make_column_transformer(
        (OneHotEncoder(), ["color"]), (StandardScaler(), ["age", "dose"])
    )


NAMES = ("color_blue", "color_green", "color_red", "age", "dose")


@pytest.fixture(scope="module")
def pipeline(data):
    return make_pipeline(encoder(), forest_model()).fit(*data)


DEPTHS = {"max_depth": [2, 3]}
KEPT = [("keep", "passthrough"), ("scale", StandardScaler()), ("f", forest_model())]
NESTED = {
    "pipeline": lambda: make_pipeline(encoder(), forest_model()),
    "search over a pipeline": lambda: GridSearchCV(
        make_pipeline(encoder(), forest_model()), {"randomforestregressor__max_depth": [2, 3]}, cv=2
    ),
    "pipeline that ends in a search": lambda: make_pipeline(
        encoder(), GridSearchCV(forest_model(), DEPTHS, cv=2)
    ),
    "pipeline in a pipeline": lambda: make_pipeline(encoder(), Pipeline(KEPT)),
}


@pytest.mark.parametrize("kind", NESTED)
def test_totals_are_predictions_and_names_those_of_the_transformed_features(kind, data):
    X, _ = data
    model = NESTED[kind]().fit(*data)
    attribution = splitcredit.explain(model, X)
    totals = attribution.totals()[:, 0]
    assert twins.largest_error(totals, model.predict(X)) <= twins.ROUNDING
    forest = to_forest(model)
    assert forest.feature_names == NAMES and forest.names_given
    assert attribution.feature_names == tuple(X.columns)
    with pytest.raises(ValueError, match=r"missing \['color_blue'"):
        forest.prepare(X)


class OwnStep(BaseEstimator):
    """Does not know whether it is fitted, and fails to name features in a way that is given."""

    def __init__(self, *anything, names=None):
        self.names, self.transformers = names, (1, 2)

    def fit(self, X, y=None):
        return self

    def transform(self, X):
        return X

    def get_feature_names_out(self, input_features=None):
        return self.names()


@pytest.mark.parametrize(
    "names",
    [lambda: None, lambda: {}["a"], lambda: 1 / 0, lambda: 3, lambda: list("abc"), lambda: [(), 1]],
)
def test_steps_that_fail_to_name_features_do_not_stop_an_explanation(names, data):
    """Red if an error of what is only shown beside the values, or a wrong count, ends the call."""
    X, y = data[0][["age", "dose"]].to_numpy(), data[1]
    scaler, last = StandardScaler().fit(X), forest_model().fit(X, y)
    for steps in ([OwnStep(names=names)], [scaler, OwnStep(names=names)], [FunctionTransformer()]):
        model = make_pipeline(*steps, last)
        totals = splitcredit.explain(model, X).totals()[:, 0]
        assert twins.largest_error(totals, model.predict(X)) <= twins.ROUNDING
    assert to_forest(model).feature_names == ("x0", "x1")


@pytest.mark.parametrize(
    ("fail", "kind", "text"),
    [
        (lambda: b"\xff".decode(), ValueError, "'utf-8' codec"),
        (lambda: np.add("a", 1), ValueError, "ufunc 'add'"),
        (lambda: np.sum(np.zeros(3), axis=2), np.exceptions.AxisError, "axis 2 is out"),
        (lambda: {}["city"], ValueError, "KeyError: 'city'"),
        (lambda: 1 / 0, ZeroDivisionError, "ZeroDivisionError: division"),
    ],
)
def test_an_error_of_a_step_keeps_its_type_where_that_takes_a_text(fail, kind, text, data):
    """Red if making the message fails, so that the user sees that failure instead."""
    X, y = data[0][["age", "dose"]], data[1]
    model = make_pipeline(OwnStep(), forest_model().fit(X, y))
    model[0].transform = lambda X: fail()
    message = f"^X does not go through the steps before the trees: {text}"
    with pytest.raises(kind, match=message) as refused:
        splitcredit.explain(model, X)
    assert type(refused.value) is kind


def test_a_single_row_as_a_Series_is_refused_with_the_remedy(pipeline, data):
    with pytest.raises(ValueError, match=r"single row as a table, such as X\.iloc\[\[0\]\]$"):
        splitcredit.explain(pipeline, data[0].iloc[3])


def test_a_frozen_model_is_the_model(data, pipeline):
    X, y = data
    numbers = X[["age", "dose"]]
    model = forest_model().fit(numbers, y)
    expected = splitcredit.explain(model, numbers).values.tobytes()
    search = GridSearchCV(forest_model(), {"max_depth": [4]}, cv=2).fit(numbers, y)
    for inner in (model, FrozenEstimator(model), search):
        frozen = FrozenEstimator(inner)
        assert splitcredit.explain(frozen, numbers).values.tobytes() == expected
    explainer = TreeExplainer(FrozenEstimator(model))
    assert explainer.shap_values(numbers).tobytes() == expected
    totals = splitcredit.explain(FrozenEstimator(pipeline), X).totals()[:, 0]
    assert twins.largest_error(totals, pipeline.predict(X)) <= twins.ROUNDING
    with pytest.raises(NotFittedError, match="this RandomForestRegressor is not fitted"):
        to_forest(FrozenEstimator(forest_model()))


VALUES, CLASSES = forest_model(), RandomForestClassifier(3, max_depth=2, random_state=0)
ONE, FIRST = "estimator_", "estimators_[0]"


@pytest.mark.parametrize(
    ("place", "model", "target"),
    [
        (
            "calibrated_classifiers_[0].estimator",
            CalibratedClassifierCV(CLASSES, cv=2),
            "is_high",
        ),
        ("regressor_", TransformedTargetRegressor(VALUES, transformer=StandardScaler()), "y"),
        (ONE, FixedThresholdClassifier(CLASSES, threshold=0.7), "is_high"),
        (ONE, TunedThresholdClassifierCV(CLASSES, cv=2), "is_high"),
        (ONE, SelfTrainingClassifier(CLASSES), "unlabeled"),
        (ONE, SelectFromModel(CLASSES), "is_high"),
        (ONE, RFE(CLASSES, n_features_to_select=1), "is_high"),
        (ONE, RFECV(CLASSES, cv=2), "is_high"),
        (ONE, RANSACRegressor(VALUES, min_samples=0.5, random_state=0), "y"),
        (FIRST, MultiOutputRegressor(VALUES), "two"),
        (FIRST, MultiOutputClassifier(CLASSES), "two_classes"),
        (FIRST, OneVsRestClassifier(CLASSES), "three"),
        (FIRST, OneVsOneClassifier(CLASSES), "three"),
        (FIRST, OutputCodeClassifier(CLASSES, random_state=0), "three"),
        (FIRST, StackingClassifier([("a", CLASSES), ("b", CLASSES)], cv=2), "is_high"),
        (FIRST, StackingRegressor([("a", VALUES)], cv=2), "y"),
    ],
)
def test_models_that_change_the_prediction_are_refused_with_the_inner_model(
    place, model, target, data
):
    X, y = data[0][["age", "dose"]].to_numpy(), data[1].to_numpy()
    targets = {
        "y": y,
        "is_high": y > 8,
        "unlabeled": np.where(np.arange(len(X)) % 9, y > 8, -1),
        "three": np.digitize(y, [7, 9]),
        "two": np.column_stack([y, -y]),
        "two_classes": np.column_stack([y > 7, y > 9]),
    }
    model.fit(X, targets[target])
    remedy = re.escape(f"explain model.{place.replace('0', 'i')}")
    message = f"cannot convert {type(model).__name__} to a Forest, because .*: {remedy}"
    for call in (to_forest, TreeExplainer):
        with pytest.raises(TypeError, match=message):
            call(model)
    inner = model  # what the message names is there
    for part in re.findall(r"\w+", place):
        inner = inner[0] if part == "0" else getattr(inner, part)
    assert to_forest(inner).n_trees == inner.n_estimators


def test_bagged_measures_take_the_rows_that_a_pipeline_was_fitted_on(pipeline, data):
    X, y = data
    inner = pipeline[-1]
    rows = pipeline[:-1].transform(X)
    expected = splitcredit.ufi(to_forest(inner, rows), rows, y).values
    for model_or_forest in (pipeline, to_forest(pipeline, X)):
        x = X if model_or_forest is pipeline else rows
        found = splitcredit.ufi(model_or_forest, x, y, features="transformed")
        assert found.values.tobytes() == expected.tobytes()
    of_last_step = splitcredit.importance(forest_model(max_features=1.0), rows, y, method="air")
    of_pipeline = splitcredit.air(pipeline, X, y, features="transformed")
    assert of_pipeline.values.tobytes() == of_last_step.values.tobytes()
    ours = splitcredit.oob_importance(pipeline, X, y, weigh_by="y", features="transformed")
    assert ours.feature_names == NAMES and ours.values.any()
    with pytest.raises(ValueError, match="its hash differs"):
        splitcredit.ufi(to_forest(pipeline, X), rows[::-1], y)


class Sampler(BaseEstimator):
    """Draws training rows, as the steps of imbalanced-learn do."""

    def fit_resample(self, X, y):
        return X, y


def grown_on_other_rows(kind, data):
    """A pipeline whose forest was grown on other rows than its steps make now, and rows for it."""
    X, y = data
    if kind == "sampler":
        numbers = X[["age", "dose"]]
        return Pipeline([("step", Sampler()), ("f", forest_model().fit(numbers, y))]), numbers
    step = TargetEncoder(cv=KFold(3))
    if kind == "nested":
        step = make_column_transformer((make_pipeline(step), ["color"]), remainder="passthrough")
    rows = X if kind == "nested" else X[["color"]]
    return Pipeline([("step", step), ("f", forest_model())]).fit(rows, y), rows


@pytest.mark.parametrize("kind", ["alone", "nested", "sampler"])
def test_measures_of_training_rows_refuse_steps_that_made_other_rows_in_training(kind, data):
    model, X = grown_on_other_rows(kind, data)
    named = "Sampler" if kind == "sampler" else "TargetEncoder"
    message = rf"the step 'step' \({named}\) changed the training rows"
    names = [m.name for m in splitcredit.methods() if {"bootstrap", "refit"} & set(m.needs)]
    assert len(names) == 7
    for call in (
        *(partial(splitcredit.importance, model, X, data[1], name) for name in names),
        partial(splitcredit.explain, model, X, "oob_attributions"),
        partial(to_forest, model, X),
    ):
        with pytest.raises(ValueError, match=message):
            call()
    expected = model[-1].predict(X if kind == "sampler" else model[:-1].transform(X))
    totals = splitcredit.explain(model, X).totals()[:, 0]
    assert twins.largest_error(totals, expected) <= twins.ROUNDING


def test_a_frozen_encoder_makes_the_same_rows_in_training(data):
    X, y = data[0][["color"]], data[1]
    encoder = FrozenEstimator(TargetEncoder(cv=KFold(3)).fit(X, y))
    model = make_pipeline(encoder, forest_model()).fit(X, y)
    theirs = splitcredit.importance(model[-1], encoder.transform(X), y, method="ufi")
    ours = splitcredit.importance(model, X, y, method="ufi")
    assert ours.values.tobytes() == theirs.values.tobytes()


def test_measures_take_the_rows_and_the_background_through_the_pipeline(pipeline, data):
    X, y = data[0][:6], data[1][:6]
    rows, inner = pipeline[:-1].transform(X), to_forest(pipeline[-1])
    ranking, by = np.tile(np.arange(5), (6, 1)), {"features": "transformed"}
    calls = {
        "background": lambda m, x: splitcredit.tree_shap_interventional(m, x, x, **by).values,
        "pg2": lambda m, x: exact_gap.pg2(m, x, [0, 3]),
        "pgi2": lambda m, x: splitcredit.faithfulness(m, x, ranking, scale=1.0, **by),
        "greedy": lambda m, x: greedy.greedy_ranking(m, x).gaps,
        "optimum": lambda m, x: optimum.best_ranking(m, x).gaps,
        "sampled": lambda m, x: sampling.pg2_sampled(m, x, [0, 3], counts=[100]),
        "randomized": lambda m, x: randomized_rmse(m, x, y, ranking, [2], x).predictions,
    }
    for name, call in calls.items():
        assert call(pipeline, X).tobytes() == call(inner, rows).tobytes(), name


def test_what_is_not_ready_is_refused_with_the_remedy(data):
    X, y = data[0][["age", "dose"]], data[1]
    search = GridSearchCV(forest_model(), {"max_depth": [1]}, cv=2, refit=False)
    for model, kind, message in (
        (search, NotFittedError, r"this GridSearchCV is not fitted: call fit\(X, y\)"),
        (clone(search).fit(X, y), ValueError, "refit=False and has no best estimator: fit it with"),
        (
            Pipeline([("scale", "passthrough")]),
            ValueError,
            "last step 'scale' of the pipeline is not a model of trees",
        ),
        (make_pipeline(StandardScaler()).fit(X), TypeError, "cannot convert .*StandardScaler to"),
    ):
        with pytest.raises(kind, match=message):
            to_forest(model)


def test_training_rows_in_another_order_of_columns_are_known_by_their_hash(data):
    X, y = data[0][["age", "dose"]], data[1]
    model = forest_model().fit(X, y)
    expected = splitcredit.ufi(model, X, y).values.tobytes()
    reordered = X[["dose", "age"]]
    for training_rows in (X, reordered):
        forest = to_forest(model, X_train=training_rows)
        for rows in (X, reordered):
            assert splitcredit.ufi(forest, rows, y).values.tobytes() == expected


@pytest.mark.parametrize(
    ("classes", "labels"),
    [
        ([0, 1, 2], [0.0, 1.0, 2.0]),
        ([0.0, 1.0, 2.0], [0, 1, 2]),
        ([0, 1], [False, True]),
        ([False, True], [0, 1]),
        ([False, True], [0.0, 1.0]),
        (["a", "b"], np.array(["a", "b"], dtype=object)),
        (["a", "b"], np.array(["a", "b"])),
        ([0, 1], pd.array([False, True], dtype="boolean")),
        (["a", "b"], pd.Categorical(["a", "b"])),
    ],
    ids=repr,
)
def test_labels_that_equal_the_classes_are_accepted(classes, labels):
    y = np.tile(np.array(classes), 20)
    X = np.random.default_rng(0).normal(size=(len(y), 2))
    forest = to_forest(RandomForestClassifier(2, random_state=0).fit(X, y))
    for given in (np.asarray(labels), pd.Series(labels)):
        assert targets_of(forest, given, len(classes)).tolist() == list(range(len(classes)))


@pytest.mark.parametrize("label", [0.5, 2, "1.0", np.nan, None])
def test_labels_that_equal_no_class_are_refused(label):
    X = np.arange(8.0)[:, None]
    forest = to_forest(RandomForestClassifier(2, random_state=0).fit(X, [0, 1] * 4))
    with pytest.raises(ValueError, match="which are not classes of the model: pass labels among"):
        targets_of(forest, np.array([label], dtype=object), 1)


def test_only_a_detector_of_pyod_is_taken_for_what_it_holds():
    """Red if a model of another package is, for an attribute of that name."""
    model = RandomForestClassifier()
    model.detector_ = RandomForestClassifier()
    assert _unwrap.unfrozen(model) is model
