"""Rankings of many features against an upper bound of the largest PGI^2 of all orders."""

from collections.abc import Sequence
from typing import Annotated

import numpy as np
import pandas as pd

from reproduction.metrics import _rankings
from reproduction.parameters import Count, NonNegative
from splitcredit.prediction_gap.bounds import largest_pgi2

KEYS = ("ranking", "sigma_metric")
VALUES = ("value", "median", "quantile5", "pgi2", "largest", "exact", "n_rows")
IMPORTANCES = 1
SCORES = "global"


def compute(
    attributions,
    forest,
    data,
    sigmas: Sequence[NonNegative],
    searched: Annotated[int, ">= 1, <= 16"] = 12,
    n_rows: Count | None = None,
) -> pd.DataFrame:
    """PGI^2 of rankings as a share of the largest, or of an upper bound of it, with normal noise.

    Parameters
    ----------
    attributions, forest, data, sigmas, n_rows
        See `pgi2.compute`.
    searched : int
        See `splitcredit.prediction_gap.bounds.largest_pgi2`.

    Returns
    -------
    DataFrame
        One row a sigma and ranking: ``sigma_metric``, ``ranking``; ``value``, the mean PGI^2 over
        the mean of the bounds, which is at most the share of the largest PGI^2; ``median`` and
        ``quantile5`` (5 %) of the rows' own shares, 1 where the bound is 0; ``pgi2`` and
        ``largest``, the two means, in squared units of the prediction; ``exact``, the share of the
        rows whose bound is the largest PGI^2 itself; ``n_rows``.
    """
    ranked, rows = _rankings.rankings(attributions, len(data.X)), []
    X = forest.prepare(data.X)[:n_rows]
    for sigma in sigmas:
        best = largest_pgi2(forest, X, scale=sigma, searched=searched)
        pgi2 = _rankings.pgi2(forest, X, ranked, sigma)
        for name in ranked:
            share = np.divide(pgi2[name], best.upper, out=np.ones(len(X)), where=best.upper > 0)
            mean_share = pgi2[name].mean() / best.upper.mean() if best.upper.any() else 1.0
            row = {"sigma_metric": float(sigma), "ranking": name, "value": mean_share}
            row |= {"median": np.median(share), "quantile5": np.quantile(share, 0.05)}
            row |= {"pgi2": pgi2[name].mean(), "largest": best.upper.mean()}
            rows.append(row | {"exact": best.exact.mean(), "n_rows": len(X)})
    return pd.DataFrame(rows, columns=[*KEYS, *VALUES])
