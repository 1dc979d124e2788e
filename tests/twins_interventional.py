"""Slow twin of interventional TreeSHAP: all subsets, from the definition."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations

import numpy as np

import twins


def mixed(x, z, known) -> np.ndarray:
    """The row (x_S, z_-S)."""
    return np.array([x[j] if j in known else z[j] for j in range(len(x))])


def tree_shap_interventional(forest, X, background) -> np.ndarray:
    """Shapley values of v(S) = mean over z of f(x_S, z_-S): lundberg2017, Eq. 2, with this v.

    Eq. 2 is printed with the factor (M - |S|! - 1); |S|! (M - |S| - 1)! / M! is right.
    """
    M = forest.n_features
    coalitions = [S for size in range(M + 1) for S in combinations(range(M), size)]
    out = np.zeros((len(X), M, forest.n_outputs))
    for n, x in enumerate(X):
        rows = [mixed(x, z, S) for S in coalitions for z in background]
        f = twins.predict(forest, rows).reshape(len(coalitions), len(background), -1)
        for c in range(forest.n_outputs):
            sums = (math.fsum(column) for column in f[:, :, c])
            v = {S: total / len(background) for S, total in zip(coalitions, sums, strict=True)}
            for i in range(M):
                out[n, i, c] = math.fsum(_gains(v, i, M))
    return out


def _gains(v, i, M):
    """|S|! (M - |S| - 1)! / M! times v(S + i) - v(S), for all S without i."""
    for S in v:
        if i not in S:
            ways = math.factorial(len(S)) * math.factorial(M - len(S) - 1)
            gain = v[tuple(sorted((*S, i)))] - v[S]
            yield float(Fraction(ways, math.factorial(M))) * gain
