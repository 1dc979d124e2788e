"""XGBoost ensembles on made data: small ones to enumerate, and ones that grow."""

import numpy as np

from reproduction.models import fit
from splitcredit.models.formats import to_forest

# Numbers of training rows and features, and depth of the trees, for red wine in the paper.
ROWS, FEATURES, DEPTH = 1279, 11, 4
_BASE = {"estimator": "XGBRegressor", "tree_method": "hist"}


def small(rng):
    """One to three trees on one to five features, and rows.

    Values are rounded, so that rows lie on thresholds; targets are of sizes 0.01 to 100 000.
    """
    n_features, size = int(rng.integers(1, 6)), 10.0 ** rng.uniform(-2, 5)
    X = rng.normal(size=(60, n_features)).round(1)
    y = size * (np.sin(2 * X).sum(axis=1) + X.prod(axis=1) + rng.normal(size=60))
    recipe = {"n_estimators": int(rng.integers(1, 4)), "max_depth": int(rng.integers(1, 5))}
    model = fit({**_BASE, **recipe, "learning_rate": 0.7, "random_state": 0}, X, y)
    forest = to_forest(model)
    return forest, forest.prepare(X)


def wine_like(n_trees, depth=DEPTH):
    """An ensemble of the size of the paper's bigger one, or a multiple of it, and its rows."""
    random = np.random.default_rng(0)
    X = random.normal(size=(ROWS, FEATURES))
    weights = random.normal(size=FEATURES)
    y = X @ weights + X[:, 0] * X[:, 1] + np.sin(2 * X[:, 2]) + random.normal(size=ROWS)
    recipe = {"n_estimators": n_trees, "max_depth": depth, "learning_rate": 0.1}
    forest = to_forest(fit({**_BASE, **recipe, "random_state": 0}, X, y))
    return forest, forest.prepare(X)


def sets(rng, n_pairs, n_features, size) -> np.ndarray:
    """Random sets of `size` features, bool (n_pairs, n_features)."""
    order = rng.permuted(np.tile(np.arange(n_features), (n_pairs, 1)), axis=1)
    return order < size


def slope(sizes, values) -> float:
    """Least-squares slope of log values against log sizes; NaN if a value is 0."""
    if not np.all(np.asarray(values) > 0):
        return np.nan
    return float(np.polynomial.polynomial.polyfit(np.log(sizes), np.log(values), 1)[1])
