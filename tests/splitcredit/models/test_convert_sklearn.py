"""Scikit-learn models to `Forest`: equal predictions, and clear refusals."""

import pickle

import numpy as np
import pytest
import shap
from sklearn import config_context, datasets
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.ensemble import (
    AdaBoostRegressor,
    BaggingClassifier,
    BaggingRegressor,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    RandomTreesEmbedding,
)
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import splitcredit
import twins
from forests import (
    FITTED,
    conversion_error,
    fitted,
    raw_score,
    rows_on_thresholds,
    stump,
    whole_numbers,
)
from splitcredit import explain, importance, to_forest

# Scikit-learn adds some trees up in parts, so the last bit may differ.
LAST_BIT = 1e-15


@pytest.mark.parametrize("name", FITTED)
def test_predictions_are_those_of_scikit_learn_bit_by_bit(name):
    """Of training rows, of rows on thresholds and beside them, and of rows with NaN."""
    model, training_rows, _ = fitted(name)
    forest, rng = to_forest(model), np.random.default_rng(0)
    rows = training_rows[rng.integers(len(training_rows), size=300)]
    awkward = np.where(rng.random(rows.shape) < 0.5, rows_on_thresholds(forest, 300), rows)
    for given in (training_rows, awkward):
        assert conversion_error(model, given) == 0


@pytest.mark.parametrize("name", FITTED)
def test_node_arrays_are_those_of_the_trees(name):
    model, _, _ = fitted(name)
    trees = [e.tree_ for e in getattr(model, "estimators_", [model])]
    before = [tree.value.tobytes() for tree in trees]
    forest = to_forest(model)
    assert before == [tree.value.tobytes() for tree in trees]
    for ours, theirs in (
        (forest.cover, "weighted_n_node_samples"),
        (forest.impurity, "impurity"),
        (forest.value[:, None], "value"),
    ):
        expected = np.concatenate([getattr(tree, theirs) for tree in trees])
        np.testing.assert_array_equal(ours, expected)
    assert (forest.x_dtype, forest.strict, forest.aggregate) == ("float32", False, "mean")


def counts_of(model, n):
    """How often scikit-learn itself has drawn each of n rows for each tree."""
    return [np.bincount(rows, minlength=n) for rows in model.estimators_samples_]


@pytest.mark.parametrize("name", [n for n in FITTED if "bagged" in n or n.startswith("forest")])
def test_inbag_counts_how_often_each_row_was_drawn(name):
    model, X, _ = fitted(name)
    forest = to_forest(model)
    if not model.bootstrap:
        assert forest.inbag is None
        return
    assert (forest.inbag == counts_of(model, len(X))).all() and forest.inbag.dtype == np.uint8


@pytest.mark.parametrize("weighted", [False, True])
def test_inbag_counts_are_those_of_forests_with_weights_and_fewer_draws(weighted):
    """With weights a release of scikit-learn may draw rows in another way than without."""
    random = np.random.default_rng(3)
    X, y = random.random((40, 3)), random.random(40)
    model = RandomForestRegressor(5, max_samples=0.4, random_state=0)
    model.fit(X, y, sample_weight=random.random(40) if weighted else None)
    assert (to_forest(model).inbag == counts_of(model, 40)).all()
    if not weighted:
        model.set_params(n_estimators=8, warm_start=True).fit(X, y)
        assert (to_forest(model).inbag == counts_of(model, 40)).all()
        return
    # One tree does not tell how rows are drawn: one draw of six often agrees by chance.
    for seed in range(20):
        model = RandomForestRegressor(8, max_samples=1, random_state=seed)
        model.fit(X[:6], y[:6], sample_weight=random.uniform(0.5, 2, 6))
        assert (to_forest(model).inbag == counts_of(model, 6)).all()


@pytest.mark.parametrize(
    "model",
    [
        RandomForestRegressor(6, max_depth=1, warm_start=True, random_state=0),
        BaggingRegressor(DecisionTreeRegressor(max_depth=1), 6, warm_start=True, random_state=0),
    ],
)
def test_bags_of_trees_that_were_added_to_others_are_not_made_up(model):
    """Scikit-learn draws those of a forest anew from the rows of the last call of fit."""
    random = np.random.default_rng(0)
    X, y = random.random((100, 3)), random.random(100)
    model.fit(X[:60], y[:60]).set_params(n_estimators=8).fit(X, y)
    assert to_forest(model).inbag is None and to_forest(model).n_trees == 8
    assert conversion_error(model, X) <= 1e-12
    with pytest.raises(ValueError, match="with bootstrap=True in one call of fit"):
        importance(model, X, y, method="ufi")


