"""A known distribution, and the limits of global and local MDI as formulas (sutera2021)."""

from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np

IMPURITIES = ("entropy", "gini", "variance")


def impurity_of(weights, kind: str = "entropy", values=None) -> np.ndarray:
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
    return float(impurity_of(weights))


@dataclass(frozen=True, eq=False)
class JointDistribution:
    """Distribution of categorical inputs X_1 .. X_p and an output Y with finitely many values.

    `probability` has an axis for each input and Y's last. `values` are the numbers that the values
    of Y stand for, 0, 1, 2, ... by default; only the variance needs them.
    """

    probability: np.ndarray
    values: np.ndarray | None = None

    def __post_init__(self):
        table = np.array(self.probability, dtype=np.float64)
        if (table < 0).any() or abs(table.sum() - 1) > 1e-9:
            raise ValueError("probability must not be negative and must add up to 1")
        values = np.arange(table.shape[-1]) if self.values is None else self.values
        values = np.array(values, dtype=np.float64)
        if values.shape != table.shape[-1:]:
            raise ValueError(f"{values.size} values for {table.shape[-1]} values of Y")
        object.__setattr__(self, "probability", table)
        object.__setattr__(self, "values", values)
        # One more slot at the end of each axis, the sum over that input, makes `given` a look-up.
        for j in range(table.ndim - 1):
            table = np.concatenate([table, table.sum(axis=j, keepdims=True)], axis=j)
        table.setflags(write=False)
        object.__setattr__(self, "_sums", table)
        object.__setattr__(self, "_impurities", {})

    @classmethod
    def from_rows(cls, X, y) -> "JointDistribution":
        """The distribution in which every given row is equally likely."""
        X = np.asarray(X).astype(int)
        values, codes = np.unique(np.asarray(y), return_inverse=True)
        table = np.zeros((*(X.max(axis=0) + 1), len(values)))
        np.add.at(table, (*X.T, codes), 1 / len(X))
        return cls(table, values)

    @property
    def n_features(self) -> int:
        """Number of inputs p."""
        return self.probability.ndim - 1

    @property
    def cardinalities(self) -> tuple[int, ...]:
        """Number of values of each input."""
        return self.probability.shape[:-1]

    def given(self, known: dict[int, int]) -> np.ndarray:
        """P(Y, the inputs of `known` at their values), by value of Y."""
        return self._sums[self._place(known)]

    def marginal(self, features) -> np.ndarray:
        """P(the given inputs, Y), axes in the order of the inputs, Y last."""
        index = tuple(slice(-1) if j in features else -1 for j in range(self.n_features))
        return self._sums[index]

    def support(self) -> tuple[np.ndarray, np.ndarray]:
        """The inputs x of positive probability, int (n, p), and P(V = x), (n,)."""
        p_x = self.probability.sum(axis=-1)
        X = np.argwhere(p_x > 0)
        return X, p_x[tuple(X.T)]

    def impurity(self, known: dict[int, int], kind: str = "entropy") -> float:
        """Impurity of Y given the values in `known`; 0 if those never occur."""
        # Cached, as every formula and every recursion needs the same few.
        place = kind, self._place(known)
        if place not in self._impurities:
            value = impurity_of(self.given(known), kind, self.values)
            self._impurities[place] = float(value)
        return self._impurities[place]

    def _place(self, known):
        return tuple([known.get(j, -1) for j in range(self.n_features)])


def conditional_impurity(joint: JointDistribution, features, impurity="entropy") -> float:
    """E_S{I(Y | X_S = x_S)}, the mean impurity of Y once the given inputs are known."""
    table = joint.marginal(features)
    rows = table.reshape(-1, table.shape[-1])
    return float((rows.sum(axis=1) * impurity_of(rows, impurity, joint.values)).sum())


def information(joint: JointDistribution, feature: int, given=(), impurity="entropy") -> float:
    """I(Y; X_feature | X_given), in bits; for another impurity its mean decrease likewise."""
    before = conditional_impurity(joint, given, impurity)
    return before - conditional_impurity(joint, {*given, feature}, impurity)


def mdi_totally_randomized(joint: JointDistribution, impurity="entropy") -> np.ndarray:
    """MDI of infinitely many totally randomized trees (K = 1): sutera2021, Eq. 4."""
    p = joint.n_features
    mdi = np.zeros(p)
    for m in range(p):
        other_inputs = [j for j in range(p) if j != m]
        for k in range(p):
            weight = 1 / (comb(p, k) * (p - k))
            terms = (information(joint, m, b, impurity) for b in combinations(other_inputs, k))
            mdi[m] += weight * sum(terms)
    return mdi


def others(p: int, m: int):
    """All sets of the inputs but X_m, the smaller ones first."""
    other_inputs = [j for j in range(p) if j != m]
    return (b for k in range(p) for b in combinations(other_inputs, k))


def local_mdi_totally_randomized(joint: JointDistribution, x, impurity="entropy") -> np.ndarray:
    """Local MDI at `x` in the same limit: sutera2021, Eq. 10 (variance: Eq. 20).

    As printed, Eq. 10, 19 and 20 sum over P(V^-m) where the subsets of size k, P_k(V^-m), are
    meant, and lack the parentheses round the difference; Eq. 18 has x_b for x_B.
    """
    p = joint.n_features
    mdi = np.zeros(p)
    for m in range(p):
        for b in others(p, m):
            weight = 1 / (comb(p, len(b)) * (p - len(b)))
            known = {j: x[j] for j in b}
            before = joint.impurity(known, impurity)
            mdi[m] += weight * (before - joint.impurity({**known, m: x[m]}, impurity))
    return mdi
