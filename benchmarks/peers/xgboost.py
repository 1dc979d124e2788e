"""XGBoost's own contributions, single precision: exact, approximate (Saabas), or of pairs."""

import xgboost

PACKAGE = "xgboost-cpu"
THREADS = True


def construct(model, X, measure, variant, background, threads):
    """The rows in XGBoost's form: reading them is set-up, as `Forest.prepare` is."""
    model.set_param({"nthread": threads})
    pairs = measure == "interactions"
    options = {"pred_contribs": True, "approx_contribs": measure == "saabas"}
    if pairs:
        options = {"pred_interactions": True}
    return pairs, model, xgboost.DMatrix(X, nthread=threads), options


def explain(explainer, X):
    """Attributions of the rows."""
    pairs, model, matrix, options = explainer
    return pairs, model.predict(matrix, **options)


def arranged(raw):
    """The last column, and the last row of a matrix, are the expected value."""
    pairs, values = raw
    if pairs:
        return values[:, :-1, :-1, None]
    # Several classes have an axis of their own before that of the features.
    return values[:, :-1, None] if values.ndim == 2 else values[:, :, :-1].transpose(0, 2, 1)
