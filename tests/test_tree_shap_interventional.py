"""Interventional TreeSHAP against enumeration, shap's own C code and worked examples."""

from dataclasses import replace

import numba
import numpy as np
import pytest

import twins
import twins_interventional
from forests import (
    DRAWN,
    FITTED,
    along_caterpillar,
    caterpillar,
    fitted,
    grow,
    leaf,
    random_forest,
    rows_on_thresholds,
    split,
    stump,
)
from splitcredit import to_forest
from splitcredit.importances import available
from splitcredit.importances.tree_shap_interventional import explain
from splitcredit.kernels import tree_shap_interventional as kernel

# shap knows no NaN in a background.
FOR_SHAP = [n for n in FITTED if "NaN" not in n]


def rows(forest, n, n_background):
    """Rows to explain and a background, which share some rows."""
    drawn = rows_on_thresholds(forest, n + n_background - 1)
    return drawn[:n], drawn[n - 1 :]


@pytest.mark.parametrize("name", DRAWN)
def test_values_equal_the_enumeration_of_all_subsets(name):
    forest = DRAWN[name]()
    X, background = rows(forest, 4, 5)
    ours = explain(forest, X, background).values
    twin = twins_interventional.tree_shap_interventional(forest, X, background)
    assert twins.largest_error(ours, twin) <= twins.ROUNDING


@pytest.mark.parametrize(
    "name", ["tree, entropy, wine", "tree, NaN", "forest, weighted, wine", "forest, NaN"]
)
def test_values_of_few_features_of_fitted_forests(name):
    """The features that a tree tests, few enough for the enumeration; others are dummies."""
    model, X, _ = fitted(name)
    forest = to_forest(model)
    first = slice(*forest.tree_offsets[:2])
    tested = np.unique(forest.feature[first][forest.feature[first] >= 0])
    fields = {"feature": np.searchsorted(tested, forest.feature[first])}
    fields["feature"][forest.feature[first] < 0] = -1
    for name in ("threshold", "left", "right", "value", "cover", "missing_left"):
        fields[name] = getattr(forest, name)[first]
    names = {"feature_names": tested, "output_names": forest.output_names}
    tree = type(forest)(
        **fields, **names, tree_offsets=forest.tree_offsets[:2], x_dtype=forest.x_dtype
    )
    X, background = X[::50, tested][:3], X[7::40, tested][:4]
    ours = explain(tree, X, background).values
    twin = twins_interventional.tree_shap_interventional(tree, X, background)
    assert twins.largest_error(ours, twin) <= twins.ROUNDING


