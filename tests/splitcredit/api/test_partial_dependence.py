"""Partial dependence against predictions row by row, scikit-learn, and the definition of ALE."""

from functools import partial
from itertools import product

import lightgbm
import matplotlib
import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingRegressor,
    RandomForestRegressor,
)
from sklearn.inspection import partial_dependence as scikit_learn

import forests
import twins
from forests import DRAWN, LABELS, boosted, grow, leaf, random_forest, split
from splitcredit import partial_dependence, to_forest
from splitcredit.api import partial_dependence as module
from splitcredit.kernels.compiled import threads

matplotlib.use("Agg")
WEIGHTS = np.random.default_rng(0).choice([0.0, 0.5, 1.0, 3.7], 12)


def categorical(as_codes=False, classes=False):
    """A model of a number and two categories, all with gaps but the last, and its rows."""
    frame, y = forests.labeled_table()
    kind = lightgbm.LGBMClassifier if classes else lightgbm.LGBMRegressor
    model = kind(n_jobs=1, n_estimators=6, verbose=-1, cat_smooth=1, min_data_per_group=3)
    y = np.digitize(y, [-1.0, 1.0]) if classes else y
    if not as_codes:
        return model.fit(frame, y), frame
    codes = frame.assign(**{c: frame[c].cat.codes for c in ("color", "size")}).to_numpy(float)
    codes[codes[:, 1] < 0, 1] = np.nan
    return to_forest(model.fit(codes, y, categorical_feature=[1, 2])), codes[:12]


def drawn(name):
    """A forest, and rows on its thresholds."""
    if name == "categories":
        return categorical(as_codes=True)
    forest = DRAWN[name]()
    return forest, forests.rows_on_thresholds(forest, 12)


NAMES = ("NaN, float64, <", "float32, <", "ten classes")
CASES = [
    *product(NAMES, (0, [1, 2])),
    *product(["categories"], (0, 1, 2, [0, 1], [1, 0], [1, 2])),
    ("single leaf", 0),
]


def twin(forest, X, features, grids):
    """Predictions (n_samples, n_places, ..., n_outputs), a grid value at a time."""
    sizes = [len(grid) for grid in grids]
    values = np.empty((len(X), *sizes, forest.n_outputs))
    for places in product(*map(range, sizes)):
        moved = X.copy()
        for j, grid, k in zip(features, grids, places, strict=True):
            moved[:, j] = grid[k]
        values[(slice(None), *places)] = twins.predict(forest, forest.prepare(moved))
    return values


@pytest.mark.parametrize(("name", "features"), CASES)
@pytest.mark.parametrize("grid", [None, "thresholds"])
def test_curves_equal_predictions_row_by_row(name, features, grid):
    """Of one feature and two, with categories, missing values, weights and several outputs."""
    forest, X = drawn(name)
    given = {"grid": grid, "grid_resolution": 8, "percentiles": (0.1, 0.8)}
    ours = partial_dependence(forest, X, features, kind="both", sample_weight=WEIGHTS, **given)
    exact = twin(forest, X, np.atleast_1d(features), [g.astype(float) for g in ours.grids])
    assert twins.largest_error(ours.individual, exact) <= twins.ROUNDING
    mean = np.average(exact, axis=0, weights=WEIGHTS)
    assert twins.largest_error(ours.values, mean) <= twins.ROUNDING
    average = partial_dependence(forest, X, features, sample_weight=WEIGHTS, **given)
    assert twins.largest_error(average.values, mean) <= twins.ROUNDING
    for j, places in zip(np.atleast_1d(features), ours.grids, strict=True):
        assert np.isnan(float(places[-1])) == np.isnan(forest.prepare(X)[:, j]).any()


@pytest.mark.parametrize(
    "kind", [RandomForestRegressor, HistGradientBoostingRegressor, GradientBoostingRegressor]
)
def test_curves_and_grids_are_those_of_scikit_learn(kind):
    X = np.random.default_rng(0).normal(size=(150, 4))
    model = kind(max_depth=4).fit(X, X[:, 0] + X[:, 1] * X[:, 2])
    given = {"kind": "both", "grid_resolution": 9, "percentiles": (0.1, 0.9)}
    for features in ([1], [2, 1]):
        theirs = scikit_learn(model, X, features, method="brute", **given)
        ours = partial_dependence(model, X, features, **given)
        np.testing.assert_array_equal(ours.grids, theirs["grid_values"])
        assert twins.largest_error(ours.values[..., 0], theirs["average"][0]) <= twins.ROUNDING
        rows_of = theirs["individual"][0]
        assert twins.largest_error(ours.individual[..., 0], rows_of) <= twins.ROUNDING


