"""Scikit-learn models to `Forest`: equal predictions, and clear refusals."""

import pickle

import numpy as np
import pandas as pd
import pytest
import shap
from scipy import sparse
from sklearn import config_context, datasets
from sklearn.base import BaseEstimator, clone
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
from forests import FITTED, fitted, raw_score, stump, whole_numbers
from splitcredit import explain, importance, to_forest
from splitcredit.models.forest import array_hash


def predicted(model, X):
    """Class fractions of a classifier, values of a regressor, (n_samples, n_outputs)."""
    return model.predict_proba(X) if hasattr(model, "classes_") else model.predict(X)[:, None]


def trees_of(model):
    """Scikit-learn's own arrays of every tree."""
    return [e.tree_ for e in getattr(model, "estimators_", [model])]


@pytest.mark.parametrize("name", FITTED)
def test_predictions_are_those_of_scikit_learn_bit_by_bit(name):
    """Of training rows, of rows on thresholds and beside them, and of rows with NaN."""
    model, training_rows, _ = fitted(name)
    forest = to_forest(model)
    rng = np.random.default_rng(0)
    X = training_rows[rng.integers(len(training_rows), size=300)].copy()
    inner = np.flatnonzero((forest.feature >= 0) & np.isfinite(forest.threshold))
    for row in X if inner.size else ():
        k = rng.choice(inner)
        t = forest.threshold[k]
        row[forest.feature[k]] = rng.choice(
            [t, np.float32(t), np.nextafter(np.float32(t), np.float32(rng.choice([-9e9, 9e9])))]
        )
    with_gaps = np.where(rng.random(training_rows.shape) < 0.3, np.nan, training_rows)
    has_gaps = "made" in name or "NaN" in name or "iris" in name
    for rows in (training_rows, X, *([with_gaps] if has_gaps else [])):
        np.testing.assert_array_equal(forest.predict(rows), predicted(model, rows))


@pytest.mark.parametrize("name", FITTED)
def test_node_arrays_are_those_of_the_trees(name):
    model, _, _ = fitted(name)
    before = [tree.value.tobytes() for tree in trees_of(model)]
    forest, start = to_forest(model), 0
    assert before == [tree.value.tobytes() for tree in trees_of(model)]
    for tree in trees_of(model):
        nodes = slice(start, start + tree.node_count)
        leaf = tree.children_left < 0
        np.testing.assert_array_equal(forest.cover[nodes], tree.weighted_n_node_samples)
        np.testing.assert_array_equal(forest.impurity[nodes], tree.impurity)
        np.testing.assert_array_equal(forest.value[nodes], tree.value[:, 0])
        np.testing.assert_array_equal(forest.feature[nodes] == -1, leaf)
        for ours, theirs in (
            (forest.left, tree.children_left),
            (forest.right, tree.children_right),
        ):
            np.testing.assert_array_equal(ours[nodes][~leaf] - start, theirs[~leaf])
            np.testing.assert_array_equal(ours[nodes][leaf], -1)
        start += tree.node_count
    assert start == forest.n_nodes
    assert (forest.x_dtype, forest.strict, forest.aggregate) == ("float32", False, "mean")


@pytest.mark.parametrize("name", [n for n in FITTED if "bagged" in n or n.startswith("forest")])
def test_inbag_counts_how_often_each_row_was_drawn(name):
    model, X, _ = fitted(name)
    forest = to_forest(model)
    if not model.bootstrap:
        assert forest.inbag is None
        return
    assert forest.inbag.shape == (forest.n_trees, len(X)) and forest.inbag.dtype == np.uint8
    for counts, row_numbers in zip(forest.inbag, model.estimators_samples_, strict=True):
        assert sorted(row_numbers) == np.repeat(np.arange(len(X)), counts).tolist()


