"""Forests to test on: drawn by hand, at random, and fitted by libraries; and rows for them."""

from __future__ import annotations

import base64
import json
from functools import cache
from pathlib import Path
from typing import NamedTuple

import lightgbm
import numpy as np
import pandas as pd
import xgboost
from lightgbm import LGBMClassifier, LGBMRegressor
from sklearn import datasets
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from xgboost import XGBClassifier, XGBRegressor, XGBRFRegressor

import twins
from splitcredit import Forest, to_forest

# No float32 values: 0.1 and 0.3 round up, 0.7 and 2**24 + 1 down, 1e-50 to 0 and 1e39 to infinity.
THRESHOLDS = (0.1, 0.3, 0.7, 0.5, -0.25, 0.0, 1e-50, -1e-50, 2.0**24 + 1, 1e39, -1e39)

LABELS = ("red", "green", "blue", "pink", "black")


def leaf(value, cover=1.0, impurity=0.0) -> dict:
    """A leaf; `value` is a number or one number an output."""
    return {"value": np.atleast_1d(np.asarray(value, float)), "cover": cover, "impurity": impurity}


def split(feature, threshold, left, right, **fields) -> dict:
    """An inner node. Cover is the sum and value the weighted mean of its children's, unless given.

    The impurity, unless given, is 1 more than the weighted mean of the children's.
    """
    cover = left["cover"] + right["cover"]
    node = {"feature": feature, "threshold": threshold, "left": left, "right": right}
    node |= {"cover": cover, "missing_left": False}
    for name, excess in (("value", 0.0), ("impurity", 1.0)):
        total = left["cover"] * left[name] + right["cover"] * right[name]
        node[name] = total / cover + excess
    return node | fields


def grow(trees, n_features, order="depth", **fields) -> Forest:
    """Lay trees made of `split` and `leaf` into a Forest.

    `order` is that of the nodes: "depth" first, as scikit-learn usually has them, or "breadth"
    first with the right child before the left, which a Forest allows as well.
    """
    nodes, offsets = [], [0]
    for root in trees:
        waiting = [root]
        while waiting:
            node = waiting.pop(-1 if order == "depth" else 0)
            nodes.append(node)
            if "feature" in node:
                waiting += [node["right"], node["left"]]
        offsets.append(len(nodes))
    where = {id(node): k for k, node in enumerate(nodes)}
    assert len(where) == len(nodes)
    defaults = {"feature": -1, "threshold": 0.0, "missing_left": False}
    names = ("feature", "threshold", "value", "cover", "impurity", "missing_left")
    arrays = {name: [node.get(name, defaults.get(name)) for node in nodes] for name in names}
    if not fields.pop("missing", False):
        del arrays["missing_left"]
    for side in ("left", "right"):
        arrays[side] = [where[id(node[side])] if side in node else -1 for node in nodes]
    n_outputs = len(trees[0]["value"])
    arrays |= {"tree_offsets": offsets, "feature_names": [f"x{j}" for j in range(n_features)]}
    arrays["output_names"] = [f"class {c}" for c in range(n_outputs)]
    return Forest(**{**arrays, "criterion": "entropy", **fields})


def stump(threshold=0.5, **fields) -> Forest:
    """One split between (0.75, 0.25) and (0, 1), weights 2 and 1, on the middle of 3 features."""
    tree = split(1, threshold, leaf([0.75, 0.25], 2.0, 0.8), leaf([0.0, 1.0], 1.0))
    return grow([tree], 3, **fields)


def single_leaf(n_trees=1, **fields) -> Forest:
    """Trees that never split: constant data, or a forest of depth 0."""
    return grow([leaf([0.25, 0.75], 4.0, 0.8) for _ in range(n_trees)], 3, **fields)


