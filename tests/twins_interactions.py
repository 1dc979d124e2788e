"""Slow twins of the Shapley interaction values, from their definition."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations

import numpy as np

import twins


def interaction_index(forest, X, sets, background=None) -> np.ndarray:
    """Shapley interaction index by all subsets: Grabisch and Roubens 1999.

    The sum over the sets S of other features of (n - s - t)! s! / (n - t + 1)! times the sum over
    the subsets L of T of (-1)^(t - l) v(S and L).
    """
    values = np.zeros((len(X), len(sets), forest.n_outputs), dtype=object)
    for i, row in enumerate(X):
        values[i] = index_of_game(_worth(forest, row, background), sets)
    return values


def index_of_game(worth, sets) -> np.ndarray:
    """The index of sets of players, from the worth of every coalition, (n_sets, n_outputs)."""
    n = max(len(S) for S in worth)
    index = np.zeros((len(sets), len(worth[frozenset()])), dtype=object)
    for at, T in enumerate(sets):
        T = [int(j) for j in T]
        other_players = [j for j in range(n) if j not in T]
        for size in range(len(other_players) + 1):
            weight = math.factorial(n - size - len(T)) * math.factorial(size)
            weight /= math.factorial(n - len(T) + 1)
            for S in combinations(other_players, size):
                for length in range(len(T) + 1):
                    for L in combinations(T, length):
                        sign = (-1) ** (len(T) - length)
                        index[at] += sign * weight * worth[frozenset(S + L)]
    return index


def _worth(forest, row, background):
    """Value v of each set of known features, (n_outputs,)."""
    worth = {}
    for known_features in twins.coalitions(forest.n_features):
        if background is None:
            value = twins.expvalue(forest, row, set(known_features))
        else:
            mixed = np.array(background, dtype=float)
            mixed[:, known_features] = row[list(known_features)]
            predicted = twins.predict(forest, mixed)
            value = [math.fsum(column) / len(mixed) for column in predicted.T]
        worth[frozenset(known_features)] = np.array(value, dtype=object)
    return worth


def interaction_matrix(forest, X, background=None) -> np.ndarray:
    """Half the index of each pair, and what that leaves of the Shapley value on the diagonal."""
    p = forest.n_features
    pairs = list(combinations(range(p), 2))
    shapley = interaction_index(forest, X, [(j,) for j in range(p)], background)
    index = interaction_index(forest, X, pairs, background)
    matrix = np.zeros((len(X), p, p, forest.n_outputs), dtype=object)
    for at, (j, k) in enumerate(pairs):
        matrix[:, j, k] = matrix[:, k, j] = index[:, at] / 2
    for j in range(p):
        matrix[:, j, j] = shapley[:, j] - matrix[:, j].sum(axis=1)
    return matrix


def interaction_index_by_sizes(forest, X, sets) -> np.ndarray:
    """Path-dependent index as fractions, leaf by leaf, for trees too deep for all subsets.

    For a leaf with value v, the subsets of size k of the m - t other features on the path have the
    weight e_k together, the coefficient of y^k in the product of z_i + (o_i - z_i) y with
    probability y of being known, integrated over y.
    """
    values = np.zeros((len(X), len(sets), forest.n_outputs), dtype=object)
    for i, row in enumerate(X):
        for root in forest.tree_offsets[:-1]:
            for leaf, edges in twins.ways(forest, root):
                path = _merged(forest, row, edges)
                for at, T in enumerate(sets):
                    if all(j in path for j in T):
                        index = _index_of_leaf(path, T)
                        for c in range(forest.n_outputs):
                            values[i, at, c] += index * Fraction(forest.value[leaf, c])
    return twins.aggregated(forest, values)


def _merged(forest, row, edges):
    """The share z of the cover, and o, whether the row goes this way, of each feature on a path."""
    path = {}
    for k, left, child in edges:
        z, o = path.get(int(forest.feature[k]), (Fraction(1), 1))
        share = Fraction(forest.cover[child]) / Fraction(forest.cover[k])
        goes_here = twins.goes_left(forest, k, row) == left
        path[int(forest.feature[k])] = z * share, o * int(goes_here)
    return path


def _index_of_leaf(path, T):
    """The integral over y of the polynomial, coefficient by coefficient."""
    difference = math.prod(path[j][1] - path[j][0] for j in T)
    product = [Fraction(1)]
    for j, (z, o) in path.items():
        if j not in T:
            pairs = zip([*product, 0], [0, *product], strict=True)
            product = [z * a + (o - z) * b for a, b in pairs]
    return difference * sum(e / (k + 1) for k, e in enumerate(product))
