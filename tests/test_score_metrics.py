"""Metrics by hand: shares of scores and their errors, depths, limits, bounds, gaps that are 0."""

import numpy as np
import pytest

from forests import grow, leaf, split
from reproduction.datasets import Dataset
from reproduction.metrics import agreement, metric, sampling_error
from splitcredit import Attribution
from splitcredit.attribution import Importance
from splitcredit.gaps.bounds import largest_pgi2
from splitcredit.gaps.prediction_gap import pgi2
from splitcredit.gaps.rankings import of_attribution

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


def test_a_share_of_the_bound_is_of_means_and_not_a_mean_of_shares():
    steps = [split(0, 0.5, leaf(0.0), leaf(9.0)), split(1, 0.2, leaf(0.0), leaf(1.0))]
    forest = grow(steps, 3, aggregate="sum")
    X = np.array([[0.0, 0.0, 0.0], [-5.0, 0.0, 0.0], [0.4, -5.0, 0.0]])
    places = Attribution(np.tile([1.0, 3.0, 2.0], (3, 1))[:, :, None], [0.0], NAMES, ["o"], "m")
    rows = Dataset(X, np.zeros(3), NAMES)
    table = metric("pgi2_bound")({"m": places}, forest, rows, [1.0])
    ours = pgi2(forest, X, of_attribution(places), scale=1.0)
    upper = largest_pgi2(forest, X, scale=1.0).upper
    (row,) = table.to_dict("records")
    assert row["value"] == pytest.approx(ours.sum() / upper.sum(), rel=1e-12)
    assert abs(row["value"] - (ours / upper).mean()) > 0.1
    assert row["median"] == pytest.approx(np.median(ours / upper), rel=1e-12)
    assert row["quantile5"] == pytest.approx(np.quantile(ours / upper, 0.05), rel=1e-12)
    assert (row["pgi2"], row["largest"]) == pytest.approx((ours.mean(), upper.mean()), rel=1e-12)


def test_the_limit_of_a_sum_counts_the_additions_of_all_trees():
    """Of a chain of three splits and a stump: four additions make a value, of at most |9| + |2|."""
    chain = split(0, 0.0, leaf(9.0), leaf(1.0))
    for feature in (1, 2):
        chain = split(feature, 0.0, chain, leaf(1.0))
    forest = grow([chain, split(0, 0.0, leaf(-2.0), leaf(1.0))], 3, aggregate="sum")
    ours = Attribution(np.ones((5, 3, 1)), np.zeros(1), NAMES, ("y",), "saabas")
    parameters = {"package": "p", "version": "0", "arithmetic": "float32"}
    theirs = Attribution(ours.values, ours.baseline, NAMES, ("y",), "p", parameters=parameters)
    (row,) = agreement.compute({"a": ours, "b": theirs}, forest, [("a", "b")]).to_dict("records")
    # Azuma: the chance that one of 15 values is beyond is 0.001.
    width = np.sqrt(2 * np.log(2 * 15 / 1e-3)) * np.sqrt(3 + 1) * (9 + 2)
    assert row["limit"] == pytest.approx(width * (2.0**-53 + 2.0**-24), rel=1e-12)
    assert row["limit_float64"] == pytest.approx(width * 2.0**-52, rel=1e-12)


@pytest.mark.parametrize(("of_unused", "expected"), [(0.0, 3.0), (0.1, np.inf)])
def test_sampled_values_of_unused_features_may_have_no_error(of_unused, expected):
    """0 / 0 was NaN, which is the largest of all and beyond every limit."""
    forest = grow([split(0, 0.0, leaf(9.0), leaf(1.0))], 3)
    parameters = {"package": "p", "version": "0", "arithmetic": "float64"}
    ours = Importance([1.0, 2.0, of_unused], NAMES, "sage")
    theirs = Importance([1.3, 2.1, 0.0], NAMES, "p", parameters, [0.1, 0.1, 0.0])
    (row,) = agreement.compute({"a": ours, "b": theirs}, forest, [("a", "b")]).to_dict("records")
    assert row["value"] == pytest.approx(expected) and row["basis"] == "monte-carlo"


def test_only_gaps_that_are_0_count_as_0():
    """Of x0 at a step ten deviations away the gap is 1e-23; of x1, which no tree tests, it is 0."""
    forest = grow([split(0, 0.5, leaf(0.0), leaf(1.0))], 2, aggregate="sum")
    rows = Dataset(np.zeros((1, 2)), np.zeros(1), NAMES[:2])
    table = metric("sampling_error")({}, forest, rows, [0.05], 40, [10], random_state=1)
    _, sets = sampling_error.pairs(1, 2, 40, 1)
    assert 0 < (~sets[:, 0]).mean() < 1
    assert (table["zero_share"] == (~sets[:, 0]).mean()).all()
    assert (0 < table["exact_mean"]).all() and (table["exact_mean"] < 1e-22).all()
