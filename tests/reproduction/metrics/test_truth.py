"""Global scores against the truth of simulated outcomes: hand-made cases, and plain twins."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import norm

from reproduction.datasets import Dataset
from reproduction.metrics import truth
from splitcredit.results.attribution import Importance

NAMES = ("a", "b", "c", "d", "e")


def problem(association=(0.5, 0.3, 0.01, 0.0, 0.0), n=400):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 5))
    y = X[:, 0] + 0.5 * rng.standard_normal(n)
    given = {"association": association, "n_training": n // 2, "relevant": (0,)}
    return Dataset(X, y, NAMES, roles=("signal", "proxy", "other", "noise", "noise"), **given)


def linear(*slopes):
    """A model that stands for a forest: it predicts a sum."""
    return SimpleNamespace(predict=lambda X: X @ np.array(slopes)[:, None], aggregate="sum")


def scored(values, error=None, data=None, forest=None, refit=None, **options):
    data = data or problem()
    measure = Importance(np.array(values, float), NAMES, "m", standard_error=error)
    forest = forest or linear(1.0, 0.5, 0, 0, 0)
    options = {"n_test": 50, "refit_share": 0.0} | options
    table = truth.truth_scores(
        {"m": measure}, forest, data.explained, data.training, refit, **options
    )
    return table.set_index(["importance", "yardstick"])["value"]


def test_areas_are_of_the_features_that_the_question_is_about():
    """Feature a is the signal, b its proxy, and c tells next to nothing: neither side has it."""
    found = scored([2, 3, 9, 1, 2])["m"]
    # a and b against d and e: b beats both, a beats d and ties with e.
    assert found["association"] == 3.5 / 4
    # a against b, c, d, e: it beats d and ties with e.
    assert found["conditional"] == 1.5 / 4
    assert found["signal_noise"] == 1.5 / 2
    assert found["signal_proxy"] == 0.0


def test_reliance_is_what_redrawing_a_feature_moves():
    """Of a sum, twice the square of the slope: the ranking follows by hand."""
    forest = linear(3.0, 0.0, 2.0, 1.0, 0.5)
    assert scored([5, 1, 4, 3, 2], forest=forest)["m", "reliance"] == pytest.approx(1.0)
    assert scored([1, 5, 2, 3, 4], forest=forest)["m", "reliance"] == pytest.approx(-1.0)
    assert scored([1, 1, 1, 1, 1], forest=forest)["m", "reliance"] == 0.0
    X = problem(n=4000).X
    changes = truth._reliance(forest, X, n_rows=2000)
    assert changes == pytest.approx(2 * np.array([9, 0, 4, 1, 0.25]), rel=0.1, abs=1e-9)


def test_discoveries_are_those_of_benjamini_and_hochberg():
    """Of p = .01, .02, .5, .055, .9 the first two are below .1 k / 5: a and b; then a and d."""
    values = norm.isf([0.01, 0.02, 0.5, 0.07, 0.9])
    found = scored(values, np.ones(5))["m"]
    assert (found["power"], found["false_discoveries"]) == (1.0, 0.0)
    values = norm.isf([0.01, 0.5, 0.6, 0.02, 0.9])
    found = scored(values, np.ones(5))["m"]
    assert (found["power"], found["false_discoveries"]) == (0.5, 0.5)
    assert "power" not in scored(values, np.ones(5), no_test=["m"])["m"]


def test_where_nothing_tells_the_outcome_each_discovery_is_an_error():
    data = problem(association=(0.0,) * 5)
    found = scored(norm.isf([0.01, 0.5, 0.5, 0.5, 0.5]), np.ones(5), data=data)["m"]
    assert found["type_one"] == 1.0
    assert not {"association", "conditional", "power"} & {*found.index}


def test_a_refit_is_judged_on_rows_that_drop_column_has_not_seen():
    """The model without a loses the variance of a; the one without another loses nothing."""

    def refit(X, y):
        slopes = np.linalg.lstsq(X, y, rcond=None)[0]
        return SimpleNamespace(predict=lambda X: X @ slopes)

    found = scored([9, 0, 0, 0, 0], refit=refit, refit_share=1.0)
    assert found["m", "refit"] > 0.5
    assert found["drop_column", "association"] >= 0.5
    data = problem()
    rises = truth._rises(data.training, data.explained, refit)
    assert rises[:, 0].mean() == pytest.approx(1.0, rel=0.3)
    assert np.abs(rises[:, 1:].mean(axis=0)).max() < 0.02


def test_facts_are_what_a_reader_can_measure():
    data = problem()
    table = truth.problem_facts(
        {}, linear(1.0, 0, 0, 0, 0), data.explained, data.training, n_test=100
    )
    facts = table.iloc[0]
    assert facts["fit"] == pytest.approx(0.8, abs=0.08)
    assert (facts["n"], facts["p"], facts["n_signals"]) == (200, 5, 1)
