"""Scikit-learn decision trees, random forests and extra-trees to `Forest`."""

from __future__ import annotations

import numpy as np
from sklearn.base import is_classifier
from sklearn.exceptions import NotFittedError
from sklearn.utils import get_tags

from splitcredit.forest import Forest, array_hash


def convert(model, X_train=None) -> Forest:
    """Convert one fitted scikit-learn model; see `splitcredit.to_forest`.

    Notes
    -----
    Scikit-learn casts X to float32 and goes left on ``x <= threshold`` with a float64 threshold.
    From release 1.3 on the node values of a classifier are class fractions.
    """
    from sklearn.ensemble import (
        ExtraTreesClassifier,
        ExtraTreesRegressor,
        RandomForestClassifier,
        RandomForestRegressor,
    )
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    single = (DecisionTreeClassifier, DecisionTreeRegressor)
    ensemble = (
        ExtraTreesClassifier,
        ExtraTreesRegressor,
        RandomForestClassifier,
        RandomForestRegressor,
    )
    name = type(model).__name__
    if not isinstance(model, (*single, *ensemble)):
        supported = ", ".join(c.__name__ for c in (*single, *ensemble))
        raise TypeError(f"cannot convert {name} to a Forest: supported are {supported}")
    if not hasattr(model, "estimators_" if isinstance(model, ensemble) else "tree_"):
        raise NotFittedError(f"this {name} is not fitted: call fit(X, y) first")
    if model.n_outputs_ != 1:
        raise ValueError(
            f"this {name} predicts {model.n_outputs_} targets: fit one model for each target"
        )
    bagged = isinstance(model, ensemble) and model.bootstrap
    trees = [e.tree_ for e in model.estimators_] if isinstance(model, ensemble) else [model.tree_]
    names = getattr(model, "feature_names_in_", None)
    given = names is not None
    names = names if given else [f"x{j}" for j in range(model.n_features_in_)]
    allow_nan = get_tags(model).input_tags.allow_nan
    return Forest(
        **_stack(trees, missing=allow_nan),
        feature_names=tuple(names),
        output_names=tuple(model.classes_) if is_classifier(model) else ("output",),
        criterion=str(model.criterion),
        strict=False,
        x_dtype="float32",
        aggregate="mean",
        cover_kind="weighted_n_node_samples",
        names_given=given,
        inbag=_inbag(model) if bagged else None,
        training_hash=None if X_train is None else array_hash(X_train),
    )


def _stack(trees, missing):
    """Concatenate the node arrays of the trees; children become global indices."""
    counts = np.array([t.node_count for t in trees])
    offsets = np.concatenate([[0], np.cumsum(counts)])
    n = offsets[-1]
    arrays = {
        "feature": np.empty(n, np.int32),
        "threshold": np.empty(n),
        "left": np.empty(n, np.int32),
        "right": np.empty(n, np.int32),
        "value": np.empty((n, trees[0].value.shape[2])),
        "cover": np.empty(n),
        "impurity": np.empty(n),
    }
    if missing:
        arrays["missing_left"] = np.empty(n, np.bool_)
    for tree, start, stop in zip(trees, offsets[:-1], offsets[1:], strict=True):
        leaf = tree.children_left < 0
        arrays["feature"][start:stop] = np.where(leaf, -1, tree.feature)
        arrays["threshold"][start:stop] = np.where(leaf, 0.0, tree.threshold)
        arrays["left"][start:stop] = np.where(leaf, -1, tree.children_left + start)
        arrays["right"][start:stop] = np.where(leaf, -1, tree.children_right + start)
        arrays["value"][start:stop] = tree.value[:, 0, :]
        arrays["cover"][start:stop] = tree.weighted_n_node_samples
        arrays["impurity"][start:stop] = tree.impurity
        if missing:
            arrays["missing_left"][start:stop] = tree.missing_go_to_left
    for array in arrays.values():
        array.flags.writeable = False  # handed over: Forest need not copy them
    return {**arrays, "tree_offsets": offsets}


def _inbag(model):
    """How often each training row was drawn for each tree, in the smallest unsigned type."""
    samples = model.estimators_samples_
    counts = np.stack([np.bincount(s, minlength=model._n_samples) for s in samples])
    return counts.astype(np.min_scalar_type(counts.max()))
