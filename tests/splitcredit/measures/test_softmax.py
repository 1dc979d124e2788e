"""Probabilities and losses of several classes: definition, shap's explainers, errors, chunks."""

from functools import partial

import numpy as np
import pytest
import shap
from lightgbm import LGBMClassifier
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier

import splitcredit
import twins
from forests import whole_numbers
from splitcredit import importance, to_forest
from splitcredit.measures import _coalitions
from splitcredit.measures.sage import link_of
from splitcredit.models import _chunks

CURVES = ["probability", "log_loss"]


@pytest.fixture(scope="module")
def case():
    """A boosted model of three classes with four features, one of which has a rule for NaN."""
    X, y = whole_numbers("classes", 120, 4, 5)
    X[::7, 1] = np.nan
    names = np.array(["a", "b", "c"])[y % 3]
    model = HistGradientBoostingClassifier(max_iter=5, min_samples_leaf=5, random_state=0)
    return model.fit(X, names), X, names


def explained(case, curve, n=4, **options):
    model, X, y = case
    given = {"background": X[60:70], "y": y[:n], "model_output": curve, **options}
    return splitcredit.tree_shap_interventional(model, X[:n], **given)


def by_definition(case, curve):
    """Shapley values of the mean over the background, from all coalitions, (4, 4, n_outputs)."""
    model, X, y = case
    index = np.unique(y, return_inverse=True)[1]
    values = []
    for i in range(4):
        v = {}
        for S in twins.coalitions(4):
            rows = X[60:70].copy()
            rows[:, S] = X[i, list(S)]
            p = model.predict_proba(rows)
            v[S] = (p if curve == "probability" else -np.log(p[:, [index[i]]])).mean(axis=0)
        values.append(twins.shapley(v, 4))
    return np.array(values)


@pytest.mark.parametrize("curve", CURVES)
def test_values_of_few_features_equal_the_definition(case, curve):
    """Red if scores are averaged over the background before the softmax."""
    ours = explained(case, curve)
    assert ours.parameters["n_permutations"] == 0 == ours.parameters["largest_standard_error"]
    assert np.allclose(ours.values, by_definition(case, curve), rtol=0, atol=1e-12)


@pytest.mark.parametrize("curve", CURVES)
def test_sampled_values_lie_within_5_standard_errors_and_add_up(case, curve):
    """Red if a gain goes to another feature, or the reverse of an order counts as a draw."""
    exact = explained(case, curve, 20).values
    sampled = explained(case, curve, 20, n_permutations=64)
    model, X, y = case
    p = model.predict_proba(X[:20])
    index = np.unique(y, return_inverse=True)[1][:20]
    expected = p if curve == "probability" else -np.log(p[np.arange(20), index])[:, None]
    assert np.allclose(sampled.totals(), expected, rtol=0, atol=1e-12)
    error = sampled.parameters["largest_standard_error"]
    assert 0 < np.abs(sampled.values - exact).max() <= 5 * error
    runs = [explained(case, curve, n_permutations=64, random_state=s) for s in range(40)]
    spread = np.std([r.values for r in runs], axis=0, ddof=1).max()
    error = np.mean([r.parameters["largest_standard_error"] for r in runs])
    assert 0.8 * error < spread < 1.2 * error


def test_values_are_those_of_the_exact_explainer_of_shap(case):
    model, X, _ = case
    masker = shap.maskers.Independent(X[60:70])
    ours = explained(case, "probability").values
    exact = shap.explainers.ExactExplainer(model.predict_proba, masker)(X[:4]).values
    assert np.allclose(ours, exact, rtol=0, atol=1e-12)


def test_outputs_are_named_and_chosen(case):
    everything = explained(case, "probability")
    assert everything.output_names == ("a", "b", "c")
    one, own = (explained(case, "probability", output=o) for o in ("b", "predicted"))
    assert (one.values[:, :, 0] == everything.values[:, :, 1]).all() and one.baseline.shape == (1,)
    predicted = everything.totals().argmax(axis=1)
    assert (own.output_index == predicted).all()
    assert (own.totals()[:, 0] == everything.totals()[np.arange(4), predicted]).all()
    assert explained(case, "log_loss").output_names == ("log loss",)
    # Two pairs of orders have a standard error, that of one degree of freedom.
    few = explained(case, "probability", 1, n_permutations=4)
    assert 0 < few.parameters["largest_standard_error"] < 1


@pytest.mark.parametrize("curve", CURVES)
def test_a_row_gets_the_same_bytes_in_any_chunk(case, curve, monkeypatch):
    """Red if orders are drawn anew for each chunk, or the error is that of the first."""
    whole = explained(case, curve, 9, n_permutations=8)
    monkeypatch.setattr(_chunks, "_PLAYED", 2)
    monkeypatch.setattr(_coalitions, "_NUMBERS", 1)
    parts = explained(case, curve, 9, n_permutations=8)
    assert parts.values.tobytes() == whole.values.tobytes()
    assert parts.parameters == whole.parameters


def test_many_features_are_sampled_and_the_importance_is_the_mean():
    X, y = whole_numbers("classes", 90, 12, 4)
    model = LGBMClassifier(n_estimators=8, min_child_samples=3, verbose=-1).fit(X, y % 3)
    given = {"background": X[:8], "model_output": "probability"}
    ours = splitcredit.tree_shap_interventional(model, X[:5], **given)
    assert ours.parameters["n_permutations"] == _coalitions.PERMUTATIONS
    mean = importance(model, X[:5], method=partial(splitcredit.tree_shap_interventional, **given))
    assert np.allclose(mean.values, np.abs(ours.values).mean(axis=0).sum(axis=1), atol=1e-15)


def test_what_has_no_softmax_is_refused(case):
    _, X, y = case
    X = np.nan_to_num(X)
    forest = RandomForestClassifier(3, random_state=0).fit(X, y)
    against_all = LGBMClassifier(n_estimators=2, objective="multiclassova", verbose=-1).fit(X, y)
    for model in (forest, against_all):
        with pytest.raises(ValueError, match="needs a model whose raw output is log_odds or class"):
            explained((model, X, y), "probability")
    with pytest.raises(ValueError, match=r"y holds \['z'\], which are not classes"):
        explained((case[0], case[1], np.full(len(y), "z")), "log_loss")
    with pytest.raises(ValueError, match="n_permutations=2: expected a whole number, at least 4"):
        explained(case, "probability", n_permutations=2)


def test_a_model_with_a_score_for_each_of_two_classes_predicts_probabilities():
    X, y = whole_numbers("classes", 60, 3, 4)
    model = LGBMClassifier(n_estimators=2, objective="multiclass", num_class=2, verbose=-1)
    model.fit(X, y % 2)
    assert link_of(model, to_forest(model)) == "probability"
