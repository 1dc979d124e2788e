"""MDI taken apart by the depth of the splits: whether its bias is that of deep nodes."""

import numpy as np
import pandas as pd

from splitcredit.models.forest import LEAF

KEYS = ("feature", "depth")
VALUES = ("value", "splits")


def compute(attributions, forest, data) -> pd.DataFrame:
    """Splits and impurity decreases of every feature at every depth.

    Parameters
    ----------
    forest : Forest
        With impurities.
    data : Dataset
        Has the names of the features.

    Returns
    -------
    DataFrame
        One row a depth (0 at the roots) and feature: ``depth``, ``feature``, ``splits``,
        their mean number in a tree, and ``value``, the mean over the trees of their decreases, in
        rows times impurity. Over all depths, ``value`` adds up to MDI.
    """
    f, rows = forest, []
    weighted = f.cover * f.impurity
    level, depth = f.tree_offsets[:-1], 0
    while len(level := level[f.feature[level] != LEAF]):
        decrease = weighted[level] - weighted[f.left[level]] - weighted[f.right[level]]
        feature = f.feature[level]
        splits = np.bincount(feature, minlength=f.n_features) / f.n_trees
        values = np.bincount(feature, decrease, f.n_features) / f.n_trees
        columns = {"depth": depth, "feature": data.feature_names}
        rows.append(pd.DataFrame({**columns, "splits": splits, "value": values}))
        level, depth = np.concatenate([f.left[level], f.right[level]]), depth + 1
    if not rows:
        return pd.DataFrame(columns=["depth", "feature", "splits", "value"])
    return pd.concat(rows, ignore_index=True)
