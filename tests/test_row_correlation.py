"""Correlations within rows: scipy as the oracle, ties and constant rows, and the summary."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from reproduction.metrics import metric
from reproduction.metrics.row_correlation import row_correlations
from splitcredit import Attribution


def attribution(values, method):
    names = [f"x{j}" for j in range(values.shape[1])]
    return Attribution(values[:, :, None], [0.0], names, ["predicted"], method)


@pytest.fixture
def pair():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 40, 6))
    a[:10] = np.round(a[:10])  # ties
    b[:20, :3] = 0.0
    return a, b


def test_rows_equal_scipy(pair):
    # 1e-14: float64 rounding of sums over six numbers.
    pearson, spearman = row_correlations(*pair)
    for i, (x, y) in enumerate(zip(*pair, strict=True)):
        assert pearson[i] == pytest.approx(stats.pearsonr(x, y).statistic, abs=1e-14)
        assert spearman[i] == pytest.approx(stats.spearmanr(x, y).statistic, abs=1e-14)


def test_a_constant_row_has_no_correlation(pair):
    a, b = pair
    a[3] = 0.1
    b[4] = 1 / 3
    for values in row_correlations(a, b):
        assert np.flatnonzero(np.isnan(values)).tolist() == [3, 4]


def test_scores_may_be_taken_absolute(pair):
    a, b = pair
    attributions = {"m": attribution(a, "m"), "n": attribution(b, "n")}
    rows = metric("row_correlation")(attributions, [["m", "n"]], scores="absolute")
    pearson, spearman = row_correlations(np.abs(a), np.abs(b))
    assert rows["value"].tolist() == [*pearson, *spearman]


def test_summary_counts_at_the_threshold_and_uses_population_spread(pair):
    a, b = pair
    a[3] = 0.0
    attributions = {"m": attribution(a, "m"), "n": attribution(b, "n")}
    summary = metric("row_correlation_summary")(attributions, [["m", "n"]], thresholds=[0.5])
    pearson, _ = row_correlations(a, b)
    statistics = summary[summary["correlation"] == "pearson"].set_index("statistic")["value"]
    defined = np.delete(pearson, 3)
    expected = {
        "mean": defined.mean(),
        "std": defined.std(),
        "min": defined.min(),
        "max": defined.max(),
        "frac>=0.5": 100 * (defined >= 0.5).sum() / 40,
        "undefined": 1,
    }
    pd.testing.assert_series_equal(
        statistics, pd.Series(expected, name="value"), check_names=False, rtol=1e-13
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"pairs": [["m", "q"]]}, "no importances named 'q' in this run: it has"),
        ({"pairs": [["m", "n"]], "scores": "big"}, "scores='big': expected 'signed' or"),
        ({"pairs": [["m", "many"]]}, "many has values of shape .*set output: predicted"),
    ],
)
def test_bad_requests_are_named(pair, arguments, message):
    a, b = pair
    two_outputs = Attribution(
        np.zeros((40, 6, 2)), [0, 0], [f"x{j}" for j in range(6)], ["a", "b"], "many"
    )
    attributions = {"m": attribution(a, "m"), "n": attribution(b, "n"), "many": two_outputs}
    with pytest.raises(ValueError, match=message):
        metric("row_correlation")(attributions, **arguments)


def test_an_unknown_metric_is_named():
    with pytest.raises(ValueError, match=r"unknown metric 'auc': available are .*row_correlation"):
        metric("auc")


def test_a_correlation_of_exactly_the_threshold_counts_as_high(pair):
    attributions = {name: attribution(a, name) for name, a in zip("mn", pair, strict=True)}
    pearson, _ = row_correlations(*pair)
    threshold = float(np.sort(pearson)[-3])
    summary = metric("row_correlation_summary")(
        attributions, [["m", "n"]], thresholds=[threshold]
    ).set_index(["correlation", "statistic"])["value"]
    assert summary["pearson", f"frac>={threshold:g}"] == 100 * 3 / 40
