"""Figure 1: error of sampling, red wine, bigger model, sigma 0.3; a panel of figure 3."""

from __future__ import annotations

import pandas as pd

from reproduction.papers.gajewski2025 import _curves
from reproduction.papers.gajewski2025._curves import draw

__all__ = ["compute", "draw"]


def compute(inputs) -> pd.DataFrame:
    """NMAE by method and iterations; see `_curves.compute`."""
    return _curves.compute(inputs, "red_wine", "bigger", sigmas=(0.3,))
