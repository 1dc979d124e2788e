"""Metrics by hand: shares of scores and their errors, depths, limits, bounds, gaps that are 0."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from forests import grow, leaf, split
from reproduction import metrics
from reproduction.datasets import Dataset
from reproduction.metrics import metric, sampling_error
from reproduction.planning.recipes import taken
from splitcredit import Attribution, faithfulness
from splitcredit.measures import pg2_greedy
from splitcredit.prediction_gap.bounds import largest_pgi2
from splitcredit.prediction_gap.rankings import first_of_same, of_attribution
from splitcredit.results.attribution import Importance

NAMES = ("a", "b", "c")


def data(n_rows=1):
    return Dataset(np.zeros((n_rows, 3)), np.zeros(n_rows), NAMES)


def local(values, method="m"):
    """Attributions of one output to features a, b, ..."""
    values = np.asarray(values, float)
    return Attribution(values[:, :, None], [0.0], list("abcdef")[: values.shape[1]], ["y"], method)


def test_local_shares_are_of_the_sum_of_absolute_scores():
    """Red if the scores themselves are added up: negative ones would make the others larger."""
    rows = local([[2.0, -1.0, 1.0], [0.0, 0.0, 0.0], [-3.0, 1.0, 0.0]])
    table = metric("local_scores")({"m": rows}, data(3), samples=[2, 0, 1])
    values = table.pivot(index="sample", columns="feature", values="value")[[*NAMES]]
    assert values.to_numpy().tolist() == [[0.5, -0.25, 0.25], [0.0] * 3, [-0.75, 0.25, 0.0]]
    assert table["predicted"].isna().all()


@pytest.mark.filterwarnings("error")
def test_global_shares_and_their_errors_are_of_the_same_sum():
    scores = Importance([1.0, -2.0, 1.0], NAMES, "sage", standard_error=[0.4, 0.2, 0.0])
    nothing = Importance(np.zeros(3), NAMES, "mdi")
    rows = local([[1.0, 1.0, 0.0], [-3.0, 1.0, 0.0]])
    for importance, options, values, errors in (
        (scores, {}, [0.25, -0.5, 0.25], [0.1, 0.05, 0.0]),
        (scores, {"normalize": False}, [1.0, -2.0, 1.0], [0.4, 0.2, 0.0]),
        # They were NaN, which the mean over repeats passed over; local shares are 0.
        (nothing, {}, [0.0] * 3, None),
        # Of attributions the mean absolute ones.
        (rows, {"normalize": False}, [2.0, 1.0, 0.0], None),
    ):
        table = metric("global_scores")({"sage": importance}, data(), **options)
        assert table["value"].tolist() == values
        assert errors is None or table["standard_error"].tolist() == errors


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
    assert splits.index.tolist() == [0, 1]
    assert splits.to_numpy().tolist() == [[1.0, 0.0, 0.0], [0.0, 0.0, 0.5]]
    # (8 - 4 0.5 - 4 0.25 + 8 0.75 - 4 0.5) / 2, and 4 0.5 / 2.
    assert values.to_numpy().tolist() == [[4.5, 0.0, 0.0], [0.0, 0.0, 1.0]]


@pytest.mark.filterwarnings("ignore:noise of this width")
def test_a_share_of_the_bound_is_of_means_and_not_a_mean_of_shares():
    steps = [split(0, 0.5, leaf(0.0), leaf(9.0)), split(1, 0.2, leaf(0.0), leaf(1.0))]
    forest = grow(steps, 3, aggregate="sum")
    X = np.array([[0.0, 0.0, 0.0], [-5.0, 0.0, 0.0], [0.4, -5.0, 0.0]])
    places = local([[1.0, 3.0, 2.0]] * 3)
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
        changed = ends[:, -1:].copy()
        changed[:, :, j] ^= True
        ends = np.concatenate([ends, changed, ends[:, :1]], axis=1)
    for sets, firsts in zip(ends, first_of_same(ends), strict=True):
        assert (sets[firsts] == sets).all()
        if d <= 62:  # without sharing every set is its own first
            first_equal = [next(k for k, b in enumerate(sets) if (a == b).all()) for a in sets]
            assert firsts.tolist() == first_equal


def test_rankings_that_exact_values_hold_for_equal_are_left_out_of_the_unequal():
    """Steps up and down. A row as near to both, one nearer to the first, one out of reach."""
    rising, falling = split(0, 0.5, leaf(0.0), leaf(1.0)), split(1, -0.5, leaf(1.0), leaf(0.0))
    forest = grow([rising, falling], 2, aggregate="sum")
    X = np.array([[0.0, 0.0], [0.0, 5.0], [-99.0, 99.0]])
    orders = {"forth": local([[2.0, 1.0]] * 3, "forth"), "back": local([[1.0, 2.0]] * 3, "back")}
    table = metric("pgi_agreement")(orders, forest, Dataset(X, np.zeros(3), ("a", "b")), [1.0], 101)
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


# Correlations within rows: scipy as the oracle.


@pytest.fixture
def pair():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 40, 6))
    a[:10] = np.round(a[:10])  # ties
    b[:20, :3] = 0.0
    # A constant row has no correlation.
    a[3], b[4] = 0.1, 1 / 3
    return {"m": local(a, "m"), "n": local(b, "n")}


def by_scipy(pair, of=np.asarray):
    """Correlations of the rows, NaN where one is constant: (2, n_samples)."""
    rows = list(zip(*(of(pair[name].values[:, :, 0]) for name in "mn"), strict=True))
    is_constant = [np.ptp(a) == 0 or np.ptp(b) == 0 for a, b in rows]
    return np.array(
        [
            [
                np.nan if constant else correlation(*row).statistic
                for row, constant in zip(rows, is_constant, strict=True)
            ]
            for correlation in (stats.pearsonr, stats.spearmanr)
        ]
    )


@pytest.mark.parametrize(("scores", "of"), [("signed", np.asarray), ("absolute", np.abs)])
def test_correlations_of_rows_equal_scipy(pair, scores, of):
    table = metric("row_correlation")(pair, [["m", "n"]], scores=scores)
    expected = by_scipy(pair, of)
    assert np.flatnonzero(np.isnan(expected[0])).tolist() == [3, 4]
    # 1e-14: float64 rounding of sums over six numbers.
    assert table["value"].to_numpy() == pytest.approx(expected.ravel(), abs=1e-14, nan_ok=True)


def test_summary_counts_at_the_threshold_and_uses_population_spread(pair):
    """A correlation of exactly the threshold counts as high."""
    rows = metric("row_correlation")(pair, [["m", "n"]])
    pearson = rows.loc[rows["correlation"] == "pearson", "value"].dropna()
    threshold = float(np.sort(pearson)[-3])
    summary = metric("row_correlation_summary")(pair, [["m", "n"]], thresholds=[threshold])
    statistics = summary[summary["correlation"] == "pearson"].set_index("statistic")["value"]
    expected = {
        "mean": pearson.mean(),
        "std": pearson.std(ddof=0),
        "min": pearson.min(),
        "max": pearson.max(),
        f"frac>={threshold:g}": 100 * 3 / 40,
        "undefined": 2,
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
    pair["many"] = Attribution(np.zeros((40, 6, 2)), [0, 0], list("abcdef"), ["a", "b"], "many")
    with pytest.raises(ValueError, match=message):
        metric("row_correlation")(pair, **arguments)


def test_a_seed_is_0_where_none_is_given():
    seeds = {name: taken("metric", name).get("random_state") for name in metrics.available()}
    assert {seed.default for seed in seeds.values() if seed} == {0}
