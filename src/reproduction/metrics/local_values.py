"""The local scores of all rows as they are, beside the values of the features."""

from __future__ import annotations

import numpy as np
import pandas as pd

from reproduction.parameters import ImportanceName


def compute(attributions, data, importances: list[ImportanceName] | None = None) -> pd.DataFrame:
    """Local scores of every row under each measure.

    Parameters
    ----------
    attributions : dict of str to Attribution, each with one output
    data : Dataset
    importances : list of str, optional
        Which measures; all by default.

    Returns
    -------
    DataFrame
        One row a measure, sample and feature: ``importance``, ``sample``, ``feature`` (from 0),
        ``x``, the value of the feature, and ``value``.
    """
    n, p = data.X.shape
    rows = {"sample": np.repeat(np.arange(n), p), "feature": np.tile(np.arange(p), n)}
    rows["x"] = data.X.ravel()
    frames = [
        pd.DataFrame(
            {"importance": name, **rows, "value": attributions[name].values[:, :, 0].ravel()}
        )
        for name in importances or attributions
    ]
    return pd.concat(frames, ignore_index=True)
