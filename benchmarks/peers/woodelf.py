"""WOODELF: decision patterns by numpy, path-dependent or against a background; one thread."""

import pandas
from woodelf.core.trees.parse_models import load_decision_tree_ensemble_model
from woodelf.explainer import WoodelfExplainer

PACKAGE = "woodelf-explainer"
THREADS = False


def construct(model, X, measure, variant, background, threads):
    """The explainer, and the rows as it wants them."""
    rows = pandas.DataFrame(X)
    if measure == "tree_shap_interventional":
        return WoodelfExplainer(model, pandas.DataFrame(background)).shap_values, rows
    explainer = WoodelfExplainer(model, feature_perturbation="tree_path_dependent")
    explainer.model = load_decision_tree_ensemble_model(model, list(rows.columns))
    explainer.model_was_loaded = True  # else the first call reads it
    if measure == "interactions":
        return explainer.shap_interaction_values, rows
    return explainer.shap_values, rows


def explain(explainer, X):
    """Attributions of the rows."""
    values, rows = explainer
    return values(rows, verbose=False)


def arranged(raw):
    """One output only."""
    return raw[..., None]
