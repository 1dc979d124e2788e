"""Makes the models in this folder; run it once with each release of a library.

    python make_models.py xgboost
    python make_models.py catboost
    python make_models.py former/xgboost
    python make_models.py former/lightgbm
    python make_models.py former/catboost

writes ``LIBRARY-RELEASE.json``, here or in the folder ``former``: models as the release saves them,
rows, the raw scores that it gives for the rows, and its contributions, but for the first. Rows of
the first two lie on thresholds, a float32 step beside them, and have NaN. The models of former
releases are saved in each of their formats. The script runs with Python 3.7 on.
"""

import base64
import json
import re
import sys
import tempfile
from pathlib import Path

import numpy as np

XGBOOST = {
    "regression": ({"objective": "reg:squarederror"}, "values"),
    "regression, given base": ({"objective": "reg:squarederror", "base_score": 0.25}, "values"),
    "binary": ({"objective": "binary:logistic"}, "two"),
    "binary, given base": ({"objective": "binary:logistic", "base_score": 0.25}, "two"),
    "classes": ({"objective": "multi:softprob", "num_class": 3}, "three"),
    "counts": ({"objective": "count:poisson"}, "counts"),
    "random forest": (
        {"objective": "reg:squarederror", "num_parallel_tree": 3, "subsample": 0.7},
        "values",
    ),
    "dropout": ({"objective": "reg:squarederror", "booster": "dart", "rate_drop": 0.5}, "values"),
    "pruned": ({"objective": "reg:squarederror", "tree_method": "exact", "gamma": 5.0}, "values"),
}
CATBOOST = {
    "regression": ({}, "values"),
    "NaN is large": ({"nan_mode": "Max"}, "values"),
    "by depth": ({"grow_policy": "Depthwise"}, "values"),
    "leaf by leaf": ({"grow_policy": "Lossguide", "max_leaves": 6}, "values"),
    "binary": ({"loss_function": "Logloss"}, "two"),
    "classes": ({"loss_function": "MultiClass"}, "three"),
    "classes, leaf by leaf": ({"loss_function": "MultiClass", "grow_policy": "Lossguide"}, "three"),
    "two targets": ({"loss_function": "MultiRMSE"}, "pairs"),
    "counts": ({"loss_function": "Poisson"}, "counts"),
    "several labels": ({"loss_function": "MultiLogloss"}, "labels"),
}
FORMER_XGBOOST = {
    "regression": ({"objective": "reg:linear"}, "values"),
    "binary": ({"objective": "binary:logistic", "base_score": 0.25}, "two"),
    "classes": ({"objective": "multi:softprob", "num_class": 3}, "three"),
    "counts": ({"objective": "count:poisson"}, "counts"),
    "dropout": ({"objective": "reg:linear", "booster": "dart", "rate_drop": 0.5}, "values"),
    "pruned": ({"objective": "reg:linear", "tree_method": "exact", "gamma": 9.0}, "values"),
}
FORMER_LIGHTGBM = {
    "regression": ({"objective": "regression"}, "values"),
    "binary": ({"objective": "binary"}, "two"),
    "classes": ({"objective": "multiclass", "num_class": 3}, "three"),
    "a class that never occurs": ({"objective": "multiclass", "num_class": 3}, "two"),
    "forest": (
        {
            "boosting": "rf",
            "bagging_freq": 1,
            "bagging_fraction": 0.6,
            "feature_fraction": 0.9,
            "objective": "regression",
        },
        "values",
    ),
    "dropout": ({"boosting": "dart", "objective": "regression"}, "values"),
    "zero is missing": ({"zero_as_missing": True, "objective": "regression"}, "values"),
    "categories": ({"objective": "regression", "cat_smooth": 1, "min_data_per_group": 5}, "values"),
}
FORMER_CATBOOST = {
    "regression": ({"loss_function": "RMSE"}, "values"),
    "binary": ({"loss_function": "Logloss"}, "two"),
    "classes": ({"loss_function": "MultiClass"}, "three"),
    "leaf by leaf": ({"grow_policy": "Lossguide", "max_leaves": 4}, "values"),
}
# What the converter reads of a file of CatBoost, which has much besides.
KEPT = ("features_info", "oblivious_trees", "trees", "scale_and_bias")


