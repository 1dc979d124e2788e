"""What a measure makes of features of which it is known whether they are noise."""

import numpy as np
import pandas as pd
from scipy.stats import spearmanr
from sklearn.metrics import roc_auc_score

from reproduction.metrics import _global, _yardsticks

KEYS = ("importance", "yardstick")
VALUES = ("value",)
IMPORTANCES = 1
SCORES = "global"

# Why a cell is empty.
UNKNOWN = "nobody knows which features of these data are noise"
NOT_NULL = "some of the features tell the outcome"
NULL = "no feature tells the outcome"


def compute(attributions, data, training, null: bool = False) -> pd.DataFrame:
    """Separation, power and bias.

    Parameters
    ----------
    attributions : dict of str to Attribution, with one output, or Importance
    data, training : Dataset
        Rows that are explained, and those that the model was fitted on.
    null : bool
        Whether it is known that no feature tells the outcome.

    Returns
    -------
    DataFrame
        One row a measure and ``yardstick``: ``auc``, the area under the ROC curve, relevant
        features against noise; ``power``, the share of relevant features among as many that come
        first; ``bias``, Spearman's correlation of scores and numbers of values where all is noise,
        0 if all scores are equal. A value that makes no sense is NaN, and ``why_empty`` says why.
    """
    relevant = np.isin(np.arange(data.X.shape[1]), data.relevant)
    n_values = [len(np.unique(column)) for column in training.X.T]
    is_known = relevant.any() and not relevant.all()
    frames = []
    for yardstick, why, function in (
        ("auc", "" if is_known else NULL if null else UNKNOWN, roc_auc_score),
        ("power", "" if is_known else NULL if null else UNKNOWN, _power),
        ("bias", "" if null else NOT_NULL if is_known else UNKNOWN, _correlation),
    ):
        first = n_values if yardstick == "bias" else relevant
        values = {
            name: np.nan if why else function(first, _global.global_scores(computed)[0])
            for name, computed in attributions.items()
        }
        frames.append(_yardsticks.table(values, yardstick=yardstick, why_empty=why))
    return pd.concat(frames, ignore_index=True)


def _power(relevant, scores):
    return relevant[np.argsort(-scores, kind="stable")][: relevant.sum()].mean()


def _correlation(n_values, scores):
    return 0.0 if len(set(n_values)) < 2 or np.ptp(scores) == 0 else spearmanr(n_values, scores)[0]
