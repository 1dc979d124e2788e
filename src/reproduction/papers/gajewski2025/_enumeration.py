"""PG2 from its definition: every cell that the thresholds cut the noise into, one after another.

It shares nothing with the kernel. Probabilities come from a power series in 100 digits, and the
prediction in a cell comes from walking the trees.
"""

import math
from decimal import Decimal, localcontext
from itertools import pairwise, product

import numpy as np

DIGITS = 100
# Beyond this z, the tail of the normal distribution is less than 1e-100.
_FAR = 22
_PI = Decimal(
    "3.14159265358979323846264338327950288419716939937510582097494459230781640628620899862803482534"
    "2117067982148086513282306647"
)


def pg2(forest, x, chosen, below) -> float:
    """E[(f(x) - f(x'))^2] if x' replaces x in the chosen features (gajewski2025, Eq. 2)."""
    features, edges, masses = np.flatnonzero(chosen), [], []
    for j in features:
        cuts = np.unique(forest.threshold[forest.feature == j])
        # A cell includes its lower edge, so that edge reaches the same leaves as the whole cell.
        edges.append(np.concatenate([[-np.inf], cuts]))
        masses.append(_masses(cuts.tolist(), below[j]))
    cells = np.repeat(x[None].astype(float), math.prod(map(len, edges)), axis=0)
    cells[:, features] = np.array(list(product(*edges)))
    shares = np.array([math.prod(mass) for mass in product(*masses)])
    at_x = values(forest, x[None].astype(float))
    gaps = (values(forest, cells) - at_x).sum(axis=1)
    return math.fsum(shares * gaps**2)


def values(forest, X) -> np.ndarray:
    """The value that each tree adds, float64 (n_rows, n_trees)."""
    return forest.value[leaves(forest, X), 0]


def leaves(forest, X) -> np.ndarray:
    """Node of the leaf of each tree, int64 (n_rows, n_trees)."""
    of_trees = np.empty((len(X), forest.n_trees), np.int64)
    rows = np.arange(len(X))
    for t, root in enumerate(forest.tree_offsets[:-1]):
        k = np.full(len(X), root)
        while (inner := forest.feature[k] >= 0).any():
            left = X[rows, forest.feature[k]] < forest.threshold[k]
            k = np.where(inner, np.where(left, forest.left[k], forest.right[k]), k)
        of_trees[:, t] = k
    return of_trees


def _masses(cuts, below):
    """Probability of each interval between the cuts."""
    with localcontext() as context:
        context.prec = DIGITS
        cumulative = [below(t) for t in cuts]
        return [float(b - a) for a, b in pairwise([Decimal(0), *cumulative, Decimal(1)])]


def normal_below(z: Decimal) -> Decimal:
    """P(Z < z) of a standard normal: 1/2 + exp(-z^2 / 2) (z + z^3 / 3 + z^5 / 15 + ...) / c."""
    if abs(z) > _FAR:
        return Decimal(int(z > 0))
    term = total = z
    n = 1
    while abs(term) > Decimal(10) ** -DIGITS:
        n += 2
        term *= z * z / n
        total += term
    return Decimal("0.5") + total * (-z * z / 2).exp() / (2 * _PI).sqrt()
