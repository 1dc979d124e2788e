"""Errors of models without the first features of a ranking, and of models fitted to other rows.

Errors are RMSE in units of the target, in the column ``value``. ``reference`` is the importance
that leads are over, by default the first; ``lead`` is a value minus the reference's, and ``low``
and ``high`` its 95 % bootstrap interval over resampled rows. ``standard_error`` of a value is what
rows, and draws if there are any, add to it (delta method). `random_state` is of draws, the same for
all rankings and k, and of the bootstrap. The error of a class, where there are classes, is 1 minus
the probability of the true one. ``share`` is the share of the features, the first ones, that is
randomized or removed.
"""

from collections.abc import Sequence
from typing import Annotated, Literal

import numpy as np
import pandas as pd
from sklearn.metrics import root_mean_squared_error
from sklearn.model_selection import KFold

from reproduction.metrics import GLOBAL, _rankings, _scores, declared
from reproduction.parameters import Count, ImportanceName, Natural, Seed, Share
from splitcredit.prediction_gap.randomizing import randomized_predictions
from splitcredit.prediction_gap.rankings import top_k_mask
from splitcredit.prediction_gap.retraining import removed_predictions, removed_sets, squared_errors

FEATURES = ("test", "training")
LEADS = ("value", "lead", "low", "high", "standard_error")


@declared("ranking", "k", values=(*LEADS, "draws_error"), **GLOBAL)
def randomized_error(
    attributions,
    forest,
    data,
    training,
    ks: Sequence[Count],
    reference: ImportanceName | None = None,
    n_draws: Count = 100,
    features: Literal["test", "training"] = "test",
    *,
    random_state: Seed = 0,
) -> pd.DataFrame:
    """Error of the mean prediction over draws of the first k features from their marginals.

    gajewski2025, table 4. One row a ranking and k. The `n_draws` are in two halves, each with a
    seed of its own, from whose difference ``draws_error`` follows, the error by the draws alone,
    rows given; with one draw there is none.

    `features` ``"test"``: rows, and the marginals that are drawn from, are those of the test, as
    the text of gajewski2025 says. ``"training"``: row i and the marginals are those of the training
    rows, while ranking and target are those of row i of the test, as in the authors' code.
    """
    ranked, reference = _rankings.compared(attributions, len(data.X), reference)
    X, source = _rows(data, training, features)
    sets = [top_k_mask(ranking, k, forest.n_features) for ranking in ranked.values() for k in ks]
    sets = np.stack(sets, axis=1)
    y, halves = np.asarray(data.y, float), _halves(n_draws, random_state)
    # Rankings often begin with the same features: all are measured at once.
    predicted = [randomized_predictions(forest, X, sets, source, n, seed) for n, seed in halves]
    predicted = np.split(np.stack(predicted), len(ranked), axis=2)
    errors, noise = {}, {}
    for name, means in zip(ranked, predicted, strict=True):
        predictions = np.average(means, axis=0, weights=[n for n, _ in halves])
        errors[name] = (predictions - y[:, None]) ** 2
        spread = (means[0] - means[-1]) / 2 if len(halves) > 1 else np.nan
        noise[name] = np.sqrt((errors[name] * spread**2).sum(axis=0)) / len(y)
    rows, base = [], errors[reference]
    for name, errors_of_rows in errors.items():
        for c, k in enumerate(ks):
            row = {"ranking": name, "k": k}
            row |= _error(errors_of_rows[:, c], base[:, c], random_state)
            row["draws_error"] = noise[name][c] / row["value"] if row["value"] else np.nan
            rows.append(row)
    return pd.DataFrame(rows)


def _error(squared, reference, random_state):
    """RMSE of squared errors of rows, its lead over the one of the reference, and its error."""
    row = {"value": np.sqrt(squared.mean())}
    row |= _rankings.lead(squared, reference, "rmse", random_state)
    return row | {"standard_error": _rankings.rmse_error(squared)}


def _rows(data, training, features):
    """Rows to randomize, and those whose values are drawn."""
    if features not in FEATURES:
        raise ValueError(f"features={features!r}: expected one of {', '.join(FEATURES)}")
    if features == "test":
        return data.X, data.X
    if len(training.X) < len(data.X):
        raise ValueError(
            f"features='training': {len(training.X)} training rows for {len(data.X)} of the test"
        )
    return training.X[: len(data.X)], training.X


