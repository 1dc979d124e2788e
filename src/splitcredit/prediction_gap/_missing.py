"""Draw missing values like any other: as a number, in trees that test for it first."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from splitcredit.prediction_gap.perturbations import Marginal, of_features


def as_numbers(forest, X, perturbation):
    """Return forest, prepared rows and `Marginal` with a number for NaN, and the same gaps."""
    if not isinstance(perturbation, Marginal) or forest.categories:
        return forest, X, perturbation
    drawn = of_features(perturbation, forest).rows
    if drawn.shape[1] != X.shape[1]:  # which is refused later
        return forest, X, perturbation
    if forest.missing_value is not None:  # rows have NaN in its place by now
        forest = replace(forest, missing_value=None)
    has_nan = np.isnan(drawn).any(axis=0)
    if forest.missing_left is None and has_nan.any():
        raise ValueError(
            f"the rows to draw from hold NaN in feature {forest.feature_names[has_nan.argmax()]!r},"
            " and this model has no rule for missing values: impute them"
        )
    has_nan |= np.isnan(X).any(axis=0)
    if not has_nan.any():
        return forest, X, perturbation
    missing = float(np.finfo(forest.x_dtype).max)
    asked = _asking_first(forest, has_nan, missing / 2)
    X, drawn = (_filled(rows, missing) for rows in (X, drawn))
    return asked, X, Marginal(drawn)


def _filled(rows, missing):
    return np.ascontiguousarray(np.where(np.isnan(rows), missing, finite(rows)), rows.dtype)


def finite(rows) -> np.ndarray:
    """Return prepared rows with half the largest number in place of larger ones and infinity."""
    limit = float(np.finfo(rows.dtype).max) / 2
    return np.clip(rows, -limit, limit)


def _asking_first(forest, wanted, limit):
    """Build trees that test, before a split by a wanted feature, if its value exceeds a limit.

    Values above it go where NaN goes, and meet no other split by this feature. Where NaN goes right
    all the way down it does so by itself.
    """
    f, goes_left = forest, _nan_goes_left_below(forest, wanted)
    nodes, offsets = [], [0]
    for root in f.tree_offsets[:-1].tolist():
        waiting = [(root, frozenset(), frozenset(), -1, 0)]
        while waiting:
            node, absent, present, parent, side = waiting.pop()
            j = int(f.feature[node])
            while j in absent:
                node = int((f.left if f.missing_left[node] else f.right)[node])
                j = int(f.feature[node])
            own, place = [j, float(f.threshold[node]), -1, -1, node], len(nodes)
            if parent >= 0:
                nodes[parent][2 + side] = place
            if j >= 0:
                left, right = int(f.left[node]), int(f.right[node])
                if wanted[j] and j not in present and goes_left[node] >> j & 1:
                    own[1] = limit
                    there = left if f.missing_left[node] else right
                    waiting.append((there, absent | {j}, present, place, 1))
                    waiting.append((node, absent, present | {j}, place, 0))
                else:
                    waiting.append((right, absent, present, place, 1))
                    waiting.append((left, absent, present, place, 0))
            nodes.append(own)
        offsets.append(len(nodes))
    columns = [np.array(column) for column in zip(*nodes, strict=True)]
    feature, threshold, left, right, old = columns
    leaves = np.where(feature < 0, 1.0, 0.0)
    for node in range(len(nodes) - 1, -1, -1):
        if feature[node] >= 0:
            leaves[node] = leaves[left[node]] + leaves[right[node]]
    return replace(
        f,
        feature=feature,
        threshold=threshold,
        left=left,
        right=right,
        value=f.value[old],
        cover=leaves,
        tree_offsets=offsets,
        missing_left=np.zeros(len(nodes), np.bool_),
        strict=f.strict,
        **dict.fromkeys(("impurity", "inbag", "training_hash", "column")),
    )


def _nan_goes_left_below(forest, wanted):
    """Return by node, as bits, the wanted features whose NaN a split there or below sends left."""
    below = [0] * forest.n_nodes
    for node in range(forest.n_nodes - 1, -1, -1):
        j = int(forest.feature[node])
        if j >= 0:
            own = 1 << j if wanted[j] and forest.missing_left[node] else 0
            below[node] = own | below[forest.left[node]] | below[forest.right[node]]
    return below
