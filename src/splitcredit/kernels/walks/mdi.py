"""Compute MDI of every tree and local MDI of every row: sutera2021, Eq. 2 and 8."""

from __future__ import annotations

import numpy as np

from splitcredit.kernels.compiled import kernel
from splitcredit.kernels.nodes import cached_per_forest, credited, readonly
from splitcredit.kernels.walks.path_sums import changes, path_sums


def mdi_per_tree(forest) -> np.ndarray:
    """Sum MDI by tree and feature, float64 (n_trees, n_features), in units of the impurity.

    Eq. 2 of sutera2021: ``sum of p(t) * (i(t) - p_L i(t_L) - p_R i(t_R))`` over the inner nodes t
    that test the feature, with p(t) = cover(t) / cover(root).
    """
    out = np.zeros((forest.n_trees, forest.n_features))
    links = forest.feature, forest.left, forest.right, forest.tree_offsets
    _mdi(forest.n_trees, *links, forest.cover, forest.impurity, out)
    return out


@kernel(parallel=True)
def _mdi(first, last, feature, left, right, offsets, cover, impurity, out):
    for t in range(first, last):
        root = offsets[t]
        for k in range(root, offsets[t + 1]):
            if feature[k] >= 0:
                a, b = left[k], right[k]
                decrease = cover[k] * impurity[k] - cover[a] * impurity[a] - cover[b] * impurity[b]
                out[t, feature[k]] += decrease / cover[root]


def local_mdi(forest, X) -> np.ndarray:
    """Average over trees the impurity decreases on each row's path, (n_samples, n_features)."""
    out = path_sums(forest, _decreases(forest), X)
    out /= forest.n_trees
    return credited(forest, out)


@cached_per_forest
def _decreases(forest):
    return readonly(-changes(forest, forest.impurity))
