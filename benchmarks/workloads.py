"""The models and rows that are raced on, written to a folder for all sides to read.

W1 to W4 are those that the kernels were tuned on; nothing was tuned on W5 and W6.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits, make_classification

import fitted


@dataclass(frozen=True)
class Workload:
    """One model and the rows to explain, the first of the training rows.

    Parameters
    ----------
    title : str
        What it is, for the tables.
    library : {"sklearn", "xgboost", "lightgbm"}
    parameters : dict
        Of the estimator (``estimator`` names its class) or of the library's ``train``.
    data : callable without arguments -> X, y
        Training rows.
    rows : int
        How many rows are explained.
    shuffled : bool
        Whether these are drawn from the training rows, each feature for itself.
    """

    title: str
    library: str
    parameters: dict
    data: Callable[[], tuple]
    rows: int
    shuffled: bool = False

    @property
    def scope(self) -> str:
        """What a table calls it."""
        return f"{self.title}, {self.rows} row{'s' if self.rows > 1 else ''}"

    def write(self, folder, background=0) -> None:
        """Write what `fitted.load` reads: data, recipe and, for boosters, the trained model."""
        folder = Path(folder)
        X, y = self.data()
        np.savez(folder / "data.npz", X=X, y=y)
        np.save(folder / "rows.npy", self.rows_to_explain(X))
        if background:
            np.save(folder / "background.npy", X[:background])
        recipe = {"library": self.library, **self.parameters}
        (folder / "recipe.json").write_text(json.dumps(recipe), encoding="utf-8")
        fitted.train(folder)

    def rows_to_explain(self, X):
        """Some of the training rows, or rows made of their cells."""
        if not self.shuffled:
            return X[: self.rows]
        random = np.random.default_rng(self.rows)
        picked = random.integers(0, len(X), (self.rows, X.shape[1]))
        return np.take_along_axis(X, picked, axis=0)


def regression(n_samples, n_features, dtype=np.float32):
    """Normal features; linear terms, a product and a fold of some of them, and noise."""
    random = np.random.default_rng([n_samples, n_features])
    X = random.standard_normal((n_samples, n_features)).astype(dtype)
    weights = random.standard_normal(n_features) * (random.random(n_features) < 0.3)
    y = X @ weights + 2 * X[:, 0] * X[:, 1] + np.abs(X[:, 2])
    return X, y + random.standard_normal(n_samples)


def gaps():
    """5000 rows, 40 features, 2 classes; a tenth of all values is missing."""
    X, y = regression(5000, 40, np.float64)
    X[np.random.default_rng(5).random(X.shape) < 0.1] = np.nan
    return X, (y > np.median(y)).astype(np.int64)


def ten_classes():
    """3000 rows, 30 features of which 12 matter, 10 classes."""
    sizes = {"n_informative": 12, "n_redundant": 0, "n_classes": 10, "n_clusters_per_class": 1}
    return make_classification(3000, 30, **sizes, random_state=0)


WORKLOADS = {
    "W1": Workload(
        "W1: digits, 100 extra-trees, max_features 1, 10 classes",
        "sklearn",
        {"estimator": "ExtraTreesClassifier", "n_estimators": 100, "max_features": 1},
        partial(load_digits, return_X_y=True),
        1797,
    ),
    "W2": Workload(
        "W2: XGBoost, 1000 trees, depth 6, 150 features",
        "xgboost",
        {"n_trees": 1000, "max_depth": 6, "eta": 0.01, "max_bin": 64},
        partial(regression, 1000, 150),
        1000,
    ),
    "W3": Workload(
        "W3: XGBoost, 40 trees, depth 4, 11 features",
        "xgboost",
        {"n_trees": 40, "max_depth": 4, "eta": 0.2},
        partial(regression, 20000, 11),
        20000,
    ),
    "W4": Workload(
        "W4: random forest, 100 trees, 50 features, 2 classes",
        "sklearn",
        {"estimator": "RandomForestClassifier", "n_estimators": 100},
        partial(make_classification, 1000, 50, n_informative=10, random_state=0),
        1000,
    ),
    "W5": Workload(
        "W5: LightGBM, 300 trees, 63 leaves, 40 features, missing values",
        "lightgbm",
        {"n_trees": 300, "num_leaves": 63, "learning_rate": 0.03, "objective": "binary"},
        gaps,
        5000,
    ),
    "W6": Workload(
        "W6: random forest, 200 fully grown regression trees, 20 features",
        "sklearn",
        {"estimator": "RandomForestRegressor", "n_estimators": 200},
        partial(regression, 2000, 20, np.float64),
        500,
    ),
    "anchor": Workload(
        "XGBoost, 10000 trees, depth 6, 20 features",
        "xgboost",
        {"n_trees": 10000, "max_depth": 6, "eta": 0.001, "max_bin": 64},
        partial(regression, 500, 20),
        500,
    ),
}
WORKLOADS["one"] = replace(WORKLOADS["W2"], rows=1)

# Library, title, parameters and data of the models that few rows are explained of.
_SOFTMAX = {"objective": "multi:softprob", "num_class": 10, "max_bin": 64}
_MULTICLASS = {"objective": "multiclass", "num_class": 10}
_FOREST = {"estimator": "RandomForestRegressor", "n_estimators": 300, "max_depth": 12}
_FEW = (
    (
        "xgboost",
        "XGBoost, 20 trees, depth 2, 10 features",
        {"n_trees": 20, "max_depth": 2},
        partial(regression, 2000, 10),
    ),
    (
        "xgboost",
        "XGBoost, 100 trees, depth 3, 200 features",
        {"n_trees": 100, "max_depth": 3, "max_bin": 64},
        partial(regression, 2000, 200),
    ),
    (
        "xgboost",
        "XGBoost, 500 trees, depth 8, 30 features",
        {"n_trees": 500, "max_depth": 8, "max_bin": 64},
        partial(regression, 2000, 30),
    ),
    (
        "xgboost",
        "XGBoost, 100 rounds, depth 6, 10 classes",
        {"n_trees": 100, "max_depth": 6, **_SOFTMAX},
        ten_classes,
    ),
    (
        "lightgbm",
        "LightGBM, 1000 trees, 31 leaves, 30 features",
        {"n_trees": 1000, "num_leaves": 31},
        partial(regression, 3000, 30, np.float64),
    ),
    (
        "lightgbm",
        "LightGBM, 100 rounds, 31 leaves, 10 classes",
        {"n_trees": 100, "num_leaves": 31, **_MULTICLASS},
        ten_classes,
    ),
    (
        "sklearn",
        "histograms, 200 trees, 30 features",
        {"estimator": "HistGradientBoostingRegressor", "max_iter": 200},
        partial(regression, 3000, 30, np.float64),
    ),
    (
        "sklearn",
        "random forest, 300 regression trees, depth 12, 20 features",
        _FOREST,
        partial(regression, 2000, 20, np.float64),
    ),
    (
        "sklearn",
        "random forest, 100 trees, 30 features, 10 classes",
        {"estimator": "RandomForestClassifier", "n_estimators": 100},
        ten_classes,
    ),
)
FEW = {
    f"{title}, {rows}": Workload(title, library, parameters, data, rows)
    for library, title, parameters, data in _FEW
    for rows in (1, 10)
}
