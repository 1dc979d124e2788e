"""What measures that read impurities ask of a forest."""

from __future__ import annotations

import numpy as np

from splitcredit._forest_checks import is_finite


def check_impurity(forest, who: str) -> None:
    """Raise a ValueError if a measure that reads the impurities of all nodes cannot."""
    if forest.impurity is None:
        raise ValueError(
            f"{who} needs the impurity of every node, and this model stores none: "
            "use a scikit-learn tree or forest, or give Forest(impurity=...)"
        )
    if not is_finite(forest.impurity):
        node = int(np.flatnonzero(~np.isfinite(forest.impurity))[0])
        tree = int(np.searchsorted(forest.tree_offsets, node, side="right")) - 1
        raise ValueError(
            f"{who} reads impurities, and tree {tree} has one that is {forest.impurity[node]}, as "
            "scikit-learn computes it from tiny sample weights: fit with weights of like size"
        )
