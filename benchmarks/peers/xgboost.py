"""XGBoost's own contributions, single precision: exact, approximate (Saabas), or of pairs."""

import xgboost

PACKAGE = "xgboost-cpu"
THREADS = True


def construct(model, X, measure, variant, background, threads):
    """The rows in XGBoost's form: reading them is set-up, as `Forest.prepare` is."""
    model.set_param({"nthread": threads})
    options = {"pred_contribs": True, "approx_contribs": measure == "saabas"}
    if measure == "interactions":
        options = {"pred_interactions": True}
    return model, xgboost.DMatrix(X, nthread=threads), options


def explain(explainer, X):
    """Attributions of the rows."""
    model, matrix, options = explainer
    return model.predict(matrix, **options)


def arranged(raw):
    """The last column, and the last row of a matrix, are the expected value."""
    return raw[:, :-1, None] if raw.ndim == 2 else raw[:, :-1, :-1, None]
