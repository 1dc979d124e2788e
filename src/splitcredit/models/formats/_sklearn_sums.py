"""Convert scikit-learn's sums of trees: boosting, isolation forests and survival models.

For gradient boosting, the output is the raw score, before the loss's link.
"""

from __future__ import annotations

from copy import copy

import numpy as np
from sklearn.dummy import DummyRegressor
from sklearn.ensemble import GradientBoostingClassifier, GradientBoostingRegressor
from sklearn.tree import BaseDecisionTree

from splitcredit.models.formats import _nodes
from splitcredit.models.formats._nodes import members_of, subset_fields
from splitcredit.models.formats._sklearn_means import KIND, allows_nan, stacked

_CONSTANT = ("prior", "most_frequent", "constant")


def gradient(model, labels) -> dict:
    """Return Forest fields of a GradientBoosting model, with scikit-learn's own impurities."""
    base = _start(model)
    trees = [estimator.tree_ for estimator in model.estimators_.ravel()]
    arrays = stacked(trees, [tree.value[:, 0, :] for tree in trees], allows_nan(model))
    scaled, offsets = model.learning_rate * arrays["value"][:, 0], arrays["tree_offsets"]
    column, name = np.arange(len(trees)) % len(base), type(model).__name__
    value = _nodes.summarized(arrays, scaled, offsets, name, column, len(base))["value"]
    criterion = str(model.estimators_[0, 0].criterion)
    fields = {"value": value, "base": base, "criterion": criterion, "aggregate": "sum"}
    return {**arrays, **labels, **KIND, **fields}


def _start(model):
    """Return raw scores before the first tree, (n_outputs,)."""
    if starts_from_model(model):
        raise ValueError(
            f"this {type(model).__name__} starts from the predictions of {model.init_!r} (init), a "
            "term of each row that a Forest cannot hold: call explain, or fit with init='zero'"
        )
    return start_of(model, np.zeros((1, model.n_features_in_)))[0]


def starts_from_model(model) -> bool:
    """Return whether a fitted model starts from the predictions of another one."""
    if not isinstance(model, (GradientBoostingClassifier, GradientBoostingRegressor)):
        return False
    start = getattr(model, "init_", "zero")
    is_constant = isinstance(start, DummyRegressor) or isinstance(start, str)
    return not is_constant and getattr(start, "strategy", None) not in _CONSTANT


def start_of(model, rows) -> np.ndarray:
    """Return raw scores of rows before the first tree, (n_samples, n_outputs)."""
    return model._raw_predict_init(rows)


def from_zero(model):
    """Copy the model so that it starts from 0."""
    started = copy(model)
    started.init_ = "zero"
    return started


def histogram(model, labels) -> dict:
    """Return Forest fields of a HistGradientBoosting model, whose covers count rows."""
    base = model._baseline_prediction.ravel()
    trees = [predictor.nodes for row in model._predictors for predictor in row]
    counts = np.array([len(tree) for tree in trees])
    offsets = np.concatenate([[0], np.cumsum(counts)])
    # As bytes: for records NumPy would compare the types of all trees.
    nodes = np.concatenate([tree.view(np.uint8) for tree in trees]).view(trees[0].dtype)
    start = np.repeat(offsets[:-1], counts)
    feature = _original(model)[nodes["feature_idx"]]
    leaf = nodes["is_leaf"] != 0
    arrays = {
        "feature": np.where(leaf, -1, feature).astype(np.int32),
        "threshold": np.where(leaf, 0.0, nodes["num_threshold"]),
        "left": np.where(leaf, -1, nodes["left"] + start).astype(np.int32),
        "right": np.where(leaf, -1, nodes["right"] + start).astype(np.int32),
        "missing_left": nodes["missing_go_to_left"] != 0,
        "cover": nodes["count"].astype(np.float64),
    }
    values, column = nodes["value"].astype(np.float64), np.arange(len(trees)) % len(base)
    name = type(model).__name__
    arrays = _nodes.summarized(arrays, values, offsets, name, column, len(base))
    arrays |= _subsets(model, arrays, nodes)
    return {
        **_nodes.frozen(arrays, but="categories"),
        **labels,
        "base": base,
        "criterion": _nodes.LEAF_VARIANCE,
        "strict": False,
        "x_dtype": "float64",
        "aggregate": "sum",
        "cover_kind": "count",
    }


def _original(model):
    """Return the columns of X in the order of the trees: categorical ones come first."""
    if model.is_categorical_ is None:
        return np.arange(model.n_features_in_)
    return np.argsort(~model.is_categorical_, kind="stable")


