"""Correlations of two measures' scores within each row, over the features.

Of a pair, ``reference`` is the first measure and ``versus`` the second; ``correlation`` is
``pearson`` or ``spearman``. A correlation is NaN where one of the two is constant.
"""

from dataclasses import replace
from itertools import combinations
from typing import Annotated, Literal

import numpy as np
import pandas as pd

from reproduction.metrics import LOCAL, _scores, declared
from reproduction.parameters import ImportanceName, ImportanceNames, Pairs
from splitcredit.measures import saabas

CORRELATIONS = ("pearson", "spearman")
# Probabilities below are raised to this; on the path of a training row none is 0 for its class.
SMALLEST = 1e-12
PAIRS = LOCAL | {"IMPORTANCES": 2}


@declared("versus", "reference", "correlation", "sample", **PAIRS)
def row_correlation(
    attributions, pairs: Pairs | None = None, scores: Literal["signed", "absolute"] = "signed"
) -> pd.DataFrame:
    """Correlation of the scores of each pair of measures, row by row.

    One row a pair, correlation and sample. By default each measure is compared with every one after
    it. `scores` says whether the scores or their absolute values are correlated.
    """
    if scores not in ("signed", "absolute"):
        raise ValueError(f"scores={scores!r}: expected 'signed' or 'absolute'")
    if pairs is None:
        pairs = combinations(_scores.local_tables(attributions, None, at_least=2), 2)
    frames = []
    for reference, versus in pairs:
        a, b = (_scores.local_scores(attributions, name) for name in (reference, versus))
        if scores == "absolute":
            a, b = np.abs(a), np.abs(b)
        frames += _frames(reference, versus, {"sample": np.arange(len(a))}, a, b)
    return pd.concat(frames, ignore_index=True)


def _frames(reference, versus, columns, a, b):
    """A table for each kind of correlation of two measures."""
    for correlation, values in zip(CORRELATIONS, row_correlations(a, b), strict=True):
        key = {"reference": reference, "versus": versus, "correlation": correlation}
        yield pd.DataFrame({**key, **columns, "value": values})


def row_correlations(a, b) -> tuple[np.ndarray, np.ndarray]:
    """Pearson and Spearman correlation of the rows of two (n_samples, n_features) arrays."""
    a, b = pd.DataFrame(a), pd.DataFrame(b)
    constant = (a.min(axis=1) == a.max(axis=1)) | (b.min(axis=1) == b.max(axis=1))
    pearson = a.corrwith(b, axis=1).mask(constant)
    spearman = a.rank(axis=1).corrwith(b.rank(axis=1), axis=1).mask(constant)
    return pearson.to_numpy(), spearman.to_numpy()


@declared(
    *("versus", "reference", "correlation", "statistic"),
    # Without thresholds there are no shares.
    MAY_BE_EMPTY=("thresholds",),
    **PAIRS,
)
def row_correlation_summary(
    attributions,
    pairs: Pairs | None = None,
    scores: Literal["signed", "absolute"] = "signed",
    thresholds: tuple[Annotated[float, ">= -1, <= 1"], ...] = (0.9, 0.75),
) -> pd.DataFrame:
    """Summary of `row_correlation` over the rows; see there for `pairs` and `scores`.

    One row a pair, correlation and statistic: mean, std (population: ddof 0), min and max over the
    rows where the correlation is defined; ``frac>=...``, the rows at and above each of `thresholds`
    in percent of all; and ``undefined``, the number of rows without a correlation.
    """
    rows = row_correlation(attributions, pairs, scores)
    keys = ["reference", "versus", "correlation"]
    summary = rows.groupby(keys, sort=False)["value"].apply(_summarized, thresholds)
    return summary.rename_axis([*keys, "statistic"]).rename("value").reset_index()


def _summarized(values, thresholds):
    """Statistics of one set of correlations."""
    found = {"mean": values.mean(), "std": values.std(ddof=0)}
    found |= {"min": values.min(), "max": values.max()}
    found |= {f"frac>={t:g}": 100 * (values >= t).mean() for t in thresholds}
    return pd.Series(found | {"undefined": float(values.isna().sum())})


@declared(
    *("versus", "reference", "correlation", "sample"),
    values=("value", "prior"),
    REQUIRES=("classifier",),
    **LOCAL,
)
def class_correlation(
    attributions,
    forest,
    data,
    versus: ImportanceNames = None,
    reference: ImportanceName = "local_mdi",
) -> pd.DataFrame:
    """Correlations of local MDI, and of its controls, with measures of the predicted class.

    Local MDI, called `reference`, sums decreases of the entropy over all classes; a control sums
    what another measure of uncertainty, or a part of this one, loses along the same paths, see
    `CONTROLS`. By default `versus` are all measures that explain the predicted class.

    One row a pair, correlation and sample: the column ``reference`` is `reference` or one of
    `CONTROLS`, ``predicted`` the number of the class, and ``prior`` its probability at the roots.
    """
    frames = []
    predicting = [
        n for n, a in attributions.items() if getattr(a, "output_index", None) is not None
    ]
    for name in predicting if versus is None else versus:
        attribution = attributions[name]
        predicted = attribution.output_index
        scores = {reference: _scores.local_scores(attributions, reference)}
        scores |= {c: uncertainty_removed(forest, data.X, predicted, c) for c in CONTROLS}
        columns = {"sample": np.arange(len(predicted)), "predicted": predicted}
        columns["prior"] = attribution.baseline[:, 0]
        for measure, values in scores.items():
            frames += _frames(measure, name, columns, values, attribution.values[:, :, 0])
    return pd.concat(frames, ignore_index=True)


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


def uncertainty_removed(forest, X, classes, control) -> np.ndarray:
    """Uncertainty that each split on a row's path removes for one class of the row.

    Node t of the path that tests X_m gives m the amount u(t) - u(t_x), where u is the uncertainty
    about the class and t_x the child that x goes to: Saabas' walk over uncertainties. With the log
    loss, summed over the training rows of t, each for its own class, that is their number times the
    information which the split has about Y. So without bagging, and for the true classes, the mean
    over the training rows is global MDI by the entropy, as in Eq. 9 of sutera2021.

    The values of the forest are fractions of classes; the result is (n_samples, n_features).
    """
    certainty = replace(forest, value=-CONTROLS[control](forest.value))
    values = saabas.attribute(certainty, X).values
    return values[np.arange(len(values)), :, classes]
