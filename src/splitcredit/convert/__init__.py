"""Fitted models to `Forest`: one file a library."""

from __future__ import annotations

import importlib
import os

from splitcredit.forest import Forest

# Top-level package of the model's class -> module with `convert(model, X_train)`.
_CONVERTERS = {
    "catboost": "splitcredit.convert.catboost",
    "lightgbm": "splitcredit.convert.lightgbm",
    "sklearn": "splitcredit.convert.sklearn",
    "xgboost": "splitcredit.convert.xgboost",
}


def to_forest(model, X_train=None) -> Forest:
    """Convert a fitted tree ensemble.

    Parameters
    ----------
    model : fitted estimator, Booster, path of a model file, or Forest
        Classifiers and regressors; ``docs/models.md`` lists them with what is checked:

        - scikit-learn: decision trees, random forests, extra-trees, bagged decision trees, also of
          several targets; GradientBoosting (from a constant start), HistGradientBoosting,
          AdaBoostClassifier over trees, IsolationForest;
        - XGBoost: Boosters and wrappers with booster "gbtree" or "dart";
        - LightGBM: Boosters and wrappers with boosting "gbdt", "goss", "rf" or "dart";
        - CatBoost: models of numeric features;
        - files that XGBoost (.json, .ubj), LightGBM (text) and CatBoost (.json) have saved.

        A `Forest` is returned as it is.
    X_train : array-like (n_train, n_features), optional
        The training rows; only their hash is kept, so that measures which need them (out-of-bag
        ones) can tell whether they were given the right ones.

    Returns
    -------
    Forest

    Raises
    ------
    TypeError
        If no converter knows the model.
    sklearn.exceptions.NotFittedError
        If the model is not fitted.
    ValueError
        If the model has something that a Forest cannot express, such as linear leaves; or a file
        holds no model.

    Notes
    -----
    Means of trees predict class fractions or values. Boosted trees give raw scores, before the
    link: one output for two classes (the score of the second), else one a class, and each tree has
    values for its own class and zeros for the others. Their trees are those that the model's own
    ``predict`` uses (`best_iteration`). A model of several targets has an output "y0", "y1", ...
    for each; if they are classes, one for each class of each, "y0=0", "y0=1", ... AdaBoost gives
    its ``decision_function``, an isolation forest the mean length of a row's paths.

    XGBoost, LightGBM, CatBoost and HistGradientBoosting keep no impurity. Theirs is the variance of
    the leaf values below each node, weighted by cover and named "leaf variance": what the squared
    error would be if the targets were the tree's predictions. MDI and local MDI are in its units,
    the square of those of the raw score.
    """
    if isinstance(model, Forest):
        return model
    if isinstance(model, (str, os.PathLike)):
        from splitcredit.convert import _files

        return _files.read(model, X_train)
    for base in type(model).__mro__:
        module = _CONVERTERS.get(base.__module__.partition(".")[0])
        if module is not None:
            return importlib.import_module(module).convert(model, X_train)
    raise TypeError(
        f"cannot convert {type(model).__module__}.{type(model).__qualname__} to a Forest: "
        f"models of {', '.join(sorted(_CONVERTERS))} are supported"
    )
