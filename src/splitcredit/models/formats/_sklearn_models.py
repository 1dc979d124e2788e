"""Scikit-learn models to `Forest`: every model that is a plain mean or sum of trees."""

from __future__ import annotations

from sklearn import ensemble, tree
from sklearn.base import is_classifier
from sklearn.exceptions import NotFittedError

from splitcredit.models.forest import Forest
from splitcredit.models.formats import (
    _means,
    _nodes,
    _sklearn_boosting,
    _sklearn_trees,
    _sklearn_votes,
)

# Class -> attribute that fitting sets, and what makes the fields of a Forest.
_MODELS = {
    tree.DecisionTreeClassifier: ("tree_", _sklearn_trees.tree),
    tree.DecisionTreeRegressor: ("tree_", _sklearn_trees.tree),
    ensemble.RandomForestClassifier: ("estimators_", _sklearn_trees.forest),
    ensemble.RandomForestRegressor: ("estimators_", _sklearn_trees.forest),
    ensemble.ExtraTreesClassifier: ("estimators_", _sklearn_trees.forest),
    ensemble.ExtraTreesRegressor: ("estimators_", _sklearn_trees.forest),
    ensemble.BaggingClassifier: ("estimators_", _sklearn_trees.bagging),
    ensemble.BaggingRegressor: ("estimators_", _sklearn_trees.bagging),
    ensemble.VotingClassifier: ("estimators_", _means.vote),
    ensemble.VotingRegressor: ("estimators_", _means.vote),
    ensemble.AdaBoostClassifier: ("estimators_", _sklearn_votes.ada_boost),
    ensemble.IsolationForest: ("estimators_", _sklearn_votes.isolation_forest),
    ensemble.GradientBoostingClassifier: ("estimators_", _sklearn_boosting.gradient),
    ensemble.GradientBoostingRegressor: ("estimators_", _sklearn_boosting.gradient),
    ensemble.HistGradientBoostingClassifier: ("_predictors", _sklearn_boosting.histogram),
    ensemble.HistGradientBoostingRegressor: ("_predictors", _sklearn_boosting.histogram),
}
# The same of other packages, by name, as they need not be installed. A quantile forest is explained
# by the mean of its trees, as any forest is.
_OF_OTHERS = {
    ("sksurv", "SurvivalTree"): ("tree_", _sklearn_votes.survival),
    ("sksurv", "RandomSurvivalForest"): ("estimators_", _sklearn_votes.survival),
    ("sksurv", "ExtraSurvivalTrees"): ("estimators_", _sklearn_votes.survival),
    ("sksurv", "GradientBoostingSurvivalAnalysis"): (
        "estimators_",
        _sklearn_votes.cox_boosting,
    ),
    ("quantile_forest", "BaseForestQuantileRegressor"): ("estimators_", _sklearn_trees.forest),
}
# Name of a class that is no mean or sum of trees -> why, and what can be explained in its place.
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
        raise NotFittedError(f"this {type(model).__name__} is not fitted: call fit(X, y) first")
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
    held = _nodes.inner_model(model)
    if held is not None:
        raise _nodes.UnsupportedModelError(
            f"cannot convert {_nodes.full_name(model)} to a Forest: explain model.{held}, if that "
            "is a model of trees"
        )
    raise _nodes.NoTreesError(model, reason)


def _labels(model):
    """Names of features and outputs, as fields of a Forest."""
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
    """Classes or targets as fields; of a boosted binary classifier the second class."""
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
