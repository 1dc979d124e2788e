"""Rankings against the largest PGI^2 of all orders, which gajewski2025 leaves open."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from reproduction.metrics import _rankings
from reproduction.parameters import Count, NonNegative
from splitcredit.prediction_gap import optimum
from splitcredit.prediction_gap.exact_gap import pg2

KEYS = ("ranking", "sigma_metric")
VALUES = ("value", "median", "quantile5", "least", "optimal", "first_best")
IMPORTANCES = 1
SCORES = "global"

# With more features, the search through all their sets takes too long.
MOST_FEATURES = 12
# A ranking whose PGI^2 is less than the largest by at most this part of it is optimal.
_NEAR = 1e-9


def compute(
    attributions, forest, data, sigmas: Sequence[NonNegative], n_rows: Count | None = None
) -> pd.DataFrame:
    """PGI^2 of rankings as a share of the best, with normal noise.

    Parameters
    ----------
    attributions, forest, data, sigmas, n_rows
        See `pgi2.compute`.

    Returns
    -------
    DataFrame
        One row a sigma and ranking: ``sigma_metric``, ``ranking``; ``value``, the mean PGI^2 over
        the mean of the best; ``median``, ``quantile5`` (5 %) and ``least`` of the rows' own shares,
        1 where the best is 0; ``optimal``, the share of the rows where the ranking is as good as
        the best; ``first_best``, the share where no other single feature has a larger PG^2 than its
        first; ``n_rows``. With more than 12 features nothing is measured: shares are NaN and
        ``n_rows`` 0.
    """
    ranked, rows = _rankings.rankings(attributions, len(data.X)), []
    X, small = forest.prepare(data.X)[:n_rows], forest.n_features <= MOST_FEATURES
    for sigma in sigmas:
        if small:
            best = optimum.best_ranking(forest, X, scale=sigma).pgi2
            pgi2 = _rankings.pgi2(forest, X, ranked, sigma)
            gaps_of_one = _single_gaps(forest, X, sigma)
        for name, ranking in ranked.items():
            row = {"sigma_metric": float(sigma), "ranking": name}
            row |= dict.fromkeys(VALUES, np.nan) | {"n_rows": 0}
            if small:
                first = np.take_along_axis(gaps_of_one, ranking[: len(X), :1], axis=1)[:, 0]
                is_best = first >= gaps_of_one.max(axis=1) * (1 - _NEAR)
                row |= _shares(pgi2[name], best, is_best) | {"n_rows": len(X)}
            rows.append(row)
    return pd.DataFrame(rows)


def _single_gaps(forest, X, sigma):
    """PG^2 of each feature alone, float64 (n_rows, n_features)."""
    gaps = [pg2(forest, X, mask, scale=sigma) for mask in np.eye(forest.n_features, dtype=bool)]
    return np.stack(gaps, axis=1)


def _shares(pgi2, best, is_first_best):
    share = np.divide(pgi2, best, out=np.ones_like(pgi2), where=best > 0)
    mean_share = pgi2.mean() / best.mean() if best.any() else 1.0
    spread = np.median(share), np.quantile(share, 0.05), share.min(), (share >= 1 - _NEAR).mean()
    measured = mean_share, *spread, is_first_best.mean()
    return dict(zip(VALUES, map(float, measured), strict=True))
