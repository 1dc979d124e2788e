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

from fractions import Fraction
from itertools import combinations
from math import factorial

import numpy as np

from reproduction.papers.lundberg2017._algorithms import INTERNAL, NOTHING, Tree
from reproduction.papers.lundberg2017._attributions import path_gain, path_output

# Leaves are drawn from -LARGEST .. LARGEST.
LARGEST = 8


def violations(M: int, n_pairs: int, seed: int) -> dict[tuple[str, str], int]:
    """Pairs in which the attribution of feature 0 falls, by task and method."""
    rng = np.random.default_rng([seed, M])
    counts = {}
    for task, game, path in (
        ("output", output_game, lambda tree: path_output((1,) * M, tree)[0]),
        ("gain", gain_game, lambda tree: path_gain(M, tree)[0]),
    ):
        pair = pairs(rng, M, n_pairs, game)
        before, after = (shapley(game(f), M) for f in pair)
        counts[task, "SHAP"] = int((after < before).sum())
        orders = [[draw_order(rng, range(M)) for _ in range(n_pairs)] for _ in range(2)]
        before, after = (
            [
                path(cube_tree(f, np.ones_like(f), order, float))
                for f, order in zip(*of, strict=True)
            ]
            for of in zip(pair, orders, strict=True)
        )
        counts[task, "path"] = sum(b < a for a, b in zip(before, after, strict=True))
    return counts


def draw_order(rng, features) -> tuple | None:
    """A feature for each node of a complete tree: (feature, (order below 0, order below 1))."""
    if not features:
        return None
    j = features[int(rng.integers(len(features)))]
    remaining = [k for k in features if k != j]
    return j, tuple(draw_order(rng, remaining) for _ in range(2))


def cube_tree(f, rows, order, number=Fraction) -> Tree:
    """A complete tree of a function on a cube; covers are the rows at the corners below."""
    nodes = []

    def lay(order, known):
        index = len(nodes)
        nodes.append(None)
        place = tuple(known.get(j, slice(None)) for j in range(f.ndim))
        cover = number(rows[place].sum().item())
        if order is None:
            nodes[index] = (number(f[place].item()), NOTHING, NOTHING, cover, NOTHING)
        else:
            j, below = order
            a, b = (lay(below[v], {**known, j: v}) for v in (0, 1))
            nodes[index] = (INTERNAL, a, b, cover, j)
        return index

    lay(order, {})
    v, a, b, r, d = map(list, zip(*nodes, strict=True))
    return Tree(v, a, b, [0.5] * len(v), r, d)


def output_game(f) -> dict[tuple, np.ndarray]:
    """E[f | x_S] at x = (1, ..., 1) of each cube (n, 2, ..., 2), by S."""
    M = f.ndim - 1
    at_one = {S: tuple(1 if j in S else 0 for j in range(M)) for S in subsets(M)}
    return {S: _mean(f, S)[(slice(None), *place)] for S, place in at_one.items()}


def gain_game(f) -> dict[tuple, np.ndarray]:
    """Drop of the mean squared error when S is known: the variance of E[f | x_S], by S."""
    means = {S: _mean(f, S).reshape(len(f), -1) for S in subsets(f.ndim - 1)}
    return {S: (m**2).mean(axis=1) - means[()][:, 0] ** 2 for S, m in means.items()}


def shapley(v, M) -> np.ndarray:
    """Shapley value of feature 0 by Eq. 2, times M!."""
    weight = {S: factorial(len(S)) * factorial(M - len(S) - 1) for S in v if 0 not in S}
    return sum(w * (v[0, *S] - v[S]) for S, w in weight.items())


def pairs(rng, M, n_pairs, game):
    """Draw functions and keep the pairs in which feature 0 matters more in the second."""
    kept_pairs = []
    while sum(len(f) for f, _ in kept_pairs) < n_pairs:
        f, g = rng.integers(-LARGEST, LARGEST + 1, (2, n_pairs, *[2] * M)).astype(float)
        v, w = game(f), game(g)
        keep = np.all([w[0, *S] - w[S] >= v[0, *S] - v[S] for S in v if 0 not in S], axis=0)
        kept_pairs.append((f[keep], g[keep]))
    return [np.concatenate(functions)[:n_pairs] for functions in zip(*kept_pairs, strict=True)]


def subsets(M) -> list[tuple]:
    """All subsets of M features, smaller ones first."""
    return [S for size in range(M + 1) for S in combinations(range(M), size)]


def _mean(f, S):
    unknown = tuple(j + 1 for j in range(f.ndim - 1) if j not in S)
    return f.mean(axis=unknown, keepdims=True)
