"""Correlation within rows of measures of the impurity with measures of the prediction, by class."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from reproduction.metrics import _local
from reproduction.metrics.row_correlation import CORRELATIONS, row_correlations
from reproduction.parameters import ImportanceName
from splitcredit.importances import saabas

KEYS = ("versus", "reference", "correlation", "sample")
VALUES = ("value", "prior")
IMPORTANCES = 1

# Probabilities below are raised to this; on the path of a training row none is 0 for its class.
SMALLEST = 1e-12


def compute(
    attributions,
    forest,
    data,
    versus: list[ImportanceName] | None = None,
    reference: ImportanceName = "local_mdi",
) -> pd.DataFrame:
    """Correlations of local MDI, and of the log loss saved, with measures of the predicted class.

    Local MDI sums decreases of the entropy over all classes; `log_loss_saved` sums those of the
    loss of one class along the same paths, and has the same mean over the training rows.

    Parameters
    ----------
    attributions : dict of str to Attribution
        Local MDI, and the measures of `versus`, each explaining the predicted class.
    forest : Forest
        Of classes.
    data : Dataset
        The rows explained.
    versus : list of str, optional
        By default all measures that explain the predicted class.
    reference : str
        Name of local MDI.

    Returns
    -------
    DataFrame
        One row a pair, correlation and sample: ``reference`` (`reference` or ``log_loss``),
        ``versus``, ``correlation``, ``sample``, ``predicted`` (number of the class), ``prior`` (its
        probability at the roots) and ``value``, of signed scores; NaN where one is constant.
    """
    frames = []
    predicting = [name for name, a in attributions.items() if _explains_predicted(a)]
    for name in predicting if versus is None else versus:
        attribution = attributions[name]
        predicted = attribution.output_index
        scores = {
            reference: _local.local_scores(attributions, reference),
            "log_loss": log_loss_saved(forest, data.X, predicted),
        }
        columns = {"sample": np.arange(len(predicted)), "predicted": predicted}
        columns["prior"] = attribution.baseline[:, 0]
        for measure, values in scores.items():
            by_kind = row_correlations(values, attribution.values[:, :, 0])
            for correlation, value in zip(CORRELATIONS, by_kind, strict=True):
                key = {"reference": measure, "versus": name, "correlation": correlation}
                frames.append(pd.DataFrame({**key, **columns, "value": value}))
    return pd.concat(frames, ignore_index=True)


def _explains_predicted(attribution):
    return getattr(attribution, "output_index", None) is not None


def log_loss_saved(forest, X, classes) -> np.ndarray:
    """Log loss, in bits, that each split on a row's path saves for one class of the row.

    Node t of the path that tests X_m gives m the amount log2 p(t_x) - log2 p(t), where p is the
    class's probability and t_x the child that x goes to: Saabas' walk over logarithms. Summed over
    the training rows of t, each for its own class, that is their number times the information
    which the split has about Y. So without bagging, and for the true classes, the mean over the
    training rows is global MDI by the entropy, as in Eq. 9 of sutera2021.

    Parameters
    ----------
    forest : Forest
        Of classes, its values their fractions.
    X : array-like (n_samples, n_features)
    classes : int (n_samples,)

    Returns
    -------
    float64 array (n_samples, n_features)
        Probabilities below 1e-12 count as 1e-12.
    """
    bits = replace(forest, value=np.log2(np.maximum(forest.value, SMALLEST)))
    values = saabas.explain(bits, X).values
    return values[np.arange(len(values)), :, classes]
