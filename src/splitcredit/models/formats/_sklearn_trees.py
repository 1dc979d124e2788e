"""Scikit-learn's decision trees, and what averages them: forests, extra-trees, bagging.

Scikit-learn casts X to float32 and goes left on ``x <= threshold`` with a float64 threshold. From
release 1.3 on the node values of a classifier are class fractions.
"""

from __future__ import annotations

from copy import copy
from functools import partial

import numpy as np
from sklearn.tree import BaseDecisionTree
from sklearn.utils import get_tags

from splitcredit.models.formats import _means, _nodes

# What holds for all of them.
KIND = {"strict": False, "x_dtype": "float32", "cover_kind": "weighted_n_node_samples"}


def tree(model, labels) -> dict:
    """Fields of the Forest of a single decision tree, with its labels among them."""
    return _averaged(model, [model], model.criterion, labels)


def forest(model, labels) -> dict:
    """Fields of the Forest of a random forest or extra-trees model."""
    fields = _averaged(model, model.estimators_, model.criterion, labels)
    # Balanced forests of imbalanced-learn draw by samplers, and do not say which rows.
    is_known = model.bootstrap and not hasattr(model, "samplers_")
    # `bootstrap` may be set after a fit without it, which drew no number of rows.
    is_known &= getattr(model, "_n_samples_bootstrap", 0) is not None
    return {**fields, "inbag": _inbag_of_forest(model) if is_known else None}


def bagging(model, labels) -> dict:
    """Fields of the Forest of bagged models, which may know some features or classes only."""
    estimators = _predicting(model)
    if not all(isinstance(estimator, BaseDecisionTree) for estimator in estimators):
        return _means.bag(model, estimators, labels)
    if hasattr(estimators[0], "classes_") and not hasattr(model, "classes_"):
        raise _nodes.UnsupportedModelError(
            f"estimator 0 of this {type(model).__name__} is a {type(estimators[0]).__name__}, "
            "and the mean of labels is no mean of trees: bag regression trees"
        )
    fields = _averaged(
        model,
        estimators,
        model.estimator_.criterion,
        labels,
        features=model.estimators_features_,
        columns=[getattr(e, "classes_", np.arange(e.n_outputs_)) for e in estimators],
    )
    return {**fields, "inbag": _inbag(model, estimators)}


def _predicting(model):
    """The estimators by which a bagged model predicts: as many as it is set to have now."""
    present = len(model.estimators_)
    if model.n_estimators > present:
        raise ValueError(
            f"this {type(model).__name__} has {present} trees, and divides their sum by "
            f"n_estimators={model.n_estimators}, which was set after the fit: set it to {present}, "
            "or call fit again"
        )
    return model.estimators_[: model.n_estimators]


def _averaged(model, estimators, criterion, labels, **parts):
    """Fields of the mean of some estimators' trees."""
    trees = [estimator.tree_ for estimator in estimators]
    values = [_values(tree) for tree in trees]
    n_outputs = len(labels["output_names"])
    arrays = stacked(trees, values, allows_nan(model), n_outputs=n_outputs, **parts)
    return {**arrays, **labels, **KIND, "criterion": str(criterion), "aggregate": "mean"}


def allows_nan(model) -> bool:
    """Whether the fitted model has a rule for NaN."""
    return get_tags(model).input_tags.allow_nan


