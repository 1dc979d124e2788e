"""What tables 3 and 6 share: mean PGI2 of the greedy rankings and of SHAP's.

The printed means are over the first three rows of the test (variant published); described are all.
"""

from __future__ import annotations

import pandas as pd

from reproduction.papers.gajewski2025._settings import GREEDY, SHAP
from reproduction.papers.gajewski2025._tables import counted, over_splits, with_lead

KEYS = ["sigma_metric", "ranking"]
# "A slight exception": these noises differ most (of the metric, of the ranking).
EXCEPTION = (1.0, GREEDY[0.1])


def compute(frame) -> pd.DataFrame:
    """Mean PGI2, over the splits.

    Parameters
    ----------
    frame : DataFrame
        Metric ``pgi2`` of one experiment.

    Returns
    -------
    DataFrame
        ``variant``, ``dataset``, ``model``, ``sigma_metric``, ``ranking``; ``value`` in squared
        units of the target, ``low``, ``high``, ``deviation``, ``n_splits``; ``lead`` over SHAP
        with the mean interval of a split, ``lead_low``, ``lead_high``; ``n_rows`` of a split.
    """
    table = over_splits([with_lead(frame)], KEYS)
    setting = ["variant", "dataset", "model", *KEYS]
    rows = frame.rename(columns={"data": "dataset"}).groupby(setting, sort=False)["n_rows"].max()
    return table.merge(rows.reset_index(), on=setting, how="left")


def statements(table) -> list[dict]:
    """s10: greedy rankings have the higher mean PGI2, the stated exception apart."""
    found = []
    for variant, rows in table.groupby("variant", sort=False):
        model = rows["model"].iloc[0]
        rows = rows[rows["ranking"] != SHAP]
        pair = (rows["sigma_metric"] == EXCEPTION[0]) & (rows["ranking"] == EXCEPTION[1])
        words = "settings but (sigma' 1, sigma 0.1) in which SHAP's mean PGI2 is higher"
        behind = rows.loc[~pair, "lead"] < 0
        found.append(counted("s10", f"{variant}, {model}", words, behind, 0, "at most"))
    return found
