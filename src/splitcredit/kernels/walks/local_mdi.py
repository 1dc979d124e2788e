"""Local MDI: sutera2021, Definition 1 (Eq. 8)."""

from __future__ import annotations

import numpy as np

from splitcredit.kernels.nodes import cached_per_forest, credited, readonly
from splitcredit.kernels.walks.steps import changes, sums_of_steps


def local_mdi(forest, X) -> np.ndarray:
    """Mean over trees of the impurity decreases on each row's path, (n_samples, n_features).

    Eq. 8 of sutera2021: node t on the path that tests X_m gives m the amount i(t) - i(t_x), where
    t_x is the child that x goes to. In units of the impurity (bits for entropy).
    """
    out = sums_of_steps(forest, _decreases(forest), X)
    out /= forest.n_trees
    return credited(forest, out)


@cached_per_forest
def _decreases(forest):
    return readonly(-changes(forest, forest.impurity))