def _subsets(model, arrays, nodes):
    """Return fields for splits by categories, whose members go left."""
    if model.is_categorical_ is None:
        return {}
    bitsets = [p.raw_left_cat_bitsets for row in model._predictors for p in row]
    counts = [len(p.nodes) for row in model._predictors for p in row]
    tree = np.repeat(np.arange(len(counts)), counts)
    splits = np.flatnonzero((nodes["is_categorical"] != 0) & (nodes["is_leaf"] == 0))
    members = [members_of(bitsets[tree[k]][nodes["bitset_idx"][k]]) for k in splits]
    encoder = model._preprocessor.named_transformers_["encoder"]
    labeled = tuple(np.flatnonzero(model.is_categorical_).tolist())
    for j, own in zip(labeled, encoder.categories_, strict=True):
        if any(v is None for v in own):
            raise ValueError(
                f"this {type(model).__name__} has None for a category of feature {j}, which looks "
                "like a missing value: put NaN or a label in its place, and fit anew"
            )
    # NaN comes last, and is no category.
    labels = tuple(tuple(v for v in own if v == v) for own in encoder.categories_)
    coding = {"labels": labels, "labeled": labeled, "always": True}
    return subset_fields(arrays, model.n_features_in_, splits, members, True, **coding)


def ada_boost(model, labels) -> dict:
    """Return Forest fields of AdaBoost over decision trees: its ``decision_function``.

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
        raise ValueError(f"this {type(model).__name__} was fitted on one class only: fit it on two")
    votes = []
    for estimator, weight in zip(model.estimators_, weights, strict=True):
        predicted = estimator.classes_[estimator.tree_.value[:, 0, :].argmax(axis=1)]
        is_class = predicted[:, None] == model.classes_
        vote = np.where(is_class, weight, -weight / (n_classes - 1))
        votes.append(vote[:, 1:] - vote[:, :1] if n_classes == 2 else vote)
    arrays = stacked(trees, votes, allows_nan(model.estimators_[0]))
    return of_leaves(model, arrays, labels, "sum")


def isolation_forest(model, labels) -> dict:
    """Return Forest fields of an isolation forest: the mean length of a row's paths.

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
    """Return Forest fields whose inner nodes have the means of the leaves below them."""
    offsets, name = arrays["tree_offsets"], type(model).__name__
    arrays = _nodes.summarized(arrays, arrays["value"], offsets, name)
    fields = {"criterion": _nodes.LEAF_VARIANCE, "aggregate": aggregate}
    return {**arrays, **labels, **KIND, **fields}


def _depths(tree):
    """Count the edges from the root to each node."""
    depth = np.zeros(tree.node_count)
    for k in np.flatnonzero(tree.children_left >= 0):
        depth[tree.children_left[k]] = depth[tree.children_right[k]] = depth[k] + 1
    return depth


def mean_length(n_rows):
    """Return the mean length of paths in isolation trees, by the number of rows of a tree."""
    n = np.maximum(n_rows, 3).astype(float)
    of_many = 2.0 * (np.log(n - 1.0) + np.euler_gamma) - 2.0 * (n - 1.0) / n
    return np.select([n_rows <= 1, n_rows == 2], [0.0, 1.0], of_many)


def survival(model, labels) -> dict:
    """Return Forest fields of a survival tree or forest: the sum of the cumulative hazards."""
    estimators = getattr(model, "estimators_", [model])
    values = [_risk(one) for one in estimators]
    arrays = stacked([one.tree_ for one in estimators], values, True)
    fields = of_leaves(model, arrays, labels, "mean")
    return {**fields, "output_names": ("risk score",), "several_targets": False}


def _risk(estimator):
    """Return the risk score of every node: summed over event times, unless scores are stored."""
    value = estimator.tree_.value
    if value.shape[1:] == (1, 1):
        return value[:, :, 0].copy()
    return value[:, estimator.is_event_time_, 0].sum(axis=1, keepdims=True)


def cox_boosting(model, labels) -> dict:
    """Return fields of GradientBoostingSurvivalAnalysis: the risk score of the Cox model."""
    if model.loss != "coxph" or model.dropout_rate > 0:
        raise _nodes.UnsupportedModelError(
            f"this {type(model).__name__} does not predict a sum of its trees: fit with "
            "loss='coxph' and dropout_rate=0"
        )
    return {**gradient(model, labels), **KIND}