@pytest.mark.parametrize("weighted", [False, True])
def test_inbag_counts_are_those_of_forests_with_weights_and_fewer_draws(weighted):
    """With weights a release of scikit-learn may draw rows in another way than without."""
    random = np.random.default_rng(3)
    X, y = random.random((40, 3)), random.random(40)
    model = RandomForestRegressor(5, max_samples=0.4, random_state=0)
    model.fit(X, y, sample_weight=random.random(40) if weighted else None)
    counts = [np.bincount(rows, minlength=40) for rows in model.estimators_samples_]
    assert (to_forest(model).inbag == counts).all()
    if not weighted:
        model.set_params(n_estimators=8, warm_start=True).fit(X, y)
        counts = [np.bincount(rows, minlength=40) for rows in model.estimators_samples_]
        assert (to_forest(model).inbag == counts).all() and len(counts) == 8
        return
    # One tree does not tell how rows are drawn: one draw of six often agrees by chance.
    for seed in range(20):
        model = RandomForestRegressor(8, max_samples=1, random_state=seed)
        model.fit(X[:6], y[:6], sample_weight=random.uniform(0.5, 2, 6))
        counts = [np.bincount(rows, minlength=6) for rows in model.estimators_samples_]
        assert (to_forest(model).inbag == counts).all()


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
    forest = to_forest(model)
    assert forest.inbag is None and forest.n_trees == 8
    np.testing.assert_allclose(forest.predict(X)[:, 0], model.predict(X), rtol=1e-12)
    with pytest.raises(ValueError, match="with bootstrap=True in one call of fit"):
        importance(model, X, y, method="ufi")


@pytest.mark.parametrize("warm_start", [False, True])
def test_a_forest_whose_bootstrap_is_set_after_its_fit_has_drawn_no_rows(warm_start):
    """Its draws of no number of rows were an AttributeError of scikit-learn, whatever was asked."""
    X, y = np.arange(20.0)[:, None], np.arange(20.0)
    model = RandomForestRegressor(3, bootstrap=False, random_state=0).fit(X, y)
    model.set_params(bootstrap=True, warm_start=warm_start)
    forest = to_forest(model)
    assert forest.inbag is None
    np.testing.assert_allclose(forest.predict(X)[:, 0], model.predict(X), rtol=1e-15)


def test_inbag_counts_are_those_of_the_model_as_it_was_converted():
    """The counts are drawn when they are first read, and the model may have changed by then."""
    model, X, y = clone(fitted("forest, gini, cancer")[0]), *fitted("forest, gini, cancer")[1:]
    forest = to_forest(model.fit(X, y))
    counts = to_forest(model).inbag
    model.set_params(random_state=99).fit(X[:50], y[:50])
    assert (pickle.loads(pickle.dumps(forest)).inbag == counts).all()
    assert (forest.inbag == counts).all()


def test_the_hash_is_that_of_the_values_whatever_holds_them():
    """Training rows that are refused for a missing value of pandas, or for the sign of a zero."""
    table = pd.DataFrame({"a": [1.5, np.nan, -0.0], "b": [1.0, 2.0, 3.0]})
    expected = array_hash(table.to_numpy())
    assert array_hash(table.convert_dtypes()) == array_hash(table + 0.0) == expected
    with pytest.raises(ValueError, match=r"X is sparse: pass X\.toarray"):
        array_hash(sparse.csr_matrix([[1.0]]))


def test_a_forest_is_returned_as_it_is():
    forest = stump()
    assert to_forest(forest) is forest


def test_a_subclass_converts_like_its_parent():
    class Mine(RandomForestRegressor):
        """A user's own class, of a module that no converter is registered for."""

    X, y = datasets.load_diabetes(return_X_y=True)
    model = Mine(3, max_depth=3, random_state=0).fit(X, y)
    np.testing.assert_array_equal(to_forest(model).predict(X)[:, 0], model.predict(X))


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


@pytest.mark.parametrize("name", BAGGED)
def test_bagged_trees(name):
    """Some trees know some features only; NaN has a rule."""
    X, y = whole_numbers("values" if "values" in name else "classes", 120, 6)
    model = BAGGED[name].set_params(random_state=0).fit(X, y)
    X = X.copy()
    X[::7, ::2] = np.nan
    forest = to_forest(model)
    # Scikit-learn adds the trees up in parts, so the last bit may differ.
    assert twins.largest_error(forest.predict(X), predicted(model, X)) <= 1e-15
    assert forest.n_features == 6
    for counts, row_numbers in zip(forest.inbag, model.estimators_samples_, strict=True):
        assert sorted(row_numbers) == np.repeat(np.arange(120), counts).tolist()


