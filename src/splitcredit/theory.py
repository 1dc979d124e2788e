"""Importances of a known discrete distribution: what forests converge to (sutera2021).

Entropies and informations are in bits.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np


@dataclass(frozen=True, eq=False)
class JointDistribution:
    """Distribution of categorical inputs X_1 .. X_p and a categorical output Y.

    Parameters
    ----------
    probability : float64 (|X_1|, ..., |X_p|, |Y|)
        Adds up to 1.

    Raises
    ------
    ValueError
        If it holds negative numbers or does not add up to 1.
    """

    probability: np.ndarray

    def __post_init__(self):
        table = np.array(self.probability, dtype=np.float64)
        if (table < 0).any() or abs(table.sum() - 1) > 1e-9:
            raise ValueError("probability must not be negative and must add up to 1")
        object.__setattr__(self, "probability", table)

    @property
    def n_features(self) -> int:
        """Number of inputs p."""
        return self.probability.ndim - 1

    def given(self, known: dict[int, int]) -> np.ndarray:
        """P(Y, the inputs of `known` at their values), by value of Y."""
        index = tuple(known.get(j, slice(None)) for j in range(self.n_features))
        table = self.probability[index]
        return table.reshape(-1, table.shape[-1]).sum(axis=0)


def entropy(weights) -> float:
    """H of the distribution proportional to `weights`, in bits; 0 for no weight at all."""
    weights = np.asarray(weights, dtype=np.float64)
    total = weights.sum()
    if total == 0:
        return 0.0
    p = weights[weights > 0] / total
    return float(-(p * np.log2(p)).sum()) + 0.0


def conditional_entropy(joint: JointDistribution, features) -> float:
    """H(Y | the given inputs), in bits."""
    axes = tuple(j for j in range(joint.n_features) if j not in features)
    table = joint.probability.sum(axis=axes)
    rows = table.reshape(-1, table.shape[-1])
    return float(sum(row.sum() * entropy(row) for row in rows))


def information(joint: JointDistribution, feature: int, given=()) -> float:
    """I(Y; X_feature | X_given), in bits."""
    return conditional_entropy(joint, given) - conditional_entropy(joint, {*given, feature})


def mdi_totally_randomized(joint: JointDistribution) -> np.ndarray:
    """MDI of infinitely many totally randomised trees (K = 1): sutera2021, Eq. 4; (p,) in bits."""
    p = joint.n_features
    out = np.zeros(p)
    for m in range(p):
        others = [j for j in range(p) if j != m]
        for k in range(p):
            weight = 1 / (comb(p, k) * (p - k))
            out[m] += weight * sum(information(joint, m, b) for b in combinations(others, k))
    return out


def local_mdi_totally_randomized(joint: JointDistribution, x) -> np.ndarray:
    """Local MDI at `x` in the same limit: sutera2021, Eq. 10; (p,) in bits.

    As printed, Eq. 10 sums over P(V^-m) where the subsets of size k, P_k(V^-m), are meant, and
    lacks the parentheses round the difference.
    """
    p = joint.n_features
    out = np.zeros(p)
    for m in range(p):
        others = [j for j in range(p) if j != m]
        for k in range(p):
            weight = 1 / (comb(p, k) * (p - k))
            for b in combinations(others, k):
                known = {j: x[j] for j in b}
                before, after = joint.given(known), joint.given({**known, m: x[m]})
                out[m] += weight * (entropy(before) - entropy(after))
    return out


def mdi_best_split(joint: JointDistribution) -> np.ndarray:
    """MDI of the tree that always splits on the best input (K = p), one branch a value; (p,) bits.

    The first of equally good inputs is taken.
    """
    out = np.zeros(joint.n_features)

    def grow(known):
        left = [j for j in range(joint.n_features) if j not in known]
        here = joint.given(known)
        if not left or here.sum() == 0 or entropy(here) == 0:
            return
        gains = []
        for j in left:
            values = range(joint.probability.shape[j])
            below = [joint.given({**known, j: v}) for v in values]
            gains.append(here.sum() * entropy(here) - sum(b.sum() * entropy(b) for b in below))
        best = left[int(np.argmax(gains))]
        out[best] += max(gains)
        for v in range(joint.probability.shape[best]):
            grow({**known, best: v})

    grow({})
    return out
