"""Relevance of an input, globally (Kohavi et al. 1997) and at one x (sutera2021, Definition 2)."""

import numpy as np

from reproduction.theory.distributions import JointDistribution, others

# Two conditional probabilities that are equal differ by the rounding of some ten sums and
# divisions, below 1e-14; those of random distributions that are not equal differ by far more.
EQUAL = 1e-12


def relevant(joint: JointDistribution) -> np.ndarray:
    """Whether each input depends on Y given some subset B of the others, bool (p,).

    Printed "B ⊂ V"; B ranges over the subsets of V without X_m, as in section 3.1.
    """
    p = joint.n_features
    return np.array([any(_depends(joint, m, b) for b in others(p, m)) for m in range(p)])


def strongly_relevant(joint: JointDistribution) -> np.ndarray:
    """Whether each input depends on Y given all the others, bool (p,)."""
    p = joint.n_features
    return np.array([_depends(joint, m, tuple({*range(p)} - {m})) for m in range(p)])


def locally_relevant(joint: JointDistribution, x, impurity=None) -> np.ndarray:
    """Whether each input is locally relevant at `x`, bool (p,): see `local_change`."""
    return local_change(joint, x, impurity) > EQUAL


def local_change(joint: JointDistribution, x, impurity=None) -> np.ndarray:
    """Largest change in Y by knowing x_m, over all B ⊆ V^-m with values x_B, (p,).

    Without `impurity` the change of any P(Y = y | ...), as in Definition 2, which is printed with X
    for X_m; else that of the impurity, as appendix F defines local relevance. Its footnote 9 says
    that with entropy the two agree; but two probabilities that swap leave the entropy as it was.
    """

    def about_y(known):
        if impurity is not None:
            return joint.impurity(known, impurity)
        probabilities = joint.given(known)
        return probabilities / probabilities.sum()

    changes = np.zeros(joint.n_features)
    for m in range(joint.n_features):
        for b in others(joint.n_features, m):
            known = {j: x[j] for j in b}
            change = about_y({**known, m: x[m]}) - about_y(known)
            changes[m] = max(changes[m], np.abs(change).max())
    return changes


def cumulative_change(joint: JointDistribution, all_inputs: bool) -> np.ndarray:
    """Largest change in Y by knowing X_m <= x_m, over all x and B ⊆ V^-m, (p,).

    Definition 2 with the events of appendix A.3 of sutera2021, which extends Theorem 3 to
    continuous variables by changing P(X = x) to P(X <= x): for `all_inputs`, or for X_m alone.
    """
    p, changes = joint.n_features, np.zeros(joint.n_features)
    for m in range(p):
        for b in others(p, m):
            inputs = sorted({*b, m})
            table = joint.marginal(inputs)
            for axis in range(len(inputs)) if all_inputs else [inputs.index(m)]:
                table = table.cumsum(axis=axis)
            table = np.moveaxis(table, inputs.index(m), 0)
            change = _conditional(table) - _conditional(table[-1:])
            # Values that never occur have no conditional distribution.
            change = change[table.sum(axis=-1) > 0]
            changes[m] = max(changes[m], np.abs(change).max(initial=0.0))
    return changes


def _conditional(table):
    total = table.sum(axis=-1, keepdims=True)
    return np.divide(table, total, out=np.zeros_like(table), where=total > 0)


def _depends(joint, m, b):
    """Whether P(x_m, y | b) is another table than P(x_m | b) P(y | b), for some b that occurs."""
    inputs = sorted({*b, m})
    table = np.moveaxis(joint.marginal(inputs), inputs.index(m), -2)
    table = table.reshape(-1, *table.shape[-2:])
    weight = table.sum(axis=(1, 2), keepdims=True)
    table = (table / np.where(weight > 0, weight, 1))[weight.ravel() > 0]
    product = table.sum(axis=2, keepdims=True) * table.sum(axis=1, keepdims=True)
    return np.abs(table - product).max() > EQUAL
