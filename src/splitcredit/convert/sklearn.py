"""Scikit-learn models to `Forest`: every model that is a plain mean or sum of trees."""

from __future__ import annotations

from sklearn import ensemble, tree
from sklearn.base import is_classifier
from sklearn.exceptions import NotFittedError

from splitcredit.convert import _nodes, _sklearn_boosting, _sklearn_trees, _sklearn_votes
from splitcredit.forest import Forest

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
    ensemble.AdaBoostClassifier: ("estimators_", _sklearn_votes.ada_boost),
    ensemble.IsolationForest: ("estimators_", _sklearn_votes.isolation_forest),
    ensemble.GradientBoostingClassifier: ("estimators_", _sklearn_boosting.gradient),
    ensemble.GradientBoostingRegressor: ("estimators_", _sklearn_boosting.gradient),
    ensemble.HistGradientBoostingClassifier: ("_predictors", _sklearn_boosting.histogram),
    ensemble.HistGradientBoostingRegressor: ("_predictors", _sklearn_boosting.histogram),
}
# Ensembles of trees that are neither a mean nor a sum of them.
_REASONS = {
    ensemble.AdaBoostRegressor: "it takes the median of its trees",
    ensemble.RandomTreesEmbedding: "it predicts nothing",
}


def convert(model) -> Forest:
    """Convert one fitted scikit-learn model; see `splitcredit.to_forest`."""
    fitted, fields = _kind(model)
    if not hasattr(model, fitted):
        raise NotFittedError(f"this {type(model).__name__} is not fitted: call fit(X, y) first")
    return Forest(**fields(model, _labels(model)))


def _kind(model):
    for base in type(model).__mro__:
        if base in _MODELS:
            return _MODELS[base]
    reasons = [f", because {why}" for base, why in _REASONS.items() if isinstance(model, base)]
    raise TypeError(
        f"cannot convert {type(model).__name__} to a Forest{''.join(reasons)}: "
        f"supported are {', '.join(cls.__name__ for cls in _MODELS)}"
    )


def _labels(model):
    """Names of features and outputs, as fields of a Forest."""
    names = getattr(model, "feature_names_in_", None)
    given = names is not None
    return {
        "feature_names": tuple(names if given else (f"x{j}" for j in range(model.n_features_in_))),
        "names_given": given,
        "output_names": _output_names(model),
    }


def _output_names(model):
    """Classes, or targets; of several targets, each class of each.

    But the one raw score of a boosted binary classifier is that of the second class.
    """
    bagged = isinstance(model, ensemble.BaggingRegressor)
    n_targets = getattr(model.estimators_[0] if bagged else model, "n_outputs_", 1)
    if not is_classifier(model):
        return _nodes.target_names(n_targets) if n_targets > 1 else ("output",)
    if n_targets > 1:
        pairs = zip(_nodes.target_names(n_targets), model.classes_, strict=True)
        return tuple(f"{target}={label}" for target, labels in pairs for label in labels)
    boosted = hasattr(model, "n_trees_per_iteration_") or isinstance(
        model, ensemble.AdaBoostClassifier
    )
    return tuple(model.classes_[1:] if boosted and len(model.classes_) == 2 else model.classes_)
