"""Replace ``shap.TreeExplainer``: its names, arguments, shapes and plots."""

from splitcredit.views.explainer.tree_explainer import TreeExplainer

__all__ = ["TreeExplainer"]
