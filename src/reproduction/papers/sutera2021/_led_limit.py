"""What the correlations of local scores on led come to with infinitely many trees."""

from itertools import combinations

import numpy as np

from reproduction import theory
from reproduction.datasets import led
from reproduction.metrics.row_correlation import CORRELATIONS, row_correlations

# Correlations of forests of 1000 trees, and differences of two, come as near: by Spearman, scores
# that are the same in the limit have ranks of their own in a forest.
NEAR = 0.03
PAIRS = tuple(combinations(("local_mdi", "saabas", "tree_shap"), 2))


def correlations(k, absolute) -> dict:
    """Correlation of each pair of measures, by display, of the predicted class."""
    X = led.SEGMENTS
    forest = theory.InfiniteForest(X, np.arange(10), k)
    predicted = np.arange(10), slice(None), forest.predict(X).argmax(axis=1)
    scores = {
        "local_mdi": forest.local_mdi(X),
        "saabas": forest.saabas(X)[predicted],
        "tree_shap": forest.tree_shap(X)[predicted],
    }
    # Equal scores may differ by a rounding, which would give them different ranks.
    scores = {n: (np.abs(v) if absolute else v).round(12) for n, v in scores.items()}
    return {
        (name, pair): values
        for pair in PAIRS
        for name, values in zip(
            CORRELATIONS, row_correlations(*(scores[n] for n in pair)), strict=True
        )
    }
