"""MDI: mean decrease of impurity, the global importance of a forest's features."""

from __future__ import annotations

from typing import Literal

import numpy as np

from splitcredit.kernels.walks import mdi as kernel
from splitcredit.measures._calls import checked
from splitcredit.models.forest_checks import check_impurity
from splitcredit.models.opened import Opened
from splitcredit.results.attribution import Importance
from splitcredit.rows.tables import check_choice

REQUIRES = ("impurity",)

NORMALIZE = ("none", "trees")


@checked
def mdi(
    model: object,
    *,
    normalize: Literal["none", "trees"] = "none",
    features: Literal["columns", "transformed"] = "columns",
) -> Importance:
    """Measure the mean decrease of impurity of every feature.

    Parameters
    ----------
    model : fitted model, Forest or path
        With impurities.
    normalize : {"none", "trees"}
        ``"none"``: sutera2021, Eq. 2 and 3, in units of the impurity (bits for entropy).
        ``"trees"``: scikit-learn's ``feature_importances_`` of trees, forests and
        GradientBoosting. Where the prediction is the mean of the trees, each tree's importances are
        divided by their sum, single-node trees left out, then averaged and divided by their sum
        again. Where it is the sum of the trees, later trees explain less, and only the mean is
        divided by its sum.
    features : {"columns", "transformed"}
        See `splitcredit.tree_shap`.

    Returns
    -------
    Importance
        In units of the impurity, or shares that add up to 1 with ``normalize="trees"``.

    Raises
    ------
    ValueError
        If the forest has no impurities.

    Examples
    --------
    >>> splitcredit.mdi(model).values.round(2)  # in units of the Gini impurity
    array([0.08, 0.02, 0.28, 0.27])
    >>> shares = splitcredit.mdi(model, normalize="trees").values
    >>> bool(abs(shares - model.feature_importances_).max() < 1e-12)
    True
    """
    opened = Opened(model, features=features)
    forest = opened.forest
    refuse(forest, forest)
    check_choice("normalize", normalize, NORMALIZE)
    per_tree = kernel.mdi_per_tree(forest)
    if normalize == "none":
        return opened.by_columns(_named(forest, per_tree.mean(axis=0), normalize))
    grown = per_tree[np.diff(forest.tree_offsets) > 1]
    shares = grown if forest.aggregate == "sum" else _shares(grown)
    mean = shares.mean(axis=0) if len(shares) else np.zeros(forest.n_features)
    mean = mean / mean.sum() if mean.sum() > 0 else mean
    return opened.by_columns(_named(forest, mean, normalize))


def _shares(per_tree):
    """Divide each tree's importances by their sum; zeros where it is not above 0."""
    totals = per_tree.sum(axis=1, keepdims=True)
    return np.divide(per_tree, totals, out=np.zeros_like(per_tree), where=totals > 0)


def _named(forest, values, normalize):
    return Importance(values, forest.feature_names, "mdi", {"normalize": normalize})


def refuse(model, forest) -> None:
    """Raise a ValueError if nodes have no impurity."""
    check_impurity(forest, "MDI")
