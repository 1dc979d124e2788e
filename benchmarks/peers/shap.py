"""shap's TreeExplainer, its own C code in double precision; one thread."""

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
        return shap.TreeExplainer(model, background, feature_perturbation="interventional")
    explainer = shap.TreeExplainer(model, feature_perturbation="tree_path_dependent")
    explainer.model.model_type = "internal"
    return explainer


def explain(explainer, X):
    """Attributions of the rows."""
    return explainer.shap_values(X, check_additivity=False)


def arranged(raw):
    """A single output has no axis of its own."""
    return raw if raw.ndim == 3 else np.asarray(raw)[:, :, None]