def random_forest(
    seed, n_trees=3, depth=6, n_features=6, n_outputs=1, leaves="normal", free=False, **fields
) -> Forest:
    """Trees with splits drawn at random: features repeat on paths, some leaves cannot be reached.

    `leaves` are "normal", "fractions" of classes, or "pure", where one class has 1. With `free`
    values of inner nodes are drawn, too, so that they do not follow from the leaves.
    """
    rng = np.random.default_rng(seed)
    draw = {
        "normal": lambda: rng.normal(size=n_outputs),
        "fractions": lambda: rng.dirichlet(np.ones(n_outputs)),
        "pure": lambda: np.eye(n_outputs)[rng.integers(n_outputs)],
    }[leaves]

    def tree(depth):
        if depth == 0 or rng.random() < 0.15:
            return leaf(draw(), float(rng.integers(1, 9)), rng.random())
        given_fields = {"impurity": 1.0 + rng.random(), "missing_left": bool(rng.random() < 0.5)}
        if free:
            given_fields |= {"value": draw()}
        feature, threshold = int(rng.integers(n_features)), rng.choice(THRESHOLDS)
        return split(feature, threshold, tree(depth - 1), tree(depth - 1), **given_fields)

    trees = [split(t % n_features, 0.3, tree(depth - 1), tree(depth - 1)) for t in range(n_trees)]
    return grow(trees, n_features, **fields)


def caterpillar(depth, n_features, seed=0, n_outputs=1) -> Forest:
    """One long path with a leaf hanging off every node; the features take turns along it.

    The interval that goes on halves at each turn of a feature, so that the end can be reached.
    """
    rng = np.random.default_rng(seed)
    low, high = np.full(n_features, -1.0), np.full(n_features, 1.0)
    path = []
    for d in range(depth):
        j = d % n_features
        threshold, goes_on_left = (low[j] + high[j]) / 2, bool(rng.random() < 0.5)
        path.append((j, threshold, goes_on_left))
        (high if goes_on_left else low)[j] = threshold
    node = leaf(rng.normal(size=n_outputs))
    for j, threshold, goes_on_left in reversed(path):
        hanging = leaf(rng.normal(size=n_outputs), float(rng.integers(1, 4)))
        children = (node, hanging) if goes_on_left else (hanging, node)
        node = split(j, threshold, *children)
    return grow([node], n_features)


def along_caterpillar(forest, depths) -> np.ndarray:
    """One row for each depth: it leaves the long path of `caterpillar` at about that depth."""
    low, high = np.full(forest.n_features, -1.0), np.full(forest.n_features, 1.0)
    rows, k = [], 0
    while forest.feature[k] >= 0:
        rows.append((low + high) / 2)
        inside_left = forest.feature[forest.left[k]] >= 0
        (high if inside_left else low)[forest.feature[k]] = forest.threshold[k]
        k = forest.left[k] if inside_left else forest.right[k]
    rows.append((low + high) / 2)
    return np.array(rows)[list(depths)]


def rows_on_thresholds(forest, n, seed=0) -> np.ndarray:
    """Rows made of the forest's thresholds, their float32 roundings and neighbors, and others.

    A tenth of the values is NaN if the forest has directions for it.
    """
    rng = np.random.default_rng(seed)
    t = np.unique(forest.threshold[forest.feature >= 0])
    t = t if t.size else np.zeros(1)
    with np.errstate(over="ignore"):
        t32 = t.astype(np.float32)
    values = [t, t32.astype(float), rng.normal(size=5)]
    for towards in (-np.inf, np.inf):
        values += [np.nextafter(t, towards), np.nextafter(t32, np.float32(towards)).astype(float)]
    values = np.concatenate(values)
    with np.errstate(over="ignore"):
        values = values[np.isfinite(values.astype(forest.x_dtype))]
    X = rng.choice(values, size=(n, forest.n_features))
    if forest.missing_left is not None:
        X[rng.random(X.shape) < 0.1] = np.nan
    return X


