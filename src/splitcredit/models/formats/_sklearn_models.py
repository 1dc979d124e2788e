"""Convert scikit-learn models that are a mean or sum of trees, and compute their predictions."""

from __future__ import annotations

import numpy as np
from joblib import parallel_config
from sklearn import ensemble, tree
from sklearn.base import is_classifier

from splitcredit.models.forest import Forest
from splitcredit.models.formats import _nodes, _sklearn_means, _sklearn_sums, format_of
from splitcredit.models.formats.own import with_names

# Class -> attribute that fitting sets, and function that makes the fields of a Forest.
_MODELS = {
    tree.DecisionTreeClassifier: ("tree_", _sklearn_means.tree),
    tree.DecisionTreeRegressor: ("tree_", _sklearn_means.tree),
    ensemble.RandomForestClassifier: ("estimators_", _sklearn_means.forest),
    ensemble.RandomForestRegressor: ("estimators_", _sklearn_means.forest),
    ensemble.ExtraTreesClassifier: ("estimators_", _sklearn_means.forest),
    ensemble.ExtraTreesRegressor: ("estimators_", _sklearn_means.forest),
    ensemble.BaggingClassifier: ("estimators_", _sklearn_means.bagging),
    ensemble.BaggingRegressor: ("estimators_", _sklearn_means.bagging),
    ensemble.VotingClassifier: ("estimators_", _sklearn_means.vote),
    ensemble.VotingRegressor: ("estimators_", _sklearn_means.vote),
    ensemble.AdaBoostClassifier: ("estimators_", _sklearn_sums.ada_boost),
    ensemble.IsolationForest: ("estimators_", _sklearn_sums.isolation_forest),
    ensemble.GradientBoostingClassifier: ("estimators_", _sklearn_sums.gradient),
    ensemble.GradientBoostingRegressor: ("estimators_", _sklearn_sums.gradient),
    ensemble.HistGradientBoostingClassifier: ("_predictors", _sklearn_sums.histogram),
    ensemble.HistGradientBoostingRegressor: ("_predictors", _sklearn_sums.histogram),
}
# The same of other packages, by name, as they need not be installed. A quantile forest is explained
# by the mean of its trees, as any forest is.
_OF_OTHERS = {
    ("sksurv", "SurvivalTree"): ("tree_", _sklearn_sums.survival),
    ("sksurv", "RandomSurvivalForest"): ("estimators_", _sklearn_sums.survival),
    ("sksurv", "ExtraSurvivalTrees"): ("estimators_", _sklearn_sums.survival),
    ("sksurv", "GradientBoostingSurvivalAnalysis"): (
        "estimators_",
        _sklearn_sums.cox_boosting,
    ),
    ("quantile_forest", "BaseForestQuantileRegressor"): ("estimators_", _sklearn_means.forest),
}
# Name of a class that is not a mean or sum of trees -> why, and what to explain instead.
# By name: importing all of them would take time.
_EACH = "model.estimators_[i]"
_REASONS = {
    "AdaBoostRegressor": ("it takes the median of its trees", None),
    "RandomTreesEmbedding": ("it predicts nothing", None),
    "CalibratedClassifierCV": (
        "it maps the scores of its models to probabilities",
        "model.calibrated_classifiers_[i].estimator",
    ),
    "ClassifierChain": ("its models also take the classes before theirs as features", None),
    "FixedThresholdClassifier": ("it has a threshold of its own", "model.estimator_"),
    "MultiOutputClassifier": ("it holds a model for each target", _EACH),
    "MultiOutputRegressor": ("it holds a model for each target", _EACH),
    "OneVsOneClassifier": ("it counts the votes of a model for each two classes", _EACH),
    "OneVsRestClassifier": ("it scales the scores of a model for each class", _EACH),
    "OutputCodeClassifier": ("it compares the scores of its models with a code book", _EACH),
    "RANSACRegressor": ("it holds the model of the rows it kept", "model.estimator_"),
    "RegressorChain": ("its models also take the targets before theirs as features", None),
    "RFE": ("it selects features first", "model.estimator_ with the rows model.transform(X)"),
    "SelectFromModel": ("it selects features and predicts nothing", "model.estimator_"),
    "SelfTrainingClassifier": ("it holds the model that it fitted last", "model.estimator_"),
    "StackingClassifier": ("a model combines the predictions of others", _EACH),
    "StackingRegressor": ("a model combines the predictions of others", _EACH),
    "TransformedTargetRegressor": ("it transforms what its model predicts", "model.regressor_"),
    "TunedThresholdClassifierCV": ("it has a threshold of its own", "model.estimator_"),
}


