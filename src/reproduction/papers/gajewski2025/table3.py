"""Table 3: mean PGI2 of greedy rankings and of SHAP's, bigger models.

Beside it, what the paper leaves open: how near they come to the best of all orders, and whether PGI
as others sample it, from absolute gaps, says the same.
"""

from __future__ import annotations

import pandas as pd

from reproduction.papers import finding
from reproduction.papers.gajewski2025 import _pgi2
from reproduction.papers.gajewski2025._settings import GREEDY, SHAP

EXPERIMENT = "gajewski2025_bigger"
_SETTING = ["variant", "dataset", "model", *_pgi2.KEYS]


def compute(inputs) -> pd.DataFrame:
    """Mean PGI2, its share of the largest that any ranking has, and agreement with PGI.

    Parameters
    ----------
    inputs : dict of DataFrame
        ``gajewski2025_bigger/pgi2``, ``gajewski2025_bigger/pgi2_optimum``,
        ``gajewski2025_bigger/pgi_agreement``.

    Returns
    -------
    DataFrame
        See `_pgi2.compute`; and, as means over the splits, ``of_optimum``, the share of the
        optimum, missing where there are too many features for all orders; ``spearman``, the
        correlation of PGI and PGI2 over the rows; and ``alike``, the share of the rows in which
        both put the same first, this ranking or SHAP's.
    """
    table = _pgi2.compute(inputs[f"{EXPERIMENT}/pgi2"])
    optimum = inputs[f"{EXPERIMENT}/pgi2_optimum"]
    agreement = inputs[f"{EXPERIMENT}/pgi_agreement"]
    both = agreement[agreement["quantity"] == "alike"]
    # Pairs are named once, in the order of the importances.
    swapped = both.rename(columns={"ranking": "other", "other": "ranking"})
    both = pd.concat([both, swapped]).query("other == @SHAP")
    for name, rows in (
        ("of_optimum", optimum),
        ("spearman", agreement[agreement["quantity"] == "spearman"]),
        ("alike", both),
    ):
        rows = rows.rename(columns={"data": "dataset", "value": name})
        means = rows.groupby(_SETTING, sort=False)[name].mean().reset_index()
        table = table.merge(means, on=_SETTING, how="left")
    return table


def statements(table) -> list[dict]:
    """s10; and s14: a greedy ranking comes nearer to the optimum than SHAP's, at its own noise."""
    found = _pgi2.statements(table)
    for variant, rows in table.dropna(subset=["of_optimum"]).groupby("variant", sort=False):
        by = rows.pivot(index=["dataset", "sigma_metric"], columns="ranking", values="of_optimum")
        leads = [
            by.xs(sigma, level="sigma_metric")[ranking] - by.xs(sigma, level="sigma_metric")[SHAP]
            for sigma, ranking in GREEDY.items()
        ]
        words = "smallest lead of the greedy ranking's share of the largest PGI2 over SHAP's"
        found.append(finding("s14", variant, words, pd.concat(leads).min(), 0.0, "at least"))
    return found