# Few enough features for the enumeration of all subsets.
DRAWN = {
    "stump": stump,
    "stump on <": lambda: stump(strict=True),
    "single leaf": lambda: single_leaf(2),
    "single leaf beside a stump": lambda: grow(
        [leaf([0.5, 0.5]), split(0, 0.1, leaf([1.0, 0.0]), leaf([0.0, 1.0]))], 2
    ),
    "float32, <=": lambda: random_forest(1, x_dtype="float32"),
    "float32, <": lambda: random_forest(2, x_dtype="float32", strict=True),
    "float64, <=": lambda: random_forest(3, x_dtype="float64"),
    "float64, <": lambda: random_forest(4, x_dtype="float64", strict=True),
    "NaN, float32": lambda: random_forest(5, missing=True, x_dtype="float32"),
    "NaN, float64, <": lambda: random_forest(6, missing=True, strict=True),
    "binary": lambda: random_forest(7, n_outputs=2, leaves="fractions"),
    "binary, pure leaves": lambda: random_forest(8, n_outputs=2, leaves="pure"),
    "ten classes": lambda: random_forest(9, n_outputs=10, leaves="fractions", depth=5),
    "ten classes, pure leaves": lambda: random_forest(10, n_outputs=10, leaves="pure", depth=5),
    "sum with a base": lambda: random_forest(
        11, n_outputs=3, aggregate="sum", base=[0.5, -2.0, 10.0]
    ),
    "mean with a base": lambda: random_forest(12, base=[-3.0]),
    "breadth-first nodes": lambda: random_forest(13, order="breadth", n_outputs=2, missing=True),
    "two features again and again": lambda: random_forest(14, n_features=2, depth=8),
    "most features unused": lambda: random_forest(15, n_trees=2, depth=2, n_features=8),
    "depth 45, five features": lambda: caterpillar(45, 5),
    "depth 45, one feature": lambda: caterpillar(45, 1, seed=2),
    "leaf without cover": lambda: grow(
        [split(0, 0.0, leaf(1.0, 2.0), split(1, 0.0, leaf(2.0, 0.0), leaf(3.0, 1.0)))], 2
    ),
    "inner values of their own": lambda: random_forest(16, n_outputs=2, free=True),
}


def whole_numbers(kind, n, p, seed=0):
    """X of whole numbers from 0 to 7, the last column constant, and y: "classes" or "values".

    Thresholds lie on multiples of 1/2, so float32 holds them and rows can be put on them.
    """
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 8, (n, p)).astype(float)
    X[:, -1] = 3.0
    if kind == "values":
        return X, X[:, 0] * 2.0 - X[:, 1] * X[:, 2] + rng.normal(size=n)
    return X, (X[:, 0] + X[:, 1] > 7).astype(int) + (X[:, 2] > 4)


