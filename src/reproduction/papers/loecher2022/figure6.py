"""Figure 6: the null case, in which no feature tells y, for MDI, SHAP, PG(0.5, 1) and AIR."""

from __future__ import annotations

import numpy as np
import pandas as pd

from reproduction.papers import finding
from reproduction.papers.loecher2022 import _simulations
from reproduction.papers.loecher2022._simulations import (
    BESIDE,
    FOOLED,
    NULL,
    PANELS,
    UNBIASED,
    K,
    unbiased,
)

# Coded as numbers, more values mean more possible splits, and most has the continuous one.
ORDER = ("x2", "x3", "x4", "x5", "x1")


def compute(inputs, recorded=None) -> pd.DataFrame:
    """Distributions over the replications; see `_simulations.compute`."""
    return _simulations.compute(inputs, NULL, recorded)


def draw(table):
    """Four panels."""
    panels = [(importance, NULL, title) for importance, title in PANELS.items()]
    number = table["n"].max()
    return _simulations.draw(table, panels, f"Null case: nothing tells y; {number:.0f} draws")


def statements(table) -> list[dict]:
    """s05: MDI and SHAP rise with the number of values; s06: PG(0.5, 1) and AIR do not."""
    found = []
    for importance, name in FOOLED.items():
        rows = _simulations.of(table, importance, NULL).loc[list(ORDER)]
        steps = np.diff(rows["value"].to_numpy())
        variances = (rows["deviation"] ** 2 / rows["n"]).to_numpy()
        errors = np.sqrt(variances[1:] + variances[:-1])
        words = (
            f"smallest step of the means from x2 over x3, x4, x5 to x1 in standard errors, {name}"
        )
        found.append(finding("s05", name, words, (steps / errors).min(), K, "at least"))
    found += unbiased("s06", table, {**UNBIASED, **BESIDE})
    for importance, name in UNBIASED.items():
        rows = _simulations.of(table, importance, NULL)
        ratios = rows["deviation"] / rows.loc["x2", "deviation"]
        words = f"smallest standard deviation of x3, x4, x5 over that of x2, {name}"
        smallest = ratios[["x3", "x4", "x5"]].min()
        found.append(finding("s06", f"variance, {name}", words, smallest, 1.0, "at least"))
    return found
