"""Scores by impurity where splits put any subset of categories on one side, as in R's forests.

Forests are grown here, with as many trees and drawn features as the model has: scikit-learn's have
no such splits. A split belongs to a feature and not to an order of its values, so there are only
scores that add up over splits, and AIR, which is made of them.
"""

import numpy as np
import pandas as pd

from reproduction.metrics import _subset_forest, trees
from reproduction.parameters import Seed
from splitcredit.measures import penalized_gini

KEYS = ("importance", "feature")
VALUES = ("value",)

_PRESETS = penalized_gini.PRESETS
# Name of the importance -> settings of penalized Gini, in units of rows times impurity.
SETTINGS = {
    "mdi_rows": _PRESETS["mdi_inbag"] | {"per_row": False},
    "pg_051_inbag": _PRESETS["ufi"] | {"per_row": False},
    "pg_hat_10": _PRESETS["pg_hat_10"],
    "pg_hat_051": _PRESETS["pg_hat_051"],
    # No split is left out.
    "pg_051_all_splits": _PRESETS["pg_051"] | {"min_child_oob": 0},
    "pg_hat_10_all_splits": _PRESETS["pg_hat_10"] | {"min_child_oob": 0},
}
REQUIRES = ("forest", "classifier")


def compute(attributions, training, estimator, random_state: Seed = 0) -> pd.DataFrame:
    """Scores of every feature, from a forest with splits by subsets of categories.

    The classes are 0 and 1; features with whole numbers only are categories. The estimator is a
    RandomForestClassifier, and `random_state` is of the permutation of AIR. One row a measure and
    feature, in rows times impurity; and the numbers of `single_children`.
    """
    X, y = np.asarray(training.X), np.asarray(training.y)
    scores = _scores(X, y, estimator, SETTINGS, "forest")
    # AIR: MDI less that of shadows, features whose rows one permutation has exchanged.
    order = np.random.default_rng(random_state).permutation(len(X))
    mdi = {"mdi_rows": SETTINGS["mdi_rows"]}
    joint_scores = _scores(np.hstack([X, X[order]]), y, estimator, mdi, "shadows")["mdi_rows"]
    feature_scores, shadow = joint_scores.reshape(2, -1)
    scores["air"] = feature_scores - shadow
    frames = [
        pd.DataFrame({"importance": name, "feature": training.feature_names, "value": values})
        for name, values in scores.items()
    ]
    return pd.concat(frames, ignore_index=True)


def _scores(X, y, estimator, settings, purpose):
    """Scores by name, float64 (n_features,), of one forest."""
    # As scikit-learn reads it.
    p, k = X.shape[1], estimator.max_features
    k = {"sqrt": np.sqrt(p), "log2": np.log2(p), None: p}.get(
        k, k * p if k.__class__ is float else k
    )
    seed = [estimator.random_state, *purpose.encode()]
    grown = _subset_forest.grow(X, y, estimator.n_estimators, max(1, int(k)), seed)
    computed = penalized_gini.importances(grown.forest, grown.rows, y, settings)
    values = {name: importance.values for name, importance in computed.items()}
    children = trees.single_children_in_a_tree(grown.forest, grown.rows, y)
    values[trees.SINGLE_CHILDREN] = children
    return {name: grown.by_feature(columns) for name, columns in values.items()}
