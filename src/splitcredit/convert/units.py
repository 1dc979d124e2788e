"""What the raw prediction of a fitted model means, and which curve leads to what is explained.

The words are those of shap: the output of the trees is a ``"raw_value"``, ``"log_odds"`` or a
``"probability"``, and the objective ``"squared_error"`` or ``"binary_crossentropy"``. None stands
for anything else, which can be explained as ``"raw"`` only.
"""

from __future__ import annotations

import json
import re
from typing import NamedTuple


class Units(NamedTuple):
    """Units of a model's raw prediction; see the module."""

    tree_output: str | None = None
    objective: str | None = None


_CLASS_FRACTIONS = Units("probability", None)
_BINARY = Units("log_odds", "binary_crossentropy")
_SQUARED = Units("raw_value", "squared_error")
_VALUE = Units("raw_value", None)

# Objectives of XGBoost, CatBoost (without its parameters) and LightGBM.
_XGBOOST = {
    "binary:logistic": _BINARY,
    "binary:logitraw": _BINARY,
    "reg:logistic": _BINARY,
    "reg:linear": _SQUARED,
    "reg:squarederror": _SQUARED,
    "reg:absoluteerror": _VALUE,
    "reg:pseudohubererror": _VALUE,
    "reg:quantileerror": _VALUE,
}
_CATBOOST = {"Logloss": _BINARY, "CrossEntropy": _BINARY, "RMSE": _SQUARED}
_CATBOOST |= dict.fromkeys(("MAE", "Quantile", "Huber"), _VALUE)
_LIGHTGBM = {"binary sigmoid:1": _BINARY, "regression": _SQUARED}
_LIGHTGBM |= dict.fromkeys(("regression_l1", "huber", "fair", "quantile", "mape"), _VALUE)
# Objectives whose prediction is not the sum of the trees, by library.
_LINKED = {
    "xgboost": """
        binary:hinge binary:logistic count:poisson reg:gamma reg:logistic reg:tweedie survival:aft
        survival:cox
    """.split(),
    "lightgbm": "binary cross_entropy cross_entropy_lambda gamma poisson tweedie".split(),
    "catboost": "CrossEntropy LogLinQuantile Logloss Poisson Tweedie".split(),
}
# Criteria or losses of scikit-learn's regressors that are the squared error.
_SQUARED_ERRORS = ("squared_error", "friedman_mse")
# Losses of its boosted regressors that predict the raw value itself.
_IDENTITY = (*_SQUARED_ERRORS, "absolute_error", "huber", "quantile")


class Curve(NamedTuple):
    """What of the raw prediction is explained.

    Parameters
    ----------
    name : str
        A ``model_output`` of `splitcredit.importances.tree_shap_interventional`.
    doubled : bool
        Whether the output of a binary model is shown as two, one for each class.
    """

    name: str
    doubled: bool = False


def library_of(model) -> str | None:
    """Name of the library that a model or one of the bases of its class is of."""
    packages = {base.__module__.partition(".")[0] for base in type(model).__mro__}
    # The wrappers of the others are models of scikit-learn, too.
    known = ("xgboost", "lightgbm", "catboost", "sklearn")
    return next((name for name in known if name in packages), None)


def units(model) -> Units:
    """Units of the raw prediction of a fitted model, without pipelines around it."""
    units_of = {
        "xgboost": _units_of_xgboost,
        "lightgbm": _units_of_lightgbm,
        "catboost": _units_of_catboost,
        "sklearn": _units_of_sklearn,
    }
    library = library_of(model)
    return Units() if library is None else units_of[library](model)


def has_link(model) -> bool:
    """Whether a fitted model predicts a function of the sum of its trees.

    A model whose objective is its user's own predicts the sum itself.
    """
    library = library_of(model)
    if library == "sklearn":
        return getattr(model, "loss", None) not in (None, *_IDENTITY)
    objective_of = {
        "xgboost": _xgboost_objective,
        "lightgbm": _lightgbm_objective,
        "catboost": _catboost_loss,
    }
    if library is None:
        return False
    words = objective_of[library](model).replace(":", " ", library == "catboost").split()
    return bool(words) and (words[0] in _LINKED[library] or "sqrt" in words)


def _units_of_xgboost(model):
    return _XGBOOST.get(_xgboost_objective(model), Units())


def _xgboost_objective(model):
    booster = model.get_booster() if hasattr(model, "get_booster") else model
    return json.loads(booster.save_config())["learner"]["objective"]["name"]


def _units_of_lightgbm(model):
    text = _lightgbm_objective(model)
    # Parameters stand behind the name of an objective: binary raw scores depend on theirs, and with
    # "sqrt" the trees add up to the root of the prediction.
    is_whole = text.startswith("binary") or "sqrt" in text.split()
    return _LIGHTGBM.get(text if is_whole else text.partition(" ")[0], Units())


def _lightgbm_objective(model):
    """The objective with its parameters, as the model's file has it."""
    booster = model.booster_ if hasattr(model, "booster_") else model
    objective = re.search(r"^objective=(.*)$", booster.model_to_string(num_iteration=1), re.M)
    return objective.group(1).strip() if objective else ""


def _units_of_catboost(model):
    return _CATBOOST.get(_catboost_loss(model).partition(":")[0], Units())


def _catboost_loss(model):
    """The loss with its parameters, which stand behind a colon."""
    return str(model.get_all_params().get("loss_function"))


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
        return _BINARY if loss == "log_loss" and len(model.classes_) == 2 else Units()
    if loss is not None and loss not in _IDENTITY:
        return Units()
    measure = loss if loss is not None else getattr(model, "criterion", None)
    return _SQUARED if measure in _SQUARED_ERRORS else _VALUE


def curve(model_output, units: Units, name: str) -> Curve:
    """The curve that leads from the raw prediction to a ``model_output`` of shap.

    Parameters
    ----------
    model_output : {"raw", "probability", "predict_proba", "log_loss", "predict"}
    units : Units
    name : str
        What the model is called in the message.

    Raises
    ------
    ValueError
        If there is no such output, or the model has not the units for it.
    """
    if model_output == "raw":
        return Curve("raw")
    curves = {
        ("probability", "log_odds"): Curve("probability"),
        ("probability", "probability"): Curve("raw"),
        ("predict_proba", "log_odds"): Curve("probability", doubled=True),
        ("predict_proba", "probability"): Curve("raw"),
        ("predict", "raw_value"): Curve("raw"),
        ("log_loss", "squared_error"): Curve("squared_error"),
        ("log_loss", "binary_crossentropy"): Curve("log_loss"),
    }
    known = dict.fromkeys(["raw", *(output for output, _ in curves)])
    if model_output not in known:
        raise ValueError(f"unknown model_output {model_output!r}: available are {', '.join(known)}")
    unit = (units.objective if model_output == "log_loss" else units.tree_output) or ""
    if (model_output, unit) not in curves:
        wanted = " or ".join(u for output, u in curves if output == model_output)
        what = "objective" if model_output == "log_loss" else "raw output"
        raise ValueError(
            f"model_output={model_output!r} needs a model whose {what} is {wanted}, and that of "
            f"this {name} is {unit or 'another one'}: explain model_output='raw'"
        )
    return curves[model_output, unit]
