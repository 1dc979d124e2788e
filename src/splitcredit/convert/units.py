"""What the raw prediction of a fitted model means.

The words are those of shap: the output of the trees is a ``"raw_value"``, ``"log_odds"`` or a
``"probability"``, and the objective ``"squared_error"`` or ``"binary_crossentropy"``. Shap has none
for several classes, whose probabilities are the softmax of ``"class_scores"``, fitted by the
``"cross_entropy"``. None stands for anything else, which can be explained as ``"raw"`` only.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import NamedTuple


class Units(NamedTuple):
    """Units of a model's raw prediction; see the module."""

    tree_output: str | None = None
    objective: str | None = None


# Impurities of trees that were grown on classes.
CLASS_CRITERIA = ("gini", "entropy", "log_loss")

_CLASS_FRACTIONS = Units("probability", None)
_BINARY = Units("log_odds", "binary_crossentropy")
SOFTMAX = Units("class_scores", "cross_entropy")
_SQUARED = Units("raw_value", "squared_error")
_VALUE = Units("raw_value", None)

# By library and objective. Of LightGBM's objectives the raw score may depend on a parameter.
_LIGHTGBM_VALUES = ("regression_l1", "huber", "fair", "quantile", "mape")
_OF_OBJECTIVE = {
    "xgboost": {
        "binary:logistic": _BINARY,
        "binary:logitraw": _BINARY,
        "reg:logistic": _BINARY,
        "multi:softmax": SOFTMAX,
        "multi:softprob": SOFTMAX,
        "reg:linear": _SQUARED,
        "reg:squarederror": _SQUARED,
        "reg:absoluteerror": _VALUE,
        "reg:pseudohubererror": _VALUE,
        "reg:quantileerror": _VALUE,
        "reg:expectileerror": _VALUE,
        "reg:squaredlogerror": _VALUE,
    },
    "lightgbm": {
        "binary sigmoid:1": _BINARY,
        "multiclass": SOFTMAX,
        "regression": _SQUARED,
        **dict.fromkeys(_LIGHTGBM_VALUES, _VALUE),
    },
    "catboost": {
        "Logloss": _BINARY,
        "CrossEntropy": _BINARY,
        "MultiClass": SOFTMAX,
        "RMSE": _SQUARED,
        **dict.fromkeys("MAE Quantile Expectile Huber MAPE Lq LogCosh".split(), _VALUE),
    },
}
# Objectives whose prediction is not the sum of the trees, by library.
_LINKED = {
    "xgboost": """
        binary:hinge binary:logistic count:poisson reg:gamma reg:logistic reg:tweedie survival:aft
        survival:cox
    """.split(),
    "lightgbm": "binary cross_entropy cross_entropy_lambda gamma poisson tweedie".split(),
    "catboost": "CrossEntropy LogLinQuantile Logloss Poisson Tweedie".split(),
}
# Objectives whose prediction is a quantile of the target, or a risk.
_NO_MEAN = """
    quantile reg:quantileerror reg:expectileerror Quantile Expectile LogLinQuantile survival:aft
    survival:cox
""".split()
# Criteria or losses of scikit-learn's regressors that are the squared error.
_SQUARED_ERRORS = ("squared_error", "friedman_mse")
# Losses of its boosted regressors that predict the raw value itself.
_IDENTITY = (*_SQUARED_ERRORS, "absolute_error", "huber", "quantile")


def library_of(model) -> str | None:
    """Name of the library that a model or one of the bases of its class is of."""
    packages = {base.__module__.partition(".")[0] for base in type(model).__mro__}
    # The wrappers of the others are models of scikit-learn, too.
    libraries = ("xgboost", "lightgbm", "catboost", "sklearn")
    return next((name for name in libraries if name in packages), None)


def has_units(model) -> bool:
    """Whether a model, or the file of one, says what it predicts, as a Forest does not."""
    return _is_file(model) or library_of(model) is not None


def called(model) -> str:
    """What a fitted model, or the file of one, is called in messages."""
    return f"model in {Path(model).name}" if _is_file(model) else type(model).__name__


def units(model) -> Units:
    """Units of the raw prediction of a fitted model or file, without pipelines around it."""
    if not has_units(model):
        return Units()
    if library_of(model) == "sklearn":
        return _units_of_sklearn(model)
    library, name = _objective(model)
    found = _OF_OBJECTIVE[library].get(name, Units())
    if _is_own(model):  # the link that is XGBoost's default stays
        return Units(None if found.tree_output == "raw_value" else found.tree_output)
    return found


_WORDS = {
    "log_odds": "log-odds",
    "class_scores": "raw score",
    "probability": "probability",
    "raw_value": "prediction in units of the target",
}


