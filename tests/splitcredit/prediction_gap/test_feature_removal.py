"""Randomizing, remove-and-retrain and the paired bootstrap: gajewski2025, tables 4 and 5."""

from functools import cache

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LinearRegression

import forests
import twins
import twins_prediction_gap as slow
from reproduction.metrics import _rankings
from splitcredit import explain, faithfulness, rank, to_forest
from splitcredit.prediction_gap import (
    randomizing,
    rankings,
    retraining,
    sampling,
)


@cache
def case():
    """Forest, rows, targets and rankings."""
    model, X, y = forests.fitted("forest, squared error, diabetes")
    order = np.argsort(np.random.default_rng(0).random(X.shape), axis=1)
    return to_forest(model), X, y, order


def linear(X, y):
    """A fit for removals, quick and exact."""
    return LinearRegression().fit(X, y)


def test_randomized_predictions_equal_the_definition():
    forest, X, y, order = case()
    X, y, order, reference = X[:6], y[:6], order[:6], X[50:90]
    result = randomizing.randomized_rmse(forest, X, y, order, [1, 3], reference, 8, random_state=3)
    for i in range(6):
        picks = np.random.default_rng(np.random.SeedSequence(3, spawn_key=(i,)))
        picks = picks.integers(40, size=(8, 10))
        draws = reference[picks, np.arange(10)]
        for c, k in enumerate((1, 3)):
            twin = slow.randomized(forest, X[i], set(order[i, :k]), draws)
            assert result.predictions[i, c] == pytest.approx(twin, rel=twins.ROUNDING)
    assert result.squared_errors.tobytes() == ((result.predictions - y[:, None]) ** 2).tobytes()
    assert result.rmse.tobytes() == np.sqrt(result.squared_errors.mean(axis=0)).tobytes()


def test_randomized_rows_do_not_depend_on_their_group():
    forest, X, y, order = case()
    inputs = forest, X, y, order, [1, 2], X
    all_rows = randomizing.randomized_rmse(*inputs, n_draws=20)
    row_numbers = np.array([400, 3, 17])
    of_three_rows = randomizing.randomized_rmse(*inputs, n_draws=20, rows=row_numbers)
    assert of_three_rows.predictions.tobytes() == all_rows.predictions[row_numbers].tobytes()


def test_sets_of_several_rankings_have_the_predictions_of_each_alone():
    """Sets that are there twice for a row take the place of the first, and of no other."""
    forest, X, y, order = case()
    turned = np.where(np.arange(len(X))[:, None] % 2, order, order[:, ::-1])
    options = {"reference": X[:40], "n_draws": 8, "random_state": 3}
    by_ranking = [
        randomizing.randomized_rmse(forest, X, y, ranking, [1, 3], **options).predictions
        for ranking in (order, turned)
    ]
    sets = [rankings.top_k_mask(o, k, X.shape[1]) for o in (order, turned) for k in (1, 3)]
    together = randomizing.randomized_predictions(forest, X, np.stack(sets, axis=1), **options)
    assert together.tobytes() == np.concatenate(by_ranking, axis=1).tobytes()
    assert len(np.unique(together[0])) == 4 and len(np.unique(together[1])) == 2


def test_rows_targets_and_rankings_are_put_together_as_given():
    """As the authors' code does it: rows of one set, targets and rankings of another."""
    forest, X, y, order = case()
    mixed = randomizing.randomized_rmse(forest, X[:9], y[9:18], order[9:18], [1], X)
    unmixed = randomizing.randomized_rmse(forest, X[:9], y[:9], order[9:18], [1], X)
    assert mixed.predictions.tobytes() == unmixed.predictions.tobytes()
    assert mixed.rmse != unmixed.rmse


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"y": [0.0, 0.0, 0.0]}, r"y has shape \(3,\)"),
        ({"rankings": [[0, 1]] * 3}, "expected 442 rows"),
        ({"ks": [11]}, r"k=11 is not in 1\.\.10"),
        ({"ks": []}, "ks is empty: pass at least one number of features"),
        ({"ks": 2}, "ks=2: pass a list of numbers of features"),
        ({"n_draws": 0}, "n_draws=0: expected a whole number"),
        ({"n_draws": 2.5}, "n_draws=2.5: expected a whole number, at least 1"),
        ({"reference": np.zeros((0, 10))}, "the reference has no rows: pass at least one"),
        ({"model": forests.random_forest(0, n_features=10, n_outputs=3)}, "3 outputs"),
        *(
            ({"rows": rows}, "^rows must be numbers from 0 to 441, or a mask of 442; at least one$")
            for rows in ([0.9, 1.9], [-1], [442], [], [True, False], [[0, 1]])
        ),
    ],
)
def test_randomizing_refuses_what_does_not_fit(change, message):
    forest, X, y, order = case()
    given = {"model": forest, "X": X, "y": y, "rankings": order, "ks": [1], "reference": X}
    with pytest.raises(ValueError, match=message):
        randomizing.randomized_rmse(**given | change)


