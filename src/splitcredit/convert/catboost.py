"""CatBoost models to `Forest`, by a reader of their JSON files that needs no CatBoost.

The output is the raw formula value, before the loss's link. CatBoost casts X to float32 and goes
right on ``x > border``. Its oblivious trees ask the same question at all nodes of a depth; they
become full binary trees with the last split at the root, as in CatBoost's own SHAP values.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import numpy as np

from splitcredit.convert import _nodes
from splitcredit.convert.units import library_of
from splitcredit.forest import Forest

# Cover of a leaf that no training row reached. CatBoost has many, and inner nodes of a Forest have
# covers above 0. Beside a leaf with rows its share is 0 for all purposes; below a node that no row
# reached all leaves count alike.
EMPTY = 1e-200
# Losses of classifiers whose rows may have several labels.
_OF_SEVERAL_LABELS = ("MultiLogloss", "MultiCrossEntropy")
# Kinds of features that a Forest cannot hold -> how they are called.
_REFUSED = {
    "categorical_features": "categorical features",
    "text_features": "text features",
    "embedding_features": "embeddings",
}
# Argument of a Pool -> the method of a model that gives their positions.
_POSITIONS = {
    "cat_features": "get_cat_feature_indices",
    "text_features": "get_text_feature_indices",
    "embedding_features": "get_embedding_feature_indices",
}


def convert(model) -> Forest:
    """Convert a fitted model; see `splitcredit.to_forest`."""
    from catboost import CatBoost

    name = type(model).__name__
    if not isinstance(model, CatBoost):
        raise _nodes.UnsupportedModelError(
            f"cannot convert {name} to a Forest: give the fitted model"
        )
    if not model.is_fitted():
        from sklearn.exceptions import NotFittedError

        raise NotFittedError(f"this {name} is not fitted: call fit(X, y) first")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.json"
        model.save_model(str(path), format="json")
        content = json.loads(path.read_text(encoding="utf-8"))
    return from_content(content, name)


def own_features(model) -> dict:
    """Positions of the features that CatBoost turns into numbers itself, by argument of a Pool."""
    if library_of(model) != "catboost" or not getattr(model, "is_fitted", lambda: False)():
        return {}
    positions = {name: getattr(model, method)() for name, method in _POSITIONS.items()}
    return {name: own for name, own in positions.items() if own}


def loss_of(model) -> str:
    """Name of the loss of a fitted model; empty for a sum of models, which has none."""
    from catboost import CatBoostError

    try:
        return str(model.get_all_params().get("loss_function")).partition(":")[0]
    except CatBoostError:
        return ""


def labels_of_model(model, n_outputs) -> dict:
    """`_labels_of_outputs` of a fitted model."""
    loss = {"type": loss_of(model)}
    classes = {"class_names": list(model.classes_)}
    info = {"class_params": classes, "params": {"loss_function": loss}}
    return _labels_of_outputs(info, n_outputs, type(model).__name__)


def from_content(content, name) -> Forest:
    """The Forest of a decoded model of the given name."""
    info = content["features_info"]
    for key, kind in _REFUSED.items():
        if info.get(key):
            raise ValueError(
                f"this {name} has {kind}, whose tables only CatBoost has: explain the fitted model "
                "by tree_shap without a background, or encode them as numbers and fit anew"
            )
    features = info.get("float_features", [])
    ids = [one.get("feature_id", "") for one in features]
    names_given = ids != [""] * len(ids)
    # An empty name is replaced by the position.
    names = tuple(text or (str(j) if names_given else f"x{j}") for j, text in enumerate(ids))
    _check_features(features, name)
    scale, bias = content["scale_and_bias"]
    scale, bias = _numbers([scale], "scale_and_bias")[0], _numbers(bias, "scale_and_bias")
    arrays = _flat(content, features, scale, len(bias), name)
    return Forest(
        **_nodes.frozen(arrays),
        feature_names=names,
        **_labels_of_outputs(content["model_info"], len(bias), name),
        criterion=_nodes.LEAF_VARIANCE,
        strict=False,
        x_dtype="float32",
        aggregate="sum",
        base=bias,
        cover_kind="leaf_weights",
        names_given=names_given,
    )


def _flat(content, features, scale, n_outputs, name):
    """Node arrays of a Forest."""
    # A split says its feature and border, and its number among those of all features, by which
    # CatBoost goes.
    known = [(j, np.float32(b)) for j, one in enumerate(features) for b in one.get("borders") or ()]
    borders = dict(enumerate(known))
    if "oblivious_trees" in content:
        trees = [_oblivious(tree, borders, n_outputs) for tree in content["oblivious_trees"]]
    else:
        trees = [_nested(tree, borders, n_outputs) for tree in content.get("trees", [])]
    if not trees:
        raise ValueError(f"this {name} has no trees: fit at least one iteration")
    counts = [len(tree["left"]) for tree in trees]
    offsets = np.concatenate([[0], np.cumsum(counts)])
    arrays = {key: np.concatenate([tree[key] for tree in trees]) for key in trees[0]}
    inner, start = arrays["left"] >= 0, np.repeat(offsets[:-1], counts)
    for side in ("left", "right"):
        arrays[side] = np.where(inner, arrays[side] + start, -1)
    nan_right = np.array([one.get("nan_value_treatment") == "AsTrue" for one in features], bool)
    arrays["missing_left"] = ~nan_right[arrays["feature"]]
    arrays["feature"] = np.where(inner, arrays["feature"], -1).astype(np.int32)
    value = scale * arrays.pop("value")
    arrays["cover"] = _covers(arrays["left"], arrays["right"], arrays["cover"])
    return _nodes.summarized(arrays, value, offsets, name)


def _numbers(given, what):
    """A list of numbers, float64; CatBoost takes others for 0, and has 64 bits for whole ones."""
    is_list = isinstance(given, list) and {int, float} >= set(map(type, given))
    if not is_list or any(type(x) is int and not -(2**63) <= x < 2**63 for x in given):
        raise ValueError(f"{what} must have lists of numbers: save it again")
    return np.array(given, float)


def _check_features(features, name):
    """Refuse features that are not the columns in their order, or have gaps of an unknown kind."""
    for j, one in enumerate(features):
        place, gaps = one.get("flat_feature_index", 0), one.get("nan_value_treatment", "AsIs")
        if type(place) is not int or place != j or gaps not in ("AsIs", "AsFalse", "AsTrue"):
            raise ValueError(
                f"feature {j} of this {name} has flat_feature_index {place!r} and "
                f"nan_value_treatment {gaps!r}, which are no place and no rule: save it again"
            )


def _checked_weights(weights):
    """Covers of leaves; of a damaged file they may be anything."""
    weights = _numbers(weights, "leaf_weights")
    if not (weights >= 0).all():
        raise ValueError("leaf_weights must be numbers that are not negative: save it again")
    return weights


def _covers(left, right, cover):
    """Covers of all nodes from those of the leaves, `EMPTY` where no training row was."""
    cover = np.where(cover > 0, cover, EMPTY)
    for k in np.flatnonzero(left >= 0)[::-1]:
        cover[k] = cover[left[k]] + cover[right[k]]
    return cover


def _oblivious(tree, borders, n_outputs):
    """Node arrays of a full binary tree, one level after the other."""
    splits = tree.get("splits") or []
    depth = len(splits)
    if len(tree["leaf_values"]) != n_outputs << min(depth, 62):
        raise ValueError(
            f"a tree of {depth} splits has {len(tree['leaf_values'])} leaf_values, and {n_outputs} "
            "outputs: save it again"
        )
    n_inner = 2**depth - 1
    feature, threshold = np.zeros(2 * n_inner + 1, int), np.zeros(2 * n_inner + 1)
    for level, split in enumerate(reversed(splits)):
        nodes = slice(2**level - 1, 2 ** (level + 1) - 1)
        feature[nodes], threshold[nodes] = borders[split["split_index"]]
    left = np.full(2 * n_inner + 1, -1)
    right = left.copy()
    left[:n_inner] = 2 * np.arange(n_inner) + 1
    right[:n_inner] = 2 * np.arange(n_inner) + 2
    value, cover = np.zeros((2 * n_inner + 1, n_outputs)), np.zeros(2 * n_inner + 1)
    # The last split is the highest bit of a leaf's number, so leaves stand from left to right.
    value[n_inner:] = np.reshape(
        _numbers(tree["leaf_values"], "leaf_values"), (2**depth, n_outputs)
    )
    cover[n_inner:] = _checked_weights(tree["leaf_weights"])
    return _as_dict(feature, threshold, left, right, value, cover)


def _nested(tree, borders, n_outputs):
    """Node arrays of a tree of nested splits, parents before their children."""
    feature, threshold, left, right, value, cover = [], [], [], [], [], []
    stack = [(tree, None, None)]
    while stack:
        node, parent, side = stack.pop()
        k = len(feature)
        if parent is not None:
            side[parent] = k
        is_leaf = "split" not in node
        j, border = (0, 0.0) if is_leaf else borders[node["split"]["split_index"]]
        feature.append(j)
        threshold.append(border)
        left.append(-1)
        right.append(-1)
        own = node["value"] if is_leaf else 0
        own = _numbers(own if isinstance(own, list) else [own], "value")
        if is_leaf and len(own) != n_outputs:
            raise ValueError(f"a leaf has {len(own)} values for {n_outputs} outputs: save it again")
        value.append(np.broadcast_to(own, n_outputs))
        cover.append(_checked_weights([node["weight"]])[0] if is_leaf else 0.0)
        if not is_leaf:
            stack += [(node["right"], k, right), (node["left"], k, left)]
    return _as_dict(feature, threshold, left, right, value, cover)


def _as_dict(feature, threshold, left, right, value, cover):
    arrays = {"feature": np.array(feature), "threshold": np.array(threshold, float)}
    arrays |= {"left": np.array(left), "right": np.array(right)}
    return {**arrays, "value": np.array(value, float), "cover": np.array(cover, float)}


def _labels_of_outputs(info, n_outputs, name):
    """Classes or targets as fields of a Forest.

    The one output of a binary classifier is the score of class 1. Labels of which a row may have
    several are kept as classes are, but each is a target of its own, with such an output.
    """
    parameters = info.get("class_params") or {}
    # With a given number of classes there are no names, and the classes are numbers.
    known = parameters.get("class_to_label") or []
    labels = parameters.get("class_names") or known
    if known and parameters.get("classes_count", 0) > len(known):
        raise ValueError(
            f"this {name} was fitted with classes_count={parameters['classes_count']}, and on rows "
            f"of {len(known)} classes: the score of the others is minus infinity, which trees "
            f"cannot give; fit with classes_count={len(known)}"
        )
    if (labels and n_outputs not in (1, len(labels))) or known != list(range(len(known))):
        raise ValueError(
            f"this {name} has {n_outputs} outputs, the classes {labels} and class_to_label {known}:"
            " fit it on rows of all its classes, and save it again"
        )
    if n_outputs == 1:
        is_binary = len(labels) == 2
        names = _nodes.of_two_classes(labels) if is_binary else {"output_names": ("output",)}
        return {**names, "several_targets": False}
    if len(labels) != n_outputs:
        return {"output_names": _nodes.target_names(n_outputs), "several_targets": True}
    loss = info.get("params", {}).get("loss_function", {}).get("type")
    return {"output_names": tuple(labels), "several_targets": loss in _OF_SEVERAL_LABELS}
