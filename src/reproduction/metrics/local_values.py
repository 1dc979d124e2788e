"""The local scores of all rows as they are, beside the values of the features."""

import numpy as np
import pandas as pd

from reproduction.metrics import _local
from reproduction.parameters import ImportanceName

KEYS = ("importance", "feature", "sample")
VALUES = ("value", "x")
IMPORTANCES = 1
SCORES = "local"


def compute(attributions, data, importances: list[ImportanceName] | None = None) -> pd.DataFrame:
    """Local scores of every row under each measure.

    Parameters
    ----------
    attributions : dict of str to Attribution, each with one output
    data : Dataset
    importances : list of str, optional
        Which measures; by default all that explain rows.

    Returns
    -------
    DataFrame
        One row a measure, sample and feature: ``importance``, ``sample``, ``feature``, its name,
        ``x``, its value, and ``value``.
    """
    n, p = data.X.shape
    rows = {"sample": np.repeat(np.arange(n), p), "feature": np.tile(data.feature_names, n)}
    rows["x"] = data.X.ravel()
    frames = [
        pd.DataFrame(
            {
                "importance": name,
                **rows,
                "value": _local.local_scores(attributions, name).ravel(),
            }
        )
        for name in _local.local_names(attributions, importances)
    ]
    return pd.concat(frames, ignore_index=True)
