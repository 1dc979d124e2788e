"""Slow twins of interventional TreeSHAP: all subsets, from the definition, and leaf by leaf."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import combinations

import numpy as np

import twins


def mixed(x, z, known, forest) -> np.ndarray:
    """The row (x_S, z_-S); columns for subsets of categories belong to their feature."""
    owners = list(range(forest.n_features))
    owners += forest.categories.feature if forest.categories is not None else ()
    return np.array([x[i] if j in known else z[i] for i, j in enumerate(owners)])


def tree_shap_interventional(forest, X, background) -> np.ndarray:
    """Shapley values of v(S) = mean over z of f(x_S, z_-S): lundberg2017, Eq. 2, with this v.

    Eq. 2 is printed with the factor (M - |S|! - 1); |S|! (M - |S| - 1)! / M! is right.
    """
    M = forest.n_features
    coalitions = [S for size in range(M + 1) for S in combinations(range(M), size)]
    values = np.zeros((len(X), M, forest.n_outputs))
    for n, x in enumerate(X):
        rows = [mixed(x, z, S, forest) for S in coalitions for z in background]
        f = twins.predict(forest, rows).reshape(len(coalitions), len(background), -1)
        for c in range(forest.n_outputs):
            sums = (math.fsum(column) for column in f[:, :, c])
            v = {S: total / len(background) for S, total in zip(coalitions, sums, strict=True)}
            for i in range(M):
                values[n, i, c] = math.fsum(_gains(v, i, M))
    return values


def _gains(v, i, M):
    """|S|! (M - |S| - 1)! / M! times v(S + i) - v(S), for all S without i."""
    for S in v:
        if i not in S:
            ways = math.factorial(len(S)) * math.factorial(M - len(S) - 1)
            gain = v[tuple(sorted((*S, i)))] - v[S]
            yield float(Fraction(ways, math.factorial(M))) * gain


def leaf_by_leaf(forest, X, background) -> np.ndarray:
    """The same for any number of features: Lundberg et al. 2020, in fractions.

    A leaf with value v that a mixture of x and z reaches if it has all of a features from x, and
    all of b others from z, gives v (a - 1)! b! / (a + b)! to each of the a, and takes
    v a! (b - 1)! / (a + b)! from each of the b.
    """
    values = np.zeros((len(X), forest.n_features, forest.n_outputs))
    for n, x in enumerate(X):
        shares = {}
        for z in background:
            for leaf, path in _ways(forest):
                for j, share in _of_one_leaf(forest, path, x, z):
                    shares[leaf, j] = shares.get((leaf, j), 0) + share
        for c in range(forest.n_outputs):
            sums = [Fraction(0)] * forest.n_features
            for (leaf, j), share in shares.items():
                sums[j] += share * Fraction(forest.value[leaf, c])
            trees = forest.n_trees if forest.aggregate == "mean" else 1
            values[n, :, c] = [float(total / (len(background) * trees)) for total in sums]
    return values


def _ways(forest):
    """Every leaf, and the path to it as pairs of a node and whether it goes left there."""
    waiting = [(int(root), []) for root in forest.tree_offsets[:-1]]
    while waiting:
        k, path = waiting.pop()
        if forest.feature[k] < 0:
            yield k, path
        else:
            waiting.append((int(forest.left[k]), [*path, (k, True)]))
            waiting.append((int(forest.right[k]), [*path, (k, False)]))


def _of_one_leaf(forest, path, x, z):
    fails_x, fails_z = (
        {int(forest.feature[k]) for k, left in path if twins.goes_left(forest, k, row) != left}
        for row in (x, z)
    )
    if fails_x & fails_z:
        return
    a, b = len(fails_z), len(fails_x)
    for j in fails_z:
        yield j, Fraction(math.factorial(a - 1) * math.factorial(b), math.factorial(a + b))
    for j in fails_x:
        yield j, -Fraction(math.factorial(a) * math.factorial(b - 1), math.factorial(a + b))


def rescaled(forest, X, background, curve) -> np.ndarray:
    """Means over z of the values of f for this z alone, times the slope of the curve's chord.

    The slope is (g(f(x)) - g(f(z))) / (f(x) - f(z)), and 1 where f(x) = f(z). `curve(margin, n)` is
    g for row n, of decimals with many digits, as the differences may be small.
    """
    margin_x, margin_z = (
        [Decimal(float(m)) for m in twins.predict(forest, rows)[:, 0]] for rows in (X, background)
    )
    means = np.zeros((len(X), forest.n_features))
    with localcontext(prec=60):
        for n in range(len(X)):
            parts = []
            for z in range(len(background)):
                rise = curve(margin_x[n], n) - curve(margin_z[z], n)
                run = margin_x[n] - margin_z[z]
                pair = X[n : n + 1], background[z : z + 1]
                values = tree_shap_interventional(forest, *pair)[0, :, 0]
                parts.append(values * (float(rise / run) if run else 1.0))
            means[n] = [math.fsum(column) / len(background) for column in np.transpose(parts)]
    return means
