"""Simulated outcomes: what is said of each feature holds in the population."""

import numpy as np
import pytest
from scipy.stats import spearmanr

from reproduction.datasets import simulated_response


def drawn(table="factorial", n_training=40_000, **parameters):
    parameters = {"random_state": 3, "explained": 0.5} | parameters
    return simulated_response.load(table, n_training=n_training, **parameters)


@pytest.mark.parametrize("response", ["linear", "product", "threshold"])
def test_association_is_the_variance_between_groups_of_a_large_sample(response):
    """Of the real outcome, noise included: a share of the mean alone would be twice as large."""
    data = drawn("concrete", response=response)
    for column, said in zip(data.X.T, data.association, strict=True):
        cuts = np.unique(np.quantile(column, np.linspace(0, 1, 11)[1:-1]))
        group = np.searchsorted(cuts, column)
        means = np.array([data.y[group == g].mean() for g in range(group.max() + 1)])
        assert said == pytest.approx((means[group]).var() / data.y.var(), abs=0.02)


def test_roles_follow_from_correlations_and_copies():
    data = drawn("concrete")
    roles = np.array(data.roles)
    signals = roles == "signal"
    assert signals.sum() == 4 and set(np.flatnonzero(signals)) == set(data.relevant)
    near = np.abs(spearmanr(data.X).statistic)[signals].max(axis=0)
    is_proxy, is_noise = roles == "proxy", roles == "noise"
    assert (near[is_proxy] > 0.47).all() and (near[roles == "other"] < 0.53).all()
    assert is_noise.sum() == 4 and (near[is_noise] < 0.05).all()
    for name, column in zip(
        np.array(data.feature_names)[is_noise], data.X.T[is_noise], strict=True
    ):
        original = data.X[:, data.feature_names.index(name.removesuffix(", permuted"))]
        assert np.quantile(column, [0.1, 0.5, 0.9]) == pytest.approx(
            np.quantile(original, [0.1, 0.5, 0.9]), rel=0.1
        )


def test_signals_explain_the_share_that_was_asked_for():
    """A linear model of them reaches it, of standardized features that are not cut off."""
    data = drawn(explained=0.8, random_state=5)
    signals = data.X[:, list(data.relevant)]
    design = np.column_stack([signals, np.ones(len(signals))])
    fitted = design @ np.linalg.lstsq(design, data.y, rcond=None)[0]
    assert 1 - (data.y - fitted).var() / data.y.var() == pytest.approx(0.8, abs=0.02)


def test_without_a_share_nothing_tells_the_outcome():
    data = drawn(explained=0.0, classes=True)
    assert not any(data.association) and data.relevant == ()
    assert np.bincount(data.y).tolist() == pytest.approx([len(data.y) / 2] * 2, abs=1)


def test_factorial_pairs_have_their_correlation_and_number_of_values():
    data = drawn(n_training=5000)
    names = list(data.feature_names)
    values = {name: data.X[:, names.index(name)] for name in names}
    for correlation in (0.0, 0.5, 0.9):
        first, second = (values[f"{side}, all values, {correlation}"] for side in "ab")
        assert spearmanr(first, second)[0] == pytest.approx(correlation, abs=0.06)
        assert len(np.unique(values[f"a, 2 values, {correlation}"])) == 2
