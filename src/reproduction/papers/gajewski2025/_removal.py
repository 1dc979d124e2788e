"""Shared by tables 4 and 5: the error without the k most important features of each row.

A larger error is better: the ranking names features that matter more.
"""

import pandas as pd

from reproduction.papers.gajewski2025._tables import over_splits, with_lead

KEYS = ["k", "ranking"]


def compute(frame) -> pd.DataFrame:
    """Errors over the splits.

    Columns: ``variant``, ``dataset``, ``model``, ``k``, ``ranking``; ``value``, the root of the
    mean squared error over the test rows, in units of the target; ``low``, ``high``, ``deviation``,
    ``n_splits``; ``lead`` over SHAP with the mean 95 % interval of a split, ``lead_low``,
    ``lead_high``; ``standard_error`` of the value.
    """
    return over_splits([with_lead(frame)], KEYS)
