"""Saabas attributions by XGBoost, which calls them approximate contributions."""

from reproduction.peers import _xgboost

REQUIRES = ("model", "xgboost")


def explain(model, forest, X):
    """``approx_contribs``; see `reproduction.peers._xgboost.contributions`."""
    return _xgboost.contributions(model, forest, X, "saabas_xgboost", approximate=True)
