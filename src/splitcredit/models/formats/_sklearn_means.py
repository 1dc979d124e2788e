"""Convert scikit-learn's decision trees and means of them: forests, extra-trees, bags, votes.

Scikit-learn casts X to float32 and goes left on ``x <= threshold`` with a float64 threshold. From
release 1.3 on the node values of a classifier are class fractions.
"""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from functools import partial

import numpy as np
from sklearn.tree import BaseDecisionTree
from sklearn.utils import get_tags

from splitcredit.models.formats import _nodes, format_of, to_forest, unwrap

# What holds for all of them.
KIND = {"strict": False, "x_dtype": "float32", "cover_kind": "weighted_n_node_samples"}


def tree(model, labels) -> dict:
    """Return Forest fields of a single decision tree, with its labels among them."""
    return _averaged(model, [model], model.criterion, labels)


def forest(model, labels) -> dict:
    """Return Forest fields of a random forest or extra-trees model."""
    fields = _averaged(model, model.estimators_, model.criterion, labels)
    # Balanced forests of imbalanced-learn draw by samplers, and do not say which rows.
    is_known = model.bootstrap and not hasattr(model, "samplers_")
    # `bootstrap` may be set after a fit without it, which drew no number of rows.
    is_known &= getattr(model, "_n_samples_bootstrap", 0) is not None
    return {**fields, "inbag": _inbag_of_forest(model) if is_known else None}


