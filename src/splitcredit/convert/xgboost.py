"""XGBoost models to `Forest`, by a reader of their files that needs no XGBoost.

The output is the margin: the sum of the trees and the base score, before the objective's link.
XGBoost casts X to float32, goes left on ``x < threshold``, and keeps sums of hessians as covers.
"""

from __future__ import annotations

import json
import math
from itertools import chain
from pathlib import Path

import numpy as np

from splitcredit.convert import _nodes, _ubjson
from splitcredit.forest import Forest, array_hash

# Objective -> link that takes its base score, kept in units of the prediction, to the margin.
_IDENTITY = """
    binary:hinge binary:logitraw multi:softmax multi:softprob rank:map rank:ndcg rank:pairwise
    reg:absoluteerror reg:expectileerror reg:pseudohubererror reg:quantileerror reg:squarederror
    reg:squaredlogerror
"""
_LOGIT = "binary:logistic reg:logistic"
_LOG = "count:poisson reg:gamma reg:tweedie survival:aft survival:cox"
_LINKS = {
    **dict.fromkeys(_IDENTITY.split(), float),
    **dict.fromkeys(_LOGIT.split(), lambda p: math.log(p) - math.log1p(-p)),
    **dict.fromkeys(_LOG.split(), math.log),
}


def convert(model, X_train=None) -> Forest:
    """Convert a Booster or a fitted wrapper; see `splitcredit.to_forest`.

    Notes
    -----
    A Booster gives all its trees, a wrapper those that its ``predict`` uses: up to
    ``best_iteration``, if early stopping has set it.
    """
    from xgboost import Booster, XGBModel

    name, rounds, classes = type(model).__name__, None, None
    if isinstance(model, XGBModel):
        _check_wrapper(model, name)
        model, classes = model.get_booster(), getattr(model, "classes_", None)
        best = model.attr("best_iteration")
        rounds = None if best is None else int(best) + 1
    if not isinstance(model, Booster):
        raise TypeError(f"cannot convert {name} to a Forest: give the Booster or the fitted model")
    content = _ubjson.read(bytes(model.save_raw("ubj")))
    return _forest(content, name, rounds, classes, X_train)


def read(path) -> Forest:
    """Convert a model file in XGBoost's JSON or UBJSON format, of releases 2.1 to 3.4.

    Parameters
    ----------
    path : path to what ``save_model`` wrote, with the ending ``.json`` or ``.ubj``

    Returns
    -------
    Forest
        Of all trees in the file.

    Raises
    ------
    ValueError
        If the model has something that a Forest cannot express, or the file another ending.
    """
    path = Path(path)
    if path.suffix not in (".json", ".ubj"):
        raise ValueError(
            f"{path.name} ends in neither .json nor .ubj: save the model as one of them"
        )
    raw = path.read_bytes()
    content = json.loads(raw) if path.suffix == ".json" else _ubjson.read(raw)
    return _forest(content, f"model in {path.name}")


def _check_wrapper(model, name):
    from sklearn.exceptions import NotFittedError

    if not model.__sklearn_is_fitted__():
        raise NotFittedError(f"this {name} is not fitted: call fit(X, y) first")
    if model.missing is not None and not math.isnan(model.missing):
        raise ValueError(
            f"this {name} takes {model.missing!r} for a missing value, a Forest takes NaN only: "
            "put NaN into X in its place, and fit with missing=numpy.nan"
        )


def _forest(content, name, rounds=None, classes=None, X_train=None):
    """The Forest of a decoded model of the given name, up to a number of rounds."""
    learner = content["learner"]
    parameters = learner["learner_model_param"]
    n_features = int(parameters["num_feature"])
    names = learner.get("feature_names") or []
    features = tuple(names or [f"x{j}" for j in range(n_features)])
    trees, column = _trees(learner, name, rounds)
    n_outputs = max(int(parameters["num_class"]), 1)
    _check_trees(trees, features, name)
    return Forest(
        **_flat(trees, column, n_outputs, name),
        feature_names=features,
        output_names=_output_names(learner, n_outputs, classes),
        criterion=_nodes.LEAF_VARIANCE,
        strict=True,
        x_dtype="float32",
        aggregate="sum",
        base=_base(learner, n_outputs, name),
        cover_kind="sum_hessian",
        names_given=bool(names),
        training_hash=None if X_train is None else array_hash(X_train),
    )


def _trees(learner, name, rounds):
    """The trees of the first rounds, and the class of each."""
    booster = learner["gradient_booster"]
    dropout = "weight_drop" in booster or "weight_drop" in booster.get("model", {})  # from 3.4 on
    if booster["name"] != "gbtree" or dropout:
        how = f"booster={booster['name']!r}{' and dropout' if dropout else ''}"
        why = "weights its trees" if dropout else "is no sum of trees known here"
        raise ValueError(
            f"this {name} was made with {how}, which {why}: "
            "fit with booster='gbtree' and without dropout"
        )
    n_targets = int(learner["learner_model_param"].get("num_target", 1))
    if n_targets > 1:
        raise ValueError(f"this {name} predicts {n_targets} targets: fit one model for each target")
    model = booster["model"]
    stop = None if rounds is None else model["iteration_indptr"][rounds]
    if not model["trees"][:stop]:
        raise ValueError(f"this {name} has no trees: fit at least one round")
    return model["trees"][:stop], np.asarray(model["tree_info"][:stop])


