"""Measure the error of a model whose most important features are randomized, row by row.

Source: gajewski2025, Comparison vs SHAP with Feature Removing, first method, and table 4. The
prediction without the first k features of a row's ranking is the mean of f over independent draws
of these features from their marginal distributions in a reference set; the error is its RMSE
against the target. It is large if a ranking begins with the features that matter.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from splitcredit.kernels.walks import predict
from splitcredit.models.opened import Opened
from splitcredit.prediction_gap.exact_gap import only_output, refuse_special_values
from splitcredit.prediction_gap.rankings import (
    checked_ks,
    first_of_same,
    rankings_of_model,
    top_k_mask,
)
from splitcredit.rows.tables import check_whole, numbers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

# Rows predicted at a time: some 30 MB.
_CHUNK = 1 << 18


class Randomized(NamedTuple):
    """The result of `randomized_rmse`.

    Parameters
    ----------
    rmse : float64 (n_ks,), in units of the target
    squared_errors : float64 (n_rows, n_ks)
        Squared error of each row; their mean is the square of `rmse`.
    predictions : float64 (n_rows, n_ks)
    """

    rmse: np.ndarray
    squared_errors: np.ndarray
    predictions: np.ndarray


def randomized_rmse(
    model: object,
    X: ArrayLike,
    y: ArrayLike,
    rankings: ArrayLike,
    ks: Sequence[int],
    reference: ArrayLike,
    n_draws: int = 100,
    random_state: int = 0,
    *,
    rows: ArrayLike | None = None,
    output: str | int | None = None,
) -> Randomized:
    """Compute the RMSE with the k most important features of each row randomized.

    Parameters
    ----------
    model, X, output
        See `exact_gap.pg2`.
    y : float (n_samples,)
    rankings : int (n_samples, n_ranked)
        Features of each row, the most important first. X, y and the rankings are put together row
        by row, wherever they come from: the authors' code takes X from the training rows and the
        two others from the test rows.
    ks : sequence of int
    reference : array-like (n_reference, n_features)
        Its columns are the distributions, every value equally likely.
    n_draws : int
    random_state : int
        Draws of a row depend on this, the row's number and `reference` alone, so rankings, values
        of k and groups of rows are compared on the same draws.
    rows : int or bool (n_rows,), optional
        Rows to use, by number or as a mask; all without it.

    Returns
    -------
    Randomized

    Raises
    ------
    ValueError
        If arguments do not fit the model or each other, or `n_draws` is below 1.

    Examples
    --------
    >>> from splitcredit.prediction_gap.randomizing import randomized_rmse
    >>> from splitcredit.prediction_gap.greedy import greedy_ranking
    >>> ranks = greedy_ranking(model, X[:20], scale=0.1).rankings
    >>> randomized_rmse(model, X[:20], y[:20], ranks, [1, 3], reference=X).rmse.round(1)
    array([3. , 4.9])
    """
    forest, table, source, output = _checked(model, X, reference, n_draws, random_state, output)
    rankings = rankings_of_model(rankings, X, forest)
    y = numbers(y, "y")
    if y.shape != (len(table),):
        raise ValueError(
            f"y has shape {y.shape}, expected ({len(table)},), a number for each row of X"
        )
    ks = checked_ks(ks)
    chosen = _chosen_rows(rows, len(table))
    sets = np.stack([top_k_mask(rankings, k, forest.n_features) for k in ks], axis=1)
    predictions = _predictions(forest, table, sets, source, n_draws, random_state, chosen, output)
    errors = (predictions - y[chosen, None]) ** 2
    return Randomized(np.sqrt(errors.mean(axis=0)), errors, predictions)


def randomized_predictions(
    model: object,
    X: ArrayLike,
    sets: ArrayLike,
    reference: ArrayLike,
    n_draws: int = 100,
    random_state: int = 0,
    output: str | int | None = None,
) -> np.ndarray:
    """Predict each row with the features of each set randomized, float64 (n_samples, n_sets)."""
    forest, table, source, output = _checked(model, X, reference, n_draws, random_state, output)
    sets = np.asarray(sets)
    if sets.dtype != bool or sets.ndim != 3 or sets.shape[::2] != table.shape[:2]:
        raise ValueError(
            f"sets have shape {sets.shape} and dtype {sets.dtype}, expected bool "
            f"({len(table)}, n_sets, {forest.n_features})"
        )
    rows = np.arange(len(table))
    return _predictions(forest, table, sets, source, n_draws, random_state, rows, output)


def _chosen_rows(rows, n):
    """Return the numbers of the rows to use, int64."""
    numbers = np.arange(n) if rows is None else np.asarray(rows)
    if numbers.dtype == np.bool_ and numbers.shape == (n,):
        numbers = np.flatnonzero(numbers)
    whole = numbers.dtype.kind in "iu" and numbers.ndim == 1 and len(numbers) > 0
    if not whole or numbers.min() < 0 or numbers.max() >= n:
        raise ValueError(f"rows must be numbers from 0 to {n - 1}, or a mask of {n}; at least one")
    return numbers.astype(np.int64)


def _checked(model, X, reference, n_draws, random_state, output):
    """Return the forest, prepared rows of X and of the reference, and the output's index."""
    check_whole("random_state", random_state)
    opened = Opened(model, X, reference)
    forest, table, source = opened.forest, opened.rows, opened.background
    refuse_special_values(forest)
    output = only_output(forest, output)
    table, source = forest.prepare(table), forest.prepare(source)
    check_whole("n_draws", n_draws, 1)
    if len(source) == 0:
        raise ValueError("the reference has no rows: pass at least one")
    return forest, table, source, output


def _predictions(forest, table, sets, source, n_draws, random_state, rows, output):
    """Average predictions, float64 (len(rows), n_sets)."""
    predictions = np.empty((len(rows), sets.shape[1]))
    together = max(1, _CHUNK // n_draws)
    for start in range(0, len(rows), together):
        chunk = rows[start : start + together]
        means = predictions[start : start + len(chunk)]
        drawn = _draws(source, n_draws, random_state, chunk)
        same = first_of_same(sets[chunk])
        for c in range(sets.shape[1]):
            new = np.flatnonzero(same[:, c] == c)
            changed = sets[chunk[new], c][:, None]
            samples = np.where(changed, drawn[new], table[chunk[new]][:, None])
            predicted = predict.predict(forest, _flat(samples))[:, output]
            means[new, c] = predicted.reshape(len(new), n_draws).mean(axis=1)
        means[...] = np.take_along_axis(means, same, axis=1)
    return predictions


def _draws(reference, n_draws, random_state, rows):
    """Draw independently for all features of each row, (n_rows, n_draws, n_features)."""
    shape = n_draws, reference.shape[1]
    picks = np.empty((len(rows), *shape), np.int64)
    for i, row in enumerate(rows.tolist()):
        sequence = np.random.SeedSequence(random_state, spawn_key=(row,))
        picks[i] = np.random.default_rng(sequence).integers(len(reference), size=shape)
    return reference[picks, np.arange(reference.shape[1])]


def _flat(samples):
    """Return rows for the compiled code: read-only, as prepared ones are."""
    flat = samples.reshape(-1, samples.shape[-1])
    flat.flags.writeable = False
    return flat