def main(name):
    """Fit every kind, and write it down."""
    makers = {
        "xgboost": of_xgboost,
        "catboost": of_catboost,
        "former/xgboost": of_former_xgboost,
        "former/lightgbm": of_former_lightgbm,
        "former/catboost": of_former_catboost,
    }
    release, models = makers[name]()
    lines = ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in models.items())
    path = Path(__file__).resolve().parent / f"{name}-{release}.json"
    path.write_text(f"{{\n{lines}\n}}\n")


def of_xgboost():
    """Models of XGBoost, with rows on their thresholds and beside them."""
    import xgboost

    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4)).round(2)
    score = X[:, 0] * X[:, 1] + X[:, 2]
    targets = {
        "values": score + rng.normal(size=200),
        "two": (score > 0.3).astype(float),
        "three": np.digitize(score, [-0.5, 0.7]).astype(float),
        "counts": rng.poisson(np.exp(0.5 * score)).astype(float),
    }
    X[rng.random(X.shape) < 0.1] = np.nan
    models = {}
    for kind, (parameters, target) in XGBOOST.items():
        parameters = {"max_depth": 3, "nthread": 1, "seed": 0, "eta": 0.5, **parameters}
        rounds = 1 if "num_parallel_tree" in parameters else 3
        booster = xgboost.train(parameters, xgboost.DMatrix(X, targets[target]), rounds)
        model = json.loads(booster.save_raw("json"))
        rows = beside_thresholds(X, model)
        margins = booster.predict(xgboost.DMatrix(rows), output_margin=True)
        margins = margins.astype(float).reshape(len(rows), -1).tolist()
        models[kind] = {"model": model, "rows": plain(rows), "margins": margins}
    return xgboost.__version__, models


def beside_thresholds(X, model):
    """Rows of X, in which one value each is on a threshold of the model or one step beside it."""
    rng = np.random.default_rng(1)
    rows = X[rng.integers(len(X), size=24)].astype(np.float32)
    booster = model["learner"]["gradient_booster"]
    splits = [
        (tree["split_indices"][k], tree["split_conditions"][k])
        for tree in booster.get("gbtree", booster)["model"]["trees"]  # of dart deeper until 3.4
        for k, left in enumerate(tree["left_children"])
        if left != -1
    ]
    for i, row in enumerate(rows[:18]):
        feature, threshold = splits[rng.integers(len(splits))]
        threshold = np.float32(threshold)
        row[feature] = [threshold, *(np.nextafter(threshold, np.float32([-9, 9])))][i % 3]
    return rows


def of_catboost():
    """Models of CatBoost, with rows on their borders and a step above them."""
    import catboost

    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3)).round(1).astype(np.float32)
    score = X[:, 0] * 2 + (X[:, 1] > 0.3)
    targets = {
        "values": score,
        "two": np.where(score > 0.5, "yes", "no"),
        "three": np.digitize(score, [-0.5, 0.7]),
        "pairs": np.column_stack([score, -(X[:, 2] ** 2)]),
        "labels": np.column_stack([score > 0.5, X[:, 2] > 0]).astype(int),
        "counts": np.floor(np.exp(score / 2)),
    }
    X[rng.random(X.shape) < 0.1] = np.nan
    models = {}
    for kind, (parameters, target) in CATBOOST.items():
        model, content, info = fit_catboost(X, targets[target], iterations=3, depth=3, **parameters)
        borders = [b for of_feature in model.get_borders().values() for b in of_feature]
        values = np.concatenate([[b, np.nextafter(np.float32(b), np.float32(9))] for b in borders])
        rows = np.concatenate([rng.choice(values, (20, 3)), X[:20]]).astype(np.float32)
        raw = model.predict(rows, prediction_type="RawFormulaVal")
        shap = model.get_feature_importance(catboost.Pool(X[:10]), type="ShapValues")
        labels = info.get("class_params", {}).get("class_names", [])
        loss = {"loss_function": {"type": info["params"]["loss_function"]["type"]}}
        info = {"class_params": {"class_names": labels}, "params": loss}
        models[kind] = {
            "model": {**content, "model_info": info},
            "rows": plain(rows),
            "raw": np.asarray(raw).reshape(len(rows), -1).tolist(),
            "explained": plain(X[:10]),
            "shap": np.asarray(shap).tolist(),
        }
    return catboost.__version__, models


def fit_catboost(X, y, **parameters):
    """A model of CatBoost, what the converter reads of its file, and its information."""
    import catboost

    common = {"verbose": 0, "thread_count": 1, "random_seed": 0, "allow_writing_files": False}
    model = catboost.CatBoost({**common, **parameters}).fit(X, y)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.json"
        model.save_model(str(path), format="json")
        content = json.loads(path.read_text())
    return model, {key: content[key] for key in KEPT if key in content}, content["model_info"]


