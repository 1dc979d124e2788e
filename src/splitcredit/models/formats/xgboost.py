"""Convert XGBoost models and matrices, and read their files without XGBoost.

The output is the margin: the sum of the trees and the base score, before the objective's link.
XGBoost casts X to float32, goes left on ``x < threshold``, and keeps sums of hessians as covers.
"""

from __future__ import annotations

import json
import math
import os
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import chain, pairwise
from typing import ClassVar

import numpy as np

from splitcredit.models.forest import Forest
from splitcredit.models.formats import _nodes, _ubjson
from splitcredit.models.formats._nodes import refuse_damaged, subset_fields
from splitcredit.models.formats.base import Boosted
from splitcredit.models.formats.units import BINARY, SOFTMAX, SQUARED, VALUE
from splitcredit.rows.tables import named

# Objective -> link that takes its base score, kept in units of the prediction, to the margin.
_IDENTITY = """
    binary:hinge binary:logitraw multi:softmax multi:softprob rank:map rank:ndcg rank:pairwise
    reg:absoluteerror reg:expectileerror reg:linear reg:pseudohubererror reg:quantileerror
    reg:squarederror reg:squaredlogerror
"""
_LOGIT = "binary:logistic reg:logistic"
_LOG = "count:poisson reg:gamma reg:tweedie survival:aft survival:cox"
_UBJSON = b"{L"
# The head of a binary file, with the names of the objective and the booster.
_BINARY_HEAD = 256
# XGBoost keeps base scores of classes so far from 0 and 1.
_LEAST = np.float32(1e-6)


def _logit(p):
    """Return the log-odds of a probability; at its ends, XGBoost's value in single precision."""
    refuse_damaged(not 0 <= p <= 1, f"base_score is {p}, and it must be a probability")
    if _LEAST < p < 1 - _LEAST:
        return math.log(p) - math.log1p(-p)
    clipped = np.clip(np.float32(p), _LEAST, 1 - _LEAST)
    return float(-np.log(1 / clipped - 1, dtype=np.float32))


def _log(mean):
    if mean <= 0:
        raise ValueError(
            f"the base score of this model is {mean}, which has no finite logarithm: XGBoost "
            "predicts minus infinity; fit it on targets that are not all 0"
        )
    return math.log(mean)


_LINKS = {
    **dict.fromkeys(_IDENTITY.split(), float),
    **dict.fromkeys(_LOGIT.split(), _logit),
    **dict.fromkeys(_LOG.split(), _log),
}


# Features without names that the model in a file may have: each gets a name, so that a number in a
# small file takes much memory. Hashed text has 2**20.
_MOST_UNNAMED = 1 << 21


