"""LightGBM's own contributions, double precision."""

PACKAGE = "lightgbm"
THREADS = True


def construct(model, X, measure, variant, background, threads):
    """Nothing is made beforehand."""
    return model, threads


def explain(explainer, X):
    """Attributions of the rows."""
    model, threads = explainer
    return model.predict(X, pred_contrib=True, num_threads=threads)


def arranged(raw):
    """The last column is the expected value."""
    return raw[:, :-1, None]
