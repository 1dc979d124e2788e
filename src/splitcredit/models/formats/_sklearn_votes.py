"""Sums of something else than the values of scikit-learn's trees: votes, lengths, risk scores."""

from __future__ import annotations

import numpy as np
from sklearn.tree import BaseDecisionTree

from splitcredit.models.formats import _nodes, _sklearn_boosting
from splitcredit.models.formats._sklearn_trees import KIND, allows_nan, stacked


def ada_boost(model, labels) -> dict:
    """Fields of the Forest of AdaBoost over decision trees: its ``decision_function``.

    Each tree votes with its weight for the class that is largest in the leaf, and with -1 / (K - 1)
    of it for each of the K - 1 others. Of two classes the output is the score of the second minus
    that of the first, as in scikit-learn.
    """
    for t, estimator in enumerate(model.estimators_):
        if not isinstance(estimator, BaseDecisionTree):
            raise _nodes.UnsupportedModelError(
                f"estimator {t} of this {type(model).__name__} is a {type(estimator).__name__}: "
                "boost decision trees"
            )
    trees = [estimator.tree_ for estimator in model.estimators_]
    weights = model.estimator_weights_[: len(trees)] / model.estimator_weights_.sum()
    n_classes = len(model.classes_)
    if n_classes < 2:
        raise ValueError(f"this {type(model).__name__} knows one class only: there is no score")
    votes = []
    for estimator, weight in zip(model.estimators_, weights, strict=True):
        predicted = estimator.classes_[estimator.tree_.value[:, 0, :].argmax(axis=1)]
        is_class = predicted[:, None] == model.classes_
        vote = np.where(is_class, weight, -weight / (n_classes - 1))
        votes.append(vote[:, 1:] - vote[:, :1] if n_classes == 2 else vote)
    arrays = stacked(trees, votes, allows_nan(model.estimators_[0]))
    return of_leaves(model, arrays, labels, "sum")


def isolation_forest(model, labels) -> dict:
    """Fields of the Forest of an isolation forest: the mean length of a row's paths.

    A leaf counts its depth and the mean length of the paths that a tree grown on its rows would
    have (Liu, Ting and Zhou 2008, Eq. 1). Scikit-learn's score is ``-2 ** (-length / c)``, with c
    that mean for `max_samples_` rows.
    """
    trees = [estimator.tree_ for estimator in model.estimators_]
    lengths = [(_depths(t) + mean_length(t.n_node_samples))[:, None] for t in trees]
    features = model.estimators_features_
    arrays = stacked(trees, lengths, allows_nan(model), features=features)
    fields = of_leaves(model, arrays, labels, "mean")
    return {**fields, "output_names": ("path length",)}


def of_leaves(model, arrays, labels, aggregate):
    """Fields of a Forest whose inner nodes have the means of the leaves below them."""
    offsets, name = arrays["tree_offsets"], type(model).__name__
    arrays = _nodes.summarized(arrays, arrays["value"], offsets, name)
    fields = {"criterion": _nodes.LEAF_VARIANCE, "aggregate": aggregate}
    return {**arrays, **labels, **KIND, **fields}


def _depths(tree):
    """Number of edges from the root to each node."""
    depth = np.zeros(tree.node_count)
    for k in np.flatnonzero(tree.children_left >= 0):
        depth[tree.children_left[k]] = depth[tree.children_right[k]] = depth[k] + 1
    return depth


def mean_length(n_rows):
    """Mean length of the paths in isolation trees, by the number of rows of a tree."""
    n = np.maximum(n_rows, 3).astype(float)
    of_many = 2.0 * (np.log(n - 1.0) + np.euler_gamma) - 2.0 * (n - 1.0) / n
    return np.select([n_rows <= 1, n_rows == 2], [0.0, 1.0], of_many)


def survival(model, labels) -> dict:
    """Fields of a survival tree or forest: its risk score, the sum of the cumulative hazards."""
    estimators = getattr(model, "estimators_", [model])
    values = [_risk(one) for one in estimators]
    arrays = stacked([one.tree_ for one in estimators], values, True)
    fields = of_leaves(model, arrays, labels, "mean")
    return {**fields, "output_names": ("risk score",), "several_targets": False}


def _risk(estimator):
    """Risk score of every node: over the times with an event, unless only the score is kept."""
    value = estimator.tree_.value
    if value.shape[1:] == (1, 1):
        return value[:, :, 0].copy()
    return value[:, estimator.is_event_time_, 0].sum(axis=1, keepdims=True)


def cox_boosting(model, labels) -> dict:
    """Fields of GradientBoostingSurvivalAnalysis: the risk score of the Cox model."""
    if model.loss != "coxph" or model.dropout_rate > 0:
        raise _nodes.UnsupportedModelError(
            f"this {type(model).__name__} predicts no sum of its trees: fit with loss='coxph' and "
            "dropout_rate=0"
        )
    return {**_sklearn_boosting.gradient(model, labels), **KIND}
