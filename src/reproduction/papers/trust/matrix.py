"""The matrix: every measure by every yardstick, on every data set."""

import pandas as pd

from reproduction.papers.trust import _cells
from reproduction.parameters import Count, Seed


def compute(
    inputs,
    smaller: list[str],
    about_zero: list[str],
    why_empty: dict,
    n_pairs: Count = 60,
    seed: Seed = 0,
) -> pd.DataFrame:
    """Means over the seeds.

    Columns: ``data``, ``model``, ``measure``, ``yardstick``; ``value``, in the unit of the
    yardstick; ``score``, larger is better; ``low`` and ``high``, the 95 % interval of the value
    over the seeds; ``n_seeds``; ``why_empty`` of cells without a value.
    """
    methods = dict(inputs[_cells.MEASURES][["importance", "method"]].itertuples(index=False))
    cells = _cells.by_seed(inputs, n_pairs, seed)
    return _cells.matrix(cells, methods, smaller, about_zero, why_empty)