def convert(model) -> Forest:
    """Convert one fitted scikit-learn model; see `splitcredit.to_forest`."""
    fitted, fields = _kind(model)
    if not hasattr(model, fitted):
        raise _nodes.not_fitted(model)
    try:
        return Forest(**fields(model, _labels(model)))
    except AttributeError as error:
        if error.obj is not model:
            raise
        raise ValueError(
            f"this {type(model).__name__} is damaged, it lacks {error.name}: save or fit it again"
        ) from error


def _kind(model):
    for base in type(model).__mro__:
        if base in _MODELS:
            return _MODELS[base]
        key = base.__module__.partition(".")[0], base.__name__
        if key in _OF_OTHERS:
            return _OF_OTHERS[key]
    name, reason = type(model).__name__, ""
    named = [base.__name__ for base in type(model).__mro__ if base.__name__ in _REASONS]
    if named:
        why, inner = _REASONS[named[0]]
        reason = f", because {why}"
        if inner is not None:
            raise _nodes.UnsupportedModelError(
                f"cannot convert {name} to a Forest{reason}: explain {inner}, if that is a model "
                "of trees"
            )
    raise _nodes.unknown_model(model, reason)


def _labels(model):
    """Return names of features and outputs, as fields of a Forest."""
    names = getattr(model, "feature_names_in_", None)
    has_names = names is not None
    return {
        "feature_names": tuple(
            names if has_names else (f"x{j}" for j in range(model.n_features_in_))
        ),
        "names_given": has_names,
        **_labels_of_outputs(model),
        "several_targets": _n_targets(model) > 1,
    }


def _n_targets(model):
    if any(base.__module__.startswith("sksurv.") for base in type(model).__mro__):
        return 1  # its outputs are times
    bagged = isinstance(model, ensemble.BaggingRegressor)
    return getattr(model.estimators_[0] if bagged else model, "n_outputs_", 1)


def _labels_of_outputs(model):
    """Return classes or targets as fields; for boosting of two classes, the second."""
    n_targets = _n_targets(model)
    if not is_classifier(model):
        return {"output_names": _nodes.target_names(n_targets) if n_targets > 1 else ("output",)}
    if n_targets > 1:
        pairs = zip(_nodes.target_names(n_targets), model.classes_, strict=True)
        names = (f"{target}={label}" for target, labels in pairs for label in labels)
        return {"output_names": tuple(names)}
    n_classes = getattr(model, "n_classes_", len(model.classes_))
    if n_classes != len(model.classes_):
        raise ValueError(
            f"this {type(model).__name__} is damaged: n_classes_ is {n_classes}, and classes_ has "
            f"{len(model.classes_)}"
        )
    boosted = hasattr(model, "n_trees_per_iteration_") or isinstance(
        model, ensemble.AdaBoostClassifier
    )
    if boosted and len(model.classes_) < 3:
        return _nodes.of_two_classes(model.classes_)
    return {"output_names": tuple(model.classes_)}


def raw(model, forest, X):
    """Return the raw prediction of a model, with fewer checks than its own method makes."""
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
    with parallel_config(backend="sequential"):  # for any n_jobs: processes take long to start
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
    """Return rows with objects for labels, which scikit-learn cannot compare with numbers."""
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
    """Predict as scikit-learn's forests, bags and votes do, without slow checks; else None."""
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
        parts, shares = (
            [_mean(one, X) for one in model.estimators_],
            _sklearn_means.vote_weights(model),
        )
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
    """Average the values of the leaves, all targets beside one another."""
    X = np.ascontiguousarray(X, np.float32)
    values = sum(one.tree_.predict(X) for one in trees) / len(trees)
    if values.ndim == 2:
        return values
    counts = trees[0].tree_.n_classes
    return np.concatenate([values[:, k, :n] for k, n in enumerate(counts)], axis=1)


def _path_length(model, X):
    """Recover the mean length of the paths from the score ``-2 ** (-length / c)``."""
    return -_sklearn_sums.mean_length(model.max_samples_) * np.log2(-model.score_samples(X))
