"""Saabas attributions by XGBoost, which calls them approximate contributions."""

from reproduction.peers import _results

REQUIRES = ("model", "xgboost")


def explain(model, forest, X):
    """``approx_contribs`` of a fitted regressor, in float32; `forest` gives the names."""
    import xgboost

    rows = xgboost.DMatrix(X, missing=model.missing, nthread=1)
    with_bias = model.get_booster().predict(rows, pred_contribs=True, approx_contribs=True)
    # The last column is the bias.
    values = with_bias[:, :-1, None].astype(float)
    return _results.attribution(values, forest, "saabas_xgboost", 0, "xgboost", "float32")
