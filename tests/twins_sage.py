"""Slow twin of SAGE: the game over all coalitions, and its Shapley values, from the definition."""

from __future__ import annotations

import math
from functools import cache

import numpy as np

import twins
from twins_interventional import mixed


def sage(forest, X, y, background, loss, imputer="marginal") -> np.ndarray:
    """Shapley values of v(S) = E[l(f_0, Y)] - E[l(f_S(X_S), Y)]: sutera2021, section 5.

    `y` holds indices of classes, or numbers where there is one output.
    """

    @cache
    def predict(row):
        """Take the bytes of a row, as the same rows come again and again."""
        return twins.predict(forest, [np.frombuffer(row, X.dtype)])[0]

    def f_S(x, S):
        if imputer == "marginal":
            rows = [mixed(x, z, S, forest) for z in background]
        else:
            rows = [z for z in background if all(x[j] == z[j] for j in S)]
        predictions = [predict(row.tobytes()) for row in rows]
        return [math.fsum(output) / len(rows) for output in zip(*predictions, strict=True)]

    return _of_game(f_S, forest.n_features, X, y, loss)


def sage_of(predict, X, y, background, loss) -> np.ndarray:
    """SAGE of any function that gives probabilities (n_rows, n_classes), marginal imputer."""

    def f_S(x, S):
        rows = background.copy()
        rows[:, S] = x[list(S)]
        return predict(rows).mean(axis=0)

    return _of_game(f_S, X.shape[1], X, y, loss or "cross_entropy")


def _of_game(f_S, p, X, y, loss):
    """Shapley values of p features, from predictions f_S(x, S); E[l(f_0, Y)] adds nothing."""
    v = {}
    for S in twins.coalitions(p):
        losses = [_loss(loss, f_S(x, S), y_x) for x, y_x in zip(X, y, strict=True)]
        v[S] = [-math.fsum(losses) / len(X)]
    return twins.shapley(v, p)[:, 0]


def _loss(loss, prediction, y):
    if loss == "cross_entropy":
        return -math.log(max(prediction[y], 1e-12))
    target = [float(c == y) for c in range(len(prediction))] if len(prediction) > 1 else [y]
    return math.fsum((f - t) ** 2 for f, t in zip(prediction, target, strict=True))