@pytest.mark.parametrize("kind", [BaggingClassifier, BaggingRegressor])
def test_bagged_trees_are_as_many_as_the_model_is_set_to_have(kind):
    """Scikit-learn predicts by the first of them, where fewer are set after the fit."""
    X, y = whole_numbers("classes" if kind is BaggingClassifier else "values", 120, 6)
    model = kind(n_estimators=5, max_features=0.5, random_state=0).fit(X, y)
    model.set_params(n_estimators=2)
    forest = to_forest(model)
    assert forest.n_trees == len(forest.inbag) == 2
    assert twins.largest_error(forest.predict(X), predicted(model, X)) <= 1e-15
    with pytest.raises(ValueError, match=r"has 5 trees, .* n_estimators=7, .*: set it to 5, or"):
        to_forest(model.set_params(n_estimators=7))


def test_bagged_trees_that_have_not_seen_all_classes():
    """With metadata routing a tree gets its own rows, and not all of them with weights."""
    X, y = whole_numbers("classes", 120, 6)
    model = BaggingClassifier(DecisionTreeClassifier(), 12, max_samples=4, random_state=0)
    with config_context(enable_metadata_routing=True):
        model.fit(X, y)
    assert min(len(e.classes_) for e in model.estimators_) < len(model.classes_)
    assert twins.largest_error(to_forest(model).predict(X), predicted(model, X)) <= 1e-15


STARTS = {
    "mean": (GradientBoostingRegressor, DummyRegressor()),
    "median": (GradientBoostingRegressor, DummyRegressor(strategy="median")),
    "zero": (GradientBoostingRegressor, "zero"),
    "prior": (GradientBoostingClassifier, DummyClassifier()),
    "most frequent": (GradientBoostingClassifier, DummyClassifier(strategy="most_frequent")),
    "zeros": (GradientBoostingClassifier, "zero"),
}


@pytest.mark.parametrize("name", STARTS)
def test_gradient_boosting_from_a_constant(name):
    cls, init = STARTS[name]
    X, y = whole_numbers("values" if cls is GradientBoostingRegressor else "classes", 100, 4)
    model = cls(n_estimators=3, init=init, random_state=0).fit(X, y)
    assert twins.largest_error(to_forest(model).predict(X), raw_score(model, X)) <= 1e-12


def test_categories_without_a_split_keep_the_columns_apart():
    """The third column is constant, so the categories are never split."""
    X, y = whole_numbers("values", 200, 4)
    X[:, 2] = 1.0
    model = HistGradientBoostingRegressor(max_iter=5, categorical_features=[2]).fit(X, y)
    forest = to_forest(model)
    assert set(forest.feature) == {-1, 0, 1}
    assert twins.largest_error(forest.predict(X)[:, 0], model.predict(X)) <= 1e-12


def test_early_stopping_leaves_the_trees_that_were_fitted():
    X, y = whole_numbers("values", 200, 4)
    y = y[::-1]
    for model in (
        GradientBoostingRegressor(n_iter_no_change=2, random_state=0),
        HistGradientBoostingRegressor(early_stopping=True, n_iter_no_change=2, random_state=0),
    ):
        forest = to_forest(model.fit(X, y))
        assert forest.n_trees < 100
        assert twins.largest_error(forest.predict(X)[:, 0], model.predict(X)) <= 1e-12


# Bagged classifiers of a regression gave a mean of labels as one of class fractions.
MEAN_OF_LABELS = BaggingRegressor(DecisionTreeClassifier(max_depth=3), 4)