def labeled_table(n=300):
    """A table with words, numbers in a column of type category, and a target."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=n).round(1)})
    frame["color"] = pd.Categorical(rng.choice(LABELS, n), categories=LABELS)
    frame["size"] = pd.Categorical(rng.choice([10, 20, 35], n))
    effect = (
        rng.normal(size=5)[frame["color"].cat.codes] + rng.normal(size=3)[frame["size"].cat.codes]
    )
    y = frame["a"].to_numpy() + 2 * effect
    frame.loc[rng.random(n) < 0.1, ["a", "color"]] = np.nan
    return frame, y


@cache
def _data(name):
    if name.startswith("made"):
        return whole_numbers(name.removeprefix("made "), 150, 6)
    if name.startswith("gaps"):
        X, y = _data(name.removeprefix("gaps "))
        return np.where(np.random.default_rng(0).random(X.shape) < 0.1, np.nan, X), y
    return getattr(datasets, f"load_{name}")(return_X_y=True)


# Name -> model and data; those that are called weighted are fitted with weights of rows.
_FITS = {
    "tree, gini, iris": (DecisionTreeClassifier(), "iris"),
    "tree, entropy, wine": (DecisionTreeClassifier(criterion="entropy"), "wine"),
    "tree, squared error, diabetes": (DecisionTreeRegressor(), "diabetes"),
    "tree, best first, digits": (DecisionTreeClassifier(max_leaf_nodes=40), "digits"),
    "tree, weighted, iris": (DecisionTreeClassifier(criterion="entropy"), "iris"),
    "tree, constant column": (DecisionTreeClassifier(), "made classes"),
    "tree, NaN": (DecisionTreeClassifier(criterion="entropy"), "gaps iris"),
    "tree of one node": (DecisionTreeRegressor(min_samples_split=10_000), "diabetes"),
    "forest, gini, cancer": (RandomForestClassifier(20), "breast_cancer"),
    "forest, entropy, digits": (
        RandomForestClassifier(10, criterion="entropy", max_depth=8),
        "digits",
    ),
    "forest, squared error, diabetes": (RandomForestRegressor(20, min_samples_leaf=3), "diabetes"),
    "forest, best first, diabetes": (RandomForestRegressor(10, max_leaf_nodes=25), "diabetes"),
    "forest, weighted, wine": (RandomForestClassifier(10, max_samples=0.5), "wine"),
    "forest, unbagged, wine": (RandomForestClassifier(10, bootstrap=False), "wine"),
    "forest, NaN": (RandomForestClassifier(10), "gaps wine"),
    "forest, NaN, regression": (RandomForestRegressor(10, max_depth=6), "gaps diabetes"),
    "forest, stumps and single nodes": (
        RandomForestClassifier(20, max_depth=1, min_samples_split=59, max_samples=75),
        "iris",
    ),
    "forest, absolute error, diabetes": (
        RandomForestRegressor(4, criterion="absolute_error", max_depth=5),
        "diabetes",
    ),
    "extra-trees, poisson, diabetes": (
        ExtraTreesRegressor(5, criterion="poisson", max_leaf_nodes=30),
        "diabetes",
    ),
    "extra-trees, shallow, wine": (ExtraTreesClassifier(20, max_depth=2), "wine"),
    "extra-trees, entropy, digits": (
        ExtraTreesClassifier(4, criterion="entropy", max_features=1),
        "digits",
    ),
    "extra-trees, entropy, iris": (
        ExtraTreesClassifier(30, criterion="entropy", max_features=1),
        "iris",
    ),
    "extra-trees, bagged, cancer": (
        ExtraTreesClassifier(10, bootstrap=True, class_weight="balanced"),
        "breast_cancer",
    ),
    "extra-trees, squared error, made": (ExtraTreesRegressor(10), "made values"),
}
FITTED = tuple(_FITS)


@cache
def fitted(name):
    """Model, training X and y of one of the names in `FITTED`; the same objects every time."""
    model, data = _FITS[name]
    X, y = _data(data)
    weights = np.random.default_rng(0).choice([0.0, 0.5, 1.0, 3.7], len(y))
    weights = weights if "weighted" in name else None
    return model.set_params(random_state=0).fit(X, y, sample_weight=weights), X, y


# Name -> model and data. They give raw scores and keep values of the leaves only.
_BOOSTED = {
    "xgboost, diabetes": (XGBRegressor(n_estimators=12, max_depth=4), "diabetes"),
    "xgboost, binary, cancer": (XGBClassifier(n_estimators=12), "breast_cancer"),
    "xgboost, three classes, wine": (XGBClassifier(n_estimators=6, max_depth=3), "wine"),
    "xgboost, NaN, diabetes": (XGBRegressor(n_estimators=12, max_depth=4), "gaps diabetes"),
    "xgboost, NaN, wine": (XGBClassifier(n_estimators=6, max_depth=3), "gaps wine"),
    "xgboost, random forest": (XGBRFRegressor(n_estimators=8, max_depth=5), "diabetes"),
    "xgboost, best first": (
        XGBRegressor(n_estimators=6, max_leaves=12, max_depth=0, grow_policy="lossguide"),
        "diabetes",
    ),
    "xgboost, pruned": (
        XGBRegressor(n_estimators=4, tree_method="exact", gamma=2e4, base_score=100.0),
        "diabetes",
    ),
    "xgboost, one node a tree": (XGBRegressor(n_estimators=2, gamma=1e12), "diabetes"),
    "xgboost, whole numbers": (XGBRegressor(n_estimators=6, max_depth=4), "made values"),
    "lightgbm, diabetes": (LGBMRegressor(n_estimators=12, num_leaves=9), "diabetes"),
    "lightgbm, binary, cancer": (LGBMClassifier(n_estimators=12, num_leaves=9), "breast_cancer"),
    "lightgbm, three classes, wine": (LGBMClassifier(n_estimators=6, num_leaves=5), "wine"),
    "lightgbm, NaN, diabetes": (LGBMRegressor(n_estimators=12, num_leaves=9), "gaps diabetes"),
    "lightgbm, NaN, wine": (LGBMClassifier(n_estimators=6, num_leaves=5), "gaps wine"),
    "lightgbm, random forest": (
        LGBMRegressor(n_estimators=8, boosting_type="rf", subsample=0.6, subsample_freq=1),
        "diabetes",
    ),
    "lightgbm, random forest, wine": (
        LGBMClassifier(n_estimators=4, boosting_type="rf", subsample=0.6, subsample_freq=1),
        "wine",
    ),
    "lightgbm, one node a tree": (
        LGBMRegressor(n_estimators=2, min_child_samples=10_000),
        "diabetes",
    ),
    "lightgbm, whole numbers": (LGBMRegressor(n_estimators=6, num_leaves=9), "made values"),
    "gradient boosting, diabetes": (GradientBoostingRegressor(n_estimators=12), "diabetes"),
    "gradient boosting, absolute error": (
        GradientBoostingRegressor(n_estimators=8, loss="absolute_error", subsample=0.7),
        "diabetes",
    ),
    "gradient boosting, from zero": (
        GradientBoostingRegressor(n_estimators=8, init="zero"),
        "made values",
    ),
    "gradient boosting, binary, cancer": (
        GradientBoostingClassifier(n_estimators=8),
        "breast_cancer",
    ),
    "gradient boosting, three classes, wine": (
        GradientBoostingClassifier(n_estimators=4, max_depth=2),
        "wine",
    ),
    "histogram, diabetes": (HistGradientBoostingRegressor(max_iter=12), "diabetes"),
    "histogram, binary, cancer": (HistGradientBoostingClassifier(max_iter=8), "breast_cancer"),
    "histogram, three classes, wine": (HistGradientBoostingClassifier(max_iter=5), "wine"),
    "histogram, NaN, diabetes": (HistGradientBoostingRegressor(max_iter=12), "gaps diabetes"),
    "histogram, NaN, wine": (HistGradientBoostingClassifier(max_iter=5), "gaps wine"),
}
BOOSTED = tuple(_BOOSTED)


@cache
def boosted(name):
    """Model, training X and y of one of the names in `BOOSTED`; the same objects every time."""
    model, data = _BOOSTED[name]
    X, y = _data(data)
    if "n_jobs" in model.get_params():
        model.set_params(n_jobs=1)
    if name.startswith("lightgbm"):
        model.set_params(verbose=-1)
    return model.set_params(random_state=0).fit(X, y), X, y


def raw_score(model, X) -> np.ndarray:
    """What a model itself predicts before its link, (n_samples, n_outputs); fractions of classes.

    LightGBM averages a random forest before the link, but gives the sum as raw score.
    """
    if isinstance(model, xgboost.Booster):
        score = model.predict(xgboost.DMatrix(X), output_margin=True)
    elif hasattr(model, "get_booster"):
        score = model.predict(X, output_margin=True)
    elif isinstance(model, lightgbm.Booster) or hasattr(model, "booster_"):
        booster = getattr(model, "booster_", model)
        score = booster.predict(X, raw_score=True)
        score /= booster.current_iteration() if "[boosting: rf]" in booster.model_to_string() else 1
    else:
        methods = ("decision_function", "predict_proba", "predict")
        score = next(getattr(model, m) for m in methods if hasattr(model, m))(X)
    return np.asarray(score, dtype=float).reshape(len(X), -1)


def conversion_error(model, X) -> float:
    """Largest error of what a converted model predicts, as a share of the largest prediction."""
    return twins.largest_error(to_forest(model).predict(X), raw_score(model, X))


class Stored(NamedTuple):
    """A model that a release of its library has saved, and what it gave for some rows."""

    files: dict  # form -> bytes
    rows: np.ndarray
    raw: np.ndarray  # (n_rows, n_outputs)
    explained: np.ndarray
    contributions: np.ndarray | None  # of the explained rows, (n_rows, n_features + 1, n_outputs)


_DECODED = {
    "json": lambda content: json.dumps(content).encode(),
    "model": lambda content: json.dumps(content).encode(),
    "ubj": base64.b64decode,
    "text": str.encode,
}


def _stored(entry):
    rows = np.array(entry["rows"], float)
    explained, contributions = np.array(entry.get("explained", rows), float), None
    if "contributions" in entry or "shap" in entry:
        shape = (len(explained), -1, explained.shape[1] + 1)
        contributions = np.reshape(entry.get("contributions", entry.get("shap")), shape)
        contributions = contributions.transpose(0, 2, 1)
    raw = np.reshape(entry.get("raw", entry.get("margins")), (len(rows), -1))
    files = {form: decode(entry[form]) for form, decode in _DECODED.items() if form in entry}
    return Stored(files, rows, raw, explained, contributions)


# Library, release and task -> the model; made by the scripts beside the files with each release.
_MODELS = Path(__file__).parent / "models"
STORED = {
    f"{path.relative_to(_MODELS).with_suffix('')}, {task}": _stored(entry)
    for path in sorted(_MODELS.rglob("*.json"))
    for task, entry in json.loads(path.read_text(encoding="utf-8")).items()
}
