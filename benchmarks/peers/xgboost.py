"""XGBoost's own contributions, single precision; exact ones, or approximate ones (Saabas)."""

import xgboost

PACKAGE = "xgboost-cpu"
THREADS = True


def construct(model, X, measure, variant, background, threads):
    """The rows in XGBoost's form: reading them is set-up, as `Forest.prepare` is."""
    model.set_param({"nthread": threads})
    options = {"pred_contribs": True, "approx_contribs": measure == "saabas"}
    return model, xgboost.DMatrix(X, nthread=threads), options


def explain(explainer, X):
    """Attributions of the rows."""
    model, matrix, options = explainer
    return model.predict(matrix, **options)


def arranged(raw):
    """The last column is the expected value."""
    return raw[:, :-1, None]
