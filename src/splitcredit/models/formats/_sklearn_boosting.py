"""Scikit-learn's gradient boosting; the output is the raw score, before the loss's link."""

from __future__ import annotations

from copy import copy

import numpy as np
from sklearn.dummy import DummyRegressor
from sklearn.ensemble import GradientBoostingClassifier, GradientBoostingRegressor

from splitcredit.models.formats import _nodes
from splitcredit.models.formats._nodes import members_of, subset_fields
from splitcredit.models.formats._sklearn_trees import KIND, allows_nan, stacked

_CONSTANT = ("prior", "most_frequent", "constant")


def gradient(model, labels) -> dict:
    """Fields of a GradientBoosting model; the impurities are scikit-learn's own."""
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
    """Raw scores before the first tree, (n_outputs,)."""
    if starts_from_model(model):
        raise ValueError(
            f"this {type(model).__name__} starts from the predictions of {model.init_!r} (init), a "
            "term of each row that a Forest cannot hold: call explain, or fit with init='zero'"
        )
    return start_of(model, np.zeros((1, model.n_features_in_)))[0]


def starts_from_model(model) -> bool:
    """Whether a fitted model starts from the predictions of another one."""
    if not isinstance(model, (GradientBoostingClassifier, GradientBoostingRegressor)):
        return False
    start = getattr(model, "init_", "zero")
    is_constant = isinstance(start, DummyRegressor) or isinstance(start, str)
    return not is_constant and getattr(start, "strategy", None) not in _CONSTANT


def start_of(model, rows) -> np.ndarray:
    """Raw scores of rows before the first tree, (n_samples, n_outputs)."""
    return model._raw_predict_init(rows)


def from_zero(model):
    """The same model, as if it started from 0."""
    started = copy(model)
    started.init_ = "zero"
    return started


def histogram(model, labels) -> dict:
    """Fields of the Forest of a HistGradientBoosting model, whose covers count rows."""
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
    """Columns of X in the order in which the trees see them: categorical ones come first."""
    if model.is_categorical_ is None:
        return np.arange(model.n_features_in_)
    return np.argsort(~model.is_categorical_, kind="stable")


def _subsets(model, arrays, nodes):
    """Fields for splits by categories, whose members go left."""
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
                f"this {type(model).__name__} has None for a category of feature {j}, which cannot "
                "be told from a missing value: put NaN or a label in its place, and fit anew"
            )
    # NaN comes last, and is no category.
    labels = tuple(tuple(v for v in own if v == v) for own in encoder.categories_)
    coding = {"labels": labels, "labeled": labeled, "always": True}
    return subset_fields(arrays, model.n_features_in_, splits, members, True, **coding)