def test_sets_that_are_no_masks_are_refused_and_one_row_will_do_as_reference():
    forest, X, y, order = case()
    with pytest.raises(ValueError, match=r"sets have shape \(442, 10\) and dtype bool, expected"):
        randomizing.randomized_predictions(forest, X, order > 3, X)
    randomizing.randomized_rmse(forest, X[:2], y[:2], order[:2], [1], X[:1], 2)


def test_rows_may_be_chosen_by_a_mask():
    forest, X, y, order = case()
    mask = np.zeros(len(X), bool)
    mask[[3, 7, 8]] = True
    options = dict(ks=[1], reference=X, n_draws=3)
    by_mask = randomizing.randomized_rmse(forest, X, y, order, rows=mask, **options)
    by_number = randomizing.randomized_rmse(forest, X, y, order, rows=[3, 7, 8], **options)
    assert by_mask.predictions.tobytes() == by_number.predictions.tobytes()


@pytest.mark.parametrize("seed", [None, -1, 0.5])
def test_seeds_of_samples_and_draws_are_whole_numbers_from_0(seed):
    """None drew other values in every call, which were to be compared on the same draws."""
    forest, X, y, order = case()
    for measure in (
        lambda: randomizing.randomized_rmse(forest, X, y, order, [1], X, 3, seed),
        lambda: randomizing.randomized_predictions(
            forest, X[:1], np.ones((1, 1, 10), bool), X, 3, seed
        ),
        lambda: sampling.pg2_sampled(forest, X[:2], [0], [4], random_state=seed),
        lambda: sampling.gaps_by_k(forest, X[:2], order[:2], 1.0, random_state=seed),
    ):
        with pytest.raises(
            ValueError, match=r"random_state=.*: expected a whole number, at least 0"
        ):
            measure()


def test_numbers_of_features_may_come_from_an_iterator_and_are_no_single_number():
    """Both had no length."""
    forest, X, y, order = case()
    rows = forest, X[:3], y[:3], order[:3]
    expected = randomizing.randomized_rmse(*rows, [1, 2], X, n_draws=3)
    ours = randomizing.randomized_rmse(*rows, iter([1, 2]), X, n_draws=3)
    assert ours.predictions.tobytes() == expected.predictions.tobytes()
    gaps = sampling.gaps_by_k(forest, X[:3], order[:3], 0.1, 9, ks=iter([1, 2]))
    assert gaps.shape == (3, 2)
    with pytest.raises(ValueError, match="ks=2: pass a list of numbers of features"):
        sampling.gaps_by_k(forest, X[:3], order[:3], 0.1, 9, ks=2)


def test_rankings_may_be_given_as_they_are_returned():
    given = np.array([[0, 3], [2, 1]])
    own = rankings.Rankings(given, np.zeros((2, 2)))
    assert np.array_equal(rankings.validate_rankings(own, 2, 4), given)


def test_rankings_of_the_features_in_another_order_are_refused():
    """Their indices were taken for those of the model at hand, without an error."""
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(60, 3)), columns=list("abc"))
    y = 3 * X["a"] + X["b"]
    turned = X[list("cba")]
    model, other = (RandomForestRegressor(3, random_state=0).fit(rows, y) for rows in (X, turned))
    ranks = rank(model, X[:4], scale=0.3)
    for measured in (
        lambda: faithfulness(other, X[:4], ranks, scale=0.3),
        lambda: sampling.gaps_by_k(other, X[:4], ranks, 0.3),
        lambda: randomizing.randomized_rmse(other, X[:4], y[:4], ranks, [1], X),
    ):
        with pytest.raises(
            ValueError, match=r"of the features \['a', 'b', 'c'\], and the model has"
        ):
            measured()

    with pytest.raises(ValueError, match=r"X_train has the columns \['c', 'b', 'a'\]"):
        retraining.removed_predictions(linear, turned, y, X[:4], ranks, 1)
    by_names = retraining.removed_predictions(linear, X, y, turned[:4], ranks, 1)
    of_array = rank(
        RandomForestRegressor(3, random_state=0).fit(X.to_numpy(), y), X[:4].to_numpy(), scale=0.3
    )
    by_position = retraining.removed_predictions(linear, X, y, X[:4], of_array, 1)
    assert np.array_equal(by_names, by_position)


def test_rankings_of_the_rows_in_another_order_are_refused():
    """Each row was measured with the ranking of another one, without an error."""
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(60, 3)), columns=list("abc"))
    y = 3 * X["a"] + X["b"]
    model = RandomForestRegressor(3, random_state=0).fit(X, y)
    rows, turned = X[:4], X[:4][::-1]
    ranks = rank(model, rows, scale=0.3)

    measures = {
        "sampled": lambda rows: sampling.gaps_by_k(model, rows, ranks, 0.3),
        "rmse": lambda rows: randomizing.randomized_rmse(model, rows, y[:4], ranks, [1], X),
        "removed": lambda rows: retraining.removed_predictions(linear, X, y, rows, ranks, 1),
        "faithfulness": lambda rows: faithfulness(model, rows, ranks, scale=0.3),
        "attribution": lambda rows: faithfulness(model, rows, explain(model, X[:4]), scale=0.3),
    }
    for name, measure in measures.items():
        with pytest.raises(
            ValueError, match=r"in another order, \[3, 2, 1, .*X.loc\[ranking.index"
        ):
            measure(turned)
        for others in (X[20:24], X[:4].to_numpy(), turned.loc[ranks.index]):
            assert measure(others) is not None, name
    names = pd.Series(list("abc"))  # labels of a Series are no rows
    assert faithfulness(model, X[:3][::-1], names, scale=0.3).shape == (3,)


