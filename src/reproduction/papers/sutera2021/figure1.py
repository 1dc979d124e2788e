"""Figure 1: MDI and SAGE (cross-entropy) on led against K."""

from __future__ import annotations

import pandas as pd

from reproduction.papers import finding
from reproduction.papers.sutera2021 import _led

_MEASURES = {"mdi": {"forest": "mdi"}, "sage": {"forest": "sage_exact", "sampled": "sage"}}
_TITLES = {"mdi": "global MDI", "sage": "SAGE (cross-entropy)"}
# "Very close": a tenth of the mean share of a segment.
_CLOSE = 0.1 / 7


def compute(inputs) -> pd.DataFrame:
    """Shares of the segments; see `_led.compute`.

    Parameters
    ----------
    inputs : dict of DataFrame
        ``sutera2021_k_led/global_scores``.
    """
    return _led.compute(inputs["sutera2021_k_led/global_scores"], _MEASURES)


def draw(table):
    """Two panels."""
    return _led.draw(table, _TITLES)


def statements(table) -> list[dict]:
    """s15: MDI and SAGE are close, at K = 1 and as K grows; s16 for both."""
    limit = table[table["source"] == "limit"]
    shares = limit.pivot_table(index=["k", "feature"], columns="measure", values="value")
    gaps = (shares["mdi"] - shares["sage"]).abs().groupby("k").max()
    correlations = shares.groupby("k").corr().loc[(slice(None), "mdi"), "sage"]
    close = {
        "K = 1": ("largest gap between the shares", gaps[1], _CLOSE, "at most"),
        "K = 1 to 7": ("smallest correlation of the shares", correlations.min(), 0.9, "at least"),
    }
    found = [
        finding("s15", variant, measured, value, bound, kind)
        for variant, (measured, value, bound, kind) in close.items()
    ]
    return found + _led.masking(table)
