"""The values behind the matrix, by seed."""

import pandas as pd

from reproduction.papers.trust import _cells
from reproduction.parameters import Count, Seed


def compute(inputs, n_pairs: Count = 60, seed: Seed = 0) -> pd.DataFrame:
    """``data``, ``model``, ``seed``, ``measure``, ``yardstick``, ``value``: `_cells.by_seed`."""
    cells = _cells.by_seed(inputs, n_pairs, seed)
    return cells[cells["value"].notna()].drop(columns="why_empty")
