"""Makes the models of XGBoost in this folder; run it once with each release of XGBoost.

    python make_xgboost.py

writes ``xgboost-RELEASE.json``: models as XGBoost saves them, rows, and the margins that this
release predicts for the rows. Rows lie on thresholds, a float32 step beside them, and have NaN.
"""

import json
from pathlib import Path

import numpy as np
import xgboost

KINDS = {
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


def main():
    """Fit every kind, and write it down."""
    X, targets = data()
    models = {}
    for kind, (parameters, target) in KINDS.items():
        parameters = {"max_depth": 3, "nthread": 1, "seed": 0, "eta": 0.5, **parameters}
        rounds = 1 if "num_parallel_tree" in parameters else 3
        booster = xgboost.train(parameters, xgboost.DMatrix(X, targets[target]), rounds)
        model = json.loads(booster.save_raw("json"))
        rows = beside_thresholds(X, model)
        margins = booster.predict(xgboost.DMatrix(rows), output_margin=True)
        models[kind] = {
            "model": model,
            "rows": [[None if np.isnan(x) else float(x) for x in row] for row in rows],
            "margins": margins.astype(float).reshape(len(rows), -1).tolist(),
        }
    path = Path(__file__).with_name(f"xgboost-{xgboost.__version__}.json")
    lines = ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in models.items())
    path.write_text(f"{{\n{lines}\n}}\n")


def data():
    """Rows with gaps, and targets by name."""
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
    return X, targets


def trees_of(model):
    """The trees of a model; until 3.4 dart kept them one level deeper."""
    booster = model["learner"]["gradient_booster"]
    return booster.get("gbtree", booster)["model"]["trees"]


def beside_thresholds(X, model):
    """Rows of X, in which one value each is on a threshold of the model or one step beside it."""
    rng = np.random.default_rng(1)
    rows = X[rng.integers(len(X), size=24)].astype(np.float32)
    splits = [
        (tree["split_indices"][k], tree["split_conditions"][k])
        for tree in trees_of(model)
        for k, left in enumerate(tree["left_children"])
        if left != -1
    ]
    for i, row in enumerate(rows[:18]):
        feature, threshold = splits[rng.integers(len(splits))]
        threshold = np.float32(threshold)
        row[feature] = [threshold, *(np.nextafter(threshold, np.float32([-9, 9])))][i % 3]
    return rows


if __name__ == "__main__":
    main()
