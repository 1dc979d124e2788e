"""What scikit-learn's models predict, and those of packages around it."""

from __future__ import annotations

import numpy as np

from splitcredit.models.formats import format_of
from splitcredit.models.formats._means import vote_weights
from splitcredit.models.formats._sklearn_votes import mean_length
from splitcredit.models.formats.own import with_names


def raw(model, forest, X):
    """The raw prediction of a model, by fewer checks than its own method makes."""
    from joblib import parallel_config
    from sklearn.base import is_classifier
    from sklearn.ensemble import IsolationForest

    if type(model).__module__.startswith("sksurv."):
        return model.predict(np.asarray(X))
    if type(model).__module__.startswith("quantile_forest."):  # which predicts quantiles
        return _mean_of_trees(model.estimators_, X)
    of_trees = None if forest.categories is not None else _mean(model, X)
    if of_trees is not None:
        return of_trees
    X = with_names(model, X)
    if hasattr(model, "_raw_predict") and hasattr(model, "_baseline_prediction"):
        return model._raw_predict(_with_objects_for_labels(model, X), n_threads=1)
    with parallel_config(backend="sequential"):  # whatever its n_jobs: processes take long to start
        if isinstance(model, IsolationForest):
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


def _mean(model, X):
    """What scikit-learn's forests, bags and votes predict, without slow checks; None of others."""
    from sklearn import ensemble, tree

    forests = (
        ensemble.RandomForestClassifier,
        ensemble.RandomForestRegressor,
        ensemble.ExtraTreesClassifier,
        ensemble.ExtraTreesRegressor,
    )
    X = np.ascontiguousarray(X, np.float32)
    if any(format_of(model).replaced_method(model, name) for name in ("predict", "predict_proba")):
        return None
    if isinstance(model, tree.BaseDecisionTree):
        return _mean_of_trees([model], X)
    if isinstance(model, forests):
        return _mean_of_trees(model.estimators_, X)
    if isinstance(model, (ensemble.BaggingClassifier, ensemble.BaggingRegressor)):
        pairs = zip(model.estimators_, model.estimators_features_, strict=True)
        parts, shares = [_mean(one, X[:, own]) for one, own in pairs], None
    elif isinstance(model, (ensemble.VotingClassifier, ensemble.VotingRegressor)):
        parts, shares = [_mean(one, X) for one in model.estimators_], vote_weights(model)
    else:
        return None
    if any(part is None for part in parts):
        return None
    if hasattr(model, "classes_"):  # of which a part may know some only
        whole = np.zeros((len(parts), len(X), len(model.classes_)))
        for of_part, part, one in zip(whole, parts, model.estimators_, strict=True):
            of_part[:, np.asarray(one.classes_, int)] = part
        parts = whole
    return np.average(parts, axis=0, weights=shares)


def _mean_of_trees(trees, X):
    """Mean of the values of the leaves, with those of all targets beside one another."""
    X = np.ascontiguousarray(X, np.float32)
    values = sum(one.tree_.predict(X) for one in trees) / len(trees)
    if values.ndim == 2:
        return values
    counts = trees[0].tree_.n_classes
    return np.concatenate([values[:, k, :n] for k, n in enumerate(counts)], axis=1)


def _path_length(model, X):
    """Mean length of the paths, from the score ``-2 ** (-length / c)``."""
    return -mean_length(model.max_samples_) * np.log2(-model.score_samples(X))
