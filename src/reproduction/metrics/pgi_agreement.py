"""Whether PGI as OpenXAI samples it and exact PGI^2 say the same of rankings (gajewski2025)."""

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pandas as pd
from scipy.stats import rankdata

from reproduction.metrics import _rankings
from reproduction.parameters import Count, NonNegative, Seed
from splitcredit.prediction_gap.sampling import gaps_by_k

KEYS = ("ranking", "other", "quantity", "sigma_metric")
VALUES = ("value",)
IMPORTANCES = 1
SCORES = "global"

# Exact values that differ by a smaller part are equal.
_EQUAL = 1e-12


def compute(
    attributions,
    forest,
    data,
    sigmas: Sequence[NonNegative],
    n_samples: Count = 100,
    n_rows: Count | None = 200,
    random_state: Seed = 0,
) -> pd.DataFrame:
    """Agreement of absolute PGI, sampled, with PGI^2, exact, both under the same normal noise.

    Parameters
    ----------
    attributions, forest, data, sigmas, n_rows
        See `pgi2.compute`.
    n_samples : int
        Samples for each row and number of features.
    random_state : int
        Of the samples. Rankings are compared on the same.

    Returns
    -------
    DataFrame
        ``sigma_metric``, ``quantity``, ``ranking``, ``other``, ``value``, ``n_rows``. Quantities:

        - ``spearman``: correlation of the two over the rows, for one ranking; NaN if one of the two
          is the same for all rows.
        - ``alike``: for two rankings, the share of the rows in which both put the same one first,
          or neither; ``n_rows`` are all.
        - ``alike_unequal``: the same among the rows in which their PGI^2 differ.
        - ``swapped``: for two rankings, the share of the rows in which the mean absolute gap puts
          one first and the mean squared gap, of the same samples, the other.
    """
    ranked, rows = _rankings.rankings(attributions, len(data.X)), []
    X = forest.prepare(data.X)[:n_rows]
    for sigma in sigmas:
        options = {"n_samples": n_samples, "random_state": random_state}
        exact = _rankings.pgi2(forest, X, ranked, sigma)
        sampled, squared = (
            {
                name: gaps_by_k(
                    forest, X, ranking[: len(X)], sigma, absolute=absolute, **options
                ).mean(axis=1)
                for name, ranking in ranked.items()
            }
            for absolute in (True, False)
        )
        quantities = [("spearman", a, "", _spearman(sampled[a], exact[a]), len(X)) for a in ranked]
        for a, b in combinations(ranked, 2):
            ours, theirs = _order(exact[a], exact[b]), _order(sampled[a], sampled[b])
            same_order, unequal = ours == theirs, ours != 0
            quantities.append(("alike", a, b, same_order.mean(), len(X)))
            share = same_order[unequal].mean() if unequal.any() else np.nan
            quantities.append(("alike_unequal", a, b, share, unequal.sum()))
            swapped = theirs * _order(squared[a], squared[b]) < 0
            quantities.append(("swapped", a, b, swapped.mean(), len(X)))
        rows += [(float(sigma), *row) for row in quantities]
    columns = ["sigma_metric", "quantity", "ranking", "other", "value", "n_rows"]
    return pd.DataFrame(rows, columns=columns)


def _order(a, b):
    """1 where a is larger, -1 where b is, 0 where they are equal."""
    return np.where(np.abs(a - b) <= _EQUAL * np.maximum(a, b), 0.0, np.sign(a - b))


def _spearman(a, b):
    if np.ptp(a) == 0 or np.ptp(b) == 0:
        return np.nan
    return float(np.corrcoef(rankdata(a), rankdata(b))[0, 1])
