"""Figure 6: correlation of local measures against K on led."""

from __future__ import annotations

import pandas as pd

from reproduction.papers.sutera2021 import _over_k
from reproduction.papers.sutera2021._over_k import draw

__all__ = ["compute", "draw", "statements"]


def compute(inputs) -> pd.DataFrame:
    """Mean and range over the samples of the correlation of absolute scores.

    Parameters
    ----------
    inputs : dict of DataFrame
        ``sutera2021_k_led/pair_correlation_summary``.
    """
    return _over_k.compute(inputs["sutera2021_k_led/pair_correlation_summary"])


def statements(table) -> list[dict]:
    """s17 to s19 on led."""
    return _over_k.statements(table, "led")
