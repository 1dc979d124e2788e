"""shap's TreeExplainer, its own C code in double precision; one thread."""

from functools import partial

import numpy as np
import shap

PACKAGE = "shap"
THREADS = False


def construct(model, X, measure, variant, background, threads):
    """The explainer, against a background or path-dependent.

    For boosters shap hands path-dependent values over to the library's own code, which races as a
    peer of its own; here the model is declared one of shap's, so that shap's code runs.
    """
    if measure == "tree_shap_interventional":
        explainer = shap.TreeExplainer(model, background, feature_perturbation="interventional")
        return 3, partial(explainer.shap_values, check_additivity=False)
    explainer = shap.TreeExplainer(model, feature_perturbation="tree_path_dependent")
    explainer.model.model_type = "internal"
    if measure == "interactions":
        return 4, explainer.shap_interaction_values
    return 3, partial(explainer.shap_values, check_additivity=False)


def explain(explainer, X):
    """Attributions of the rows."""
    n_axes, values = explainer
    return n_axes, values(X)


def arranged(raw):
    """A single output has no axis of its own; interactions have one axis more than values."""
    n_axes, values = raw
    values = np.asarray(values)
    return values if values.ndim == n_axes else values[..., None]