@pytest.mark.parametrize(
    ("thing", "message"),
    [
        (
            AdaBoostRegressor(),
            r"cannot convert sklearn\.\w+\.AdaBoostReg.* a Forest.*: supported are",
        ),
        (
            RandomTreesEmbedding(),
            r"cannot convert sklearn\.\w+\.RandomTr.* a Forest.*: supported are",
        ),
        (
            LinearRegression(),
            r"cannot convert sklearn\.\w+\.LinearRegression to a F.*: supported are",
        ),
        (object(), r"cannot convert .*object to a Forest: supported are"),
        (None, r"cannot convert .*NoneType to a Forest: supported are"),
        (np.zeros(3), r"cannot convert .*ndarray to a Forest: supported are"),
        (DecisionTreeRegressor, "DecisionTreeRegressor is a class: pass a fitted model"),
        (
            MEAN_OF_LABELS.fit(np.eye(9), [0, -1, 1] * 3),
            "the mean of labels is no mean of trees: ba",
        ),
    ],
)
def test_other_things_are_refused(thing, message):
    with pytest.raises(TypeError, match=message):
        to_forest(thing)


def test_a_refusal_names_the_package_and_what_the_reader_of_a_wheel_can_open():
    """Red if the package is left out, or a page is named that only a checkout has."""
    kind = type("IsolationForest", (BaseEstimator,), {"__module__": "isotree._isotree"})
    message = r"^cannot convert isotree\.IsolationForest .*: supported .*scikit-learn, XGB.* help\("
    with pytest.raises(TypeError, match=message) as refused:
        to_forest(kind())
    assert "docs" not in str(refused.value) and "NGBoost" in to_forest.__doc__


@pytest.mark.parametrize("model", [DecisionTreeClassifier(max_depth=3), RandomForestClassifier(3)])
def test_each_class_of_each_target_is_an_output(model):
    """The targets have different numbers of classes."""
    X, y = datasets.load_iris(return_X_y=True)
    words = np.where(X[:, 0] > 6, "long", "short")
    forest = to_forest(model.set_params(random_state=0).fit(X, np.c_[y.astype(str), words]))
    assert forest.output_names == ("y0=0", "y0=1", "y0=2", "y1=long", "y1=short")
    theirs = np.concatenate(model.predict_proba(X), axis=1)
    assert twins.largest_error(forest.predict(X), theirs) <= 1e-15
    for method in ("saabas", "tree_shap"):
        totals = explain(forest, X[::20], method).totals()
        assert twins.largest_error(totals, theirs[::20]) <= 1e-12


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
    for method in ("tree_shap", "saabas"):
        totals = explain(model, X, method).totals()[:, 0]
        assert np.abs(totals - model.predict(X)).max() <= 1e-13
    shap_values = shap.TreeExplainer(model).shap_values(X)
    assert np.abs(explain(model, X).values[..., 0] - shap_values).max() <= 1e-13
    for call in (lambda: importance(model), lambda: explain(model, X, "local_mdi")):
        with pytest.raises(ValueError, match=r"reads impurities, and tree 0 .* nan, as scikit-l"):
            call()


@pytest.mark.parametrize("n_classes", [0, 2, 3])
def test_the_model_that_boosting_starts_from_is_a_term_of_each_row(n_classes):
    """The baseline has it; the values are those of the trees."""
    X = np.random.default_rng(0).normal(size=(200, 3))
    y = X[:, 0] + X[:, 1] * X[:, 2]
    if n_classes:
        y = np.digitize(y, [-0.5, 0.5][: n_classes - 1])
        start, kind = RandomForestClassifier(5, max_depth=2), GradientBoostingClassifier
    else:
        start, kind = LinearRegression(), GradientBoostingRegressor
    model = kind(n_estimators=5, init=start, random_state=0).fit(X, y)
    scaled = make_pipeline(StandardScaler(), kind(n_estimators=5, init=start)).fit(X, y)
    for one in (model, scaled):
        own = one.decision_function(X) if n_classes else one.predict(X)
        for method in ("tree_shap", "saabas"):
            totals = explain(one, X, method).totals()
            assert np.abs(totals - own.reshape(200, -1)).max() <= 1e-12
        against = splitcredit.tree_shap_interventional(one, X, background=X[:20])
        assert np.abs(against.totals() - own.reshape(200, -1)).max() <= 1e-12
    with pytest.raises(ValueError, match="a term of each row that a Forest cannot hold: call expl"):
        to_forest(model)
