"""Scikit-learn's decision trees, and what averages them: forests, extra-trees, bagging.

Scikit-learn casts X to float32 and goes left on ``x <= threshold`` with a float64 threshold. From
release 1.3 on the node values of a classifier are class fractions.
"""

from __future__ import annotations

import numpy as np
from sklearn.tree import BaseDecisionTree
from sklearn.utils import get_tags

from splitcredit.convert import _nodes

# What holds for all of them.
KIND = {"strict": False, "x_dtype": "float32", "cover_kind": "weighted_n_node_samples"}


def tree(model, labels) -> dict:
    """Fields of the Forest of a single decision tree, with its labels among them."""
    return _averaged(model, [model], model.criterion, labels)


def forest(model, labels) -> dict:
    """Fields of the Forest of a random forest or extra-trees model."""
    fields = _averaged(model, model.estimators_, model.criterion, labels)
    return {**fields, "inbag": _inbag(model) if model.bootstrap else None}


def bagging(model, labels) -> dict:
    """Fields of the Forest of bagged decision trees, which may know some features or classes only.

    Raises
    ------
    TypeError
        If something other than decision trees is bagged.
    """
    for t, estimator in enumerate(model.estimators_):
        if not isinstance(estimator, BaseDecisionTree):
            raise TypeError(
                f"estimator {t} of this {type(model).__name__} is a {type(estimator).__name__}: "
                "bag decision trees, or convert that model itself"
            )
    fields = _averaged(
        model,
        model.estimators_,
        model.estimator_.criterion,
        labels,
        features=model.estimators_features_,
        columns=[getattr(e, "classes_", np.arange(e.n_outputs_)) for e in model.estimators_],
    )
    return {**fields, "inbag": _inbag(model)}


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
    """Node arrays of the trees one after the other; children become global indices.

    Parameters
    ----------
    trees : list of sklearn.tree._tree.Tree
    values : list of float64 (n_nodes of the tree, n_outputs of the tree)
    missing : bool
        Whether to take where NaN goes.
    n_outputs : int, optional
        That of the first tree, if not given.
    features : list of int arrays, optional
        Which features each tree knows, all if not given.
    columns : list of int arrays, optional
        Which outputs each tree knows, all if not given.

    Returns
    -------
    dict of read-only arrays by their name in Forest
    """
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
        known = slice(None) if columns is None else columns[t]
        leaf = tree.children_left < 0
        feature = np.where(leaf, 0, tree.feature)  # a leaf has -2
        feature = feature if features is None else features[t][feature]
        arrays["feature"][nodes] = np.where(leaf, -1, feature)
        arrays["threshold"][nodes] = np.where(leaf, 0.0, tree.threshold)
        arrays["left"][nodes] = np.where(leaf, -1, tree.children_left + offsets[t])
        arrays["right"][nodes] = np.where(leaf, -1, tree.children_right + offsets[t])
        arrays["value"][nodes, known] = values[t]
        arrays["cover"][nodes] = tree.weighted_n_node_samples
        arrays["impurity"][nodes] = tree.impurity
        if missing:
            arrays["missing_left"][nodes] = tree.missing_go_to_left
    arrays["tree_offsets"] = offsets
    return _nodes.frozen(arrays)


def _values(tree):
    """Values of the nodes: of each target one, or one for each class, (n_nodes, n_outputs)."""
    if tree.n_outputs == 1:
        return tree.value[:, 0, :]
    return np.concatenate([tree.value[:, k, :n] for k, n in enumerate(tree.n_classes)], axis=1)


def _inbag(model):
    """How often each training row was drawn for each tree, in the smallest unsigned type."""
    samples = model.estimators_samples_
    counts = np.stack([np.bincount(s, minlength=model._n_samples) for s in samples])
    return counts.astype(np.min_scalar_type(counts.max()))
