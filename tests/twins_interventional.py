"""Slow twins of interventional TreeSHAP: all subsets, from the definition, and leaf by leaf."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np

import twins


def mixed(x, z, known, forest) -> np.ndarray:
    """The row (x_S, z_-S); columns for subsets of categories belong to their feature."""
    owners = list(range(forest.n_features))
    owners += forest.categories.feature if forest.categories is not None else ()
    return np.array([x[i] if j in known else z[i] for i, j in enumerate(owners)])


def tree_shap_interventional(forest, X, background) -> np.ndarray:
    """Shapley values of v(S) = mean over z of f(x_S, z_-S)."""
    subsets, values = twins.coalitions(forest.n_features), []
    for x in X:
        rows = [mixed(x, z, S, forest) for S in subsets for z in background]
        f = twins.predict(forest, rows).reshape(len(subsets), len(background), -1)
        worth = {
            S: [math.fsum(column) / len(background) for column in f_S.T]
            for S, f_S in zip(subsets, f, strict=True)
        }
        values.append(twins.shapley(worth, forest.n_features))
    return np.array(values)


def leaf_by_leaf(forest, X, background) -> np.ndarray:
    """The same for any number of features: Lundberg et al. 2020, in fractions.

    A leaf with value v that a mixture of x and z reaches if it has all of a features from x, and
    all of b others from z, gives v (a - 1)! b! / (a + b)! to each of the a, and takes
    v a! (b - 1)! / (a + b)! from each of the b.
    """
    values = np.zeros((len(X), forest.n_features, forest.n_outputs))
    paths = [way for root in forest.tree_offsets[:-1] for way in twins.ways(forest, root)]
    for n, x in enumerate(X):
        shares = {}
        for z in background:
            for leaf, path in paths:
                for j, share in _of_one_leaf(forest, path, x, z):
                    shares[leaf, j] = shares.get((leaf, j), 0) + share
        for c in range(forest.n_outputs):
            sums = [Fraction(0)] * forest.n_features
            for (leaf, j), share in shares.items():
                sums[j] += share * Fraction(forest.value[leaf, c])
            values[n, :, c] = [twins.aggregated(forest, s / len(background)) for s in sums]
    return values


def _of_one_leaf(forest, path, x, z):
    fails_x, fails_z = (
        {int(forest.feature[k]) for k, left, _ in path if twins.goes_left(forest, k, row) != left}
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
