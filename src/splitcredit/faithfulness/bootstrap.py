"""Paired bootstrap: how sure is a difference between two rankings, measured on the same rows."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

# Of the squared errors of the rows; along the last axis.
STATISTICS = {
    "rmse": lambda errors: np.sqrt(errors.mean(axis=-1)),
    "mean": lambda errors: errors.mean(axis=-1),
}
# Numbers drawn at a time.
_CHUNK = 1 << 22


class Difference(NamedTuple):
    """A difference and its interval, in units of the statistic."""

    estimate: float
    low: float
    high: float


def bootstrap_difference(
    errors_a, errors_b, statistic="rmse", n=10_000, random_state=0, level=0.95
) -> Difference:
    """Statistic of a minus that of b, with a percentile interval over resampled rows.

    Each resample takes the same rows of both, so what makes a row hard for both cancels.

    Parameters
    ----------
    errors_a, errors_b : float (n_rows,)
        Squared errors for ``"rmse"``; any numbers for ``"mean"``.
    statistic : {"rmse", "mean"}
    n : int
        Number of resamples.
    random_state : int
    level : float
        Share of the resamples in the interval.

    Returns
    -------
    Difference

    Raises
    ------
    ValueError
        If the rows differ in number or there are none, or the statistic is unknown.
    """
    if statistic not in STATISTICS:
        known = ", ".join(map(repr, STATISTICS))
        raise ValueError(f"statistic={statistic!r}: available are {known}")
    pair = np.stack([np.asarray(errors, float) for errors in _same_rows(errors_a, errors_b)])
    if n < 1 or not 0 < level < 1:
        raise ValueError(f"n={n}, level={level}: expected at least 1, and a share between 0 and 1")
    of, random, n_rows = STATISTICS[statistic], np.random.default_rng(random_state), pair.shape[1]
    differences, together = np.empty(n), max(1, _CHUNK // n_rows)
    for start in range(0, n, together):
        stop = min(n, start + together)
        a, b = of(pair[:, random.integers(n_rows, size=(stop - start, n_rows))])
        differences[start:stop] = a - b
    a, b = of(pair)
    low, high = np.quantile(differences, [(1 - level) / 2, (1 + level) / 2])
    return Difference(float(a - b), float(low), float(high))


def _same_rows(errors_a, errors_b):
    if np.shape(errors_a) != np.shape(errors_b) or np.ndim(errors_a) != 1 or not len(errors_a):
        raise ValueError(
            f"errors have shapes {np.shape(errors_a)} and {np.shape(errors_b)}, "
            "expected one number for each of the same rows"
        )
    return errors_a, errors_b
