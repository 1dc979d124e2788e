"""One score a feature: global importances as they are, local ones by their mean absolute value."""

import numpy as np
import pandas as pd

from reproduction.metrics import _global
from reproduction.parameters import ImportanceName

KEYS = ("importance", "feature")
VALUES = ("value", "standard_error")
IMPORTANCES = 1
SCORES = "global"


def compute(
    attributions,
    data,
    importances: list[ImportanceName] | None = None,
    normalize: bool = True,
) -> pd.DataFrame:
    """Global scores of every feature under each measure.

    Parameters
    ----------
    attributions : dict of str to Attribution (with one output) or Importance
    data : Dataset
        Has the names of the features.
    importances : list of str, optional
        Which of them; all by default.
    normalize : bool
        Whether scores are divided by the sum of their absolute values; where all are 0, as of
        trees that never split, they stay 0.

    Returns
    -------
    DataFrame
        One row a measure and feature: ``importance``, ``feature``, its name, ``value``
        and ``standard_error`` (0 where nothing is sampled).
    """
    frames = []
    for name in importances or attributions:
        values, error = _global.global_scores(attributions[name])
        # A share of nothing would be NaN, which means over repeats pass over.
        total = (np.abs(values).sum() if normalize else 1.0) or 1.0
        columns = {"importance": name, "feature": data.feature_names}
        columns |= {"value": values / total, "standard_error": error / total}
        frames.append(pd.DataFrame(columns))
    return pd.concat(frames, ignore_index=True)
