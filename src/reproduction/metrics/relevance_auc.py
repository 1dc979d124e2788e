"""Separation of relevant features from noise by scores: the area under the ROC curve."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from sklearn.metrics import roc_auc_score

from reproduction.metrics import _global
from reproduction.parameters import Count, ImportanceName

KEYS = ("importance", "among")
VALUES = ("value",)
IMPORTANCES = 1
SCORES = "global"


def check(load, among) -> str:
    """What is wrong with a recipe for these data; empty if there is nothing."""
    data = load()
    n_features = data.X.shape[1]
    if not 0 < len(data.relevant) < n_features:
        return "among: of these data no feature, or each, is known to be relevant: use others"
    beyond = [n for n in among if n is not None and n > n_features]
    return f"among: {beyond[0]} is not allowed; expected at most {n_features}" if beyond else ""


def compute(
    attributions,
    data,
    importances: list[ImportanceName] | None = None,
    among: Sequence[Count | None] = (None,),
    less: list[tuple[ImportanceName, ImportanceName]] | None = None,
) -> pd.DataFrame:
    """AUC of every measure, over all features or some.

    Parameters
    ----------
    attributions : dict of str to Attribution (with one output) or Importance
        Local scores count by their mean absolute value.
    data : Dataset
        Drawn, with some features relevant and others not.
    importances : list of str, optional
        Which of them; all by default, but none if there are pairs in `less`.
    among : list of int or None
        Numbers of features that are compared, from the first on; None for all.
    less : list of [str, str], optional
        Pairs of measures: the scores are those of the first less those of the second.

    Returns
    -------
    DataFrame
        One row a measure and entry of `among`: ``importance``, ``among``, ``value``. A pair is
        named "A less B".

    Raises
    ------
    ValueError
        If no feature is relevant, or all are, or there are fewer features than `among` says.
    """
    relevant = np.isin(np.arange(data.X.shape[1]), data.relevant)
    rows = []
    for name, scores in _scores(attributions, importances, less or []):
        for first in among:
            n = len(scores) if first is None else first
            if n > len(scores):
                raise ValueError(f"relevance_auc: among {n} features, and there are {len(scores)}")
            if len(set(relevant[:n])) < 2:
                raise ValueError(
                    f"relevance_auc: of {n} features {relevant[:n].sum()} are relevant: "
                    "there must be both kinds"
                )
            rows.append((name, n, roc_auc_score(relevant[:n], scores[:n])))
    return pd.DataFrame(rows, columns=["importance", "among", "value"])


def _scores(attributions, importances, pairs):
    """Name and scores of every measure, then of every pair."""
    if importances is None:
        importances = [] if pairs else attributions
    for name in importances:
        yield name, _global.global_scores(attributions[name])[0]
    for pair in pairs:
        first, second = (_global.global_scores(attributions[name])[0] for name in pair)
        yield " less ".join(pair), first - second