def stacked(trees, values, missing, n_outputs=None, features=None, columns=None) -> dict:
    """Node arrays of the trees one after the other; each tree may know some columns only."""
    offsets = np.concatenate([[0], np.cumsum([t.node_count for t in trees])])
    n = offsets[-1]
    n_outputs = values[0].shape[1] if n_outputs is None else n_outputs
    arrays = {
        "feature": np.empty(n, np.int32),
        "threshold": np.empty(n),
        "left": np.empty(n, np.int32),
        "right": np.empty(n, np.int32),
        "value": np.empty((n, n_outputs)) if columns is None else np.zeros((n, n_outputs)),
        "cover": np.empty(n),
        "impurity": np.empty(n),
    }
    if missing:
        arrays["missing_left"] = np.empty(n, np.bool_)
    for t, tree in enumerate(trees):
        nodes = slice(offsets[t], offsets[t + 1])
        own_columns = slice(None) if columns is None else columns[t]
        feature = tree.feature  # a leaf has -2
        arrays["feature"][nodes] = feature if features is None else features[t][feature.clip(0)]
        arrays["threshold"][nodes] = tree.threshold
        arrays["left"][nodes], arrays["right"][nodes] = tree.children_left, tree.children_right
        arrays["value"][nodes, own_columns] = values[t]
        arrays["cover"][nodes] = tree.weighted_n_node_samples
        arrays["impurity"][nodes] = tree.impurity
        if missing:
            arrays["missing_left"][nodes] = tree.missing_go_to_left
    leaves = np.flatnonzero(arrays["left"] < 0)
    start = np.repeat(offsets[:-1].astype(np.int32), np.diff(offsets))
    for name, at_leaf in (("feature", -1), ("threshold", 0.0), ("left", -1), ("right", -1)):
        if name in ("left", "right"):
            arrays[name] += start
        arrays[name][leaves] = at_leaf
    arrays["tree_offsets"] = offsets
    return _nodes.frozen(arrays)


def _values(tree):
    """Values of the nodes: of each target one, or one for each class, (n_nodes, n_outputs)."""
    if tree.n_outputs == 1:
        return tree.value[:, 0, :]
    return np.concatenate([tree.value[:, k, :n] for k, n in enumerate(tree.n_classes)], axis=1)


# Draws from two or more rows that agree by chance with a probability of 2**-64 at most.
_COMPARED = 64


def _inbag(model, estimators):
    """How often each training row was drawn for each tree, in the smallest unsigned type.

    None where scikit-learn no longer knows, after several calls of fit with ``warm_start``: bagged
    models keep the seeds of the last call, and forests draw the rows of all trees anew from as many
    as it had, with its weights.
    """
    samples = model.estimators_samples_[: len(estimators)]
    if len(samples) < len(estimators):
        return None
    counts = _counts(samples, model._n_samples)
    rows = [tree.tree_.n_node_samples[0] for tree in estimators]
    if model.warm_start and not np.array_equal((counts > 0).sum(axis=1), rows):
        return None
    return counts


def _inbag_of_forest(model):
    """The same for a forest, whose rows are drawn by one generator that is seeded for each tree.

    Scikit-learn makes a generator for each tree, which takes most of its time. Rows of forests with
    weights may be drawn in another way, so the first trees are compared with its own, as many as
    have `_COMPARED` draws. If they agree, the rest is left to a function that does not hold the
    model.
    """
    if model.warm_start:
        return _inbag(model, model.estimators_)
    few = copy(model)
    few.estimators_ = model.estimators_[:1]
    n_rows, n_drawn = model._n_samples, len(few.estimators_samples_[0])
    few.estimators_ = model.estimators_[: -(-_COMPARED // n_drawn)]
    seeds = [tree.random_state for tree in model.estimators_]
    pairs = zip(_drawn(seeds, n_rows, n_drawn), few.estimators_samples_, strict=False)
    if not all(np.array_equal(drawn, own) for drawn, own in pairs):
        return _inbag(model, model.estimators_)
    return partial(_drawn_counts, seeds, n_rows, n_drawn)


def _drawn(seeds, n_rows, n_drawn):
    random = np.random.RandomState()
    for seed in seeds:
        random.seed(seed)
        yield random.randint(0, n_rows, n_drawn)


def _drawn_counts(seeds, n_rows, n_drawn):
    return _counts(_drawn(seeds, n_rows, n_drawn), n_rows)


def _counts(samples, n_rows):
    counts = np.stack([np.bincount(s, minlength=n_rows) for s in samples])
    return counts.astype(np.min_scalar_type(counts.max()))
