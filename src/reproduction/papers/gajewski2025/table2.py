"""Table 2: share of the rows whose k most important features are the same by greedy PG2 and SHAP.

In single trees many features gain nothing and tie. Here the lowest index comes first; `low` and
`high` are what other orders of tied features give. The authors' program leaves them to the order
of a Python set, which differs from run to run.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from reproduction.papers import finding
from reproduction.papers.gajewski2025._settings import GREEDY
from reproduction.papers.gajewski2025._tables import over_splits, share_finding

INPUTS = ("gajewski2025_single/topk_agreement", "gajewski2025_bigger/topk_agreement")
# "less than 76 % of the time".
TOP_FEATURE = 0.76


def compute(inputs) -> pd.DataFrame:
    """Shares of rows, over the splits.

    Parameters
    ----------
    inputs : dict of DataFrame
        ``gajewski2025_single/topk_agreement``, ``gajewski2025_bigger/topk_agreement``.

    Returns
    -------
    DataFrame
        ``variant``, ``dataset``, ``model``, ``sigma``, ``k``; ``value``, ``low``, ``high``,
        ``deviation``, ``n_splits``, see `_tables.over_splits`; ``tied``, share of rows with ties;
        ``low_single`` and ``high_single``, bounds if gaps tie that single precision may not tell
        apart (see `reproduction.metrics.topk_agreement`), means over the splits.
    """
    sigmas = {ranking: sigma for sigma, ranking in GREEDY.items()}
    frames = []
    for name in INPUTS:
        rows = inputs[name].rename(columns={"low": "least", "high": "most"})
        rows = rows[rows["ranking"].isin(sigmas)]
        frames.append(rows.assign(sigma=rows["ranking"].map(sigmas)))
    return over_splits(frames, ["sigma", "k"])


def statements(table) -> list[dict]:
    """s08: how the shares change ("usually": in most cases); s09: the single trees' top feature."""
    findings = []
    for variant, rows in table.groupby("variant", sort=False):
        by = rows.pivot(index=["dataset", "sigma", "k"], columns="model", values="value")
        falls = np.diff(_cube(rows, "k"), axis=1).ravel() < 0
        rises = np.diff(_cube(rows, "sigma"), axis=1).ravel() > 0
        for what, measured, holds in (
            ("k", "steps of k at which the share falls", falls),
            ("sigma", "steps of sigma at which the share rises", rises),
            ("model", "settings in which it is lower for the bigger model", _lower(by)),
        ):
            findings.append(share_finding("s08", f"{variant}, {what}", measured, holds))
        top = rows[(rows["model"] == "single") & (rows["k"] == 1)]["value"].max()
        measured = "largest share of rows with the same top feature, single trees"
        findings.append(finding("s09", variant, measured, top, TOP_FEATURE, "at most"))
    return findings


def _lower(by):
    return (by["bigger"] < by["single"]).to_numpy()


def _cube(rows, along):
    """Values by setting (rows) and by `along` (columns, rising)."""
    others = [name for name in ("dataset", "model", "sigma", "k") if name != along]
    return rows.pivot(index=others, columns=along, values="value").sort_index(axis=1).to_numpy()