@pytest.mark.parametrize("warm_start", [False, True])
def test_a_forest_whose_bootstrap_is_set_after_its_fit_has_drawn_no_rows(warm_start):
    """Its draws of no number of rows were an AttributeError of scikit-learn, whatever was asked."""
    X, y = np.arange(20.0)[:, None], np.arange(20.0)
    model = RandomForestRegressor(3, bootstrap=False, random_state=0).fit(X, y)
    model.set_params(bootstrap=True, warm_start=warm_start)
    assert to_forest(model).inbag is None and conversion_error(model, X) <= LAST_BIT


def test_inbag_counts_are_those_of_the_model_as_it_was_converted():
    """The counts are drawn when they are first read, and the model may have changed by then."""
    model, X, y = clone(fitted("forest, gini, cancer")[0]), *fitted("forest, gini, cancer")[1:]
    forest = to_forest(model.fit(X, y))
    counts = to_forest(model).inbag
    model.set_params(random_state=99).fit(X[:50], y[:50])
    assert (pickle.loads(pickle.dumps(forest)).inbag == counts).all()
    assert (forest.inbag == counts).all()


def test_a_forest_is_returned_as_it_is_and_a_subclass_converts_like_its_parent():
    class Mine(RandomForestRegressor):
        """A user's own class, of a module that no converter is registered for."""

    forest, (X, y) = stump(), whole_numbers("values", 60, 4)
    assert to_forest(forest) is forest
    assert conversion_error(Mine(3, max_depth=3, random_state=0).fit(X, y), X) == 0


BAGGED = {
    "classes": BaggingClassifier(DecisionTreeClassifier(criterion="entropy"), 8),
    "some features": BaggingClassifier(DecisionTreeClassifier(), 8, max_features=0.4),
    "one feature a tree": BaggingRegressor(DecisionTreeRegressor(), 8, max_features=1),
    "features drawn twice": BaggingClassifier(
        DecisionTreeClassifier(), 8, max_features=5, bootstrap_features=True
    ),
    "values": BaggingRegressor(DecisionTreeRegressor(max_depth=4), 8),
    "values without replacement": BaggingRegressor(None, 5, bootstrap=False, max_samples=0.5),
}


def whole_numbers_for(model):
    """Rows and targets of the kind that a model is for."""
    return whole_numbers("classes" if is_classifier(model) else "values", 120, 6)


@pytest.mark.parametrize("name", BAGGED)
def test_bagged_trees(name):
    """Some trees know some features only; NaN has a rule."""
    X, y = whole_numbers_for(BAGGED[name])
    model = BAGGED[name].set_params(random_state=0).fit(X, y)
    X = X.copy()
    X[::7, ::2] = np.nan
    forest = to_forest(model)
    assert conversion_error(model, X) <= LAST_BIT and forest.n_features == 6
    assert (forest.inbag == counts_of(model, 120)).all()


@pytest.mark.parametrize("kind", [BaggingClassifier, BaggingRegressor])
def test_bagged_trees_are_as_many_as_the_model_is_set_to_have(kind):
    """Scikit-learn predicts by the first of them, where fewer are set after the fit."""
    model = kind(n_estimators=5, max_features=0.5, random_state=0)
    X, y = whole_numbers_for(model)
    model.fit(X, y).set_params(n_estimators=2)
    forest = to_forest(model)
    assert forest.n_trees == len(forest.inbag) == 2 and conversion_error(model, X) <= LAST_BIT
    with pytest.raises(ValueError, match=r"has 5 trees, .* n_estimators=7, .*: set it to 5, or"):
        to_forest(model.set_params(n_estimators=7))


def test_bagged_trees_that_have_not_seen_all_classes():
    """With metadata routing a tree gets its own rows, and not all of them with weights."""
    X, y = whole_numbers("classes", 120, 6)
    model = BaggingClassifier(DecisionTreeClassifier(), 12, max_samples=4, random_state=0)
    with config_context(enable_metadata_routing=True):
        model.fit(X, y)
    assert min(len(e.classes_) for e in model.estimators_) < len(model.classes_)
    assert conversion_error(model, X) <= LAST_BIT


@pytest.mark.parametrize(
    "model",
    [
        GradientBoostingRegressor(init=DummyRegressor()),
        GradientBoostingRegressor(init=DummyRegressor(strategy="median")),
        GradientBoostingRegressor(init="zero"),
        GradientBoostingRegressor(n_iter_no_change=2),
        GradientBoostingClassifier(init=DummyClassifier()),
        GradientBoostingClassifier(init=DummyClassifier(strategy="most_frequent")),
        GradientBoostingClassifier(init="zero"),
        HistGradientBoostingRegressor(early_stopping=True, n_iter_no_change=2),
        # The last column is constant, so the categories are never split.
        HistGradientBoostingRegressor(categorical_features=[5]),
    ],
)
def test_boosting_from_a_constant_that_stops_early_or_has_categories_without_a_split(model):
    X, y = whole_numbers_for(model)
    assert conversion_error(model.set_params(random_state=0).fit(X, y), X) <= 1e-12
    if "n_iter_no_change=2" in str(model):
        assert to_forest(model).n_trees < 100


