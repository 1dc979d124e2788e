"""Table 2: share of the rows whose k most important features are the same by greedy PG2 and SHAP.

In single trees many features gain nothing and tie, and in single precision, in which the printed
rankings were made, many more. Variant published has that precision for single trees, and
saved_models are the same trees in double precision; in both the lowest index comes first, or the
order that the authors' rankings show. The bigger models are ranked in double precision in all
variants, and have the printed shares.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from reproduction.papers import finding
from reproduction.papers.gajewski2025._settings import GREEDY
from reproduction.papers.gajewski2025._tables import over_splits, share_finding

INPUTS = ("gajewski2025_single/topk_agreement", "gajewski2025_bigger/topk_agreement")
# "less than 76% of the time".
TOP_FEATURE = 0.76
USUALLY = '"usually": in more than half of the cases'
DIFFER = '"generally differ": in less than half of the rows, on average, they are the same'
CLEARER = '"clearer": by one row in twenty at least'


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
        ``deviation``, ``n_splits``, see `_tables.over_splits`; ``tied``, share of the rows in which
        another feature would have done as well in place k.
    """
    sigmas = {ranking: sigma for sigma, ranking in GREEDY.items()}
    frames = []
    for name in INPUTS:
        rows = inputs[name][inputs[name]["ranking"].isin(sigmas)]
        frames.append(rows.assign(sigma=rows["ranking"].map(sigmas)))
    return over_splits(frames, ["sigma", "k"])


def statements(table) -> list[dict]:
    """s08: how the shares change; s09: the single trees' top feature; s17: the two differ."""
    findings = []
    for variant, rows in table.groupby("variant", sort=False):
        by_model = rows.pivot(index=["dataset", "sigma", "k"], columns="model", values="value")
        falls = np.diff(_cube(rows, "k"), axis=1).ravel() < 0
        rises = np.diff(_cube(rows, "sigma"), axis=1).ravel() > 0
        for varied, measured, holds in (
            ("k", "steps of k at which the share falls", falls),
            ("sigma", "steps of sigma at which the share rises", rises),
            ("model", "settings in which it is lower for the bigger model", _lower(by_model)),
        ):
            options = {"basis": "chosen", "reason": USUALLY}
            findings.append(
                share_finding("s08", f"{variant}, {varied}", measured, holds, **options)
            )
        top = rows[(rows["model"] == "single") & (rows["k"] == 1)]["value"].max()
        measured = "largest share of rows with the same top feature, single trees"
        findings.append(
            finding("s09", variant, measured, top, TOP_FEATURE, "at most", basis="printed")
        )
        findings += _deviation(variant, rows)
    return findings


def _deviation(variant, rows):
    """s17: most first features differ, and the more the smaller the noise, for each model."""
    top = rows[rows["k"] == 1].pivot(index=["dataset", "model"], columns="sigma", values="value")
    measured = "mean share of rows with the same top feature, over data sets, models and sigma"
    options = {"basis": "chosen", "reason": DIFFER}
    yield finding("s17", f"{variant}, differ", measured, top.to_numpy().mean(), 0.5, **options)
    wider = top[max(top.columns)] - top[min(top.columns)]
    measured = "smallest rise of that share from sigma 0.1 to 1, over data sets and models"
    options = {"basis": "chosen", "reason": CLEARER}
    yield finding("s17", f"{variant}, noise", measured, wider.min(), 0.05, "at least", **options)


def _lower(by_model):
    return (by_model["bigger"] < by_model["single"]).to_numpy()


def _cube(rows, along):
    """Values by setting (rows) and by `along` (columns, rising)."""
    other_keys = [name for name in ("dataset", "model", "sigma", "k") if name != along]
    return rows.pivot(index=other_keys, columns=along, values="value").sort_index(axis=1).to_numpy()
