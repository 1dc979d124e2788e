"""Convert CatBoost models, read JSON files without CatBoost, and use its own SHAP values.

The output is the raw formula value, before the loss's link. CatBoost casts X to float32 and goes
right on ``x > border``. Its oblivious trees ask the same question at all nodes of a depth; they
become full binary trees with the last split at the root, as in CatBoost's own SHAP values.

Its tables of categories, texts and embeddings are its own, so no Forest can hold a model with these
features. Of such a model CatBoost computes the SHAP values itself, which are those of the trees by
their covers.
"""

from __future__ import annotations

import json
import tempfile
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import ClassVar

import numpy as np

from splitcredit.models.forest import Forest
from splitcredit.models.formats import _nodes
from splitcredit.models.formats._nodes import refuse_damaged
from splitcredit.models.formats.base import Boosted
from splitcredit.models.formats.units import BINARY, SOFTMAX, SQUARED, VALUE
from splitcredit.rows.names import as_known, check_columns, labels_of_columns, with_columns
from splitcredit.rows.tables import check_shape, column_of, named, refuse_container

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


class CatBoost(Boosted):
    """Format of fitted CatBoost models, their JSON files, and Pool."""

    title = "CatBoost"
    packages = ("catboost",)
    json_key = "model_info"
    objective_keys = ("model_info", "params", "loss_function", "type")
    tree_count = "iterations"
    quiet: ClassVar[dict] = {"verbose": 0, "allow_writing_files": False}
    own_mark = b"CBM1"
    containers: ClassVar[dict] = {"Pool": "baseline"}
    units_by_objective: ClassVar[dict] = {
        "Logloss": BINARY,
        "CrossEntropy": BINARY,
        "MultiClass": SOFTMAX,
        "RMSE": SQUARED,
        **dict.fromkeys("MAE Quantile Expectile Huber MAPE Lq LogCosh".split(), VALUE),
    }
    linked = ("CrossEntropy", "LogLinQuantile", "Logloss", "Poisson", "Tweedie")
    no_means = ("Quantile", "Expectile", "LogLinQuantile")

    def loaded(self, path):
        from catboost import CatBoost

        return CatBoost().load_model(path)

    def forest_of_content(self, content, name):
        return from_content(content, name)

    def forest(self, model):
        from catboost import CatBoost

        name = type(model).__name__
        if not isinstance(model, CatBoost):
            raise _nodes.UnsupportedModelError(
                f"cannot convert {name} to a Forest: give the fitted model"
            )
        if not model.is_fitted():
            raise _nodes.not_fitted(model)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model.json"
            model.save_model(str(path), format="json")
            content = json.loads(path.read_text(encoding="utf-8"))
        return from_content(content, name)

    def objective(self, model):
        """Return the loss; empty for a sum of models, which has none."""
        from catboost import CatBoostError

        try:
            return str(model.get_all_params().get("loss_function")).partition(":")[0]
        except CatBoostError:
            return ""

    def predicts_raw(self, model):
        return type(model).__name__ == "CatBoost"

    def own_prediction(self, model, forest, X):
        from catboost import CatBoost

        # Of a ranker the method of this name gives raw values only, and takes no type.
        return CatBoost.predict(model, X, prediction_type="RawFormulaVal")

    def rows(self, X):
        if X.is_quantized():
            raise ValueError("this Pool keeps no rows, since it is quantized: pass its rows")
        names = X.get_feature_names()
        made_up = names == [str(j) for j in range(len(names))]
        return named(np.array(X.get_features()), None if made_up else names)

    def offsets(self, X, forest):
        """Return the baseline, which CatBoost adds."""
        baseline = np.asarray(X.get_baseline(), np.float64)
        return baseline.reshape(-1, forest.n_outputs) if baseline.size else None

    def own_features(self, model):
        """Return positions of features that CatBoost encodes, by argument of a Pool."""
        if not getattr(model, "is_fitted", lambda: False)():
            return {}
        positions = {name: getattr(model, method)() for name, method in _POSITIONS.items()}
        return {name: own for name, own in positions.items() if own}

    def own_shap_values(self, model):
        return ShapValues(model, self)


