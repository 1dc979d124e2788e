"""Raw predictions by the library of a model: what a conversion to a `Forest` is checked against."""

from __future__ import annotations

import numpy as np

from splitcredit.convert.units import library_of


def own_prediction(model, forest, X) -> np.ndarray | None:
    """Raw prediction of a fitted model by its own library.

    Returns float64 (n_samples, n_outputs), or None if the model is of no library, such as a Forest.

    Parameters
    ----------
    model : fitted model, without pipelines around it
    forest : Forest
        Of the model.
    X : array or DataFrame (n_samples, n_features), or a DMatrix or Pool of such rows
        In the order of the forest's features.
    """
    predict = {
        "xgboost": _xgboost,
        "lightgbm": _lightgbm,
        "catboost": _catboost,
        "sklearn": _sklearn,
    }
    library = library_of(model)
    if library is None:
        return None
    raw = np.asarray(predict[library](model, forest, X), np.float64)
    return raw.reshape(-1, forest.n_outputs)


def _xgboost(model, forest, X):
    from xgboost import DMatrix

    booster = model.get_booster() if hasattr(model, "get_booster") else model
    best = booster.attr("best_iteration") if booster is not model else None
    return booster.predict(
        _matrix(DMatrix, X, booster, getattr(model, "missing", np.nan)),
        output_margin=True,
        iteration_range=(0, 0 if best is None else int(best) + 1),
        validate_features=False,
    )


def _matrix(kind, X, booster, missing):
    """A DMatrix of rows; columns of an array may hold codes of categories, so types go with it."""
    if isinstance(X, kind):
        return X
    if hasattr(X, "columns"):
        return kind(X, missing=missing, enable_categorical=True)
    types = booster.feature_types
    return kind(X.astype(float), missing=missing, feature_types=types, enable_categorical=True)


def _lightgbm(model, forest, X):
    booster = model.booster_ if hasattr(model, "booster_") else model
    raw = booster.predict(X, raw_score=True)
    # Of its random forests LightGBM gives the sum.
    rounds = forest.n_trees // forest.n_outputs
    return raw / rounds if forest.aggregate == "mean" else raw


def _catboost(model, forest, X):
    from catboost import CatBoost

    # Of a ranker the method of this name gives raw values only, and takes no type.
    return CatBoost.predict(model, X, prediction_type="RawFormulaVal")


def _sklearn(model, forest, X):
    from sklearn import ensemble
    from sklearn.base import is_classifier

    forests = (
        ensemble.RandomForestClassifier,
        ensemble.RandomForestRegressor,
        ensemble.ExtraTreesClassifier,
        ensemble.ExtraTreesRegressor,
    )
    if hasattr(model, "pred_param"):  # of NGBoost
        return model.pred_param(np.asarray(X))
    if type(model).__module__.startswith("sksurv."):
        return model.predict(np.asarray(X))
    is_of_quantiles = type(model).__module__.startswith("quantile_forest.")
    if (isinstance(model, forests) or is_of_quantiles) and model.n_outputs_ == 1:
        return _mean_of_trees(model, X)
    if hasattr(model, "feature_names_in_") and not hasattr(X, "columns"):
        import pandas as pd

        X = pd.DataFrame(X, columns=model.feature_names_in_)
    if hasattr(model, "_raw_predict") and hasattr(model, "_baseline_prediction"):
        return model._raw_predict(_with_objects_for_labels(model, X))
    if isinstance(model, ensemble.IsolationForest):
        return _path_length(model, X)
    if not is_classifier(model):
        return model.predict(X)
    if hasattr(model, "learning_rate"):
        return model.decision_function(X)
    fractions = model.predict_proba(X)
    # Of several targets scikit-learn gives a list.
    return np.concatenate(fractions, axis=1) if isinstance(fractions, list) else fractions


def _with_objects_for_labels(model, X):
    """Rows without columns of numbers where scikit-learn keeps labels as objects.

    It cannot compare the two. To pandas a column without a label, only missing ones, is of numbers.
    """
    if model.is_categorical_ is None:
        return X
    labels = model._preprocessor.named_transformers_["encoder"].categories_
    features = np.flatnonzero(model.is_categorical_).tolist()
    of_objects = [j for j, own in zip(features, labels, strict=True) if own.dtype == object]
    if isinstance(X, np.ndarray):
        return X.astype(object) if of_objects and X.dtype.kind in "biuf" else X
    if not hasattr(X, "iloc"):  # tables of other libraries tell a column of text without any
        return X
    numbers = [j for j in of_objects if getattr(X.dtypes.iloc[j], "kind", "O") in "biuf"]
    return X.astype({X.columns[j]: object for j in numbers}) if numbers else X


def _mean_of_trees(model, X):
    """What the forest predicts; for a few rows its checks of every tree take most of that time."""
    X = np.ascontiguousarray(X, np.float32)
    return sum(tree.tree_.predict(X) for tree in model.estimators_) / len(model.estimators_)


def _path_length(model, X):
    """Mean length of the paths, from the score ``-2 ** (-length / c)``."""
    from splitcredit.convert._sklearn_votes import mean_length

    return -mean_length(model.max_samples_) * np.log2(-model.score_samples(X))
