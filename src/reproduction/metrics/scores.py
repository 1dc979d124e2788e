"""Metrics of scores: over all rows and of each, and against features known to be relevant.

``importances`` are the measures that are taken, by default all, or all that explain rows by one
output.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from sklearn.metrics import roc_auc_score

from reproduction.metrics import GLOBAL, LOCAL, _scores, declared
from reproduction.parameters import Count, ImportanceNames, Natural, Pairs


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