def bagging(model, labels) -> dict:
    """Return Forest fields of bagged models, each of which may lack features or classes."""
    estimators = _predicting(model)
    if not all(isinstance(estimator, BaseDecisionTree) for estimator in estimators):
        return bag(model, estimators, labels)
    if hasattr(estimators[0], "classes_") and not hasattr(model, "classes_"):
        raise _nodes.UnsupportedModelError(
            f"estimator 0 of this {type(model).__name__} is a {type(estimators[0]).__name__}, "
            "and the mean of labels is not a mean of trees: bag regression trees"
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
    """Return the estimators by which a bagged model predicts: as many as it is set to have."""
    present = len(model.estimators_)
    if model.n_estimators > present:
        raise ValueError(
            f"this {type(model).__name__} has {present} trees, and divides their sum by "
            f"n_estimators={model.n_estimators}, which was set after the fit: set it to {present}, "
            "or call fit again"
        )
    return model.estimators_[: model.n_estimators]


def _averaged(model, estimators, criterion, labels, **parts):
    """Return Forest fields of the mean of some estimators' trees."""
    trees = [estimator.tree_ for estimator in estimators]
    values = [_values(tree) for tree in trees]
    n_outputs = len(labels["output_names"])
    arrays = stacked(trees, values, allows_nan(model), n_outputs=n_outputs, **parts)
    return {**arrays, **labels, **KIND, "criterion": str(criterion), "aggregate": "mean"}


def allows_nan(model) -> bool:
    """Return whether the fitted model has a rule for NaN."""
    return get_tags(model).input_tags.allow_nan


def stacked(trees, values, missing, n_outputs=None, features=None, columns=None) -> dict:
    """Return node arrays of the trees one after the other; each may know some columns only."""
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
    """Return the values of the nodes: one for each target or class, (n_nodes, n_outputs)."""
    if tree.n_outputs == 1:
        return tree.value[:, 0, :]
    return np.concatenate([tree.value[:, k, :n] for k, n in enumerate(tree.n_classes)], axis=1)


# Draws from two or more rows that agree by chance with a probability of 2**-64 at most.
_COMPARED = 64


def _inbag(model, estimators):
    """Count how often each training row was drawn for each tree, in the smallest type.

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
    """Do the same for a forest, whose generator is seeded for each tree.

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


_ALIKE = ("strict", "x_dtype", "aggregate", "cover_kind", "criterion", "missing_value")


def mean_of(members, weights, labels, name, features=None, columns=None) -> dict:
    """Return fields of the weighted mean of Forests, which may lack features or outputs."""
    first = members[0]
    for key in _ALIKE:
        others = [getattr(one, key) for one in members if getattr(one, key) != getattr(first, key)]
        if others or any(one.categories is not None for one in members):
            raise _nodes.UnsupportedModelError(
                f"this {name} is a mean of models that are too different for one Forest, or know "
                "categories: explain them one by one, model.estimators_[i]"
            )
    n_outputs = len(labels["output_names"])
    if columns is None and any(one.n_outputs != n_outputs for one in members):
        raise _nodes.UnsupportedModelError(
            f"this {name} is a mean of models of several outputs: explain model.estimators_[i]"
        )
    counts = np.array([one.n_trees for one in members])
    share = np.asarray(weights, float) / np.sum(weights)
    # A tree of a mean counts as one of n; each member's trees must have its share together.
    factor = share * counts.sum() / counts if first.aggregate == "mean" else share
    offsets = np.concatenate([[0], np.cumsum([one.n_nodes for one in members])])
    value, base = np.zeros((offsets[-1], n_outputs)), np.zeros(n_outputs)
    arrays: dict = {key: [] for key in ("feature", "left", "right")}
    for i, one in enumerate(members):
        own = slice(None) if columns is None else columns[i]
        value[offsets[i] : offsets[i + 1], own] = factor[i] * one.value
        base[own] += share[i] * one.base
        inner = one.feature >= 0
        known = np.arange(one.n_features) if features is None else np.asarray(features[i])
        arrays["feature"].append(np.where(inner, known[one.feature.clip(0)], -1))
        for side in ("left", "right"):
            arrays[side].append(np.where(inner, getattr(one, side) + offsets[i], -1))
    joined = {key: np.concatenate(parts) for key, parts in arrays.items()}
    for key in ("threshold", "cover", "impurity", "missing_left"):
        parts = [getattr(one, key) for one in members]
        if all(part is not None for part in parts):
            joined[key] = np.concatenate(parts)
    if np.ptp(factor) > 1e-12:
        joined.pop("impurity", None)
    starts = [one.tree_offsets[:-1] + start for one, start in zip(members, offsets, strict=False)]
    joined["tree_offsets"] = np.concatenate([*starts, offsets[-1:]])
    return {
        **{key: getattr(first, key) for key in _ALIKE},
        **joined,
        **labels,
        "value": value,
        "base": base,
    }


def vote(model, labels) -> dict:
    """Return Forest fields of a VotingClassifier by fractions (soft), or a VotingRegressor."""
    if getattr(model, "voting", "soft") != "soft":
        raise _nodes.UnsupportedModelError(
            f"this {type(model).__name__} counts votes, which are not a sum of trees: fit with "
            "voting='soft', or explain model.estimators_[i]"
        )
    members = [member(one, model) for one in model.estimators_]
    weights, columns = vote_weights(model), None
    if hasattr(model, "classes_"):
        columns = [np.asarray(one.classes_, int) for one in model.estimators_]
    return mean_of(members, weights, labels, type(model).__name__, columns=columns)


def vote_weights(model) -> list:
    """Return the weights of the fitted members of a vote, without those that are dropped."""
    given = np.ones(len(model.estimators)) if model.weights is None else model.weights
    pairs = zip(model.estimators, given, strict=True)
    return [weight for (_, one), weight in pairs if not isinstance(one, str)]  # not "drop"


def bag(model, estimators, labels) -> dict:
    """Return Forest fields of bagged models of trees other than single trees."""
    members = [member(one, model) for one in estimators]
    columns = None
    if hasattr(model, "classes_"):
        columns = [np.asarray(one.classes_, int) for one in estimators]
    features = model.estimators_features_
    ones = np.ones(len(members))
    return mean_of(members, ones, labels, type(model).__name__, features, columns)


def member(estimator, model):
    """Return the Forest of one member of a mean, which must predict the averaged quantity."""
    inner, steps = unwrap(estimator)
    forest, name = to_forest(inner), type(model).__name__
    why, remedy = _other_prediction(inner, forest, hasattr(model, "classes_")), ""
    if steps.pipelines:
        why = "from rows that steps of its own have changed"
        remedy = f"put the steps before the {name}, in one pipeline around it, or "
    if why:
        raise _nodes.UnsupportedModelError(
            f"this {name} averages what {type(inner).__name__} predicts, {why}: {remedy}explain "
            "model.estimators_[i]"
        )
    return replace(forest, names_given=False)


def _other_prediction(inner, forest, of_classes):
    """Say in words what a model predicts, if that is not the sum of its trees."""
    own = format_of(inner)
    if of_classes:
        is_fraction = forest.aggregate == "mean" and own.units(inner).tree_output == "probability"
        return "" if is_fraction else "probabilities, and its trees add up to scores"
    if np.size(getattr(inner, "classes_", ())) or forest.output_names == ("path length",):
        return "labels, which are not a mean or sum of trees"
    return own.predicts_otherwise(inner)
