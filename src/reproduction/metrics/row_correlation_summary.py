"""Mean, spread and share of high values of the correlations within rows."""

from typing import Annotated, Literal

import pandas as pd

from reproduction.metrics import row_correlation
from reproduction.parameters import ImportanceName

KEYS = ("versus", "reference", "correlation", "statistic")
VALUES = ("value",)
IMPORTANCES = 2
SCORES = "local"
# Without thresholds there are no shares.
MAY_BE_EMPTY = ("thresholds",)


def compute(
    attributions,
    pairs: list[tuple[ImportanceName, ImportanceName]] | None = None,
    scores: Literal["signed", "absolute"] = "signed",
    thresholds: tuple[Annotated[float, ">= -1, <= 1"], ...] = (0.9, 0.75),
) -> pd.DataFrame:
    """Summary over the rows of `reproduction.metrics.row_correlation`.

    Parameters
    ----------
    attributions, pairs, scores
        As for `row_correlation.compute`.
    thresholds : tuple of float
        Shares are counted at and above each.

    Returns
    -------
    DataFrame
        One row a pair, correlation and statistic: ``reference``, ``versus``, ``correlation``,
        ``statistic``, ``value``. Statistics: mean, std (population: ddof 0), min and max over the
        rows where the correlation is defined, ``frac>=...`` in percent of all rows, and
        ``undefined``, the number of rows without one.
    """
    rows = row_correlation.compute(attributions, pairs, scores)
    keys = ["reference", "versus", "correlation"]
    summary = rows.groupby(keys, sort=False)["value"].apply(summarize, thresholds)
    return summary.rename_axis([*keys, "statistic"]).rename("value").reset_index()


def summarize(values: pd.Series, thresholds) -> pd.Series:
    """Statistics of one set of correlations; see `measure`."""
    return pd.Series(
        {
            "mean": values.mean(),
            "std": values.std(ddof=0),
            "min": values.min(),
            "max": values.max(),
            **{f"frac>={t:g}": 100 * (values >= t).mean() for t in thresholds},
            "undefined": float(values.isna().sum()),
        }
    )
