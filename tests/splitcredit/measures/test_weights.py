"""Weights of rows: 0 and 1 choose rows, whole ones repeat them, and means and errors by hand."""

from functools import partial

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.inspection import permutation_importance
from sklearn.metrics import r2_score, roc_auc_score

import splitcredit
import twins
from splitcredit import importance
from splitcredit.measures._attributed import mean_of_rows
from splitcredit.views.auditing import sections
from splitcredit.views.auditing.subject import Subject, error_of, score

RANDOM = np.random.default_rng(0)
X = pd.DataFrame(RANDOM.integers(0, 5, (60, 3)).astype(float), columns=["a", "b", "c"])
Y = (X["a"] + X["b"] + RANDOM.normal(size=60) > 4).to_numpy()
MODEL = RandomForestClassifier(5, max_depth=4, random_state=0).fit(X, Y)
REGRESSOR = RandomForestRegressor(5, max_depth=4, random_state=0).fit(X, X["a"] * X["b"])
WHOLE = RANDOM.integers(0, 4, 60).astype(float)
REAL = RANDOM.uniform(0.1, 3, 60)
EXACT = {"algorithm": "exact"}
MEANS = {
    "tree_shap": {},
    "saabas": {},
    "local_mdi": {},
    "tree_shap_interventional": {"background": X[:9]},
    "sage": EXACT,
    "sage, another background": EXACT | {"background": X[:9]},
    "sage, conditional": EXACT | {"imputer": "conditional"},
}


def measured(name, rows, y, **weights):
    """The importance by a method of `MEANS`."""
    function = getattr(splitcredit, name.partition(",")[0])
    targets = {"y": y} if "sage" in name else {}
    method = partial(function, **MEANS[name])
    return importance(MODEL, rows, method=method, **targets, **weights).values


@pytest.mark.parametrize("name", MEANS)
def test_whole_weights_repeat_rows_and_equal_ones_change_no_byte(name):
    repeated = np.repeat(np.arange(60), WHOLE.astype(int))
    expected = measured(name, X.iloc[repeated], Y[repeated])
    found = measured(name, X, Y, sample_weight=WHOLE)
    assert twins.largest_error(found, expected) <= twins.ROUNDING
    plain = measured(name, X, Y)
    assert twins.largest_error(found, plain) > 1e-3
    assert measured(name, X, Y, sample_weight=np.full(60, 0.3)).tobytes() == plain.tobytes()
    chosen = WHOLE > 1
    found = measured(name, X, Y, sample_weight=chosen)
    expected = measured(name, X[chosen], Y[chosen])
    assert twins.largest_error(found, expected) <= twins.ROUNDING


@pytest.mark.parametrize("method", ["tree_shap", "saabas", "local_mdi"])
def test_means_over_chunks_of_rows_are_weighted(method, monkeypatch):
    monkeypatch.setattr("splitcredit.models._chunks.chunk_rows", lambda *_: 7)
    sizes = np.abs(splitcredit.explain(MODEL, X, method).values).sum(axis=2)
    found = importance(MODEL, X, method=method, sample_weight=REAL)
    assert twins.largest_error(found.values, (REAL @ sizes) / REAL.sum()) <= twins.ROUNDING
    assert found.parameters["weighted"]


def test_the_error_of_a_weighted_mean_is_the_spread_of_means_of_drawn_rows():
    """And without weights, or with equal ones, that of a mean."""
    x, w = RANDOM.normal(size=(400, 2)), RANDOM.uniform(0, 3, 400)
    mean, error = mean_of_rows(x, w)
    assert twins.largest_error(mean, (w @ x) / w.sum()) <= twins.ROUNDING
    draws = (RANDOM.integers(400, size=400) for _ in range(4000))
    means = [np.average(x[rows], axis=0, weights=w[rows]) for rows in draws]
    # Of 4000 draws the spread is within 1.1 % of its expectation, times 3; the formula's is 1/n.
    assert np.abs(np.std(means, axis=0) / error - 1).max() < 0.04
    equal, plain = mean_of_rows(x, np.full(400, 0.5))[1], mean_of_rows(x)[1]
    assert twins.largest_error(equal, plain) <= twins.ROUNDING


def test_weights_of_drawn_rows_have_the_values_of_exact_ones():
    """SAGE by permutations is within five of its standard errors, with a background of draws."""
    background = X[:20]
    exact = splitcredit.sage(MODEL, X, Y, sample_weight=REAL, background=background, **EXACT)
    many = {"n_permutations": 8192, "background": background}
    sampled = splitcredit.sage(MODEL, X, Y, sample_weight=REAL, **many)
    assert (np.abs(sampled.values - exact.values) < 5 * sampled.standard_error).all()
    unweighted = splitcredit.sage(MODEL, X, Y, **many)
    assert (np.abs(unweighted.values - exact.values) > 5 * sampled.standard_error).any()
    drawn = splitcredit.sage(MODEL, X, Y, sample_weight=REAL, **EXACT)
    assert drawn.parameters["n_background"] == 512