class XGBoost(Boosted):
    """Format of Boosters and wrappers (gbtree, dart), their files, and DMatrix."""

    title = "XGBoost"
    packages = ("xgboost",)
    json_key = "learner"
    objective_keys = ("learner", "objective", "name")
    absent = np.nan
    trusted = (
        "xgboost.core.Booster",
        *(f"xgboost.sklearn.XGB{kind}" for kind in ("Classifier", "Ranker", "Regressor")),
    )
    containers: ClassVar[dict] = {"DMatrix": "base_margin", "QuantileDMatrix": "base_margin"}
    units_by_objective: ClassVar[dict] = {
        **dict.fromkeys(("binary:logistic", "binary:logitraw", "reg:logistic"), BINARY),
        **dict.fromkeys(("multi:softmax", "multi:softprob"), SOFTMAX),
        **dict.fromkeys(("reg:linear", "reg:squarederror"), SQUARED),
        **dict.fromkeys(("reg:absoluteerror", "reg:pseudohubererror", "reg:quantileerror"), VALUE),
        **dict.fromkeys(("reg:expectileerror", "reg:squaredlogerror"), VALUE),
    }
    linked = (
        *("binary:hinge", "binary:logistic", "count:poisson", "reg:gamma", "reg:logistic"),
        *("reg:tweedie", "survival:aft", "survival:cox"),
    )
    no_means = ("reg:quantileerror", "reg:expectileerror", "survival:aft", "survival:cox")

    def decoded(self, raw, name):
        if raw.startswith(_UBJSON):
            return _ubjson.read(raw)
        # A binary file has no mark of its own, but the name of the booster near its beginning.
        boosters = (b"gbtree", b"dart", b"gblinear")
        if not raw.startswith(b"{") and any(one in raw[:_BINARY_HEAD] for one in boosters):
            raise ValueError(
                f"{name} is a binary file of XGBoost before 3.1: load it with such a release, and "
                "save it as .json or .ubj"
            )
        return None

    def forest_of_content(self, content, name):
        learner = content["learner"]
        n_features = int(learner["learner_model_param"]["num_feature"])
        is_damaged = n_features > _MOST_UNNAMED and not learner.get("feature_names")
        refuse_damaged(is_damaged, f"it names none of its {n_features} features")
        return from_content(content, name)

    def forest(self, model):
        """Convert all trees of a Booster, or those that a wrapper's ``predict`` uses.

        These are the trees up to ``best_iteration``, if early stopping has set it. Only a wrapper
        knows which number it takes for a missing value; for Boosters it is a matter of each
        DMatrix, and NaN here.
        """
        from xgboost import Booster, XGBModel

        name, classes, missing = type(model).__name__, None, None
        booster, rounds = model, None
        if isinstance(model, XGBModel):
            if not model.__sklearn_is_fitted__():
                raise _nodes.not_fitted(model)
            missing = None if model.missing is None or math.isnan(model.missing) else model.missing
            classes = getattr(model, "classes_", None)
            booster, rounds = _booster_and_rounds(model)
        if not isinstance(booster, Booster):
            raise _nodes.no_booster(booster, name)
        # XGBoost shares the writing between threads that then wait in a loop, which takes several
        # times as long as the work.
        raw = _one_thread().submit(booster.save_raw, "ubj").result()
        return from_content(_ubjson.read(raw), name, rounds, classes, missing)

    def objective(self, model):
        booster, _ = _booster_and_rounds(model)
        return json.loads(booster.save_config())["learner"]["objective"]["name"]

    def own_prediction(self, model, forest, X):
        from xgboost import DMatrix

        booster, rounds = _booster_and_rounds(model)
        # By one thread: on a busy machine several wait for each other for a hundred times as long.
        predicted = _one_thread().submit(
            booster.predict,
            _matrix(DMatrix, X, booster, getattr(model, "missing", np.nan)),
            output_margin=True,
            iteration_range=(0, rounds or 0),
            # An array of rows has no names. The columns of a DMatrix may be in another order.
            validate_features=isinstance(X, DMatrix) and X.feature_names is not None,
        )
        return predicted.result()

    def first_trees(self, model, forest, n_trees):
        """Count complete rounds."""
        booster, rounds = _booster_and_rounds(model)
        n_rounds = booster.num_boosted_rounds() if rounds is None else rounds
        return n_trees - n_trees % (forest.n_trees // n_rounds)

    def gains(self, model, forest):
        booster, rounds = _booster_and_rounds(model)
        trees = booster if rounds is None else booster[:rounds]
        gains = trees.get_score(importance_type="total_gain")
        names = booster.feature_names or [f"f{j}" for j in range(forest.n_features)]
        return np.array([gains.get(name, 0.0) for name in names], float)

    def rows(self, X):
        """Return for a QuantileDMatrix the stored values, by which XGBoost predicts, too."""
        if "c" in (X.feature_types or ()):
            raise ValueError(
                f"this {type(X).__name__} has categories, whose order it does not give: pass the "
                "table or array that it was made of"
            )
        return named(X.get_data(), X.feature_names)

    def offsets(self, X, forest):
        """Return a base margin less the base score, which it replaces."""
        margin = np.asarray(X.get_base_margin(), np.float64)
        return margin.reshape(-1, forest.n_outputs) - forest.base if margin.size else None

    def first_rows(self, X, n):
        return X if type(X).__name__ == "QuantileDMatrix" else super().first_rows(X, n)


def _booster_and_rounds(model):
    """Return the Booster of a model, and the rounds of its ``predict``, None for all."""
    if not hasattr(model, "get_booster"):
        return model, None
    booster = model.get_booster()
    best = booster.attr("best_iteration")
    return booster, None if best is None else int(best) + 1


def _matrix(kind, X, booster, missing):
    """Make a DMatrix of rows, with types: columns of an array may hold codes of categories."""
    if isinstance(X, kind):
        return X
    types = {} if hasattr(X, "columns") else {"feature_types": booster.feature_types}
    X = X if hasattr(X, "columns") else X.astype(float)
    return kind(X, missing=missing, enable_categorical=True, nthread=1, **types)


@cache
def _one_thread():
    """Return a thread in which XGBoost starts no others, which would take longer than a model.

    The number of threads of XGBoost is a setting of each thread of Python, which it does not put
    back to the default, so a thread of its own has it.
    """
    return ThreadPoolExecutor(1, "splitcredit", _use_one_thread)


def _use_one_thread():
    import xgboost

    if "nthread" in xgboost.get_config():  # in newer releases
        xgboost.set_config(nthread=1)


# A forked process does not have the threads of its parent.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_one_thread.cache_clear)


def from_content(content, name, rounds=None, classes=None, missing=None) -> Forest:
    """Build the Forest of a decoded model of the given name, up to a number of rounds."""
    learner = content["learner"]
    parameters = learner["learner_model_param"]
    n_features = int(parameters["num_feature"])
    names = learner.get("feature_names") or []
    is_damaged = names and len(names) != n_features
    refuse_damaged(is_damaged, f"there are {len(names)} names for {n_features} features")
    features = tuple(names or [f"x{j}" for j in range(n_features)])
    trees, column, weights = _trees(learner, name, rounds)
    offsets = _offsets(trees)
    _check_outputs(learner, trees, column, name)
    labels = _labels_of_outputs(learner, classes)
    n_outputs = len(labels["output_names"])
    arrays = _flat(trees, offsets, column, weights, n_outputs, name)
    arrays |= _subsets(trees, offsets, arrays, n_features, _labels(learner))
    del arrays["source"]
    return Forest(
        **_nodes.frozen(arrays, but="categories"),
        feature_names=features,
        **labels,
        criterion=_nodes.LEAF_VARIANCE,
        strict=True,
        x_dtype="float32",
        aggregate="sum",
        base=_base(learner, n_outputs, name),
        cover_kind="sum_hessian",
        names_given=bool(names),
        missing_value=missing,
        several_targets=_n_targets(learner) > 1,
    )


def _n_targets(learner):
    return int(learner["learner_model_param"].get("num_target", 1))


def _check_outputs(learner, trees, column, name):
    """Refuse a model whose trees have other outputs than it declares."""
    expected = max(int(learner["learner_model_param"]["num_class"]), 1) * _n_targets(learner)
    n_values = max(_leaf_sizes(trees))
    if n_values > 1:
        _refuse_former_vectors(trees, name)
    n_outputs = n_values if n_values > 1 else column.max() + 1
    is_damaged = n_outputs != expected or column.min() < 0
    refuse_damaged(is_damaged, f"the trees are of {n_outputs} outputs, expected {expected}")


def _trees(learner, name, rounds):
    """Return the trees of the first rounds, the output of each, and its weight."""
    booster = learner["gradient_booster"]
    weights = booster.get("weight_drop", booster.get("model", {}).get("weight_drop"))  # 3.4 on
    if booster["name"] not in ("gbtree", "dart"):
        raise ValueError(
            f"this {name} was made with booster={booster['name']!r}, which is not a sum of trees: "
            "fit with booster='gbtree'"
        )
    model = booster["gbtree"]["model"] if "gbtree" in booster else booster["model"]
    n_trees = len(model["trees"])
    expected = int(model.get("gbtree_model_param", {}).get("num_trees", n_trees))
    is_damaged = not expected == n_trees == len(model["tree_info"])
    refuse_damaged(is_damaged, f"there are {n_trees} trees, expected {expected}")
    stop = None if rounds is None else int(_numbers(model["iteration_indptr"], np.int64)[rounds])
    trees = model["trees"][:stop]
    if not trees:
        raise ValueError(f"this {name} has no trees: fit at least one round")
    weights = np.ones(len(trees)) if weights is None else _numbers(weights, np.float32)
    return trees, np.asarray(model["tree_info"][:stop]), weights[: len(trees)].astype(np.float64)


def _numbers(given, dtype):
    """Return an array of the file: a list (JSON) or typed (UBJSON)."""
    return np.array(given, dtype) if isinstance(given, list) else _ubjson.joined([given])


def _labels(learner):
    """Return category labels by feature, from releases that save them (3.1 on)."""
    booster = learner["gradient_booster"]
    model = booster["gbtree"]["model"] if "gbtree" in booster else booster["model"]
    labels = {}
    for j, encoded in enumerate(model.get("cats", {}).get("enc", [])):
        values = encoded["values"]
        if "offsets" in encoded:
            offsets = _numbers(encoded["offsets"], np.int32)
            text = _numbers(values, np.int8).astype(np.uint8).tobytes()
            if not text.isascii():
                raise ValueError(
                    "this XGBoost model has categories with labels that are not ASCII, which "
                    "XGBoost saves cut short: rename them to ASCII labels, and fit anew"
                )
            labels[j] = [text[a:b].decode() for a, b in pairwise(offsets)]
        else:
            labels[j] = _numbers(values, None).tolist()
    return {j: own for j, own in labels.items() if own}


def _subsets(trees, offsets, arrays, n_features, labels):
    """Return fields for splits by categories, whose members go right."""
    nodes, members = [], []
    # Before XGBoost 1.3 there are no such lists.
    has_lists = "categories_nodes" in trees[0] or "categories" in trees[0]
    types = _column(trees, "split_type") if "split_type" in trees[0] else np.zeros(1)
    if not labels and not types.any() and (not has_lists or _is_empty(trees, "categories_nodes")):
        return {}
    new_index = np.full(arrays["source"].max() + 1, -1)
    new_index[arrays["source"]] = np.arange(len(arrays["source"]))
    for tree, start in zip(trees, offsets, strict=False):
        keys = ("categories", "categories_nodes", "categories_segments", "categories_sizes")
        codes, split, first, size = (_numbers(tree[key], np.int64) for key in keys)
        is_damaged = not np.array_equal(np.diff(np.append(first, len(codes))), size)
        is_damaged |= (codes < 0).any() or (split < 0).any()
        refuse_damaged(is_damaged, "the categories of splits contradict each other")
        other = {*np.flatnonzero(_numbers(tree["split_type"], np.uint8))} ^ {*split}
        is_damaged = any(_is_split(arrays, new_index[start + k]) for k in other)
        refuse_damaged(is_damaged, "split_type and categories_nodes are of different nodes")
        for k, a, n in zip(split, first, size, strict=True):
            if new_index[start + k] >= 0:  # it was not cut off
                nodes.append(int(new_index[start + k]))
                members.append(codes[a : a + n])
    return subset_fields(
        arrays,
        n_features,
        nodes,
        members,
        False,
        labels=tuple(labels.values()),
        labeled=tuple(labels) or None,
        unknown_is_missing=False,
    )


def _is_split(arrays, node):
    """Return whether a node was not cut off, and is no leaf."""
    return node >= 0 and arrays["left"][node] >= 0


def _flat(trees, offsets, column, weights, n_outputs, name):
    """Build node arrays without pruned nodes; `source` has the numbers before that."""
    is_vector = max(_leaf_sizes(trees)) > 1  # before XGBoost 2.0 a leaf with one value has 0
    start = np.repeat(offsets[:-1].astype(np.int32), np.diff(offsets))
    left, right = _column(trees, "left_children"), _column(trees, "right_children")
    leaf = left == -1
    default_left = _column(trees, "default_left")
    refuse_damaged(default_left.max() > 1, "default_left must be 0 or 1")
    condition = _column(trees, "split_conditions").astype(np.float64)
    arrays = {
        "feature": np.where(leaf, np.int32(-1), _column(trees, "split_indices")),
        "threshold": np.where(leaf, 0.0, condition),  # a leaf keeps its value there
        "left": np.where(leaf, -1, left + start),
        "right": np.where(leaf, -1, right + start),
        "missing_left": default_left.astype(np.bool_),
        "cover": _column(trees, "sum_hessian").astype(np.float64),
        "source": np.arange(len(leaf)),
    }
    if is_vector:
        value = _vectors(trees, offsets, right, leaf)
        arrays["cover"] = arrays["cover"] / value.shape[1]  # it is summed over the targets
    else:
        value = condition * np.repeat(weights, np.diff(offsets))
    arrays, value, offsets = _without_cut(arrays, value, offsets)
    if value.ndim == 2:
        return _nodes.summarized(arrays, value, offsets, name)
    return _nodes.summarized(arrays, value, offsets, name, column, n_outputs)


def _refuse_former_vectors(trees, name):
    """Refuse leaves with several values as saved before XGBoost 3.2, without covers."""
    if "leaf_weights" not in trees[0]:
        raise ValueError(
            f"this {name} has several values in each leaf (multi_strategy='multi_output_tree') and "
            "was made by an XGBoost before 3.2: load and save it with a newer one, or fit one "
            "model for each target"
        )


def _vectors(trees, offsets, right, leaf):
    """Return vector leaves' values; a leaf has their place in place of its right child."""
    n_targets = int(trees[0]["tree_param"]["size_leaf_vector"])
    value = np.zeros((len(leaf), n_targets))
    for tree, start, stop in zip(trees, offsets[:-1], offsets[1:], strict=True):
        leaf_values = _numbers(tree["leaf_weights"], np.float32).reshape(-1, n_targets)
        leaves = start + np.flatnonzero(leaf[start:stop])
        value[leaves] = leaf_values[right[leaves]]
    return value


def _without_cut(arrays, value, offsets):
    """Return node arrays without the nodes that are neither a root nor a child."""
    is_kept = np.zeros(len(value), np.bool_)
    inner = np.flatnonzero(arrays["left"] >= 0)
    is_kept[offsets[:-1]] = is_kept[arrays["left"][inner]] = is_kept[arrays["right"][inner]] = True
    if is_kept.all():
        return arrays, value, offsets
    new_index = np.append(np.cumsum(is_kept, dtype=np.int32) - 1, np.int32(-1))  # -1 stays -1
    arrays = {key: array[is_kept] for key, array in arrays.items()}
    arrays |= {side: new_index[arrays[side]] for side in ("left", "right")}
    return arrays, value[is_kept], np.append(new_index[offsets[:-1]], is_kept.sum())


def _offsets(trees):
    return np.concatenate([[0], np.cumsum(_lengths(trees, "left_children"))])


def _leaf_sizes(trees):
    """Return the set of the numbers of values that leaves have."""
    if isinstance(trees, _ubjson.Columns):
        return set(map(int, set(trees.texts("size_leaf_vector"))))
    return {int(tree["tree_param"]["size_leaf_vector"]) for tree in trees}


def _lengths(trees, key):
    """Return the lengths of one array of each tree."""
    if isinstance(trees, _ubjson.Columns):
        return trees.lengths(key)
    return [_ubjson.length(tree[key]) for tree in trees]


def _is_empty(trees, key):
    """Return whether an array is empty in all trees."""
    return not np.any(_lengths(trees, key))


def _column(trees, key):
    """Join one array of all trees: from lists of numbers (JSON) or typed arrays (UBJSON).

    JSON has the shortest decimals that give back the float32 numbers, so float32 they must become.
    """
    if isinstance(trees, _ubjson.Columns):
        return trees.joined(key)
    by_tree = [tree[key] for tree in trees]
    if isinstance(by_tree[0], list):
        given = list(chain.from_iterable(by_tree))
        if key in ("split_conditions", "sum_hessian"):
            return np.array(given, np.float32)
        numbers = np.array(given)
        whole = numbers.astype(np.int32)
        refuse_damaged((whole != numbers).any(), f"{key} has values that are not 32-bit integers")
        return whole
    return _ubjson.joined(by_tree)


def _labels_of_outputs(learner, classes):
    """Return classes or targets as fields; a binary score belongs to class 1."""
    parameters = learner["learner_model_param"]
    n_classes, n_targets = int(parameters["num_class"]), _n_targets(learner)
    binary = learner["objective"]["name"].startswith("binary:")
    if n_targets > 1:
        targets = _nodes.target_names(n_targets)
        return {"output_names": tuple(f"{y}=1" if binary else y for y in targets)}
    if n_classes > 1:
        return {"output_names": _nodes.class_names(classes, n_classes)}
    return _nodes.of_two_classes(classes) if binary else {"output_names": ("output",)}


def _base(learner, n_outputs, name):
    """Return the base score as a margin, (n_outputs,), from text: one number, or one a class."""
    objective = learner["objective"]["name"]
    if objective not in _LINKS:
        raise ValueError(
            f"this {name} was fitted with the objective {objective!r}, whose base score has an "
            f"unknown scale: fit with one of {', '.join(sorted(_LINKS))}"
        )
    link = _LINKS[objective]
    scores = np.atleast_1d(json.loads(learner["learner_model_param"]["base_score"]))
    is_damaged = len(scores) not in (1, n_outputs)
    refuse_damaged(is_damaged, f"there are {len(scores)} base scores for {n_outputs} outputs")
    return np.resize([link(float(np.float32(s))) for s in scores], n_outputs)
