"""Error of the model with the first features of each row randomized (gajewski2025, table 4)."""

from collections.abc import Sequence
from typing import Literal

import numpy as np
import pandas as pd

from reproduction.metrics import _rankings
from reproduction.parameters import Count, ImportanceName, Seed
from splitcredit.prediction_gap.randomizing import randomized_predictions
from splitcredit.prediction_gap.rankings import top_k_mask

KEYS = ("ranking", "k")
VALUES = ("value", "lead", "low", "high", "standard_error", "draws_error")
IMPORTANCES = 1
SCORES = "global"

FEATURES = ("test", "training")


def compute(
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
    """RMSE of the mean prediction over draws of the first k features from their marginals.

    Parameters
    ----------
    attributions : dict of str to Attribution, each with one output
    forest : Forest
    data, training : Dataset
        Rows of the test, which are ranked, and those that the model was fitted on.
    reference : str, optional
        The importance that leads are over; by default the first.
    ks : sequence of int
    n_draws : int
        In two halves, each with a seed of its own, from which the error of the draws follows; with
        one draw there is none.
    features : {"test", "training"}
        ``"test"``: rows, and the marginals that are drawn from, are those of the test, as the text
        of gajewski2025 says. ``"training"``: row i and the marginals are those of the training
        rows, while ranking and target are those of row i of the test, as in the authors' code.
    random_state : int
        Of the draws, which are the same for all rankings and k, and of the bootstrap.

    Returns
    -------
    DataFrame
        One row a ranking and k, in units of the target: ``ranking``, ``k``, ``value``; ``lead``,
        the value minus the reference's, and ``low`` and ``high``, its 95 % bootstrap interval over
        resampled rows; ``standard_error`` of the value, which holds what rows and draws add to it
        (delta method); ``draws_error``, that of the draws alone, rows given (from the difference of
        the two halves).

    Raises
    ------
    ValueError
        If there is no such importance or option, or there are fewer training rows than needed.
    """
    reference = _rankings.reference_of(attributions, reference)
    ranked = _rankings.rankings(attributions, len(data.X), reference)
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
    rows, base = [], errors[_rankings.label(reference)]
    for name, errors_of_rows in errors.items():
        for c, k in enumerate(ks):
            value = np.sqrt(errors_of_rows[:, c].mean())
            row = {"ranking": name, "k": k, "value": value}
            row |= _rankings.lead(errors_of_rows[:, c], base[:, c], "rmse", random_state)
            row["standard_error"] = _rankings.rmse_error(errors_of_rows[:, c])
            row["draws_error"] = noise[name][c] / value if value else np.nan
            rows.append(row)
    return pd.DataFrame(rows)


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