def test_probabilities_of_two_classes_are_transformed_row_by_row():
    X = np.random.default_rng(0).normal(size=(80, 3))
    labels = np.where(X[:, 0] + X[:, 1] > 0, "yes", "no")
    model = GradientBoostingClassifier(n_estimators=5).fit(X, labels)
    theirs = scikit_learn(model, X, [0], method="brute", response_method="predict_proba")
    for output, share in (("yes", theirs["average"][0]), ("no", 1 - theirs["average"][0])):
        ours = partial_dependence(model, X, 0, output=output, model_output="probability")
        assert (ours.output_names, ours.unit) == ((output,), "probability")
        assert twins.largest_error(ours.values[:, 0], share) <= twins.ROUNDING


def test_places_of_a_categorical_feature_are_its_labels_and_NaN():
    model, frame = categorical(classes=True)
    ours = partial_dependence(model, frame, "color", model_output="probability")
    assert list(ours.grids[0][:-1]) == list(LABELS)
    assert np.isnan(ours.grids[0][-1])
    for label, own in zip(ours.grids[0], ours.values, strict=True):
        color = pd.Categorical([label] * len(frame), LABELS)
        mean = model.predict_proba(frame.assign(color=color)).mean(axis=0)
        assert twins.largest_error(own, mean) <= twins.ROUNDING
    some = partial_dependence(model, frame, "color", grid=[None, "pink"], output=1)
    every = partial_dependence(model, frame, "color")
    np.testing.assert_array_equal(some.values[:, 0], every.values[[3, 5], 1])
    with pytest.raises(ValueError, match="not a category of color"):
        partial_dependence(model, frame, "color", grid=["pinc"])
    with pytest.raises(ValueError, match="order"):
        partial_dependence(model, frame, "color", kind="ale")


def test_thresholds_give_the_whole_step_function():
    model, X, _ = boosted("lightgbm, NaN, diabetes")
    steps = partial_dependence(model, X, 2, grid="thresholds")
    known, values = steps.grids[0][:-1], steps.values[:-1]
    points = np.random.default_rng(0).uniform(np.nanmin(X[:, 2]) - 1, known[-1], 50)
    ours = partial_dependence(model, X, 2, grid=points).values
    assert twins.largest_error(ours, values[np.searchsorted(known, points)]) <= twins.ROUNDING


@pytest.mark.parametrize("kind", ["average", "both"])
def test_threads_and_chunks_of_rows_do_not_change_a_byte(kind, monkeypatch):
    forest = random_forest(30, n_trees=9, missing=True, n_outputs=2)
    X = np.random.default_rng(0).normal(size=(1500, 6))
    X[::9, 1] = np.nan
    given = {"kind": kind, "sample_weight": np.random.default_rng(1).random(1500)}
    call = partial(partial_dependence, forest, X, [1, 2], grid="thresholds", **given)
    two = call()
    with threads(1):
        np.testing.assert_array_equal(call().values, two.values)
    monkeypatch.setattr(module, "_CHUNK", 1 << 12)
    parted = call()
    np.testing.assert_array_equal(parted.individual, two.individual)
    assert twins.largest_error(parted.values, two.values) <= twins.ROUNDING


def small():
    """Two trees, whose local effects are computed by hand below."""
    by_b = split(1, 0.5, leaf(1.0), leaf(3.0))
    trees = [split(0, 0.5, leaf(0.0), by_b), split(0, 1.5, leaf(0.0), leaf(10.0))]
    return grow(trees, 2, aggregate="sum", feature_names=["a", "b"], output_names=["output"])


