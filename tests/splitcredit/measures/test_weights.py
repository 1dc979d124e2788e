"""Weights of rows: 0 and 1 choose rows, whole ones repeat them, and means and errors by hand."""

from functools import partial

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import r2_score, roc_auc_score

import splitcredit
import twins
from splitcredit import importance
from splitcredit.measures._attributed import mean_of_rows
from splitcredit.views.auditing.subject import score

RANDOM = np.random.default_rng(0)
X = pd.DataFrame(RANDOM.integers(0, 5, (60, 3)).astype(float), columns=["a", "b", "c"])
Y = (X["a"] + X["b"] + RANDOM.normal(size=60) > 4).to_numpy()
MODEL = RandomForestClassifier(5, max_depth=4, random_state=0).fit(X, Y)
WHOLE = RANDOM.integers(0, 4, 60).astype(float)
REAL = RANDOM.uniform(0.1, 3, 60)
REPEATED = np.repeat(np.arange(60), WHOLE.astype(int))
EXACT = partial(splitcredit.sage, algorithm="exact")
OF_ROWS = {
    "tree_shap": "tree_shap",
    "local_mdi": "local_mdi",
    "background": partial(splitcredit.tree_shap_interventional, background=X[:9]),
    "sage": EXACT,
    "sage, background": partial(EXACT, background=X[:9]),
    "sage, conditional": partial(EXACT, imputer="conditional"),
}


@pytest.mark.parametrize("name", OF_ROWS)
def test_whole_weights_repeat_rows_and_equal_ones_change_no_byte(name, monkeypatch):
    monkeypatch.setattr("splitcredit.models._chunks.chunk_rows", lambda *_: 7)

    def measured(rows, weights=None):
        y = Y[rows] if "sage" in name else None
        return importance(MODEL, X.iloc[rows], y, OF_ROWS[name], sample_weight=weights).values

    every = np.arange(60)
    for weights, rows in ((WHOLE, REPEATED), (WHOLE > 1, np.flatnonzero(WHOLE > 1))):
        found, expected = measured(every, weights), measured(rows)
        assert twins.largest_error(found, expected) <= twins.ROUNDING
    assert measured(every, np.full(60, 0.3)).tobytes() == measured(every).tobytes()
    assert twins.largest_error(measured(every, WHOLE), measured(every)) > 1e-3


def test_the_error_of_a_weighted_mean_is_the_spread_of_means_of_drawn_rows():
    x, w = RANDOM.normal(size=(400, 2)), RANDOM.uniform(0, 3, 400)
    mean, error = mean_of_rows(x, w)
    assert twins.largest_error(mean, (w @ x) / w.sum()) <= twins.ROUNDING
    draws = (RANDOM.integers(400, size=400) for _ in range(4000))
    means = [np.average(x[rows], axis=0, weights=w[rows]) for rows in draws]
    # Of 4000 draws the spread is within 1.1 % of its expectation, times 3; the formula's is 1/n.
    assert np.abs(np.std(means, axis=0) / error - 1).max() < 0.04


def test_rows_that_sage_draws_by_their_weights_have_the_values_of_exact_means():
    given = {"sample_weight": REAL, "background": X[:20]}
    exact = EXACT(MODEL, X, Y, **given).values
    sampled = splitcredit.sage(MODEL, X, Y, n_permutations=8192, **given)
    assert (np.abs(sampled.values - exact) < 5 * sampled.standard_error).all()
    unweighted = EXACT(MODEL, X, Y, background=X[:20]).values
    assert (np.abs(sampled.values - unweighted) > 5 * sampled.standard_error).any()
    assert EXACT(MODEL, X, Y, sample_weight=REAL).parameters["n_background"] == 512


@pytest.mark.parametrize("weigh_by", ["absolute", "y", "centered_y"])
def test_means_over_training_rows_are_weighted_and_a_series_goes_by_its_labels(weigh_by):
    values = splitcredit.oob_attributions(MODEL, X, output=1).values[:, :, 0]
    w = REAL / REAL.sum()
    target = {"absolute": np.sign(values), "y": Y[:, None]}.get(weigh_by, (Y - w @ Y)[:, None])
    options = {"output": 1, "weigh_by": weigh_by, "sample_weight": pd.Series(REAL)[::-1]}
    found = splitcredit.oob_importance(MODEL, X, Y, **options)
    assert twins.largest_error(found.values, w @ (values * target)) <= twins.ROUNDING
    centered = 2**0.5 * (values - w @ values) if weigh_by == "centered_y" else values
    assert twins.largest_error(found.standard_error, mean_of_rows(centered * target, w)[1]) < 1e-12


@pytest.mark.parametrize("is_classifier", [True, False])
def test_scores_are_weighted(is_classifier):
    y = Y.astype(int) if is_classifier else X["a"].to_numpy()
    scores, metric = MODEL.predict_proba(X)[:, 1:], roc_auc_score if is_classifier else r2_score
    expected = metric(y, scores[:, 0], sample_weight=REAL)
    assert abs(score(scores, y, is_classifier, REAL) - expected) < 1e-12
    repeated = score(scores[REPEATED], y[REPEATED], is_classifier)
    assert abs(score(scores, y, is_classifier, WHOLE) - repeated) < 1e-12


def test_compare_leaves_out_rows_without_weight_and_weighs_the_others():
    chosen = WHOLE > 1
    weights = {"sample_weight": chosen, "sample_weight_test": chosen}
    weighed = splitcredit.compare(MODEL, X, Y, X, Y, **weights).importances
    subset = splitcredit.compare(MODEL, X[chosen], Y[chosen], X[chosen], Y[chosen]).importances
    for name in ("tree_shap", "tree_shap_interventional", "permutation", "sage", "mdi"):
        for field in ("values", "standard_error"):
            found, expected = (getattr(each[name], field) for each in (weighed, subset))
            assert found.tobytes() == expected.tobytes(), name
    found = splitcredit.compare(MODEL, X, Y, sample_weight=REAL)
    sizes = np.abs(splitcredit.explain(MODEL, X).values).sum(axis=2)
    error = mean_of_rows(sizes, REAL)[1]
    assert twins.largest_error(found.importances["tree_shap"].standard_error, error) < 1e-12
    assert found.notes[0].startswith("Weights of rows count")
    with pytest.raises(TypeError, match="X_test has no weights: pass sample_weight_test"):
        splitcredit.audit(MODEL, X, Y, X, Y, sample_weight=REAL)


@pytest.mark.parametrize(
    ("method", "weights", "message"),
    [
        ("split_gain", REAL, "splits has no sample_weight: it is read from the fitted model"),
        ("ufi", REAL, "ufi has no sample_weight: each tree counts its rows"),
        ("air", REAL, "air has no sample_weight: it fits a copy"),
        (lambda model, X, y: importance(model), REAL, "a function as method has weights of its"),
        ("tree_shap", REAL[1:], r"shape \(59,\), expected \(60,\)"),
        ("sage", -REAL, "finite numbers from 0"),
        ("permutation", np.zeros(60), "one above 0"),
    ],
)
def test_weights_that_mean_nothing_are_refused(method, weights, message):
    with pytest.raises((TypeError, ValueError), match=message):
        importance(MODEL, X, Y, method, sample_weight=weights)