def _halves(n_draws, random_state):
    """Numbers of draws, and their seeds."""
    if n_draws < 1:
        raise ValueError(f"n_draws is {n_draws}: at least 1")
    seeds = np.random.SeedSequence(random_state).generate_state(2).tolist()
    sizes = (n_draws - n_draws // 2, n_draws // 2)
    return [(n, seed) for n, seed in zip(sizes, seeds, strict=True) if n]


@declared("ranking", "k", values=LEADS, **GLOBAL)
def removed_error(
    attributions,
    data,
    training,
    refit,
    ks: Sequence[Natural],
    reference: ImportanceName | None = None,
    random_state: Seed = 0,
) -> pd.DataFrame:
    """Error on the test of models fitted again without the first k features of the row.

    gajewski2025, table 5. One row a ranking and k; ``n_fits`` is the number of models behind the
    value. There is a fit for each set of features that is removed; rankings and k share them.
    """
    ranked, reference = _rankings.compared(attributions, len(data.X), reference)
    models, errors, (n, d) = {}, {}, data.X.shape
    for k in ks:
        for name, ranking in ranked.items():
            rows = training.X, training.y, data.X
            predictions = removed_predictions(refit, *rows, ranking, k, models)
            errors[name, k] = squared_errors(predictions, data.y)
        print(f"removed_error: {len(models)} models fitted up to k={k}", flush=True)
    rows = []
    for (name, k), errors_of_rows in errors.items():
        row = {"ranking": name, "k": k}
        row |= _error(errors_of_rows, errors[reference, k], random_state)
        rows.append(row | {"n_fits": len(removed_sets(ranked[name], k, n, d))})
    return pd.DataFrame(rows)


@declared("importance", **GLOBAL)
def randomized_first(
    attributions,
    forest,
    data,
    training,
    share: Share = 0.25,
    n_rows: Count = 8,
    n_draws: Count = 50,
    random_state: Seed = 0,
) -> pd.DataFrame:
    """Error of the mean prediction over draws of a share of the features from the training rows.

    One row a measure, as `randomized_error`, from the first `n_rows` rows and `n_draws` of each.
    """
    X, d = data.X[:n_rows], data.X.shape[1]
    orders, k = _rankings.row_orders(attributions, len(X)), _n_first(share, d)
    sets = np.stack([top_k_mask(order, k, d) for order in orders.values()], axis=1)
    squares = np.zeros(len(orders))
    how = {"reference": training.X, "n_draws": n_draws, "random_state": random_state}
    for output, rows, wanted in _targets(forest.output_names, data.y[:n_rows]):
        predicted = 0.0
        if output is not None:
            predicted = randomized_predictions(forest, X[rows], sets[rows], output=output, **how)
        squares += ((predicted - wanted[:, None]) ** 2).sum(axis=0)
    return _scores.table(dict(zip(orders, np.sqrt(squares / len(X)), strict=True)))


@declared("importance", values=("value", "n_fits"), **GLOBAL)
def removed_first(attributions, data, training, refit, share: Share = 0.25) -> pd.DataFrame:
    """Error on the rows that are explained, of a model fitted without a share of the features.

    One row a measure, as `removed_error`, with one order for all rows: a model for each set of
    features. ``n_fits`` are the models behind all rows.
    """
    k = _n_first(share, data.X.shape[1])
    orders = _rankings.global_orders(attributions)
    sets = {name: tuple(sorted(order[:k].tolist())) for name, order in orders.items()}
    errors = {gone: _error_without(gone, data, training, refit) for gone in set(sets.values())}
    values = {name: errors[removed] for name, removed in sets.items()}
    return _scores.table(values, n_fits=len(errors))


def _error_without(removed, data, training, refit):
    model = refit(np.delete(training.X, removed, axis=1), training.y)
    X, squares = np.delete(data.X, removed, axis=1), np.empty(len(data.X))
    classes = getattr(model, "classes_", ())
    predicted = model.predict_proba(X) if len(classes) else model.predict(X)[:, None]
    for output, rows, wanted in _targets(classes, data.y):
        squares[rows] = wanted**2 if output is None else (predicted[rows, output] - wanted) ** 2
    return float(np.sqrt(squares.mean()))


def _n_first(share, n_features):
    """Number of features that are a share of all, one at least and not all of them."""
    return min(max(1, round(share * n_features)), n_features - 1)


def _targets(names, y):
    """Return output, rows, and target: y itself, or 1 for the probability of the true class.

    The output is None for a class that the model does not know, whose probability is 0.
    """
    if len(names) < 2:
        return [(0, np.arange(len(y)), np.asarray(y, float))]
    places = {str(name): place for place, name in enumerate(names)}
    rows_of = {c: np.flatnonzero(y == c) for c in np.unique(y)}
    return [(places.get(str(c)), rows, np.ones(len(rows))) for c, rows in rows_of.items()]


@declared("shuffle", "fold")
def cross_validated_error(
    attributions,
    training,
    refit,
    n_folds: Annotated[int, ">= 2"] = 5,
    n_shuffles: Natural = 0,
    random_state: Seed = 0,
) -> pd.DataFrame:
    """Errors of models fitted without one part of the training rows, on that part.

    One row a fit: ``shuffle`` and ``fold``, both from 0; ``n_training`` and ``n_held_out``, the
    rows of the fit and of the error. With 0 `n_shuffles` the rows are cut in their order, as
    scikit-learn's grid search does; else they are shuffled and cut so many times.
    """
    X, y = np.asarray(training.X), np.asarray(training.y)
    random = np.random.default_rng(random_state)
    orders = [random.permutation(len(X)) for _ in range(n_shuffles)] or [np.arange(len(X))]
    rows = []
    for shuffle, order in enumerate(orders):
        for fold, (training_rows, held_out) in enumerate(KFold(n_folds).split(X)):
            training_rows, held_out = order[training_rows], order[held_out]
            predicted = refit(X[training_rows], y[training_rows]).predict(X[held_out])
            row = {"shuffle": shuffle, "fold": fold}
            row["value"] = root_mean_squared_error(y[held_out], predicted)
            rows.append({**row, "n_training": len(training_rows), "n_held_out": len(held_out)})
    return pd.DataFrame(rows)
