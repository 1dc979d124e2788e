"""The scores of some rows themselves, each row divided by the sum of its absolute scores."""

import numpy as np
import pandas as pd

from reproduction.metrics import _local
from reproduction.parameters import ImportanceName, Natural

KEYS = ("importance", "feature", "sample")
VALUES = ("value",)
IMPORTANCES = 1
SCORES = "local"


def check(load, samples) -> str:
    """What is wrong with the rows of a recipe; empty if the data set has them."""
    n_rows = len(load().explained.X)
    beyond = [i for i in samples if i >= n_rows]
    there_are = f"{n_rows} rows are explained, from 0 on"
    return f"samples: there is no row {beyond[0]}; {there_are}" if beyond else ""


def compute(
    attributions, data, samples: list[Natural], importances: list[ImportanceName] | None = None
) -> pd.DataFrame:
    """Local scores of chosen rows under each measure.

    Parameters
    ----------
    attributions : dict of str to Attribution, each with one output
    data : Dataset
        Has the names of the features.
    samples : list of int
        Numbers of the rows, from 0.
    importances : list of str, optional
        Which measures; by default all that explain rows.

    Returns
    -------
    DataFrame
        One row a measure, sample and feature: ``importance``, ``sample``, ``predicted`` (number of
        the class that is explained; NaN if the measure explains the same output for all rows),
        ``feature``, its name, ``value``; absolute values add up to 1 over the features.
    """
    frames = []
    for name in _local.local_names(attributions, importances):
        rows = _local.local_scores(attributions, name)[samples]
        total = np.abs(rows).sum(axis=1, keepdims=True)
        shares = np.divide(rows, total, out=np.zeros_like(rows), where=total > 0)
        n, p = rows.shape
        explained = attributions[name].output_index
        classes = np.full(n, np.nan) if explained is None else explained[samples]
        frames.append(
            pd.DataFrame(
                {
                    "importance": name,
                    "sample": np.repeat(samples, p),
                    "predicted": np.repeat(classes, p),
                    "feature": np.tile(data.feature_names, n),
                    "value": shares.ravel(),
                }
            )
        )
    return pd.concat(frames, ignore_index=True)
