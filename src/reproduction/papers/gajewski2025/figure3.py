"""Figure 3: error of sampling against iterations, red wine, bigger model."""

from __future__ import annotations

import pandas as pd

from reproduction.papers.gajewski2025 import _curves
from reproduction.papers.gajewski2025._curves import draw, statements

__all__ = ["compute", "draw", "statements"]


def compute(inputs) -> pd.DataFrame:
    """NMAE by standard deviation, method and iterations; see `_curves.compute`."""
    return _curves.compute(inputs, "red_wine", "bigger")
