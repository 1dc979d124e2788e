"""Children with one out-of-bag row, whose impurity n / (n - 1) cannot correct.

A child counts if the node that was split has more rows: if it has no other, its own impurity is not
corrected either, and the split changes nothing.
"""

import numpy as np
import pandas as pd

from splitcredit.kernels.walks.oob import OOB
from splitcredit.models.forest import LEAF
from splitcredit.models.training import sums_of_nodes

KEYS = ("importance", "feature")
VALUES = ("value",)
NAME = "single_children"


def compute(attributions, forest, training) -> pd.DataFrame:
    """Number of such children by the feature of their split.

    Parameters
    ----------
    forest : Forest
        Bagged.
    training : Dataset
        The rows that it was grown on.

    Returns
    -------
    DataFrame
        One row a feature: ``importance``, which is "single_children", ``feature``, its name, and
        ``value``, the mean number in a tree.
    """
    values = in_a_tree(forest, training.X, training.y)
    return pd.DataFrame({"importance": NAME, "feature": training.feature_names, "value": values})


def in_a_tree(forest, X, y) -> np.ndarray:
    """Mean number in a tree by the feature of the split, float64 (n_features,)."""
    n_oob = sums_of_nodes(forest, X, y).rows[OOB]
    splits = np.flatnonzero((forest.feature != LEAF) & (n_oob > 1))
    children = np.array([forest.left[splits], forest.right[splits]])
    n_single = (n_oob[children] == 1).sum(axis=0)
    return np.bincount(forest.feature[splits], n_single, forest.n_features) / forest.n_trees
