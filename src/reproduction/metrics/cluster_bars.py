"""Attributions in the order of a dendrogram, to be drawn as stacked bars (lundberg2017, figure 3).

As small as a picture needs: a few features by themselves, the others added up.
"""

import numpy as np
import pandas as pd

from reproduction.metrics import _dendrogram, _local
from reproduction.parameters import Count, ImportanceName, Linkage, Natural

KEYS = ("clustered", "sample")
VALUES = ("value",)
IMPORTANCES = 1
SCORES = "local"


def compute(
    attributions,
    data,
    importances: list[ImportanceName] | None = None,
    linkage: Linkage = "average",
    largest: Count = 5,
    decimals: Natural = 3,
) -> pd.DataFrame:
    """Bars of every row, and the dendrogram of the rows by their attributions.

    Parameters
    ----------
    attributions : dict of str to Attribution, each with one output, that explain predictions
    data : Dataset
    importances : list of str, optional
        Which measures; by default all that explain rows.
    linkage : str
        As scipy calls it; distances are Euclidean.
    largest : int
        Features that get bars of their own: those with the largest mean absolute attribution,
        added up over the measures.
    decimals : int
        Numbers are rounded to so many.

    Returns
    -------
    DataFrame
        One row a measure and sample: ``clustered``, ``sample``, ``position`` (in the order of the
        leaves), ``label``, ``value`` (the prediction), ``bar_1`` ... (attributions to the largest
        features), ``rest_positive`` and ``rest_negative`` (sums over the others). The row of
        sample i also holds merge i, as in `scipy.cluster.hierarchy.linkage`: ``merge_left``,
        ``merge_right``, ``height``; and ``feature``, the name of the feature of ``bar_i+1``.

    Raises
    ------
    ValueError
        If there is no such measure or linkage, or a measure has several outputs.
    """
    tables = {
        name: _local.local_scores(attributions, name)
        for name in _local.local_names(attributions, importances)
    }
    size = sum(np.abs(values).mean(axis=0) for values in tables.values())
    order = np.argsort(-size, kind="stable")
    top, other_features = order[:largest], order[largest:]
    names = [data.feature_names[j] for j in top]
    frames = []
    for name, values in tables.items():
        tree = _dendrogram.merges(values, linkage)
        bars = {f"bar_{i + 1}": values[:, j] for i, j in enumerate(top)}
        columns = {"position": _positions(tree), "label": data.y}
        columns |= {"value": attributions[name].totals()[:, 0], **bars}
        columns["rest_positive"] = np.maximum(values[:, other_features], 0).sum(axis=1)
        columns["rest_negative"] = np.minimum(values[:, other_features], 0).sum(axis=1)
        frame = pd.DataFrame(columns)
        of_merges = {"merge_left": tree[:, 0], "merge_right": tree[:, 1], "height": tree[:, 2]}
        merged = pd.DataFrame(of_merges).astype({"merge_left": "Int64", "merge_right": "Int64"})
        frame = pd.concat([frame, merged], axis=1).round(decimals)
        frame["feature"] = pd.Series(names)
        frame.insert(0, "sample", np.arange(len(values)))
        frame.insert(0, "clustered", name)
        frames.append(frame)
    return pd.concat(frames, ignore_index=True)


def _positions(tree):
    """Place of each sample in the order of the leaves, from 0."""
    from scipy.cluster import hierarchy

    return np.argsort(hierarchy.leaves_list(tree))