def plain(rows):
    """Rows as lists, with None in the place of NaN."""
    return [[None if np.isnan(x) else float(x) for x in row] for row in rows]


def former_data():
    """Rows with gaps, whole numbers in the last column, and targets by name."""
    rng = np.random.RandomState(0)
    X = rng.normal(size=(200, 3)).round(1)
    X[:, 2] = rng.randint(0, 5, 200)
    score = X[:, 0] * X[:, 1] + np.isin(X[:, 2], [1, 3])
    targets = {
        "values": score + rng.normal(size=200),
        "two": (score > 0.5).astype(float),
        "three": np.digitize(score, [-0.2, 0.7]).astype(float),
        "counts": rng.poisson(np.exp(0.5 * score)).astype(float),
    }
    X[:, :2][rng.uniform(size=(200, 2)) < 0.1] = np.nan
    return X, targets


def entry(rows, raw, contributions, **files):
    """What is kept of a model."""
    return {
        **files,
        "rows": plain(rows),
        "raw": np.reshape(raw, (len(rows), -1)).astype(float).tolist(),
        "contributions": np.reshape(contributions, (len(rows), -1)).astype(float).tolist(),
    }


def of_former_xgboost():
    """Models of XGBoost: JSON from 1.0 on, UBJSON from 1.6 on."""
    import xgboost

    X, targets = former_data()
    rows, models = X[:8].astype(np.float32), {}
    for kind, (parameters, target) in FORMER_XGBOOST.items():
        parameters = {"max_depth": 2, "nthread": 1, "seed": 0, "eta": 0.5, **parameters}
        booster = xgboost.train(parameters, xgboost.DMatrix(X, targets[target]), 2)
        matrix = xgboost.DMatrix(rows)
        raw = booster.predict(matrix, output_margin=True)
        models[kind] = entry(
            rows, raw, booster.predict(matrix, pred_contribs=True), **_files(booster, kind)
        )
    return xgboost.__version__, models


def _files(booster, kind_of_model):
    major, minor = map(int, sys.modules["xgboost"].__version__.split(".")[:2])
    with tempfile.TemporaryDirectory() as folder:
        files, kinds = {}, {"ubj": "ubj", "json": "json"}
        if (major, minor) < (1, 6) or kind_of_model not in ("classes", "dropout"):
            del kinds["ubj"]
        for kind, ending in kinds.items():
            path = Path(folder) / f"a.{ending}"
            booster.save_model(str(path))
            raw = path.read_bytes()
            files[kind] = json.loads(raw) if kind == "json" else base64.b64encode(raw).decode()
    return files


def of_former_lightgbm():
    """Models of LightGBM, as text."""
    import lightgbm

    X, targets = former_data()
    rows, models = X[:8], {}
    for kind, (parameters, target) in FORMER_LIGHTGBM.items():
        parameters = {"num_leaves": 4, "verbose": -1, "num_threads": 1, "seed": 0, **parameters}
        columns = [2] if kind == "categories" else []
        matrix = lightgbm.Dataset(X, targets[target], categorical_feature=columns)
        booster = lightgbm.train(parameters, matrix, 2)
        raw = booster.predict(rows, raw_score=True)
        models[kind] = entry(
            rows, raw, booster.predict(rows, pred_contrib=True), text=_text(booster)
        )
    return lightgbm.__version__, models


def _text(booster):
    """The text without the settings of the training, which are most of it."""
    return re.sub(r"\nparameters:.*end of parameters\n", "", booster.model_to_string(), flags=re.S)


def of_former_catboost():
    """Models of CatBoost, as JSON."""
    import catboost

    X, targets = former_data()
    rows, models = X[:8], {}
    for kind, (parameters, target) in FORMER_CATBOOST.items():
        model, content, info = fit_catboost(X, targets[target], iterations=2, depth=2, **parameters)
        raw = model.predict(rows, prediction_type="RawFormulaVal")
        shap = model.get_feature_importance(catboost.Pool(rows), type="ShapValues")
        info = {key: info[key] for key in ("class_params", "params") if key in info}
        models[kind] = entry(rows, raw, shap, json={**content, "model_info": info})
    return catboost.__version__, models


if __name__ == "__main__":
    main(sys.argv[1])
