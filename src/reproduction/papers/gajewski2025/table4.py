"""Table 4: error with the k most important features of each row drawn anew; larger is better.

The printed numbers (variant published) come from a program that predicts row i of the training
part with the ranking and the label of row i of the test. Described is what the text says.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from reproduction.papers import finding
from reproduction.papers.gajewski2025 import _removal
from reproduction.papers.gajewski2025._settings import GREEDY, SHAP
from reproduction.papers.gajewski2025._tables import counted

NO_DIFFERENCE = ("red_wine", "parkinson")
BETTER = "california_housing"


def compute(inputs) -> pd.DataFrame:
    """Errors over the splits.

    Parameters
    ----------
    inputs : dict of DataFrame
        ``gajewski2025_bigger/randomized_error``.

    Returns
    -------
    DataFrame
        See `_removal.compute`; but ``standard_error`` is that of the difference from print: rows
        are the same, and print and ours each have draws of their own.
    """
    frame = inputs["gajewski2025_bigger/randomized_error"]
    of_difference = np.sqrt(2) * frame["draws_error"]
    return _removal.compute(frame.assign(standard_error=of_difference))


def statements(table) -> list[dict]:
    """s11: on two data sets no difference, by 95 % intervals; s12: on housing greedy is better."""
    findings = []
    for variant, rows in table.groupby("variant", sort=False):
        greedy = rows[rows["ranking"] != SHAP]
        for dataset in greedy["dataset"].unique():
            if dataset not in NO_DIFFERENCE:
                continue
            settings = greedy[greedy["dataset"] == dataset]
            apart = (settings["lead_low"] > 0) | (settings["lead_high"] < 0)
            measured = "settings in which the 95 % interval of the lead over SHAP leaves out 0"
            findings.append(counted("s11", f"{variant}, {dataset}", measured, apart, 0, "at most"))
        named = greedy["ranking"].isin([GREEDY[0.1], GREEDY[0.3]])
        settings = greedy[(greedy["dataset"] == BETTER) & named]
        shap = rows[(rows["dataset"] == BETTER) & (rows["ranking"] == SHAP)].set_index("k")
        lead = settings["lead"] / shap["value"].reindex(settings["k"]).to_numpy()
        measured = "smallest lead of sigma 0.1 and 0.3 over SHAP, as a share of SHAP's error"
        findings.append(finding("s12", variant, measured, lead.min(), 0.0, "at least"))
    return findings
