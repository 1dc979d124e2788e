"""Slow twin of SAGE: the game over all coalitions, and its Shapley values, from the definition."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations

import numpy as np

import twins
from twins_interventional import mixed


def sage(forest, X, y, background, loss, imputer="marginal") -> np.ndarray:
    """Shapley values of v(S) = E[l(f_0, Y)] - E[l(f_S(X_S), Y)]: sutera2021, section 5.

    `y` holds indices of classes, or numbers where there is one output.
    """
    p = forest.n_features
    predict, v = _remembered(forest), {}
    for S in (S for size in range(p + 1) for S in combinations(range(p), size)):
        f = [_restricted(forest, predict, x, background, S, imputer) for x in X]
        v[S] = -math.fsum(_loss(loss, f_x, y_x) for f_x, y_x in zip(f, y, strict=True)) / len(X)
    return shapley(v, p)


def shapley(v, p) -> np.ndarray:
    """Shapley values of p players from the worth v of all coalitions, which are sorted tuples."""
    values = np.zeros(p)
    for i in range(p):
        terms = []
        for S in v:
            if i not in S:
                ways = math.factorial(len(S)) * math.factorial(p - len(S) - 1)
                gain = v[tuple(sorted((*S, i)))] - v[S]
                terms.append(float(Fraction(ways, math.factorial(p))) * gain)
        values[i] = math.fsum(terms)
    return values


def _remembered(forest):
    """Prediction for one row; the twin asks for the same rows again and again."""
    predictions = {}

    def predict(row):
        key = row.tobytes()
        if key not in predictions:
            predictions[key] = twins.predict(forest, [row])[0]
        return predictions[key]

    return predict


def _restricted(forest, predict, x, background, S, imputer):
    """f_S(x_S), by output."""
    if imputer == "marginal":
        rows = [mixed(x, z, S, forest) for z in background]
    else:
        rows = [z for z in background if all(x[j] == z[j] for j in S)]
    predictions = [predict(row) for row in rows]
    return [math.fsum(output) / len(rows) for output in zip(*predictions, strict=True)]


def _loss(loss, prediction, y):
    if loss == "cross_entropy":
        return -math.log(max(prediction[y], 1e-12))
    target = [float(c == y) for c in range(len(prediction))] if len(prediction) > 1 else [y]
    return math.fsum((f - t) ** 2 for f, t in zip(prediction, target, strict=True))


def sage_of(predict, X, y, background, loss) -> np.ndarray:
    """SAGE of any function that gives probabilities (n_rows, n_classes), marginal imputer."""
    v = {}
    p = X.shape[1]
    for S in (S for size in range(p + 1) for S in combinations(range(p), size)):
        losses = []
        for x, y_x in zip(X, y, strict=True):
            rows = background.copy()
            rows[:, S] = x[list(S)]
            losses.append(_loss(loss or "cross_entropy", predict(rows).mean(axis=0), y_x))
        v[S] = -math.fsum(losses) / len(X)
    return shapley(v, p)
