"""Means of models of trees: bags of forests, and votes with equal or given weights."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from splitcredit.models.formats import _nodes, format_of, to_forest, unwrap

_ALIKE = ("strict", "x_dtype", "aggregate", "cover_kind", "criterion", "missing_value")


def mean_of(members, weights, labels, name, features=None, columns=None) -> dict:
    """Fields of the weighted mean of Forests, which may know some features or outputs only."""
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
    """Fields of a VotingClassifier by fractions (soft), or of a VotingRegressor."""
    if getattr(model, "voting", "soft") != "soft":
        raise _nodes.UnsupportedModelError(
            f"this {type(model).__name__} counts votes, which are no sum of trees: fit with "
            "voting='soft', or explain model.estimators_[i]"
        )
    members = [member(one, model) for one in model.estimators_]
    weights, columns = vote_weights(model), None
    if hasattr(model, "classes_"):
        columns = [np.asarray(one.classes_, int) for one in model.estimators_]
    return mean_of(members, weights, labels, type(model).__name__, columns=columns)


def vote_weights(model) -> list:
    """Weights of the fitted members of a vote; those that are dropped have none."""
    given = np.ones(len(model.estimators)) if model.weights is None else model.weights
    pairs = zip(model.estimators, given, strict=True)
    return [weight for (_, one), weight in pairs if not isinstance(one, str)]  # not "drop"


def bag(model, estimators, labels) -> dict:
    """Fields of bagged models of trees other than single trees."""
    members = [member(one, model) for one in estimators]
    columns = None
    if hasattr(model, "classes_"):
        columns = [np.asarray(one.classes_, int) for one in estimators]
    features = model.estimators_features_
    ones = np.ones(len(members))
    return mean_of(members, ones, labels, type(model).__name__, features, columns)


def member(estimator, model):
    """The Forest of one model of a mean, which must predict what the mean is of."""
    inner, steps = unwrap(estimator)
    forest, name = to_forest(inner), type(model).__name__
    why, remedy = _unlike(inner, forest, hasattr(model, "classes_")), ""
    if steps.pipelines:
        why = "from rows that steps of its own have changed"
        remedy = f"put the steps before the {name}, in one pipeline around it, or "
    if why:
        raise _nodes.UnsupportedModelError(
            f"this {name} averages what {type(inner).__name__} predicts, {why}: {remedy}explain "
            "model.estimators_[i]"
        )
    return replace(forest, names_given=False)


def _unlike(inner, forest, of_classes):
    """What a model predicts, in words, if it is something else than its trees add up to."""
    own = format_of(inner)
    if of_classes:
        is_fraction = forest.aggregate == "mean" and own.units(inner).tree_output == "probability"
        return "" if is_fraction else "probabilities, and its trees add up to scores"
    if np.size(getattr(inner, "classes_", ())) or forest.output_names == ("path length",):
        return "labels, which are no mean or sum of trees"
    return own.predicts_otherwise(inner)
