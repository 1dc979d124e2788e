"""Figure 8: SHAP values weighted by y, power case left, null case right."""

from __future__ import annotations

import numpy as np
import pandas as pd

from reproduction.papers import finding
from reproduction.papers.loecher2022 import _simulations
from reproduction.papers.loecher2022._simulations import NULL, POWER, RELEVANT, of, unbiased

WEIGHTED = {"shap_inbag_y": "in-bag", "shap_oob_y": "out-of-bag"}
RAW = {"shap": "SHAP", "shap_inbag": "SHAP, in-bag", "shap_oob": "SHAP, out-of-bag"}


def compute(inputs) -> pd.DataFrame:
    """Distributions over the replications; see `_simulations.summary`.

    Parameters
    ----------
    inputs : dict of DataFrame
        ``loecher2022_mixed/scores``.
    """
    cases = [_simulations.summary(inputs, case, [*WEIGHTED, *RAW]) for case in (POWER, NULL)]
    return pd.concat(cases, ignore_index=True)


def draw(table):
    """Power left, null right; in each, in-bag and out-of-bag."""
    panels = [
        (importance, case, f"{case}: y SHAP, {name}")
        for case in (POWER, NULL)
        for importance, name in WEIGHTED.items()
    ]
    return _simulations.draw(table, panels, "SHAP weighted by y")


def separation(table, importance) -> float:
    """Smallest distance of x2's mean from another's, in pooled standard deviations (power case)."""
    rows = of(table, importance, POWER)
    others = rows.drop(RELEVANT)
    pooled = np.sqrt((others["deviation"] ** 2 + rows.loc[RELEVANT, "deviation"] ** 2) / 2)
    return float((-others["lead"] / pooled).min())


def statements(table) -> list[dict]:
    """s09: weighting separates x2 from the others out-of-bag, not in-bag."""
    weighted, raw, inbag = (
        separation(table, name) for name in ("shap_oob_y", "shap_oob", "shap_inbag_y")
    )
    measured = "distance of x2 from the nearest other feature in standard deviations, {}"
    gain = "the same, weighted less raw, out-of-bag"
    behind = "distance by which another feature is before x2, weighted, in-bag"
    return [
        finding("s09", "out-of-bag", measured.format("out-of-bag"), weighted, 1.0, "at least"),
        finding("s09", "against raw", gain, weighted - raw, 0.0, "at least"),
        finding("s09", "in-bag", behind, -inbag, 0.0, "at least"),
        *unbiased("s09", table, {"shap_oob_y": "null, out-of-bag"}),
    ]
