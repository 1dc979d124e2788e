"""Path-dependent TreeSHAP by the C extension of shap."""

import numpy as np

from reproduction.peers.packages import Output, attribution

REQUIRES = ("model",)


def explain(model, forest, X, output: Output = "predicted"):
    """SHAP values of a class, or of a regression."""
    import shap

    # Models of XGBoost shap would only hand back to XGBoost, so it is given their trees.
    if type(model).__module__.startswith("sklearn"):
        shap_model, rows = model, np.asarray(X, np.float64)
    else:
        shap_model, rows = {"trees": list(_trees(forest))}, forest.prepare(X).astype(np.float64)
    explainer = shap.TreeExplainer(shap_model, feature_perturbation="tree_path_dependent")
    values = explainer.shap_values(rows, check_additivity=False)
    values = np.reshape(values, (*rows.shape, -1))
    by = "tree_shap_shap", "shap", "float64"
    return attribution(values, forest, *by, output, model, rows)


def _trees(forest):
    """Trees that go left on <=, as shap takes them; a sum of trees, without the base score."""
    thresholds = np.nextafter(forest.threshold, -np.inf) if forest.strict else forest.threshold
    for first, end in zip(forest.tree_offsets[:-1], forest.tree_offsets[1:], strict=True):
        nodes = slice(first, end)
        left, right = (
            np.where(child[nodes] < 0, -1, child[nodes] - first)
            for child in (forest.left, forest.right)
        )
        yield {
            "children_left": left,
            "children_right": right,
            "children_default": left,
            "features": np.where(left < 0, -2, forest.feature[nodes]),
            "thresholds": thresholds[nodes],
            "values": forest.value[nodes],
            # A copy: with a background shap counts its rows in place.
            "node_sample_weight": forest.cover[nodes].copy(),
        }
