"""Metrics by hand: shares of scores and their errors, depths, limits, bounds, gaps that are 0."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from forests import grow, leaf, split
from reproduction.datasets import Dataset
from reproduction.metrics import (
    _rankings,
    _scores,
    gaps,
    metric,
    sampling_error,
)
from reproduction.metrics.correlations import row_correlations
from splitcredit import Attribution, faithfulness
from splitcredit.api._ranking import by_values
from splitcredit.measures import pg2_greedy
from splitcredit.prediction_gap.bounds import largest_pgi2
from splitcredit.prediction_gap.rankings import first_of_same, of_attribution
from splitcredit.results.attribution import Importance

NAMES = ("a", "b", "c")


def data(n_rows=1):
    return Dataset(np.zeros((n_rows, 3)), np.zeros(n_rows), NAMES)


def test_local_shares_are_of_the_sum_of_absolute_scores():
    """Red if the scores themselves are added up: negative ones would make the others larger."""
    rows = np.array([[2.0, -1.0, 1.0], [0.0, 0.0, 0.0], [-3.0, 1.0, 0.0]])
    local = Attribution(rows[:, :, None], np.zeros(1), NAMES, ("y",), "m")
    table = metric("local_scores")({"m": local}, data(3), samples=[2, 0, 1])
    values = table.pivot(index="sample", columns="feature", values="value")[[*NAMES]]
    assert values.loc[0].tolist() == [0.5, -0.25, 0.25]
    assert values.loc[1].tolist() == [0.0, 0.0, 0.0]
    assert values.loc[2].tolist() == [-0.75, 0.25, 0.0]
    assert table["predicted"].isna().all()


def test_errors_of_global_shares_are_shares_of_the_same_sum():
    scores = Importance([1.0, -2.0, 1.0], NAMES, "sage", standard_error=[0.4, 0.2, 0.0])
    table = metric("global_scores")({"sage": scores}, data())
    assert table["value"].tolist() == [0.25, -0.5, 0.25]
    assert table["standard_error"].tolist() == [0.1, 0.05, 0.0]
    unscaled = metric("global_scores")({"sage": scores}, data(), normalize=False)
    assert unscaled["standard_error"].tolist() == [0.4, 0.2, 0.0]


@pytest.mark.filterwarnings("error")
def test_global_shares_of_scores_that_are_all_0_are_0():
    """They were NaN, which the mean over repeats passed over; local shares are 0."""
    scores = Importance(np.zeros(3), NAMES, "mdi")
    assert metric("global_scores")({"mdi": scores}, data())["value"].tolist() == [0.0] * 3


def test_splits_and_decreases_by_depth_are_means_over_the_trees():
    """Two trees: a at both roots, c below one of them."""
    of_depth_1 = split(2, 0.0, leaf(0.0, 3.0, 0.0), leaf(1.0, 1.0, 0.0), impurity=0.5)
    trees = [
        split(0, 0.0, of_depth_1, leaf(1.0, 4.0, 0.25), impurity=1.0),
        split(0, 0.0, leaf(0.0, 4.0, 0.0), leaf(1.0, 4.0, 0.5), impurity=0.75),
    ]
    table = metric("mdi_by_depth")({}, grow(trees, 3), data())
    splits = table.pivot(index="depth", columns="feature", values="splits")
    values = table.pivot(index="depth", columns="feature", values="value")
    assert splits.to_numpy().tolist() == [[1.0, 0.0, 0.0], [0.0, 0.0, 0.5]]
    # (8 - 4 0.5 - 4 0.25 + 8 0.75 - 4 0.5) / 2, and 4 0.5 / 2.
    assert values.to_numpy().tolist() == [[4.5, 0.0, 0.0], [0.0, 0.0, 1.0]]


@pytest.mark.filterwarnings("ignore:noise of this width")
def test_a_share_of_the_bound_is_of_means_and_not_a_mean_of_shares():
    steps = [split(0, 0.5, leaf(0.0), leaf(9.0)), split(1, 0.2, leaf(0.0), leaf(1.0))]
    forest = grow(steps, 3, aggregate="sum")
    X = np.array([[0.0, 0.0, 0.0], [-5.0, 0.0, 0.0], [0.4, -5.0, 0.0]])
    places = Attribution(np.tile([1.0, 3.0, 2.0], (3, 1))[:, :, None], [0.0], NAMES, ["o"], "m")
    rows = Dataset(X, np.zeros(3), NAMES)
    table = metric("pgi2_bound")({"m": places}, forest, rows, [1.0])
    ours = faithfulness(forest, X, of_attribution(places), scale=1.0)
    upper = largest_pgi2(forest, X, scale=1.0).upper
    (row,) = table.to_dict("records")
    assert row["value"] == pytest.approx(ours.sum() / upper.sum(), rel=1e-12)
    assert abs(row["value"] - (ours / upper).mean()) > 0.1
    assert row["median"] == pytest.approx(np.median(ours / upper), rel=1e-12)
    assert row["quantile5"] == pytest.approx(np.quantile(ours / upper, 0.05), rel=1e-12)
    assert (row["pgi2"], row["largest"]) == pytest.approx((ours.mean(), upper.mean()), rel=1e-12)


def test_only_gaps_that_are_0_count_as_0():
    """Of x0 at a step ten deviations away the gap is 1e-23; of x1, which no tree tests, it is 0."""
    forest = grow([split(0, 0.5, leaf(0.0), leaf(1.0))], 2, aggregate="sum")
    rows = Dataset(np.zeros((1, 2)), np.zeros(1), NAMES[:2])
    table = metric("sampling_error")({}, forest, rows, [0.05], 40, [10], random_state=1)
    _, sets = sampling_error.pairs(1, 2, 40, 1)
    assert 0 < (~sets[:, 0]).mean() < 1
    assert (table["zero_share"] == (~sets[:, 0]).mean()).all()
    assert (0 < table["exact_mean"]).all() and (table["exact_mean"] < 1e-22).all()


# Sets that several rankings begin with, and who is first.


@pytest.mark.parametrize("d", [1, 31, 32, 40, 62, 63, 70])
def test_sets_are_the_same_if_all_features_are(d):
    """Also the features behind the 31st and the 62nd, where integers of bits end."""
    rng = np.random.default_rng(d)
    ends = rng.random((3, 8, d)) < 0.5
    # Sets that differ in one feature only, and copies.
    for j in (0, d // 2, d - 1, max(0, d - 32)):
        changed_set = ends[:, -1:].copy()
        changed_set[:, :, j] ^= True
        ends = np.concatenate([ends, changed_set, ends[:, :1]], axis=1)
    first_equal = first_of_same(ends)
    for row, firsts in zip(ends, first_equal, strict=True):
        for a, first in zip(row, firsts, strict=True):
            assert (row[first] == a).all()
            if d <= 62:  # without sharing every set is its own first
                assert first == next(k for k, b in enumerate(row) if (a == b).all())


def test_exact_values_are_equal_that_differ_by_1e_12_at_most():
    ours = np.array([1.0, 1.0, 1.0 + 1.1e-12, 1.0, 0.0, 0.0, 1e-300])
    theirs = np.array([1.0, 1.0 + 0.9e-12, 1.0, 1.0 + 1.1e-12, 0.0, 1e-300, 0.0])
    assert gaps._order(ours, theirs).tolist() == [0, 0, 1, -1, 0, -1, 1]


def test_rankings_that_exact_values_hold_for_equal_are_left_out_of_the_unequal():
    """Steps up and down. A row as near to both, one nearer to the first, one out of reach."""
    rising, falling = split(0, 0.5, leaf(0.0), leaf(1.0)), split(1, -0.5, leaf(1.0), leaf(0.0))
    forest = grow([rising, falling], 2, aggregate="sum")
    X = np.array([[0.0, 0.0], [0.0, 5.0], [-99.0, 99.0]])
    orders = {"forth": [2.0, 1.0], "back": [1.0, 2.0]}
    attributions = {
        name: Attribution(np.tile(values, (3, 1))[:, :, None], [0.0], ["x0", "x1"], ["o"], name)
        for name, values in orders.items()
    }
    data = Dataset(X, np.zeros(3), ("x0", "x1"))
    table = metric("pgi_agreement")(attributions, forest, data, [1.0], 101)
    of_pair = table[table["other"] == "back"].set_index("quantity")[["value", "n_rows"]]
    # Of 101 samples not as many are above 1/2 as below -1/2: not alike in the first row.
    assert of_pair.loc["alike"].tolist() == [pytest.approx(2 / 3), 3]
    assert of_pair.loc["alike_unequal"].tolist() == [1.0, 1]
    assert of_pair.loc["swapped"].tolist() == [0.0, 3]


def test_rankings_of_other_noise_are_no_changes_by_arithmetic():
    """A ranking for Laplace noise was compared with that for normal noise of the same scale."""
    steps = [split(0, 1.5, leaf(0.0), leaf(1.0)), split(1, 6.0, leaf(0.0), leaf(12.0))]
    forest, X = grow(steps, 2, aggregate="sum"), np.zeros((1, 2))
    ranked = {
        noise: pg2_greedy.rank(forest, X, sigma=1.0, noise=noise)
        for noise in ("normal", "laplace", "uniform")
    }
    assert of_attribution(ranked["normal"]).tolist() != of_attribution(ranked["laplace"]).tolist()
    table = metric("ranking_changes")(ranked | {"again": ranked["laplace"]})
    assert not table.loc[table["quantity"] == "order", "value"].any()
    places = -ranked["laplace"].values + 3.0
    turned = {"again": replace(ranked["laplace"], values=places)}
    changed = metric("ranking_changes")(ranked | turned)
    changed = changed[changed["quantity"] == "order"].groupby("ranking")["value"].max()
    assert changed.to_dict() == {"normal": 0, "laplace": 0, "uniform": 0, "again": 1}


def test_a_global_ranking_goes_by_values_as_in_the_library():
    """By absolute values, the feature that is worse than noise would be the first."""
    scores = Importance([1.0, -3.0, 2.0], ("a", "b", "c"), "air")
    assert _rankings.rankings({"air": scores}, 2)["air"].tolist() == [[2, 0, 1]] * 2
    assert by_values(scores, 2).rankings.tolist() == [[2, 0, 1]] * 2


def test_two_importances_of_one_name_in_tables_are_refused():
    """One took the place of the other, and leads over it were 0."""
    scores = {name: Importance([1.0, 2.0], ("a", "b"), "mdi") for name in ("tree_shap", "shap")}
    with pytest.raises(ValueError, match="tree_shap and shap are both called shap in tables"):
        _rankings.rankings(scores, 2)


def test_a_global_score_is_the_mean_absolute_attribution():
    attribution = Attribution(np.array([[[1.0]], [[-3.0]]]), np.zeros(1), ("x",), ("y",), "m")
    assert _scores.global_scores(attribution)[0].tolist() == [2.0]


# Correlations within rows: scipy as the oracle.


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
