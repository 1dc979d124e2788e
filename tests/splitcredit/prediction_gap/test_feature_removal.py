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
    """And rows, targets and rankings are put together as they are given."""
    forest, X, y, order = case()
    options = {"ks": [1, 2], "reference": X, "n_draws": 20}
    all_rows = randomizing.randomized_rmse(forest, X, y, order, **options).predictions
    is_chosen = np.isin(np.arange(len(X)), [3, 17, 400])
    ranked = rankings.Rankings(order, np.zeros(order.shape))
    for rows, numbers in (([400, 3, 17], [400, 3, 17]), (is_chosen, [3, 17, 400])):
        options["ks"] = iter([1, 2])
        some = randomizing.randomized_rmse(forest, X, y[::-1], ranked, rows=rows, **options)
        assert some.predictions.tobytes() == all_rows[numbers].tobytes()
        errors = (all_rows[numbers] - y[::-1][numbers, None]) ** 2
        assert some.squared_errors.tobytes() == errors.tobytes()


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


@pytest.mark.parametrize("seed", [None, -1, 0.5])
def test_seeds_of_samples_and_draws_are_whole_numbers_from_0(seed):
    """None drew other values in every call, which were to be compared on the same draws."""
    forest, X, y, order = case()
    sets = np.ones((2, 1, 10), bool)
    for measure, *given in (
        (randomizing.randomized_rmse, forest, X, y, order, [1], X, 3),
        (randomizing.randomized_predictions, forest, X[:2], sets, X, 3),
        (sampling.pg2_sampled, forest, X[:2], [0], [4]),
        (sampling.gaps_by_k, forest, X[:2], order[:2], 1.0),
    ):
        with pytest.raises(ValueError, match=r"random_state=.*: expected a whole number, at"):
            measure(*given, random_state=seed)
    with pytest.raises(ValueError, match=r"sets have shape \(442, 10\) and dtype bool, expected"):
        randomizing.randomized_predictions(forest, X, order > 3, X)


X_NAMED = pd.DataFrame(np.random.default_rng(0).normal(size=(60, 3)), columns=list("abc"))
Y_NAMED = 3 * X_NAMED["a"] + X_NAMED["b"]


def forest_of(X):
    return RandomForestRegressor(3, random_state=0).fit(X, Y_NAMED)


def measured(model, rows, ranks):
    """Every measure that takes rankings, as functions without arguments."""
    y = Y_NAMED[:4]
    return {
        "sampled": lambda: sampling.gaps_by_k(model, rows, ranks, 0.3),
        "rmse": lambda: randomizing.randomized_rmse(model, rows, y, ranks, [1], X_NAMED),
        "faithfulness": lambda: faithfulness(model, rows, ranks, scale=0.3),
    }


def test_rankings_of_the_features_in_another_order_are_refused():
    """Their indices were taken for those of the model at hand, without an error."""
    X, turned = X_NAMED, X_NAMED[list("cba")]
    ranks = rank(forest_of(X), X[:4], scale=0.3)
    for call in measured(forest_of(turned), X[:4], ranks).values():
        with pytest.raises(ValueError, match=r"features \['a', 'b', 'c'\], and the model has"):
            call()
    with pytest.raises(ValueError, match=r"X_train has the columns \['c', 'b', 'a'\]"):
        retraining.removed_predictions(linear, turned, Y_NAMED, X[:4], ranks, 1)
    by_names = retraining.removed_predictions(linear, X, Y_NAMED, turned[:4], ranks, 1)
    of_array = rank(forest_of(X.to_numpy()), X[:4].to_numpy(), scale=0.3)
    by_position = retraining.removed_predictions(linear, X, Y_NAMED, X[:4], of_array, 1)
    assert np.array_equal(by_names, by_position)


def test_rankings_of_the_rows_in_another_order_are_refused():
    """Each row was measured with the ranking of another one, without an error."""
    X, model = X_NAMED, forest_of(X_NAMED)
    ranks = rank(model, X[:4], scale=0.3)

    def every(rows):
        yield from measured(model, rows, ranks).values()
        yield lambda: retraining.removed_predictions(linear, X, Y_NAMED, rows, ranks, 1)
        yield lambda: faithfulness(model, rows, explain(model, X[:4]), scale=0.3)

    for call in every(X[:4][::-1]):
        with pytest.raises(ValueError, match=r"another order, \[3, 2, 1, .*X.loc\[ranking.index"):
            call()
    for others in (X[20:24], X[:4].to_numpy(), X[:4][::-1].loc[ranks.index]):
        assert all(call() is not None for call in every(others))
    names = pd.Series(list("abc"))  # labels of a Series are no rows
    assert faithfulness(model, X[:3][::-1], names, scale=0.3).shape == (3,)


def test_retrained_predictions_equal_fits_row_by_row():
    _, X, y, order = case()
    order = np.where(np.arange(442)[:, None] % 3 == 0, order[0], order)[300:340]
    fits = []

    def fit(X, y):
        fits.append(X.shape)
        return linear(X, y)

    models, given = {}, (X[:300], y[:300], X[300:340], order)
    for k in (0, 1, 3):
        predictions = retraining.removed_predictions(fit, *given, k, models=models)
        twin = [
            slow.retrained(linear, *given[:2], X[300 + i], set(order[i, :k])) for i in range(40)
        ]
        assert predictions == pytest.approx(twin, rel=1e-10)
        errors = retraining.squared_errors(predictions, y[300:340])
        assert errors.tobytes() == ((predictions - y[300:340]) ** 2).tobytes()
    subsets = {tuple(sorted(row[:k])) for row in order for k in (0, 1, 3)}
    assert set(models) == subsets and len(fits) == len(subsets)
    retraining.removed_predictions(fit, *given, 3, models=models)
    assert len(fits) == len(subsets)
    retraining.removed_predictions(fit, *given, 3)
    assert len(fits) > len(subsets)


def test_columns_of_test_rows_are_found_by_name():
    """By position, the models would be given other features than they were fitted on."""
    rows = X_NAMED[:3]

    def predicted(test_rows):
        ranks = [[2, 1, 0]] * 3
        return retraining.removed_predictions(linear, X_NAMED, Y_NAMED, test_rows, ranks, 1)

    assert predicted(rows[list("cab")]).tobytes() == predicted(rows.to_numpy()).tobytes()
    with pytest.raises(ValueError, match=r"X_test has the columns .*: pass the same columns"):
        predicted(rows.add_suffix("2"))


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
