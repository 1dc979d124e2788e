"""Figure 7: the power case, in which x2 alone tells y, for MDI, SHAP, PG(0.5, 1) and AIR."""

from __future__ import annotations

import pandas as pd

from reproduction.papers import finding
from reproduction.papers.loecher2022 import _simulations
from reproduction.papers.loecher2022._simulations import (
    FOOLED,
    PANELS,
    POWER,
    RELEVANT,
    UNBIASED,
    K,
    of,
)


def compute(inputs, recorded=None) -> pd.DataFrame:
    """Distributions over the replications; see `_simulations.compute`."""
    return _simulations.compute(inputs, POWER, recorded)


def draw(table):
    """Four panels."""
    panels = [(importance, POWER, title) for importance, title in PANELS.items()]
    number = table["n"].max()
    title = f"Power case: x2 alone tells y (P = 0.35 or 0.65); {number:.0f} draws"
    return _simulations.draw(table, panels, title)


def statements(table) -> list[dict]:
    """s07: x2 is lowest by MDI; s08: first on average by PG(0.5, 1) and AIR, not in every draw."""
    rows = of(table, "mdi_rows", POWER)
    others = rows.drop(RELEVANT)
    lowest = others.loc[others["lead"].idxmin()]
    words = (
        f"lowest mean MDI of another feature ({lowest.name}) less that of x2, in standard errors"
    )
    found = [finding("s07", "MDI", words, lowest["lead"] / lowest["lead_error"], 0.0, "at least")]
    for importance, name in FOOLED.items():
        behind = of(table, importance, POWER)
        share = 1 - behind.loc[RELEVANT, "first"]
        words = f"share of draws in which another feature is first, {name}"
        found.append(finding("s07", f"{name}, not first", words, share, 0.2, "at least"))
    for importance, name in UNBIASED.items():
        rows = of(table, importance, POWER).drop(RELEVANT)
        z = (-rows["lead"] / rows["lead_error"]).min()
        words = f"smallest lead of x2's mean in standard errors, {name}"
        found.append(finding("s08", name, words, z, K, "at least"))
        single = 1 - of(table, importance, POWER).loc[RELEVANT, "first"]
        words = f"share of single draws in which x2 is not first, {name}"
        found.append(finding("s08", f"{name}, single draws", words, single, 0.01, "at least"))
    return found
