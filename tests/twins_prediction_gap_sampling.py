"""Slow twins of sampled gaps, randomizing and retraining: the definitions in plain Python."""

from __future__ import annotations

import math

import numpy as np

import twins


def gaps(forest, row, features, scale, noise) -> list[float]:
    """f(x') - f(x) for each sample: gajewski2025, Equations (1) and (2).

    `noise` is (n_columns, n_samples); column c is that of the c-th of the sorted features. The row
    is what the model sees, cast, and so are the samples (by `twins.goes_left`).
    """
    row = [float(v) for v in forest.prepare([row])[0]]
    leaves_of_row = [path[-1] for path in twins.paths(forest, row)]
    differences = []
    for i in range(noise.shape[1]):
        perturbed = list(row)
        for c, j in enumerate(sorted(features)):
            perturbed[j] = row[j] + float(scale[j]) * float(noise[c, i])
        leaves = [path[-1] for path in twins.paths(forest, perturbed)]
        pairs = zip(leaves, leaves_of_row, strict=True)
        total = math.fsum(forest.value[a, 0] - forest.value[b, 0] for a, b in pairs)
        differences.append(total / forest.n_trees if forest.aggregate == "mean" else total)
    return differences


def mean_gap(forest, row, features, scale, noise, absolute=False) -> float:
    """Mean of the squared or absolute gaps."""
    differences = gaps(forest, row, features, scale, noise)
    return math.fsum(abs(g) if absolute else g * g for g in differences) / len(differences)


def randomized(forest, row, removed, draws) -> float:
    """Mean prediction with the removed features taken from each of the draws (n, n_features)."""
    predictions = []
    for draw in draws:
        mixed = [draw[j] if j in removed else row[j] for j in range(len(row))]
        predictions.append(twins.predict(forest, np.array([mixed]))[0, 0])
    return math.fsum(predictions) / len(predictions)


def retrained(fit, X_train, y_train, row, removed) -> float:
    """Prediction for one row by a model of its own, fitted without the removed features."""
    remaining = [j for j in range(len(row)) if j not in removed]
    return float(fit(X_train[:, remaining], y_train).predict(np.array([row])[:, remaining])[0])
