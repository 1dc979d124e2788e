"""LightGBM's own contributions, double precision."""

PACKAGE = "lightgbm"
THREADS = True


def construct(model, X, measure, variant, background, threads):
    """Nothing is made beforehand."""
    return model, threads


def explain(explainer, X):
    """Attributions of the rows."""
    model, threads = explainer
    return len(X), model.predict(X, pred_contrib=True, num_threads=threads), model.num_feature()


def arranged(raw):
    """For each class the features one after the other, and last the expected value."""
    n_rows, values, n_features = raw
    return values.reshape(n_rows, -1, n_features + 1)[:, :, :-1].transpose(0, 2, 1)
