"""Metrics of scores: over all rows and of each, and what they make of what is known.

``importances`` are the measures that are taken, by default all, or all that explain rows by one
output. Where a value makes no sense it is NaN, and ``why_empty`` says why.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy.stats import spearmanr
from sklearn.metrics import roc_auc_score

from reproduction.metrics import GLOBAL, LOCAL, _scores, declared
from reproduction.parameters import Count, ImportanceNames, Natural, Pairs
from splitcredit.results.attribution import Importance

# Why a cell is empty.
NO_ROWS = "one number a feature: there is no row whose prediction it could add up to"
UNKNOWN = "nobody knows which features of these data are noise"
NOT_NULL = "some of the features tell the outcome"
NULL = "no feature tells the outcome"


@declared("importance", "feature", values=("value", "standard_error"), **GLOBAL)
def global_scores(
    attributions, data, importances: ImportanceNames = None, normalize: bool = True
) -> pd.DataFrame:
    """Global scores of every feature: mean absolute values of measures that explain rows.

    One row a measure and feature; ``standard_error`` is 0 where nothing is sampled. To `normalize`
    is to divide scores by the sum of their absolute values; where all are 0, as of trees that never
    split, they stay 0.
    """
    frames = []
    for name in importances or attributions:
        values, error = _scores.global_scores(attributions[name])
        # A share of nothing would be NaN, which means over repeats pass over.
        total = (np.abs(values).sum() if normalize else 1.0) or 1.0
        columns = {"importance": name, "feature": data.feature_names}
        columns |= {"value": values / total, "standard_error": error / total}
        frames.append(pd.DataFrame(columns))
    return pd.concat(frames, ignore_index=True)


def check_samples(load, samples) -> str:
    """Return the problem with the rows of a recipe; empty if the data set has them."""
    n_rows = len(load().explained.X)
    beyond = [i for i in samples if i >= n_rows]
    there_are = f"{n_rows} rows are explained, from 0 on"
    return f"samples: there is no row {beyond[0]}; {there_are}" if beyond else ""


@declared("importance", "feature", "sample", check=check_samples, **LOCAL)
def local_scores(
    attributions, data, samples: list[Natural], importances: ImportanceNames = None
) -> pd.DataFrame:
    """Local scores of chosen rows, each row divided by the sum of its absolute scores.

    One row a measure, feature and sample: `samples` are numbers of rows, from 0. ``predicted`` is
    the number of the class that is explained, NaN if it is the same output for all rows.
    """
    frames = []
    for name, of_all in _scores.local_tables(attributions, importances).items():
        rows = of_all[samples]
        total = np.abs(rows).sum(axis=1, keepdims=True)
        shares = np.divide(rows, total, out=np.zeros_like(rows), where=total > 0)
        n, p = rows.shape
        explained = attributions[name].output_index
        classes = np.full(n, np.nan) if explained is None else explained[samples]
        columns = {"importance": name, "sample": np.repeat(samples, p)}
        columns |= {"predicted": np.repeat(classes, p), "feature": np.tile(data.feature_names, n)}
        frames.append(pd.DataFrame({**columns, "value": shares.ravel()}))
    return pd.concat(frames, ignore_index=True)


@declared("importance", "feature", "sample", values=("value", "x"), **LOCAL)
def local_values(attributions, data, importances: ImportanceNames = None) -> pd.DataFrame:
    """Local scores of every row as they are, and as ``x`` the value of the feature.

    One row a measure, sample and feature.
    """
    n, p = data.X.shape
    rows = {"sample": np.repeat(np.arange(n), p), "feature": np.tile(data.feature_names, n)}
    rows["x"] = data.X.ravel()
    frames = []
    for name, values in _scores.local_tables(attributions, importances).items():
        frames.append(pd.DataFrame({"importance": name, **rows, "value": values.ravel()}))
    return pd.concat(frames, ignore_index=True)


def check_relevance(load, among) -> str:
    """Return the problem with a recipe for these data; empty if there is none."""
    data = load()
    n_features = data.X.shape[1]
    if not 0 < len(data.relevant) < n_features:
        return "among: of these data no feature, or each, is known to be relevant: use others"
    beyond = [n for n in among if n is not None and n > n_features]
    return f"among: {beyond[0]} is not allowed; expected at most {n_features}" if beyond else ""


@declared("importance", "among", check=check_relevance, **GLOBAL)
def relevance_auc(
    attributions,
    data,
    importances: ImportanceNames = None,
    among: Sequence[Count | None] = (None,),
    less: Pairs | None = None,
) -> pd.DataFrame:
    """Area under the ROC curve of global scores, relevant features against noise.

    One row a measure and entry of `among`, the numbers of features that are compared, from the
    first on; None for all. ValueError if these are not of both kinds, or there are fewer.

    `less` are pairs of measures: the scores are those of the first less those of the second, under
    the name "A less B". With pairs, no other measure is taken by default.
    """

    def scores_of(name):
        return _scores.global_scores(attributions[name])[0]

    if importances is None:
        importances = [] if less else [*attributions]
    compared = [(name, scores_of(name)) for name in importances]
    compared += [(f"{a} less {b}", scores_of(a) - scores_of(b)) for a, b in less or []]
    relevant, rows = np.isin(np.arange(data.X.shape[1]), data.relevant), []
    for name, scores in compared:
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


@declared("importance", "yardstick", **GLOBAL)
def known_truth(attributions, data, training, null: bool = False) -> pd.DataFrame:
    """Separation, power and bias of global scores where it is known which features are noise.

    One row a measure and ``yardstick``: ``auc``, the area under the ROC curve, relevant features
    against noise; ``power``, the share of relevant features among as many that come first;
    ``bias``, Spearman's correlation of scores and numbers of values where all is noise, 0 if all
    scores are equal. `null` says that it is known that no feature tells the outcome.
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
            name: np.nan if why else function(first, _scores.global_scores(computed)[0])
            for name, computed in attributions.items()
        }
        frames.append(_scores.table(values, yardstick=yardstick, why_empty=why))
    return pd.concat(frames, ignore_index=True)


def _power(relevant, scores):
    return relevant[np.argsort(-scores, kind="stable")][: relevant.sum()].mean()


def _correlation(n_values, scores):
    return 0.0 if len(set(n_values)) < 2 or np.ptp(scores) == 0 else spearmanr(n_values, scores)[0]


@declared("importance", IMPORTANCES=1)
def additivity(attributions, forest, data) -> pd.DataFrame:
    """Mean distance of baseline and attributions from the prediction.

    One row a measure, in standard deviations of the predictions.
    """
    predicted = forest.predict(data.X)
    errors, reasons = {}, []
    for name, computed in attributions.items():
        reasons.append(_why_empty(computed, forest))
        errors[name] = np.nan if reasons[-1] else _error(computed, predicted, forest)
    return _scores.table(errors, why_empty=reasons)


def _why_empty(computed, forest):
    if isinstance(computed, Importance):
        return NO_ROWS
    if computed.output_names[0] in ("predicted", *forest.output_names):
        return ""
    return f"it is about {computed.output_names[0]}, not about the prediction"


def _error(computed, predicted, forest):
    index = computed.output_index
    if index is not None and forest.other_class is not None:
        # The only output is the score of the second class, and the first has its opposite.
        of_rows = predicted[:, 0] * np.where(index == 0, -1.0, 1.0)
    else:
        of_rows = predicted[np.arange(len(computed.values)), 0 if index is None else index]
    return float(np.abs(computed.totals()[:, 0] - of_rows).mean() / (of_rows.std() or 1.0))
