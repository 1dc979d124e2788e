"""Interventional TreeSHAP by the C extension of shap, which keeps its weights in float32."""

from typing import Literal

import numpy as np

from reproduction.parameters import Natural
from reproduction.peers import _results

REQUIRES = ("model", "scikit-learn")


def explain(model, forest, X, background, output: Literal["predicted"] | Natural = "predicted"):
    """SHAP values of a class against background rows; `forest` gives the names."""
    import shap

    rows = np.asarray(X, np.float64)
    # From an array, shap would draw 100 of the rows at random.
    masker = shap.maskers.Independent(np.asarray(background, np.float64), len(background))
    explainer = shap.TreeExplainer(model, masker, feature_perturbation="interventional")
    values = np.reshape(explainer.shap_values(rows, check_additivity=False), (*rows.shape, -1))
    return _results.attribution(
        values, forest, "tree_shap_interventional_shap", output, "shap", "float32", model, rows
    )