class ShapValues:
    """SHAP values that CatBoost computes; `outputs` describes them as a Forest does."""

    # Names of the values in results and messages, and the remedy if they do not add up.
    computed_by, called = "CatBoost ShapValues", "CatBoost's ShapValues"
    why_off = (
        "of trees with categories that are not symmetric they are wrong: fit with "
        "grow_policy='SymmetricTree', or encode the categories"
    )

    def __init__(self, model, library):
        self._model, self._kinds = model, library.own_features(model)
        self.feature_names = tuple(model.feature_names_)
        loss = {"type": library.objective(model)}
        classes = {"class_names": list(model.classes_)}
        self._info = {"class_params": classes, "params": {"loss_function": loss}}
        self.outputs = self._outputs_of(np.size(model.get_scale_and_bias()[1]))

    def _outputs_of(self, n_outputs):
        labels = _labels_of_outputs(self._info, n_outputs, type(self._model).__name__)
        labels["output_names"] = tuple(map(str, labels["output_names"]))
        fixed = {"n_outputs": n_outputs, "base": np.zeros(n_outputs), "other_class": None}
        return SimpleNamespace(**fixed | labels)

    def values(self, container):
        """Return values (n_samples, n_features, n_outputs) and baseline (n_outputs,)."""
        scale, bias = self._model.get_scale_and_bias()
        if scale != 1:
            raise ValueError(
                f"CatBoost gives no SHAP values of a model with scale {scale:g}: call "
                f"model.set_scale_and_bias(1, {bias}), and multiply the values by {scale:g}"
            )
        shap = self._asked(container, "ShapValues")
        shap = shap[:, None] if shap.ndim == 2 else shap
        self.outputs = self._outputs_of(shap.shape[1])
        return shap[:, :, :-1].transpose(0, 2, 1), shap[0, :, -1]

    def interactions(self, container):
        """Return values (n_samples, n_features, n_features, n_outputs) and baseline."""
        pairs = self._asked(container, "ShapInteractionValues")
        pairs = pairs[:, None] if pairs.ndim == 3 else pairs
        return pairs[:, :, :-1, :-1].transpose(0, 2, 3, 1), pairs[0, :, -1, -1]

    def _asked(self, container, kind):
        """Ask CatBoost; ValueError if the rows do not fit the model."""
        with _refusals():
            return np.asarray(self._model.get_feature_importance(container, type=kind))

    def container(self, X):
        """Return rows as a Pool that is not empty, as a table in order, and their count."""
        from catboost import Pool

        names = list(self.feature_names)
        is_pool, made_up = isinstance(X, Pool), [str(j) for j in range(len(names))]
        if is_pool:
            columns = X.get_feature_names()
            if names != made_up and not set(columns) <= {"", *made_up}:
                check_columns(columns, names)
        else:
            X = _table(X, names, names != made_up)
        check_shape(X, X, len(names), True)
        if is_pool:
            return X, None, X.shape[0]
        if not X.shape[0]:
            if "embedding_features" in self._kinds:  # a wrong length of them ends the process
                raise ValueError(
                    "X has no rows, and this model has embeddings: pass at least one row"
                )
            own = {j for positions in self._kinds.values() for j in positions}
            empty = [["" if j in own else 0.0 for j in range(len(names))]]
            return Pool(empty, **self._kinds), X, 0
        for j in self._kinds.get("cat_features", ()):
            if not hasattr(X, "tocsr") and column_of(X, j).isna().any():
                raise ValueError(
                    f"X has missing values in {names[j]!r}, and CatBoost takes none in categories: "
                    "replace them by the label that stood for them in training"
                )
        with _refusals():
            return Pool(X, **self._kinds), X, X.shape[0]


def _table(X, names, are_given):
    """Return rows as an array or DataFrame with columns in the order of the features."""
    refuse_container(X)
    labels = labels_of_columns(X)
    if labels is None:
        return X if hasattr(X, "shape") else np.array(X, object)
    if not hasattr(X, "iloc"):  # of polars and pyarrow
        import pandas as pd

        X = pd.DataFrame({label: np.asarray(X[label]) for label in labels})
    columns = as_known(labels, names)
    return with_columns(X, columns, names) if are_given or set(columns) == set(names) else X


@contextmanager
def _refusals():
    """Turn errors of CatBoost into a ValueError, as for other models."""
    from catboost import CatBoostError

    try:
        yield
    except (CatBoostError, TypeError) as error:
        raise ValueError(f"X does not fit the model, CatBoost says: {error}") from error


def from_content(content, name) -> Forest:
    """Build the Forest of a decoded model of the given name."""
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
    _check_features(features)
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
    """Build node arrays of a Forest."""
    # A split names its feature and border, and its number among all borders, by which
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
    """Check a list of numbers; CatBoost reads others as 0, and has 64 bits for integers."""
    is_list = isinstance(given, list) and {int, float} >= set(map(type, given))
    is_damaged = not is_list or any(type(x) is int and not -(2**63) <= x < 2**63 for x in given)
    refuse_damaged(is_damaged, f"{what} must have lists of numbers")
    return np.array(given, float)


def _check_features(features):
    """Refuse features that are not the columns in their order, or have gaps of an unknown kind."""
    for j, one in enumerate(features):
        place, gaps = one.get("flat_feature_index", 0), one.get("nan_value_treatment", "AsIs")
        is_damaged = type(place) is not int or place != j
        is_damaged |= gaps not in ("AsIs", "AsFalse", "AsTrue")
        refuse_damaged(is_damaged, f"feature {j} is at {place!r}, and a NaN goes {gaps!r}")


def _checked_weights(weights):
    """Return covers of leaves; a damaged file may hold anything."""
    weights = _numbers(weights, "leaf_weights")
    refuse_damaged(not (weights >= 0).all(), "leaf_weights must not be negative")
    return weights


def _covers(left, right, cover):
    """Add the covers of leaves up to all nodes, `EMPTY` where no training row was."""
    cover = np.where(cover > 0, cover, EMPTY)
    for k in np.flatnonzero(left >= 0)[::-1]:
        cover[k] = cover[left[k]] + cover[right[k]]
    return cover


def _oblivious(tree, borders, n_outputs):
    """Build node arrays of a full binary tree, one level after the other."""
    splits = tree.get("splits") or []
    depth = len(splits)
    n_values = len(tree["leaf_values"])
    is_damaged = n_values != n_outputs << min(depth, 62)
    refuse_damaged(is_damaged, f"a tree of {depth} splits has {n_values} leaf_values")
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
    """Build node arrays of a tree of nested splits, parents before their children."""
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
        is_damaged = is_leaf and len(own) != n_outputs
        refuse_damaged(is_damaged, f"a leaf has {len(own)} values for {n_outputs} outputs")
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
    """Return classes or targets as Forest fields; a binary score belongs to class 1."""
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
