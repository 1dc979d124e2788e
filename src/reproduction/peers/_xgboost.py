"""Contributions that XGBoost computes for its own models, in float32."""

from reproduction.peers import _results


def contributions(model, forest, X, method, approximate):
    """``pred_contribs`` of a model with one output.

    Parameters
    ----------
    model : fitted regressor of XGBoost
    forest : Forest
        The same, converted; only its names are taken.
    X : array (n_samples, n_features)
    method : str
        Name of the file of the measure.
    approximate : bool
        ``approx_contribs``: Saabas in the place of TreeSHAP.
    """
    import xgboost

    rows = xgboost.DMatrix(X, missing=model.missing, nthread=1)
    with_bias = model.get_booster().predict(rows, pred_contribs=True, approx_contribs=approximate)
    # The last column is the bias.
    values = with_bias[:, :-1, None].astype(float)
    return _results.attribution(values, forest, method, 0, "xgboost", "float32")
