"""Coalition games on the inputs of a distribution, and their Shapley values.

A game is a function of a coalition, given as a collection of indices of inputs, with v(()) = 0.
"""

from itertools import combinations
from math import comb

import numpy as np

from reproduction.theory.distributions import JointDistribution, conditional_impurity


def shapley_values(p: int, v) -> np.ndarray:
    """Shapley values by enumeration of all 2^p coalitions: sutera2021, Eq. 1.

    `v` takes a sorted tuple of players, once each, and gives a number or an array; v(()) need not
    be 0.
    """
    worth = {s: np.asarray(v(s), float) for k in range(p + 1) for s in combinations(range(p), k)}
    phi = np.zeros((p, *worth[()].shape))
    for s, worth_without in worth.items():
        # |S|! (p - |S| - 1)! / p!, by Eq. 17.
        weight = 1 / (comb(p, len(s)) * (p - len(s))) if len(s) < p else 0.0
        for m in set(range(p)).difference(s):
            phi[m] += weight * (worth[tuple(sorted((*s, m)))] - worth_without)
    return phi


def information_game(joint: JointDistribution, impurity="entropy"):
    """v(S) = I(Y; S), in bits (sutera2021, 3.1; variance: Eq. 22; 3.2 misprints it I(Y; V))."""
    root = joint.impurity({}, impurity)
    return lambda s: root - conditional_impurity(joint, s, impurity)


def local_game(joint: JointDistribution, x, impurity="entropy"):
    """v_loc(S; x) = H(Y) - H(Y | S = x_S), in bits (sutera2021, 4.3; variance: Eq. 23)."""
    root = joint.impurity({}, impurity)
    return lambda s: root - joint.impurity({j: x[j] for j in s}, impurity)


def prediction_game(joint: JointDistribution, x):
    """v(S) = P(Y | X_S = x_S) - P(Y), one number a value of Y (sutera2021, section 5)."""

    def conditional(s):
        probabilities = joint.given({j: x[j] for j in s})
        return probabilities / probabilities.sum()

    return lambda s: conditional(s) - conditional(())


def loss_game(joint: JointDistribution):
    """The game of SAGE with cross-entropy, conditional imputer and Bayes classifier, in **nats**.

    v(S) = E[l(f_0, Y)] - E[l(f_S(X_S), Y)] (sutera2021, section 5), where f_S(x_S) is the mean of
    the classifier's prediction f(X) given X_S = x_S. Computed by this formula, by imputing.
    """
    p_x = joint.probability.sum(axis=-1, keepdims=True)
    zero = np.zeros_like(joint.probability)
    classifier = np.divide(joint.probability, p_x, out=zero, where=p_x > 0)

    def loss(s):
        imputed = tuple(j for j in range(joint.n_features) if j not in s)
        weight = p_x.sum(axis=imputed, keepdims=True)
        mean = (p_x * classifier).sum(axis=imputed, keepdims=True)
        restricted = np.divide(mean, weight, out=np.zeros_like(mean), where=weight > 0)
        restricted = np.broadcast_to(restricted, joint.probability.shape)
        occurs = joint.probability > 0
        return -(joint.probability[occurs] * np.log(restricted[occurs])).sum()

    loss_of_none = loss(())
    return lambda s: loss_of_none - loss(s)
