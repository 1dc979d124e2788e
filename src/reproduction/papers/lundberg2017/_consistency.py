"""Random pairs of trees: does an attribution fall although the model relies more on the feature?

As in figure 1, features are binary, the trees are complete (each path tests all M features in an
order of its own), and the data set has one row a leaf, labeled with the leaf's value. Such a tree
is a function on the cube {0, 1}^M and a choice of features at the nodes. In a pair (f, f') feature
0 matters more in f': for all S without 0, v'(S + 0) - v'(S) >= v(S + 0) - v(S), where v is the
expectation E[f | x_S] at x = (1, ..., 1) for the output, and the drop of the mean squared error for
the gain. An attribution of feature 0 that is smaller in f' violates the consistency of section 3.
The orders of the two trees are drawn, whatever the functions: what is counted is how often trees of
any order violate it. The number of splits, which would be that of the order alone, is judged on
trees that are fitted: `_packages`.

All numbers are whole ones or halves, quarters, ... of such, so float64 rounds nothing: means of
2^k integers, and Shapley values times M!.
"""

from itertools import combinations
from math import factorial

import numpy as np

# Leaves are drawn from -LARGEST .. LARGEST.
LARGEST = 8


def violations(M: int, n_pairs: int, seed: int) -> dict[tuple[str, str], int]:
    """Pairs in which the attribution of feature 0 falls, by task and method."""
    rng = np.random.default_rng([seed, M])
    counts = {}
    for task, game in (("output", output_game), ("gain", gain_game)):
        first, second = pairs(rng, M, n_pairs, game)
        before, after = shapley(game(first), M), shapley(game(second), M)
        counts[task, "SHAP"] = int((after < before).sum())
        trees = [[Orders.draw(rng, M) for _ in range(n_pairs)] for _ in range(2)]
        measure = {"output": path_output, "gain": path_gain}[task]
        changes = [
            measure(g, new_order) - measure(f, old_order)
            for f, g, old_order, new_order in zip(first, second, *trees, strict=True)
        ]
        counts[task, "path"] = int(sum(c < 0 for c in changes))
    return counts


class Orders:
    """The feature that each node of a complete tree tests: `feature`, and the subtrees 0 and 1."""

    def __init__(self, feature, below):
        self.feature, self.below = feature, below

    @classmethod
    def draw(cls, rng, M, features=None):
        """At each node, draw one of the features not yet tested above it, with equal chances."""
        features = tuple(range(M)) if features is None else features
        if not features:
            return None
        j = features[int(rng.integers(len(features)))]
        remaining = tuple(k for k in features if k != j)
        return cls(j, [cls.draw(rng, M, remaining) for _ in range(2)])


def output_game(f) -> dict[tuple, np.ndarray]:
    """E[f | x_S] at x = (1, ..., 1) of each cube (n, 2, ..., 2), by S."""
    M = f.ndim - 1
    return {S: _mean(f, S)[(slice(None), *_ones(M, S))] for S in _subsets(M)}


def gain_game(f) -> dict[tuple, np.ndarray]:
    """Drop of the mean squared error when S is known: the variance of E[f | x_S], by S."""
    M = f.ndim - 1
    means = {S: _mean(f, S).reshape(len(f), -1) for S in _subsets(M)}
    return {S: (m**2).mean(axis=1) - means[()][:, 0] ** 2 for S, m in means.items()}


def shapley(v, M) -> np.ndarray:
    """Shapley value of feature 0 by Eq. 2, times M!."""
    weight = {S: factorial(len(S)) * factorial(M - len(S) - 1) for S in v if 0 not in S}
    return sum(w * (v[0, *S] - v[S]) for S, w in weight.items())


def path_output(f, tree) -> float:
    """Path attribution of feature 0 to f(1, ..., 1): the step of the mean where 0 is tested."""
    known = {}
    while tree.feature != 0:
        known[tree.feature] = 1
        tree = tree.below[1]
    return _at(f, {**known, 0: 1}).mean() - _at(f, known).mean()


def path_gain(f, tree, known=()) -> float:
    """Path attribution of feature 0 to the gain: the sum over the nodes that test it."""
    if tree is None:
        return 0.0
    j = tree.feature
    sides = [(*known, (j, value)) for value in (0, 1)]
    if j == 0:
        low, high = (_at(f, dict(side)).mean() for side in sides)
        return 0.5 ** len(known) * ((high - low) / 2) ** 2
    return sum(path_gain(f, tree.below[value], sides[value]) for value in (0, 1))


def pairs(rng, M, n_pairs, game):
    """Draw functions and keep the pairs in which feature 0 matters more in the second."""
    kept_pairs = []
    while sum(len(f) for f, _ in kept_pairs) < n_pairs:
        f, g = rng.integers(-LARGEST, LARGEST + 1, (2, n_pairs, *[2] * M)).astype(float)
        v, w = game(f), game(g)
        conditions = [w[0, *S] - w[S] >= v[0, *S] - v[S] for S in v if 0 not in S]
        keep = np.all(conditions, axis=0)
        kept_pairs.append((f[keep], g[keep]))
    first_functions, second_functions = zip(*kept_pairs, strict=True)
    return np.concatenate(first_functions)[:n_pairs], np.concatenate(second_functions)[:n_pairs]


def _subsets(M):
    return [S for size in range(M + 1) for S in combinations(range(M), size)]


def _mean(f, S):
    unknown = tuple(j + 1 for j in range(f.ndim - 1) if j not in S)
    return f.mean(axis=unknown, keepdims=True)


def _ones(M, S):
    return [1 if j in S else 0 for j in range(M)]


def _at(f, known):
    return f[tuple(known.get(j, slice(None)) for j in range(f.ndim))]
