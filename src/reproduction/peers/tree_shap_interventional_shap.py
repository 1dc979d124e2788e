"""Interventional TreeSHAP by the C extension of shap, which keeps its weights in float32."""

from typing import Literal

import numpy as np

from reproduction.parameters import Natural
from reproduction.peers import _results

REQUIRES = ("model", "scikit-learn")


def explain(model, forest, X, background, output: Literal["predicted"] | Natural = "predicted"):
    """SHAP values against background rows.

    Parameters
    ----------
    model : fitted forest or tree of scikit-learn
    forest : Forest
        The same, converted; only its names are taken.
    X : array (n_samples, n_features)
    background : array (n_background, n_features)
    output : "predicted" or int
        The class that is explained.
    """
    import shap

    rows = np.asarray(X, np.float64)
    # From an array, shap would draw 100 of the rows at random.
    masker = shap.maskers.Independent(np.asarray(background, np.float64), len(background))
    explainer = shap.TreeExplainer(model, masker, feature_perturbation="interventional")
    values = np.reshape(explainer.shap_values(rows, check_additivity=False), (*rows.shape, -1))
    return _results.attribution(
        values, forest, "tree_shap_interventional_shap", output, "shap", "float32", model, rows
    )
