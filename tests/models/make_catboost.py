"""Makes the models of CatBoost in this folder; needs CatBoost, which the tests do not.

    python make_catboost.py

writes ``catboost-RELEASE.json``: models as CatBoost saves them, rows, and the raw values that this
release predicts for the rows. Rows lie on borders, a float32 step beside them, and have NaN.
"""

import json
import tempfile
from pathlib import Path

import catboost
import numpy as np

COMMON = {
    "iterations": 3,
    "depth": 3,
    "verbose": 0,
    "thread_count": 1,
    "random_seed": 0,
    "allow_writing_files": False,
}
KINDS = {
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
# What the converter reads of a file.
KEPT = ("features_info", "oblivious_trees", "trees", "scale_and_bias")


def main():
    """Fit every kind, and write it down."""
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
    for kind, (parameters, target) in KINDS.items():
        model = catboost.CatBoost({**COMMON, **parameters}).fit(X, targets[target])
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model.json"
            model.save_model(str(path), format="json")
            content = json.loads(path.read_text())
        borders = [b for of_feature in model.get_borders().values() for b in of_feature]
        values = np.concatenate([[b, np.nextafter(np.float32(b), np.float32(9))] for b in borders])
        rows = np.concatenate([rng.choice(values, (20, 3)), X[:20]]).astype(np.float32)
        raw = model.predict(rows, prediction_type="RawFormulaVal")
        shap = model.get_feature_importance(catboost.Pool(X[:10]), type="ShapValues")
        info = content["model_info"]
        labels = info.get("class_params", {}).get("class_names", [])
        loss = {"loss_function": {"type": info["params"]["loss_function"]["type"]}}
        info = {"class_params": {"class_names": labels}, "params": loss}
        content_kept = {key: content[key] for key in KEPT if key in content}
        models[kind] = {
            "model": {**content_kept, "model_info": info},
            "rows": _plain(rows),
            "raw": np.asarray(raw).reshape(len(rows), -1).tolist(),
            "explained": _plain(X[:10]),
            "shap": np.asarray(shap).tolist(),
        }
    path = Path(__file__).with_name(f"catboost-{catboost.__version__}.json")
    lines = ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in models.items())
    path.write_text(f"{{\n{lines}\n}}\n")


def _plain(rows):
    return [[None if np.isnan(x) else float(x) for x in row] for row in rows]


if __name__ == "__main__":
    main()
