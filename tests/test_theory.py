"""Theory: limits of forests on known distributions, against independent computations."""

import itertools
from math import log2

import numpy as np
import pytest

from splitcredit import theory


def shapley(p, v):
    """Shapley values of a coalition function by averaging over all orders (sutera2021, Eq. 1)."""
    orders = list(itertools.permutations(range(p)))
    phi = [0.0] * p
    for order in orders:
        for i, m in enumerate(order):
            phi[m] += (v({*order[: i + 1]}) - v({*order[:i]})) / len(orders)
    return phi


def entropy_of(counts):
    """Entropy in bits of unnormalised weights, by the definition."""
    total = sum(counts)
    return -sum(c / total * log2(c / total) for c in counts if c > 0)


def random_joint(seed, shape=(2, 3, 2, 3)):
    weights = np.random.default_rng(seed).dirichlet(np.ones(int(np.prod(shape))))
    return theory.JointDistribution(weights.reshape(shape))


@pytest.mark.parametrize("seed", range(5))
def test_global_limit_is_the_shapley_value_of_information(seed):
    joint = random_joint(seed)

    def value(known):
        return theory.entropy(joint.given({})) - theory.conditional_entropy(joint, known)

    expected = shapley(joint.n_features, value)
    assert theory.mdi_totally_randomized(joint) == pytest.approx(expected, abs=1e-14)


@pytest.mark.parametrize("seed", range(5))
def test_local_limit_is_the_shapley_value_of_the_local_game(seed):
    joint = random_joint(seed)
    x = (1, 2, 0)

    def value(known):
        return entropy_of(joint.given({})) - entropy_of(joint.given({j: x[j] for j in known}))

    expected = shapley(joint.n_features, value)
    found = theory.local_mdi_totally_randomized(joint, x)
    assert found == pytest.approx(expected, abs=1e-14)


def test_best_split_tree_shares_out_all_information():
    joint = random_joint(0)
    total = theory.entropy(joint.given({})) - theory.conditional_entropy(joint, {0, 1, 2})
    assert theory.mdi_best_split(joint).sum() == pytest.approx(total, abs=1e-14)


@pytest.mark.parametrize("table", [[[0.5, 0.6]], [[1.5, -0.5]]])
def test_what_is_no_distribution_is_refused(table):
    with pytest.raises(ValueError, match="must not be negative and must add up to 1"):
        theory.JointDistribution(table)