@pytest.mark.parametrize("weigh_by", ["absolute", "y", "centered_y"])
def test_means_over_training_rows_are_weighted(weigh_by):
    values = splitcredit.oob_attributions(MODEL, X, output=1).values[:, :, 0]
    w = REAL / REAL.sum()
    target = {"absolute": np.sign(values), "y": Y[:, None]}.get(weigh_by, (Y - w @ Y)[:, None])
    options = {"output": 1, "weigh_by": weigh_by, "sample_weight": pd.Series(REAL, X.index)[::-1]}
    found = splitcredit.oob_importance(MODEL, X, Y, **options)
    assert twins.largest_error(found.values, w @ (values * target)) <= twins.ROUNDING
    products = values * target
    if weigh_by == "centered_y":
        products = 2**0.5 * (values - w @ values) * target
    assert twins.largest_error(found.standard_error, mean_of_rows(products, REAL)[1]) < 1e-12


def test_permutation_is_that_of_scikit_learn_and_a_series_goes_by_its_labels():
    labeled = X.set_index(pd.Index([f"r{i}" for i in range(60)]))
    own = {"n_repeats": 3, "random_state": 1}
    expected = permutation_importance(MODEL, X, Y, sample_weight=REAL, **own).importances_mean
    shuffled = pd.Series(REAL, labeled.index).sample(frac=1, random_state=0)
    for weights in (REAL, REAL[:, None], list(REAL), shuffled, pd.Series(REAL)):
        of_method = splitcredit.permutation(MODEL, labeled, Y, sample_weight=weights, **own)
        assert of_method.values.tobytes() == expected.tobytes()
    found = importance(MODEL, X, Y, "permutation", sample_weight=REAL, random_state=1)
    weighed = permutation_importance(MODEL, X, Y, sample_weight=REAL, random_state=1)
    assert found.values.tobytes() == weighed.importances_mean.tobytes()


@pytest.mark.parametrize("is_classifier", [True, False])
def test_scores_and_their_deviations_are_weighted(is_classifier):
    y = Y.astype(int) if is_classifier else (X["a"] * X["b"]).to_numpy()
    scores = MODEL.predict_proba(X)[:, 1:] if is_classifier else REGRESSOR.predict(X)[:, None]
    metric = roc_auc_score if is_classifier else r2_score
    value, deviations = score(scores, y, is_classifier, REAL)
    assert abs(value - metric(y, scores[:, 0], sample_weight=REAL)) < 1e-12
    repeated = np.repeat(np.arange(60), WHOLE.astype(int))
    of_rows, apart = score(scores[repeated], y[repeated], is_classifier)
    found, added = score(scores, y, is_classifier, WHOLE)
    assert abs(found - of_rows) < 1e-12
    # The sum of what the copies of a row add is what it adds, in units of a mean over the rows.
    sums = np.bincount(repeated, apart, 60) * 60 / WHOLE.sum()
    assert twins.largest_error(added, sums) < 1e-12
    assert error_of(deviations) > 0 and abs(deviations.mean()) < 1e-12


def test_compare_and_audit_weigh_rows_and_leave_out_those_without_weight():
    chosen = WHOLE > 1
    data = {"X_test": X, "y_test": Y, "sample_weight_test": chosen, "sample_weight": chosen}
    weighed = splitcredit.compare(MODEL, X, Y, **data)
    subset = splitcredit.compare(MODEL, X[chosen], Y[chosen], X[chosen], Y[chosen])
    for name in ("tree_shap", "saabas", "tree_shap_interventional", "permutation", "sage", "mdi"):
        found, expected = (each.importances[name] for each in (weighed, subset))
        assert found.values.tobytes() == expected.values.tobytes(), name
        assert found.standard_error.tobytes() == expected.standard_error.tobytes(), name
    assert any(note.startswith("Weights of rows count") for note in weighed.notes)
    real = splitcredit.compare(MODEL, X, Y, sample_weight=REAL).importances["tree_shap"]
    sizes = np.abs(splitcredit.explain(MODEL, X).values).sum(axis=2)
    for found, expected in zip(
        (real.values, real.standard_error), mean_of_rows(sizes, REAL), strict=True
    ):
        assert twins.largest_error(found, expected) < 1e-12
    subject = Subject(MODEL, X, Y, X, Y, 0, sample_weight_test=REAL)
    section, _ = sections.model(subject, "no copy")
    expected = roc_auc_score(Y, MODEL.predict_proba(X)[:, 1], sample_weight=REAL)
    assert abs(section.value - expected) < 1e-12
    with pytest.raises(TypeError, match="X_test has no weights: pass sample_weight_test"):
        splitcredit.audit(MODEL, X, Y, X, Y, sample_weight=REAL)


@pytest.mark.parametrize(
    ("method", "weights", "message"),
    [
        ("mdi", REAL, "mdi has no sample_weight: it is read from the fitted model"),
        ("split_gain", REAL, "splits has no sample_weight: it is read"),
        ("ufi", REAL, "ufi has no sample_weight: each tree counts its rows"),
        ("air", REAL, "air has no sample_weight: it fits a copy"),
        (lambda model, X: importance(model), REAL, "a function as method has weights of its own"),
        ("tree_shap", REAL[1:], r"shape \(59,\), expected \(60,\)"),
        ("sage", -REAL, "finite numbers from 0"),
        ("permutation", np.zeros(60), "one above 0"),
        ("oob_shap", np.full(60, np.inf), "finite numbers from 0"),
        ("saabas", ["much"] * 60, "sample_weight is not numeric"),
    ],
)
def test_weights_that_mean_nothing_are_refused(method, weights, message):
    y = Y if method in ("sage", "permutation", "oob_shap", "ufi", "air") else None
    with pytest.raises((TypeError, ValueError), match=message):
        importance(MODEL, X, y, method, sample_weight=weights)