def test_retrained_predictions_equal_fits_row_by_row():
    _, X, y, order = case()
    order = np.where(np.arange(442)[:, None] % 3 == 0, order[0], order)
    train, test = slice(0, 300), slice(300, 340)
    fits = []

    def fit(X, y):
        fits.append(X.shape)
        return linear(X, y)

    models = {}
    for k in (0, 1, 3):
        inputs = X[train], y[train], X[test], order[test], k
        predictions = retraining.removed_predictions(fit, *inputs, models=models)
        for i, row in enumerate(X[test]):
            subset = set(order[test][i, :k])
            twin = slow.retrained(linear, *inputs[:2], row, subset)
            assert predictions[i] == pytest.approx(twin, rel=1e-10)
        errors = retraining.squared_errors(predictions, y[test])
        assert errors.tobytes() == ((predictions - y[test]) ** 2).tobytes()
    subsets = {tuple(sorted(order[i, :k])) for i in range(300, 340) for k in (0, 1, 3)}
    assert set(models) == subsets and len(fits) == len(subsets)
    retraining.removed_predictions(fit, *inputs, models=models)
    assert len(fits) == len(subsets)
    retraining.removed_predictions(fit, *inputs)
    assert len(fits) > len(subsets)


def test_columns_of_test_rows_are_found_by_name():
    """By position, the models would be given other features than they were fitted on."""
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(50, 3)), columns=["a", "b", "c"])
    y, ranks = 5 * X["a"] + X["b"], [[2, 1, 0]] * 3

    expected = retraining.removed_predictions(linear, X, y, X[:3].to_numpy(), ranks, 1)
    reordered = retraining.removed_predictions(linear, X, y, X.loc[:2, ["c", "a", "b"]], ranks, 1)
    assert reordered.tobytes() == expected.tobytes()
    with pytest.raises(ValueError, match=r"X_test has the columns .*: pass the same columns"):
        retraining.removed_predictions(linear, X, y, X[:3].add_suffix("2"), ranks, 1)


def test_removed_sets_are_unordered_and_hold_each_row_once():
    sets = retraining.removed_sets([[0, 2, 1], [2, 0, 1], [1, 0, 2]], 2, 3, 3)
    assert {k: v.tolist() for k, v in sets.items()} == {(0, 1): [2], (0, 2): [0, 1]}
    with pytest.raises(ValueError, match="a feature must be left"):
        retraining.removed_sets([[0, 1, 2]], 3, 1, 3)


def test_the_bootstrap_of_a_lead_equals_its_definition_and_pairs_the_rows():
    rng = np.random.default_rng(0)
    b = rng.exponential(size=80) * 100
    a = b + rng.normal(size=80) + 1.0
    interval = _rankings.lead(a, b, "rmse", 5)
    picks = np.random.default_rng(5).integers(80, size=(_rankings.RESAMPLES, 80))
    differences = [np.sqrt(a[p].mean()) - np.sqrt(b[p].mean()) for p in picks]
    assert interval["lead"] == pytest.approx(np.sqrt(a.mean()) - np.sqrt(b.mean()), rel=1e-12)
    ends = np.quantile(differences, [0.025, 0.975])
    np.testing.assert_allclose([interval["low"], interval["high"]], ends, rtol=1e-9)
    means = _rankings.lead(a, b, "mean", 0)
    assert 0.5 < means["low"] < means["lead"] < means["high"] < 1.5  # the errors vary by 100


def test_one_row_has_a_lead_without_an_interval_and_two_have_an_error():
    one = _rankings.lead(np.array([4.0]), np.array([1.0]), "rmse", 0)
    assert one["lead"] == 1.0 and np.isnan([one["low"], one["high"]]).all()
    # Squares 1 and 3: their standard deviation over sqrt(2), over twice the root of their mean.
    assert _rankings.rmse_error([1.0, 3.0]) == pytest.approx(1 / np.sqrt(8), rel=1e-12)
    assert np.isnan(_rankings.rmse_error([1.0]))


def test_the_interval_of_a_lead_does_not_depend_on_how_many_resamples_are_held(monkeypatch):
    a, b = np.arange(30.0), np.arange(30.0)[::-1] + 1
    in_one_batch = _rankings.lead(a, b, "rmse", 0)
    monkeypatch.setattr(_rankings, "_BATCH", 7)
    assert _rankings.lead(a, b, "rmse", 0) == in_one_batch