def test_accumulated_local_effects_are_those_computed_by_hand():
    """Bins (0, 1] and (1, 3]: effects 1 and 3 of weights 3 and 1, and 10 for both others."""
    X = [[0.0, 0.0], [1.0, 1.0], [2.0, 1.0], [3.0, 0.0], [9.0, 0.0]]
    given = {"grid": [3, 0, 1], "sample_weight": [3, 1, 1, 1, 5]}
    ours = partial_dependence(small(), X, "a", kind="ale", **given)
    mean = (4 * 1.5 + 2 * 11.5) / 6
    np.testing.assert_allclose(ours.values[:, 0], np.array([0, 1.5, 11.5]) - mean, rtol=1e-15)
    assert list(ours.grids[0]) == [0, 1, 3]


@pytest.mark.parametrize("name", NAMES)
def test_accumulated_local_effects_equal_the_twin(name):
    """Apley and Zhu (2020), Equations 15 and 16, a bin at a time."""
    forest, X = drawn(name)
    x = X[:, 1] = np.clip(X[:, 1], -2, 2)
    ours = partial_dependence(forest, X, 1, kind="ale", grid_resolution=5, sample_weight=WEIGHTS)
    edges, known = ours.grids[0], np.sort(x[~np.isnan(x)])
    quantiles = [known[max(0, -(-k * len(known) // 4) - 1)] for k in range(5)]
    np.testing.assert_array_equal(edges, np.unique(quantiles))
    exact, values = twin(forest, X, [1], [edges]), np.zeros((len(edges), forest.n_outputs))
    in_bins = np.zeros(len(edges))
    for k in range(1, len(edges)):
        low = -np.inf if k == 1 else edges[k - 1]
        weight = WEIGHTS * ((x > low) & (x <= edges[k]))
        in_bins[k] = weight.sum()
        values[k] = values[k - 1]
        if weight.any():
            values[k] += np.average(exact[:, k] - exact[:, k - 1], axis=0, weights=weight)
    mean = np.average(values, axis=0, weights=in_bins)
    assert twins.largest_error(ours.values, values - mean) <= twins.ROUNDING


@pytest.mark.parametrize(
    ("features", "given", "message"),
    [
        (["a", "a"], {}, "expected one feature, or two different ones"),
        (["a", "b"], {"kind": "ale"}, "takes one feature, not a and b"),
        ("a", {"kind": "ale", "grid": [7, 8]}, "no row has a value of a inside of the grid"),
        ("a", {"grid": "steps"}, "grid='steps': available are None, 'thresholds'"),
        ("a", {"grid": [np.nan]}, "grid holds NaN, and this model has no rule"),
        (["a", "b"], {"grid": [[0.0]]}, "grid has 1 entries, expected 2"),
        ("a", {"sample_weight": [1, -1]}, "sample_weight must hold finite numbers from 0"),
        ("a", {"output": "predicted"}, "output='predicted' is not one of 'all'"),
        ("a", {"grid_resolution": 2, "percentiles": (0.5, 0.5)}, "are both 1: pass"),
    ],
)
def test_what_would_give_no_right_number_is_refused(features, given, message):
    with pytest.raises(ValueError, match=message):
        partial_dependence(small(), [[0.0, 1.0], [2.0, 3.0]], features, **given)


def test_frames_and_plots_show_places_by_name():
    model, frame = categorical()
    pair = partial_dependence(model, frame, ["color", "a"], grid_resolution=5)
    table = pair.to_frame()
    picked = table[(table["color"] == "blue") & table["a"].isna()]["value"]
    assert list(picked) == [pair.values[2, 5, 0]] and len(table) == 6 * 6
    ax = pair.plot()
    assert [tick.get_text() for tick in ax.get_xticklabels()] == [*LABELS, "missing"]
    (mesh,) = ax.collections
    np.testing.assert_array_equal(mesh.get_array().reshape(6, 6), pair.values[:, :, 0].T)
    both = partial_dependence(model, frame, "a", kind="both", grid_resolution=5)
    ax = both.plot(lines=7, centered=True)
    drawn = [line.get_ydata() for line in ax.lines]
    assert len(drawn) == 2 * (7 + 1) and ax.get_xticklabels()[-1].get_text() == "missing"
    np.testing.assert_array_equal(drawn[-2], both.values[:5, 0] - both.values[0, 0])
    several = partial_dependence(*categorical(classes=True), ["a", "size"])
    with pytest.raises(ValueError, match="this plot shows one output: pass output="):
        several.plot()
