"""Separation of relevant features from noise by scores: the area under the ROC curve."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from sklearn.metrics import roc_auc_score

from reproduction.metrics import _global
from reproduction.parameters import Count, ImportanceName

KEYS = ("importance", "among")
VALUES = ("value",)
IMPORTANCES = 1


def compute(
    attributions,
    data,
    importances: list[ImportanceName] | None = None,
    among: Sequence[Count | None] = (None,),
) -> pd.DataFrame:
    """AUC of every measure, over all features or some.

    Parameters
    ----------
    attributions : dict of str to Attribution (with one output) or Importance
        Local scores count by their mean absolute value.
    data : Dataset
        Drawn, with some features relevant and others not.
    importances : list of str, optional
        Which of them; all by default.
    among : list of int or None
        Numbers of features that are compared, from the first on; None for all.

    Returns
    -------
    DataFrame
        One row a measure and entry of `among`: ``importance``, ``among``, ``value``.

    Raises
    ------
    ValueError
        If no feature is relevant, or all are.
    """
    relevant = np.isin(np.arange(data.X.shape[1]), data.relevant)
    rows = []
    for name in importances or attributions:
        scores = _global.global_scores(attributions[name])[0]
        for first in among:
            n = len(scores) if first is None else first
            if len(set(relevant[:n])) < 2:
                raise ValueError(
                    f"relevance_auc: of {n} features {relevant[:n].sum()} are relevant: "
                    "there must be both kinds"
                )
            rows.append((name, n, roc_auc_score(relevant[:n], scores[:n])))
    return pd.DataFrame(rows, columns=["importance", "among", "value"])