# Bagged classifiers of a regression gave a mean of labels as one of class fractions.
MEAN_OF_LABELS = BaggingRegressor(DecisionTreeClassifier(max_depth=3), 4)


OTHER_PACKAGE = type("IsolationForest", (BaseEstimator,), {"__module__": "isotree._isotree"})


@pytest.mark.parametrize(
    ("thing", "message"),
    [
        (AdaBoostRegressor(), r"cannot convert sklearn\.\w+\.AdaBoostReg.*: supported are"),
        (RandomTreesEmbedding(), r"cannot convert sklearn\.\w+\.RandomTr.*: supported are"),
        (LinearRegression(), r"cannot convert sklearn\.\w+\.LinearRegression to a F.*"),
        (object(), r"cannot convert .*object to a Forest: supported are"),
        (None, r"cannot convert .*NoneType to a Forest: supported are"),
        (DecisionTreeRegressor, "DecisionTreeRegressor is a class: pass a fitted model"),
        (MEAN_OF_LABELS.fit(np.eye(9), [0, -1, 1] * 3), "mean of labels is not a mean of trees"),
        (OTHER_PACKAGE(), r"^cannot convert isotree\.IsolationForest .*: supported .*XGB.* help\("),
    ],
)
def test_other_things_are_refused(thing, message):
    with pytest.raises(TypeError, match=message) as refused:
        to_forest(thing)
    # A page that only a checkout has is not named to the reader of a wheel.
    assert "docs" not in str(refused.value)


@pytest.mark.parametrize("model", [DecisionTreeClassifier(max_depth=3), RandomForestClassifier(3)])
def test_each_class_of_each_target_is_an_output(model):
    """The targets have different numbers of classes."""
    X, y = datasets.load_iris(return_X_y=True)
    words = np.where(X[:, 0] > 6, "long", "short")
    forest = to_forest(model.set_params(random_state=0).fit(X, np.c_[y.astype(str), words]))
    assert forest.output_names == ("y0=0", "y0=1", "y0=2", "y1=long", "y1=short")
    theirs = np.concatenate(model.predict_proba(X), axis=1)
    assert twins.largest_error(forest.predict(X), theirs) <= LAST_BIT


@pytest.mark.parametrize(
    "model",
    [
        DecisionTreeRegressor(random_state=0),
        ExtraTreesRegressor(5, random_state=0),
        GradientBoostingRegressor(n_estimators=5, max_depth=None, random_state=0),
    ],
)
def test_impurities_that_are_no_numbers_stop_only_the_measures_that_read_them(model):
    """Tiny weights of rows make scikit-learn's impurities NaN, and nothing else."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    weight = np.where(rng.random(300) < 0.5, 1e-16, 1.0)
    model.fit(X, X[:, 0] + X[:, 1] * X[:, 2], sample_weight=weight)
    assert np.isnan(to_forest(model).impurity).any()
    totals = explain(model, X, "saabas").totals()[:, 0]
    assert np.abs(totals - model.predict(X)).max() <= 1e-13
    shap_values = shap.TreeExplainer(model).shap_values(X)
    assert np.abs(explain(model, X).values[..., 0] - shap_values).max() <= 1e-13
    for call in (lambda: importance(model), lambda: explain(model, X, "local_mdi")):
        with pytest.raises(ValueError, match=r"reads impurities, and tree 0 .* nan, as scikit-l"):
            call()


@pytest.mark.parametrize("n_classes", [0, 2, 3])
def test_the_model_that_boosting_starts_from_is_a_term_of_each_row(n_classes):
    """The baseline has it; the values are those of the trees."""
    X, y = whole_numbers("values", 200, 4)
    start, kind = LinearRegression(), GradientBoostingRegressor
    if n_classes:
        y = np.digitize(y, [-20.0, 0.0][: n_classes - 1])
        start, kind = RandomForestClassifier(5, max_depth=2), GradientBoostingClassifier
    model = kind(n_estimators=5, init=start, random_state=0)
    for one in (make_pipeline(StandardScaler(), model).fit(X, y), model.fit(X, y)):
        against = splitcredit.tree_shap_interventional(one, X, background=X[:20])
        for attribution in (explain(one, X), explain(one, X, "saabas"), against):
            assert np.abs(attribution.totals() - raw_score(one, X)).max() <= 1e-12
    with pytest.raises(ValueError, match="a term of each row that a Forest cannot hold: call expl"):
        to_forest(model)
