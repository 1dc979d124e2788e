"""TreeSHAP by XGBoost."""

from reproduction.peers import _xgboost

REQUIRES = ("model", "xgboost")


def explain(model, forest, X):
    """``pred_contribs``; see `reproduction.peers._xgboost.contributions`."""
    return _xgboost.contributions(model, forest, X, "tree_shap_xgboost", approximate=False)
