"""Table 5: error of models fitted without the k most important features of each row."""

from __future__ import annotations

import pandas as pd

from reproduction.papers.gajewski2025 import _removal
from reproduction.papers.gajewski2025._settings import SHAP
from reproduction.papers.gajewski2025._tables import share_finding

SUGGEST = '"suggest": in most settings; the interval counts 95 % bootstrap intervals over the rows'


def compute(inputs) -> pd.DataFrame:
    """Errors over the splits, larger is better; see `_removal.compute`.

    Parameters
    ----------
    inputs : dict of DataFrame
        ``gajewski2025_bigger/removed_error``.
    """
    return _removal.compute(inputs["gajewski2025_bigger/removed_error"])


def statements(table) -> list[dict]:
    """s13: SHAP's first features are missed most."""
    findings = []
    for (variant, dataset), rows in table.groupby(["variant", "dataset"], sort=False):
        measured = "settings in which SHAP's error is larger than the greedy ranking's"
        greedy = rows[rows["ranking"] != SHAP]
        ends = (greedy["lead_high"] < 0).mean(), (greedy["lead_low"] < 0).mean()
        options = {"basis": "chosen", "reason": SUGGEST, "interval": ends}
        name = f"{variant}, {dataset}"
        findings.append(share_finding("s13", name, measured, greedy["lead"] < 0, **options))
    return findings
