"""Impurities of a distribution of the output: entropy, Gini, variance (sutera2021, appendix F)."""

import numpy as np

IMPURITIES = ("entropy", "gini", "variance")


def impurity(weights, kind: str = "entropy", values=None) -> np.ndarray:
    """Impurity of the distributions proportional to `weights`, along the last axis.

    ``"entropy"`` is in bits, ``"gini"`` the sum of p (1 - p), ``"variance"`` in squared units of
    `values`. No weight at all has impurity 0.
    """
    weights = np.asarray(weights, dtype=np.float64)
    total = weights.sum(axis=-1, keepdims=True)
    p = np.divide(weights, total, out=np.zeros_like(weights), where=total > 0)
    if kind == "entropy":
        logarithms = np.log2(p, out=np.zeros_like(p), where=p > 0)
        return -(p * logarithms).sum(axis=-1) + 0.0
    if kind == "gini":
        return (p * (1 - p)).sum(axis=-1)
    if kind != "variance":
        raise ValueError(f"unknown impurity {kind!r}: expected one of {', '.join(IMPURITIES)}")
    if values is None:
        raise ValueError("the variance needs the values of the output")
    mean = (p * values).sum(axis=-1, keepdims=True)
    # Around the mean, as in Eq. 21: a pure node has exactly 0.
    return (p * (np.asarray(values) - mean) ** 2).sum(axis=-1)


def entropy(weights) -> float:
    """H of the distribution proportional to `weights`, in bits; 0 for no weight at all."""
    return float(impurity(weights))
