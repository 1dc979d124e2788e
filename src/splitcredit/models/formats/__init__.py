"""Read fitted models: one class and one file for each library, and `to_forest`."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from splitcredit.models.forest import Forest
from splitcredit.models.formats._nodes import NoTreesError, UnsupportedModelError
from splitcredit.models.formats._unwrap import Steps, inside
from splitcredit.models.formats.base import Format
from splitcredit.models.formats.catboost import CatBoost
from splitcredit.models.formats.files import ModelFile
from splitcredit.models.formats.gpboost import GPBoost
from splitcredit.models.formats.lightgbm import LightGBM
from splitcredit.models.formats.ngboost import NGBoost
from splitcredit.models.formats.sklearn import Sklearn
from splitcredit.models.formats.units import CLASS_CRITERIA
from splitcredit.models.formats.xgboost import XGBoost
from splitcredit.rows.tables import records

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = [
    "CLASS_CRITERIA",
    "FORMATS",
    "are_targets",
    "format_of",
    "to_forest",
    "unwrap",
]

# The wrappers of the others are models of scikit-learn, too, so it comes last.
FORMATS: tuple[Format, ...] = (
    XGBoost(),
    LightGBM(),
    CatBoost(),
    GPBoost(),
    NGBoost(),
    Sklearn(),
)
_FILE, _OTHER = ModelFile(FORMATS), Format()

# What covers count in models that have one target only: LightGBM's and HistGradientBoosting.
_OF_ONE_TARGET = ("leaf_count", "count")


def format_of(model) -> Format:
    """Find the format of an unwrapped model or path; a plain `Format` for unknown ones."""
    if isinstance(model, Forest):  # the most frequent question, for single rows
        return _OTHER
    return next((one for one in (_FILE, *FORMATS) if one.recognizes(model)), _OTHER)


def unwrap(model) -> tuple[object, Steps]:
    """Return the model inside of pipelines and searches, and the steps before it."""
    inner, pipelines, row_changing = inside(model)
    return inner, Steps(pipelines, format_of(inner).absent, row_changing)


def to_forest(model: object, X_train: ArrayLike | None = None) -> Forest:
    """Convert a fitted tree ensemble.

    Parameters
    ----------
    model : fitted estimator, Booster, path of a model file, or Forest
        Classifiers and regressors, and others where they are named:

        - scikit-learn: decision trees, random forests, extra-trees, bagged decision trees, also of
          several targets; means of these, such as bagged forests; GradientBoosting (from a constant
          start), HistGradientBoosting, AdaBoostClassifier over trees, IsolationForest;
        - XGBoost: Boosters and wrappers with booster "gbtree" or "dart";
        - LightGBM: Boosters and wrappers with boosting "gbdt", "goss", "rf" or "dart";
        - CatBoost: models of numeric features; `explain` takes those with categories, too;
        - NGBoost over decision trees; quantile forests, survival forests and boosting,
          balanced forests, and GPBoost's trees;
        - files that XGBoost (.json, .ubj), LightGBM (text) and CatBoost (.json) have saved.

        A `Forest` is returned unchanged. A pipeline gives its last step, with the names of the
        transformed features; a fitted search, such as GridSearchCV, its best estimator; and a
        FrozenEstimator the model in it.
    X_train : array-like (n_train, n_features), optional
        The training rows, as the pipeline was fitted on them if there is one. Only the hash of
        what the trees see is kept, by which out-of-bag measures know these rows.

    Returns
    -------
    Forest

    Raises
    ------
    TypeError
        If no converter knows the model.
    FileNotFoundError
        If there is no such file.
    sklearn.exceptions.NotFittedError
        If the model is not fitted.
    ValueError
        If the model has something that a Forest cannot express, such as linear leaves; a file
        holds no model; or a step of the pipeline, such as a TargetEncoder, made other rows of
        `X_train` in training.

    Notes
    -----
    Means of trees predict class fractions or values. Boosted trees give raw scores, before the link
    function: one output for two classes (the score of the second), else one for each class; each
    tree has values for its own class and zeros for the others. Their trees are those that the
    model's own ``predict`` uses (`best_iteration`). A model of several targets has an output "y0",
    "y1", ... for each; if they are classes, one for each class of each, "y0=0", "y0=1", ...
    AdaBoost gives its ``decision_function``, an isolation forest the mean length of a row's paths.

    XGBoost, LightGBM, CatBoost and HistGradientBoosting store no impurity, and the impurity in
    AdaBoost and isolation forests does not refer to the prediction. All these have the "leaf
    variance" of the values below each node, weighted by cover: what the squared error would be if
    the targets were the tree's predictions, in squared units of the raw score.

    Examples
    --------
    >>> forest = splitcredit.to_forest(model, X)
    >>> forest
    Forest(20 trees, 352 nodes, 4 features, 3 outputs, criterion='gini')
    >>> bool(abs(forest.predict(X) - model.predict_proba(X)).max() < 1e-12)
    True
    """
    if isinstance(model, Forest):
        return model
    inner, steps = unwrap(model)
    forest = steps.named(_converted(inner))
    if X_train is None:
        return forest
    X_train = steps.training_rows(records(X_train, model))
    return replace(forest, training_hash=forest.hash_of(X_train))


def are_targets(forest: Forest) -> bool:
    """Return whether outputs are several targets or their classes.

    A Forest that `to_forest` made says it. For others, such as those of earlier versions, the names
    decide. Classes of one target may be called "y0" and "y1" as well: in trees that were grown on
    classes, and in models that have one target only.
    """
    if forest.several_targets is not None:
        return forest.several_targets
    name_parts = [name.partition("=") for name in forest.output_names]
    if len(name_parts) < 2 or not all(re.fullmatch(r"y\d+", target) for target, _, _ in name_parts):
        return False
    of_classes = forest.criterion in CLASS_CRITERIA or forest.cover_kind in _OF_ONE_TARGET
    return not of_classes or all(equals for _, equals, _ in name_parts)


def _converted(model):
    if isinstance(model, type):
        raise UnsupportedModelError(
            f"{model.__name__} is a class: pass a fitted model, {model.__name__}().fit(X, y)"
        )
    try:
        return format_of(model).forest(model)
    except NoTreesError as error:
        titles = [FORMATS[-1].title] + [one.title for one in FORMATS[:-1]]
        others, last = ", ".join(titles[:-1]), titles[-1]
        raise UnsupportedModelError(
            f"{error}: supported are models of trees of {others} and {last}, and pipelines and "
            "searches around them; help(splitcredit.to_forest) lists them"
        ) from None
