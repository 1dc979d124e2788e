"""Error of a model whose most important features are randomized, row by row.

Source: gajewski2025, Comparison vs SHAP with Feature Removing, first method, and table 4. The
prediction without the first k features of a row's ranking is the mean of f over independent draws
of these features from their marginal distributions in a reference set; the error is its RMSE
against the target. A ranking that names what matters makes it large.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from splitcredit.convert import forest_and_rows
from splitcredit.faithfulness.prediction_gap import only_output, refuse_special_values
from splitcredit.faithfulness.rankings import top_k_mask, validate_rankings
from splitcredit.kernels.walks import predict

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
        Of each row; their mean is the square of `rmse`.
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
    rows: ArrayLike | None = None,
    output: str | int | None = None,
) -> Randomized:
    """RMSE with the k most important features of each row randomized.

    Parameters
    ----------
    model : fitted model or Forest
    X : array-like (n_samples, n_features)
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
    rows : int (n_rows,), optional
        Rows to use, all without it.
    output : str or int, optional
        Name or index; may be left out if there is one.

    Returns
    -------
    Randomized

    Raises
    ------
    ValueError
        If arguments do not fit the model or each other, or `n_draws` is below 1.

    Examples
    --------
    >>> from splitcredit.faithfulness.randomizing import randomized_rmse
    >>> from sklearn.datasets import make_friedman1
    >>> from sklearn.ensemble import RandomForestRegressor
    >>> X, y = make_friedman1(200, 5, random_state=0)
    >>> model = RandomForestRegressor(10, max_depth=4, random_state=0).fit(X, y)
    >>> from splitcredit.faithfulness.greedy import greedy_ranking
    >>> ranks = greedy_ranking(model, X[:20], scale=0.1).rankings
    >>> randomized_rmse(model, X[:20], y[:20], ranks, [1, 3], reference=X).rmse.round(1)
    array([3. , 4.9])
    """
    forest, table, source = forest_and_rows(model, X, reference)
    refuse_special_values(forest)
    output = only_output(forest, output)
    table, source, y = forest.prepare(table), forest.prepare(source), np.asarray(y, float)
    rankings = validate_rankings(rankings, len(table), forest.n_features)
    if y.shape != (len(table),):
        raise ValueError(
            f"y has shape {y.shape}, expected ({len(table)},), a number for each row of X"
        )
    if n_draws < 1 or len(source) == 0:
        raise ValueError(f"{n_draws} draws from {len(source)} rows: both must be at least 1")
    rows = np.arange(len(table)) if rows is None else np.asarray(rows, np.int64)
    masks = [top_k_mask(rankings, k, forest.n_features) for k in ks]
    predictions = np.empty((len(rows), len(masks)))
    together = max(1, _CHUNK // n_draws)
    for start in range(0, len(rows), together):
        some = rows[start : start + together]
        drawn = _draws(source, n_draws, random_state, some)
        for c, mask in enumerate(masks):
            samples = np.where(mask[some][:, None], drawn, table[some][:, None])
            predicted = predict.predict(forest, _flat(samples))[:, output]
            means = predicted.reshape(len(some), n_draws).mean(axis=1)
            predictions[start : start + len(some), c] = means
    errors = (predictions - y[rows, None]) ** 2
    return Randomized(np.sqrt(errors.mean(axis=0)), errors, predictions)


def _draws(reference, n_draws, random_state, rows):
    """Independent draws for all features of each row, (n_rows, n_draws, n_features)."""
    shape = n_draws, reference.shape[1]
    picks = np.empty((len(rows), *shape), np.int64)
    for i, row in enumerate(rows.tolist()):
        sequence = np.random.SeedSequence(random_state, spawn_key=(row,))
        picks[i] = np.random.default_rng(sequence).integers(len(reference), size=shape)
    return reference[picks, np.arange(reference.shape[1])]


def _flat(samples):
    """As prepared rows: read-only, one type for the compiled code."""
    flat = samples.reshape(-1, samples.shape[-1])
    flat.flags.writeable = False
    return flat
