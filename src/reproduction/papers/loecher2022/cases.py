"""Figures 6 and 7: MDI, SHAP, PG(0.5, 1) and AIR where no feature tells y, and where x2 alone does.

The table has the null case (figure 6) or the power case (figure 7).
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from reproduction.papers import finding
from reproduction.papers.loecher2022 import _simulations
from reproduction.papers.loecher2022._simulations import (
    BIASED,
    EXTRA_SCORES,
    NULL,
    PANELS,
    POWER,
    RELEVANT,
    UNBIASED,
    K,
    of,
    unbiased,
)

# Coded as numbers, more values mean more possible splits, and most has the continuous one.
ORDER = ("x2", "x3", "x4", "x5", "x1")
_TITLES = {
    NULL: "Null case: nothing tells y",
    POWER: "Power case: x2 alone tells y (P = 0.35 or 0.65)",
}


def compute(inputs, case, recorded=None) -> pd.DataFrame:
    """Distributions over the replications; see `_simulations.compute`."""
    return _simulations.compute(inputs, case, recorded)


def draw(table):
    """Four panels."""
    case, number = _case(table), table["n"].max()
    panels = [(importance, case, title) for importance, title in PANELS.items()]
    return _simulations.draw(table, panels, f"{_TITLES[case]}; {number:.0f} draws")


def statements(table) -> list[dict]:
    """s05 and s06 of the null case, s07 and s08 of the power case."""
    return {NULL: _null, POWER: _power}[_case(table)](table)


def _case(table):
    (case,) = {NULL, POWER} & set(table["case"])
    return case


def _null(table):
    """s05: MDI and SHAP rise with the number of values; s06: PG(0.5, 1) and AIR do not."""
    findings = []
    for importance, name in BIASED.items():
        rows = of(table, importance, NULL).loc[list(ORDER)]
        steps = np.diff(rows["value"].to_numpy())
        variances = (rows["deviation"] ** 2 / rows["n"]).to_numpy()
        errors = np.sqrt(variances[1:] + variances[:-1])
        measured = (
            f"smallest step of the means from x2 over x3, x4, x5 to x1 in standard errors, {name}"
        )
        findings.append(finding("s05", name, measured, (steps / errors).min(), K, "at least"))
    findings += unbiased("s06", table, {**UNBIASED, **EXTRA_SCORES})
    for importance, name in UNBIASED.items():
        rows = of(table, importance, NULL)
        ratios = rows["deviation"] / rows.loc["x2", "deviation"]
        measured = f"smallest standard deviation of x3, x4, x5 over that of x2, {name}"
        smallest = ratios[["x3", "x4", "x5"]].min()
        findings.append(finding("s06", f"variance, {name}", measured, smallest, 1.0, "at least"))
    return findings


def _power(table):
    """s07: x2 is lowest by MDI; s08: first on average by PG(0.5, 1) and AIR, not in every draw."""
    others = of(table, "mdi_rows", POWER).drop(RELEVANT)
    lowest = others.loc[others["lead"].idxmin()]
    measured = (
        f"lowest mean MDI of another feature ({lowest.name}) less that of x2, in standard errors"
    )
    lead = lowest["lead"] / lowest["lead_error"]
    findings = [finding("s07", "MDI", measured, lead, 0.0, "at least")]
    for importance, name in BIASED.items():
        behind = 1 - of(table, importance, POWER).loc[RELEVANT, "first"]
        measured = f"share of draws in which another feature is first, {name}"
        findings.append(finding("s07", f"{name}, not first", measured, behind, 0.2, "at least"))
    for importance, name in UNBIASED.items():
        rows = of(table, importance, POWER)
        others = rows.drop(RELEVANT)
        z = (-others["lead"] / others["lead_error"]).min()
        measured = f"smallest lead of x2's mean in standard errors, {name}"
        findings.append(finding("s08", name, measured, z, K, "at least"))
        behind = 1 - rows.loc[RELEVANT, "first"]
        measured = f"share of single draws in which x2 is not first, {name}"
        findings.append(finding("s08", f"{name}, single draws", measured, behind, 0.01, "at least"))
    return findings
