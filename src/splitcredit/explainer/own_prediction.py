"""Raw predictions by the library of a model: what a conversion to a `Forest` is checked against."""

from __future__ import annotations

import numpy as np

from splitcredit.explainer.units import library_of


def own_prediction(model, forest, X) -> np.ndarray | None:
    """Raw prediction of a fitted model by its own library.

    Parameters
    ----------
    model : fitted model, without pipelines around it
    forest : Forest
        Of the model.
    X : array (n_samples, n_features)
        In the order of the forest's features.

    Returns
    -------
    float64 (n_samples, n_outputs), or None if the model is of no library, such as a Forest
    """
    predict = {"xgboost": _xgboost, "lightgbm": _lightgbm, "sklearn": _sklearn}
    library = library_of(model)
    if library is None:
        return None
    raw = np.asarray(predict[library](model, forest, X), np.float64)
    return raw.reshape(len(X), forest.n_outputs)


def _xgboost(model, forest, X):
    from xgboost import DMatrix

    booster = model.get_booster() if hasattr(model, "get_booster") else model
    best = booster.attr("best_iteration") if booster is not model else None
    return booster.predict(
        DMatrix(X),
        output_margin=True,
        iteration_range=(0, 0 if best is None else int(best) + 1),
        validate_features=False,
    )


def _lightgbm(model, forest, X):
    booster = model.booster_ if hasattr(model, "booster_") else model
    raw = booster.predict(X, raw_score=True)
    # Of its random forests LightGBM gives the sum.
    rounds = forest.n_trees // forest.n_outputs
    return raw / rounds if forest.aggregate == "mean" else raw


def _sklearn(model, forest, X):
    from sklearn.base import is_classifier

    if hasattr(model, "feature_names_in_"):
        import pandas as pd

        X = pd.DataFrame(X, columns=model.feature_names_in_)
    if hasattr(model, "_raw_predict") and hasattr(model, "_baseline_prediction"):
        return model._raw_predict(X)
    if not is_classifier(model):
        return model.predict(X)
    boosted = hasattr(model, "learning_rate")
    return model.decision_function(X) if boosted else model.predict_proba(X)