@pytest.mark.parametrize("name", FOR_SHAP)
def test_values_equal_those_of_shap(name):
    """On the model that shap explains: it rounds thresholds to float32, which moves rows.

    Basis of 2e-7: it keeps leaves, weights and sums in single precision too.
    """
    import shap

    model, X, _ = fitted(name)
    X = X.astype(np.float32)
    background, X = X[3 :: len(X) // 20], X[:: len(X) // 10]
    explainer = shap.TreeExplainer(model, background, feature_perturbation="interventional")
    theirs = explainer.shap_values(X, check_additivity=False).reshape(*X.shape, -1)
    forest = to_forest(model)
    rounded = replace(forest, threshold=forest.threshold.astype(np.float32))
    assert twins.largest_error(theirs, explain(rounded, X, background).values) <= 2e-7


@pytest.mark.parametrize("name", [*DRAWN, *FITTED])
def test_baseline_and_attributions_add_up_to_the_prediction(name):
    if name in DRAWN:
        forest = DRAWN[name]()
        X, background = rows(forest, 50, 10)
    else:
        model, X, _ = fitted(name)
        forest = to_forest(model)
        background, X = X[3 :: len(X) // 10], X[:: len(X) // 40]
    totals = explain(forest, X, background).totals()
    assert twins.largest_error(totals, forest.predict(X)) <= twins.ROUNDING


@pytest.mark.parametrize("name", DRAWN)
def test_baseline_is_the_mean_prediction_over_the_background(name):
    forest = DRAWN[name]()
    X, background = rows(forest, 1, 10)
    expected = twins.predict(forest, background).mean(axis=0)
    assert twins.largest_error(explain(forest, X, background).baseline, expected) <= twins.ROUNDING


def test_a_row_against_itself_gets_nothing():
    forest = DRAWN["NaN, float32"]()
    for x in rows_on_thresholds(forest, 20):
        assert not explain(forest, [x], [x]).values.any()


def test_an_and_of_two_features_shares_the_credit():
    """By hand: the prediction is 12 if both are 1, as in the row, else 0."""
    inner = split(1, 0.5, leaf(0.0), leaf(12.0))
    forest = grow([split(0, 0.5, leaf(0.0), inner)], 2)
    for z, expected in (([0, 0], [6, 6]), ([0, 1], [12, 0]), ([1, 0], [0, 12]), ([1, 1], [0, 0])):
        np.testing.assert_array_equal(explain(forest, [[1, 1]], [z]).values[0, :, 0], expected)


def test_swapping_row_and_background_changes_the_sign():
    """phi(x, z) = -phi(z, x): the game backwards."""
    forest = random_forest(3, n_outputs=2)
    x, z = rows_on_thresholds(forest, 2)
    there, back = explain(forest, [x], [z]).values, explain(forest, [z], [x]).values
    assert there.any() and twins.largest_error(there, -back) <= twins.ROUNDING


@pytest.mark.parametrize(("depth", "n_features"), [(60, 60), (150, 150), (60, 7)])
def test_deep_trees_keep_their_digits(depth, n_features):
    """Factorials of 150 are beyond float64; all features part the ends of the long path."""
    forest = caterpillar(depth, n_features)
    ends = along_caterpillar(forest, [depth, depth // 2, 1, 0])
    a = explain(forest, ends, -ends)
    assert twins.largest_error(a.totals(), forest.predict(ends)) <= twins.ROUNDING


def test_weights_are_the_factorials():
    from math import factorial

    weights = kernel._weights(9)
    for a in range(1, 10):
        for b in range(10):
            expected = factorial(a - 1) * factorial(b) / factorial(a + b)
            assert weights[a, b] == pytest.approx(expected, rel=1e-14)


def test_unused_features_get_exactly_zero():
    forest = DRAWN["most features unused"]()
    X, background = rows(forest, 50, 10)
    values = explain(forest, X, background).values
    unused = sorted(set(range(forest.n_features)) - set(forest.feature.tolist()))
    assert unused and values.any() and not values[:, unused].any()


@pytest.mark.parametrize("output", ["all", "predicted", 1])
def test_threads_blocks_and_neighbours_leave_the_bytes_alone(monkeypatch, output):
    """Also where only some rows, or only the background, hold NaN."""
    forest = random_forest(0, n_trees=10, n_outputs=3, leaves="pure", missing=True)
    X, background = rows(forest, 60, 9)
    X[:30] = np.nan_to_num(X[:30])
    whole = explain(forest, X, background, output).values
    parts = [explain(forest, X[a:b], background, output).values for a, b in ((0, 30), (30, 60))]
    assert np.concatenate(parts).tobytes() == whole.tobytes()
    threads = numba.get_num_threads()
    try:
        numba.set_num_threads(1)
        assert explain(forest, X, background, output).values.tobytes() == whole.tobytes()
    finally:
        numba.set_num_threads(threads)


@pytest.mark.parametrize("leaves", ["pure", "fractions"])
def test_one_output_is_its_column_of_all(leaves):
    forest = random_forest(3, n_trees=5, n_outputs=4, leaves=leaves)
    X, background = rows(forest, 40, 6)
    every = explain(forest, X, background)
    for c, label in enumerate(forest.output_names):
        one = explain(forest, X, background, output=label)
        assert one.values[:, :, 0].tobytes() == every.values[:, :, c].tobytes()
    a = explain(forest, X, background, output="predicted")
    expected = every.values[np.arange(len(X)), :, a.output_index]
    assert a.values[:, :, 0].tobytes() == expected.tobytes()
    assert a.baseline[:, 0].tobytes() == every.baseline[a.output_index].tobytes()


def test_it_is_registered_under_its_file_name():
    assert "tree_shap_interventional" in available()
    X = np.zeros((1, 3))
    assert explain(stump(), X, X).method == "tree_shap_interventional"


@pytest.mark.parametrize(
    ("background", "message"),
    [
        (np.zeros((2, 4)), r"background: X has 4 features, the model was fitted on 3"),
        (np.zeros(3), r"background: X has 1 dimension"),
        ([[np.nan, 0, 0]], r"background: X holds NaN"),
        (np.zeros((0, 3)), r"background has no rows: pass rows of the training data"),
    ],
)
def test_bad_backgrounds_are_refused(background, message):
    with pytest.raises(ValueError, match=message):
        explain(stump(), np.zeros((1, 3)), background)
