"""Makes the models of former releases in the folder ``former``; run it once with each release.

    python make_former.py xgboost
    python make_former.py lightgbm
    python make_former.py catboost

writes ``former/LIBRARY-RELEASE.json``: models as the release saves them, in each of its formats,
rows, and the raw scores and the contributions that it gives for the rows. It runs with Python 3.7
on.
"""

import base64
import json
import re
import sys
import tempfile
from pathlib import Path

import numpy as np

XGBOOST = {
    "regression": ({"objective": "reg:linear"}, "values"),
    "binary": ({"objective": "binary:logistic", "base_score": 0.25}, "two"),
    "classes": ({"objective": "multi:softprob", "num_class": 3}, "three"),
    "counts": ({"objective": "count:poisson"}, "counts"),
    "dropout": ({"objective": "reg:linear", "booster": "dart", "rate_drop": 0.5}, "values"),
    "pruned": ({"objective": "reg:linear", "tree_method": "exact", "gamma": 9.0}, "values"),
}
LIGHTGBM = {
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
CATBOOST = {
    "regression": ({"loss_function": "RMSE"}, "values"),
    "binary": ({"loss_function": "Logloss"}, "two"),
    "classes": ({"loss_function": "MultiClass"}, "three"),
    "leaf by leaf": ({"grow_policy": "Lossguide", "max_leaves": 4}, "values"),
}
# What the converter reads of a file of CatBoost, which has much besides.
KEPT = ("features_info", "oblivious_trees", "trees", "scale_and_bias", "model_info")


def main(library):
    """Fit every kind, and write it down."""
    release, models = {"xgboost": of_xgboost, "lightgbm": of_lightgbm, "catboost": of_catboost}[
        library
    ]()
    folder = Path(__file__).resolve().with_name("former")
    folder.mkdir(exist_ok=True)
    lines = ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in models.items())
    (folder / f"{library}-{release}.json").write_text(f"{{\n{lines}\n}}\n")


def data():
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
        "rows": [[None if np.isnan(x) else float(x) for x in row] for row in rows],
        "raw": np.reshape(raw, (len(rows), -1)).astype(float).tolist(),
        "contributions": np.reshape(contributions, (len(rows), -1)).astype(float).tolist(),
    }


def of_xgboost():
    """Models of XGBoost: JSON from 1.0 on, UBJSON from 1.6 on."""
    import xgboost

    X, targets = data()
    rows, models = X[:8].astype(np.float32), {}
    for kind, (parameters, target) in XGBOOST.items():
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


def of_lightgbm():
    """Models of LightGBM, as text."""
    import lightgbm

    X, targets = data()
    rows, models = X[:8], {}
    for kind, (parameters, target) in LIGHTGBM.items():
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


def of_catboost():
    """Models of CatBoost, as JSON."""
    import catboost

    X, targets = data()
    rows, models = X[:8], {}
    for kind, (parameters, target) in CATBOOST.items():
        common = {"iterations": 2, "depth": 2, "verbose": 0, "thread_count": 1, "random_seed": 0}
        model = catboost.CatBoost({**common, "allow_writing_files": False, **parameters})
        model.fit(X, targets[target])
        with tempfile.TemporaryDirectory() as folder:
            path = str(Path(folder) / "a.json")
            model.save_model(path, format="json")
            content = json.loads(Path(path).read_text())
        raw = model.predict(rows, prediction_type="RawFormulaVal")
        shap = model.get_feature_importance(catboost.Pool(rows), type="ShapValues")
        kept = {key: content[key] for key in KEPT if key in content}
        kept["model_info"] = {
            key: kept["model_info"][key]
            for key in ("class_params", "params")
            if key in kept["model_info"]
        }
        models[kind] = entry(rows, raw, shap, json=kept)
    return catboost.__version__, models


if __name__ == "__main__":
    main(sys.argv[1])
