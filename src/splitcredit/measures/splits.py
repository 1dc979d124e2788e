"""Splits: number, gain or cover of the splits of each feature, as boosting libraries count."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np

from splitcredit.measures._calls import checked
from splitcredit.models.opened import Opened
from splitcredit.results.attribution import Importance
from splitcredit.rows.tables import check_choice

REQUIRES = ("gains",)
KINDS = ("weight", "gain", "total_gain", "cover", "total_cover")


@checked
def splits(
    model: object,
    *,
    kind: Literal["weight", "gain", "total_gain", "cover", "total_cover"] = "weight",
    features: Literal["columns", "transformed"] = "columns",
) -> Importance:
    """Count the splits of each feature, or add up gain or cover, under the names of XGBoost.

    Parameters
    ----------
    model : fitted model, Forest or path
    kind : {"weight", "gain", "total_gain", "cover", "total_cover"}
        ``"weight"``: the number of splits (``"split"`` of LightGBM). ``"total_gain"``: the sum of
        their gains (``"gain"`` of LightGBM), which only fitted models of XGBoost and LightGBM know;
        ``"total_cover"``: the sum of the covers of their nodes. ``"gain"`` and ``"cover"`` are
        these divided by the number of splits, and 0 for features without one.
    features : {"columns", "transformed"}
        See `splitcredit.tree_shap`.

    Returns
    -------
    Importance
        In units of the count, of twice the training loss or of the cover. ``"weight"`` and both
        covers are counted in the converted trees, which are those that ``predict`` uses.

    Raises
    ------
    ValueError
        If there is no such kind, or the model keeps no gains.

    Notes
    -----
    A gain is G^2 / (H + lambda) of both children less that of the node, by sums of gradients and
    hessians: twice the decrease of the library's penalized loss to second order, before shrinkage.
    Chen and Guestrin, "XGBoost: a scalable tree boosting system", KDD 2016.

    Examples
    --------
    >>> splitcredit.splits(model).values
    array([29., 25., 58., 54.])
    >>> splitcredit.splits(model, kind="cover").values.round(1)
    array([55.5, 16. , 57.9, 55.1])
    """
    check_choice("kind", kind, KINDS)
    opened = Opened(model, features=features)
    forest = opened.forest
    inner = np.flatnonzero(forest.feature >= 0)
    feature = forest.feature[inner]
    counts = np.bincount(feature, minlength=forest.n_features)
    if kind == "weight":
        values = counts.astype(float)
    elif kind.endswith("cover"):
        values = np.bincount(feature, forest.cover[inner], minlength=forest.n_features)
        values *= _targets_of_a_node(forest)
    else:
        values = _total_gain(opened)
    found = opened.by_columns(Importance(values, forest.feature_names, "splits", {"kind": kind}))
    if kind in ("gain", "cover"):
        times = opened.by_columns(Importance(counts, forest.feature_names, "splits")).values
        found = replace(found, values=found.values / np.maximum(times, 1))
    return found


def _targets_of_a_node(forest):
    """Return how many targets XGBoost adds up in a cover, where a Forest has one."""
    has_vectors = (np.count_nonzero(forest.value, axis=1) > 1).any()
    return forest.n_outputs if forest.cover_kind == "sum_hessian" and has_vectors else 1


def _total_gain(opened):
    """Return sums of gains as the library of a fitted model gives them."""
    gains = opened.format.gains(opened.inner, opened.forest)
    if gains is not None:
        return gains
    raise ValueError(
        "only fitted models of XGBoost and LightGBM keep the gains of their splits: take "
        "method='mdi', the decrease of impurity, or kind='total_cover'"
    )
