"""PGI^2 of rankings, exactly (gajewski2025, tables 3 and 6)."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from reproduction.metrics import _rankings
from reproduction.parameters import Count, ImportanceName, NonNegative, Seed

KEYS = ("ranking", "sigma_metric")
VALUES = ("value", "lead", "low", "high")
IMPORTANCES = 1
SCORES = "global"


def compute(
    attributions,
    forest,
    data,
    sigmas: Sequence[NonNegative],
    reference: ImportanceName | None = None,
    n_rows: Count | None = None,
    random_state: Seed = 0,
) -> pd.DataFrame:
    """Mean PGI^2 of every ranking, with normal noise.

    Parameters
    ----------
    attributions : dict of str to Attribution, each with one output
    forest : Forest
    data : Dataset
        The rows that are ranked.
    sigmas : sequence of float
        Standard deviations of the noise that is measured with, in units of the features.
    reference : str, optional
        The importance that leads are over; by default the first.
    n_rows : int, optional
        Take only this many of the first rows; gajewski2025's printed numbers are of three.
    random_state : int
        Of the bootstrap.

    Returns
    -------
    DataFrame
        One row a sigma and ranking: ``sigma_metric``, ``ranking``, ``value``, ``n_rows``;
        ``row_deviation``, the standard deviation over the rows; ``lead``, the value minus the
        reference's, and ``low`` and ``high``, its 95 % bootstrap interval over resampled rows. In
        squared units of the prediction.

    Raises
    ------
    ValueError
        If there is no such importance.
    """
    reference = _rankings.reference_of(attributions, reference)
    ranked = _rankings.rankings(attributions, len(data.X), reference)
    X, rows = forest.prepare(data.X)[:n_rows], []
    for sigma in sigmas:
        values = _rankings.pgi2(forest, X, ranked, sigma)
        base = values[_rankings.label(reference)]
        for name, pgi2_of_rows in values.items():
            row = {"sigma_metric": float(sigma), "ranking": name, "value": pgi2_of_rows.mean()}
            row["n_rows"] = len(X)
            row["row_deviation"] = pgi2_of_rows.std(ddof=1) if len(X) > 1 else np.nan
            rows.append(row | _rankings.lead(pgi2_of_rows, base, "mean", random_state))
    return pd.DataFrame(rows)
