"""Correlation within rows of measures of the impurity with measures of the prediction, by class."""

from dataclasses import replace

import numpy as np
import pandas as pd

from reproduction.metrics import _local
from reproduction.metrics.row_correlation import CORRELATIONS, row_correlations
from reproduction.parameters import ImportanceName
from splitcredit.measures import saabas

KEYS = ("versus", "reference", "correlation", "sample")
VALUES = ("value", "prior")
IMPORTANCES = 1
SCORES = "local"
REQUIRES = ("classifier",)

# Probabilities below are raised to this; on the path of a training row none is 0 for its class.
SMALLEST = 1e-12


def compute(
    attributions,
    forest,
    data,
    versus: list[ImportanceName] | None = None,
    reference: ImportanceName = "local_mdi",
) -> pd.DataFrame:
    """Correlations of local MDI, and of its controls, with measures of the predicted class.

    Local MDI sums decreases of the entropy over all classes; a control sums what another measure
    of uncertainty, or a part of this one, loses along the same paths, see `CONTROLS`.

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
        One row a pair, correlation and sample: ``reference`` (`reference` or one of `CONTROLS`),
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
            **{name: saved(forest, data.X, predicted, name) for name in CONTROLS},
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


def _entropy(p):
    """Entropy of one class against the rest, in bits."""
    return -(p * _log2(p) + (1 - p) * _log2(1 - p))


def _log2(p):
    return np.log2(np.maximum(p, SMALLEST))


def _own_term(p):
    """Term of each class in the sum that the entropy of all is, in bits."""
    return -p * _log2(p)


# Uncertainty about each class, (n_nodes, n_classes), from the probabilities of all; in bits but for
# Gini's. An entropy rises and falls as its class becomes likely; a log loss only falls.
CONTROLS = {
    # One class, as TreeSHAP has it, but still an entropy.
    "class_entropy": _entropy,
    # The same without its rise: what it rises by below 1/2 counts as a fall.
    "unfolded_entropy": lambda p: np.where(p < 0.5, 2 - _entropy(p), _entropy(p)),
    "log_loss": lambda p: -_log2(p),
    # All classes, as local MDI has them: each that is not the row's own is to become unlikely.
    "log_loss_all": lambda p: -_log2(p) + _log2(1 - p) - _log2(1 - p).sum(axis=1, keepdims=True),
    # Local MDI taken apart: the class's own term of its sum, and the terms of the other classes.
    "own_term": _own_term,
    "other_terms": lambda p: _own_term(p).sum(axis=1, keepdims=True) - _own_term(p),
    # Local MDI by Gini, of these same trees: drawn with K = 1, they do not depend on the impurity.
    "gini": lambda p: 1 - (p**2).sum(axis=1, keepdims=True) + np.zeros_like(p),
    # Its own term is one or the other, as 1 - sum p^2 = sum p (1 - p): the first only falls, the
    # second rises up to 1/2. For c p added to every term adds c to the sum, which changes nothing.
    "gini_square": lambda p: -(p**2),
    "gini_product": lambda p: p * (1 - p),
}


def saved(forest, X, classes, control) -> np.ndarray:
    """Uncertainty that each split on a row's path removes for one class of the row.

    Node t of the path that tests X_m gives m the amount u(t) - u(t_x), where u is the uncertainty
    about the class and t_x the child that x goes to: Saabas' walk over uncertainties. With the log
    loss, summed over the training rows of t, each for its own class, that is their number times the
    information which the split has about Y. So without bagging, and for the true classes, the mean
    over the training rows is global MDI by the entropy, as in Eq. 9 of sutera2021.

    Parameters
    ----------
    forest : Forest
        Of classes, its values their fractions.
    X : array-like (n_samples, n_features)
    classes : int (n_samples,)
    control : str
        One of `CONTROLS`.

    Returns
    -------
    float64 array (n_samples, n_features)
        Probabilities below 1e-12 count as 1e-12.
    """
    certainty = replace(forest, value=-CONTROLS[control](forest.value))
    values = saabas.attribute(certainty, X).values
    return values[np.arange(len(values)), :, classes]