def _check_trees(trees, features, name):
    """Refuse what a Forest cannot express."""
    for t, tree in enumerate(trees):
        size = int(tree["tree_param"]["size_leaf_vector"])
        if size > 1:
            raise ValueError(
                f"tree {t} of this {name} has {size} values in each leaf "
                "(multi_strategy='multi_output_tree'): fit one model for each target"
            )
    by_category = _column(trees, "split_type")
    if by_category.any():
        k = int(by_category.argmax())
        t = int(np.searchsorted(_offsets(trees), k, side="right")) - 1
        feature = features[_column(trees, "split_indices")[k]]
        raise ValueError(
            f"tree {t} of this {name} splits feature {feature!r} by categories: "
            "encode it as numbers (one-hot or ordinal), and fit without enable_categorical"
        )


def _flat(trees, column, n_outputs, name):
    """Node arrays of a Forest; nodes cut off by pruning, which XGBoost keeps, are left out."""
    offsets = _offsets(trees)
    start = np.repeat(offsets[:-1].astype(np.int32), np.diff(offsets))
    left, right = _column(trees, "left_children"), _column(trees, "right_children")
    leaf = left < 0
    left, right = np.where(leaf, -1, left + start), np.where(leaf, -1, right + start)
    condition = _column(trees, "split_conditions").astype(np.float64)
    arrays = {
        "feature": np.where(leaf, np.int32(-1), _column(trees, "split_indices")),
        "threshold": np.where(leaf, 0.0, condition),  # a leaf keeps its value there
        "left": left,
        "right": right,
        "missing_left": _column(trees, "default_left").astype(np.bool_),
        "cover": _column(trees, "sum_hessian").astype(np.float64),
    }
    arrays, condition, offsets = _without_cut(arrays, condition, offsets)
    left, right, cover = arrays["left"], arrays["right"], arrays["cover"]
    mean, variance = _nodes.summaries(left, right, cover, condition, offsets[:-1], name)
    value = _nodes.in_columns(mean, column, np.diff(offsets), n_outputs)
    return _nodes.frozen({**arrays, "value": value, "impurity": variance, "tree_offsets": offsets})


def _without_cut(arrays, condition, offsets):
    """Node arrays without the nodes that are neither a root nor a child."""
    kept = np.zeros(len(condition), np.bool_)
    inner = np.flatnonzero(arrays["left"] >= 0)
    kept[offsets[:-1]] = kept[arrays["left"][inner]] = kept[arrays["right"][inner]] = True
    if kept.all():
        return arrays, condition, offsets
    place = np.append(np.cumsum(kept, dtype=np.int32) - 1, np.int32(-1))  # -1 stays -1
    arrays = {key: array[kept] for key, array in arrays.items()}
    arrays |= {side: place[arrays[side]] for side in ("left", "right")}
    return arrays, condition[kept], np.append(place[offsets[:-1]], kept.sum())


def _offsets(trees):
    sizes = [int(tree["tree_param"]["num_nodes"]) for tree in trees]
    return np.concatenate([[0], np.cumsum(sizes)])


def _column(trees, key):
    """One array of all trees, joined: from lists of numbers (JSON) or typed arrays (UBJSON).

    JSON has the shortest decimals that give back the float32 numbers, so float32 they must become.
    """
    parts = [tree[key] for tree in trees]
    if isinstance(parts[0], list):
        dtype = np.float32 if key in ("split_conditions", "sum_hessian") else np.int32
        return np.array(list(chain.from_iterable(parts)), dtype)
    return _ubjson.joined(parts)


def _output_names(learner, n_outputs, classes):
    """Labels of the classes; the one output of a binary classifier is the score of class 1."""
    if n_outputs > 1:
        return tuple(range(n_outputs) if classes is None else classes)
    if learner["objective"]["name"].startswith("binary:"):
        return ("1",) if classes is None or len(classes) < 2 else (classes[1],)
    return ("output",)


def _base(learner, n_outputs, name):
    """Base score as a margin, (n_outputs,): text in the model, one number or one a class."""
    objective = learner["objective"]["name"]
    if objective not in _LINKS:
        raise ValueError(
            f"this {name} was fitted with the objective {objective!r}, whose base score has an "
            f"unknown scale: fit with one of {', '.join(sorted(_LINKS))}"
        )
    scores = np.atleast_1d(json.loads(learner["learner_model_param"]["base_score"]))
    return np.resize([_LINKS[objective](float(np.float32(s))) for s in scores], n_outputs)
