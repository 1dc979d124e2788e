"""Table 6: mean PGI2 of greedy rankings and of SHAP's, single trees."""

from __future__ import annotations

import pandas as pd

from reproduction.papers.gajewski2025 import _pgi2
from reproduction.papers.gajewski2025._pgi2 import statements

__all__ = ["compute", "statements"]


def compute(inputs) -> pd.DataFrame:
    """Mean PGI2; see `_pgi2.compute`.

    Parameters
    ----------
    inputs : dict of DataFrame
        ``gajewski2025_single/pgi2``.
    """
    return _pgi2.compute(inputs["gajewski2025_single/pgi2"])