def in_words(model, forest) -> str:
    """What the raw prediction of a model is, for an axis; a Forest says less than its model."""
    if forest.output_names == ("path length",):
        return "path length"
    of_model = units(model).tree_output
    if of_model is not None:
        return _WORDS[of_model]
    if forest.aggregate == "sum":
        return "raw score"
    return _WORDS["probability"] if forest.criterion in CLASS_CRITERIA else "prediction"


def has_link(model) -> bool:
    """Whether a fitted model, or that of a file, predicts a function of the sum of its trees.

    A model whose objective is its user's own predicts the sum itself.
    """
    if not has_units(model):
        return False
    if library_of(model) == "sklearn":
        return getattr(model, "loss", None) not in (None, *_IDENTITY)
    library, objective = _objective(model)
    name, _, parameter = objective.partition(" ")
    return name in _LINKED[library] or parameter == "sqrt"


def no_mean(model) -> str:
    """Why the prediction of a fitted regressor, or of a file, is no mean of y; empty if it is one.

    The squared error and the share of the variance that is explained judge means only. Nothing is
    known of a Forest.
    """
    if not has_units(model):
        return ""
    if library_of(model) == "sklearn":
        is_risk = any(base.__module__.startswith("sksurv.") for base in type(model).__mro__)
        name = "a risk" if is_risk else getattr(model, "loss", None)
        has_mean = name != "quantile" and not is_risk
    else:
        library, objective = _objective(model)
        name = "" if _is_own(model) else objective.partition(" ")[0]
        has_mean = name not in _NO_MEAN and name in {*_OF_OBJECTIVE[library], *_LINKED[library]}
    if has_mean:
        return ""
    what, remedy = repr(name), "give a score that does to method='permutation' (scoring=)"
    if not name:
        what = "its user's own"
        remedy += ", or pass splitcredit.to_forest(model) if it predicts means of y"
    return (
        f"the objective of this {called(model)} is {what}, and no squared error judges what it "
        f"predicts: {remedy}"
    )


def refusal(model_output, kind, needed, units, name) -> ValueError:
    """The error that a model has not the units for what is to be explained.

    Parameters
    ----------
    model_output : str
    kind : {"tree_output", "objective"}
        The field of Units that does not fit.
    needed : str
        What it must be.
    units : Units
        Of the model.
    name : str
        What the model is called.
    """
    quantity = "objective" if kind == "objective" else "raw output"
    own_unit = getattr(units, kind) or "another one"
    return ValueError(
        f"model_output={model_output!r} needs a model whose {quantity} is {needed}, and that of "
        f"this {name} is {own_unit}: explain model_output='raw'"
    )


def lightgbm_objective(text) -> str:
    """Name of the objective in LightGBM's text, with the parameter that its units depend on."""
    line = re.search(r"^objective=(.*)$", text, re.M)
    name, *parameters = (line[1].split() if line else []) or [""]
    # With "sqrt" the trees add up to the root of the prediction.
    return " ".join([name, *(p for p in parameters if p == "sqrt" or p.startswith("sigmoid:"))])


def _is_own(model):
    """Whether the objective of a wrapper is a function; XGBoost's configuration has another one."""
    return callable(getattr(model, "objective", None))


def _is_file(model):
    return isinstance(model, (str, os.PathLike))


def _objective(model) -> tuple[str, str]:
    """The library of a boosted model or file, and the name of the objective."""
    if _is_file(model):
        from splitcredit.convert import _files

        return _files.objective(model)
    library = str(library_of(model))
    if library == "catboost":
        from splitcredit.convert.catboost import loss_of

        return library, loss_of(model)
    if library == "xgboost":
        booster = model.get_booster() if hasattr(model, "get_booster") else model
        return library, json.loads(booster.save_config())["learner"]["objective"]["name"]
    booster = model.booster_ if hasattr(model, "booster_") else model
    return library, lightgbm_objective(booster.model_to_string(num_iteration=1))


def _units_of_sklearn(model):
    from sklearn.base import is_classifier
    from sklearn.ensemble import AdaBoostClassifier, IsolationForest

    loss = getattr(model, "loss", None)
    if isinstance(model, IsolationForest):
        return _VALUE
    if isinstance(model, AdaBoostClassifier):
        return Units()
    if is_classifier(model):
        if loss is None:
            return _CLASS_FRACTIONS
        if loss != "log_loss":
            return Units()
        return _BINARY if len(model.classes_) == 2 else SOFTMAX
    if loss is not None and loss not in _IDENTITY:
        return Units()
    measure = loss if loss is not None else getattr(model, "criterion", None)
    return _SQUARED if measure in _SQUARED_ERRORS else _VALUE
