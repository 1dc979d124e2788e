"""Write ``estimators.json``: by estimator and parameter, the annotation of what it takes.

Run by hand, after an update of a library: ``python -m reproduction.planning.make_estimators``, with
``src`` on the path. Planning reads the file, as importing the libraries would take seconds. What
scikit-learn takes follows from the constraints that it checks itself; XGBoost and LightGBM check in
compiled code, so the common parameters are listed here and the others take anything (an empty
annotation).
"""

from __future__ import annotations

import importlib
from math import isfinite
from numbers import Integral

from reproduction import models, recorded, storage
from reproduction.planning.signatures import ESTIMATORS

_AT_LEAST_TWO = 'Annotated[int, ">= 2"]'
# What the workflow itself reads, or gives its own meaning.
_TREES = ", ".join(f'"{name}"' for name in recorded.TREES)
_OURS = {
    "folds": f"{_AT_LEAST_TWO} | None",
    "random_state": "Seed",
    "recorded": f"Literal[{_TREES}] | None",
}
_BOOSTED = {
    "n_estimators": "Count",
    "learning_rate": "Positive",
    "subsample": "Share",
    "colsample_bytree": "Share",
    "reg_alpha": "NonNegative",
    "reg_lambda": "NonNegative",
    "min_child_weight": "NonNegative",
}
# None leaves a parameter of XGBoost to the library.
_XGBOOST = {name: f"{text} | None" for name, text in _BOOSTED.items()} | {
    "base_score": "float | list[float] | None",
    "booster": 'Literal["gbtree", "gblinear", "dart"] | None',
    "colsample_bylevel": "Share | None",
    "colsample_bynode": "Share | None",
    "gamma": "NonNegative | None",
    "grow_policy": 'Literal["depthwise", "lossguide"] | None',
    "max_bin": f"{_AT_LEAST_TWO} | None",
    "max_delta_step": "NonNegative | None",
    "max_depth": "Natural | None",
    "max_leaves": "Natural | None",
    "num_parallel_tree": "Count | None",
    "scale_pos_weight": "Positive | None",
    "tree_method": 'Literal["auto", "exact", "approx", "hist"] | None',
}
# A max_depth of -1 is no limit.
_LIGHTGBM = _BOOSTED | {
    "boosting_type": 'Literal["gbdt", "dart", "rf"]',
    "max_depth": "int",
    "min_child_samples": "Natural",
    "min_split_gain": "NonNegative",
    "num_leaves": _AT_LEAST_TWO,
    "subsample_for_bin": "Count",
    "subsample_freq": "int",
}
# Ranges that have a name in reproduction/parameters.py.
_NAMES = {
    'Annotated[int, ">= 1"]': "Count",
    'Annotated[int, ">= 0"]': "Natural",
    'Annotated[float, "> 0"]': "Positive",
    'Annotated[float, ">= 0"]': "NonNegative",
    'Annotated[float, "> 0, <= 1"]': "Share",
    'Annotated[float, ">= 0, <= 1"]': "Probability",
}


def estimators() -> dict[str, dict[str, str]]:
    """Annotations by estimator and parameter, from the libraries that are installed."""
    return {name: _annotations(name) for name in models.ESTIMATORS}


def _annotations(name):
    module = models.ESTIMATORS[name]
    texts = {"xgboost": _XGBOOST, "lightgbm": _LIGHTGBM}.get(module)
    if texts is None:
        constraints_of = getattr(importlib.import_module(module), name)._parameter_constraints
        texts = {parameter: _text(constraints) for parameter, constraints in constraints_of.items()}
    texts = texts | _OURS
    return {parameter: texts.get(parameter, "") for parameter in sorted(models.parameters(name))}


def _text(constraints):
    """Annotation of what one parameter of scikit-learn takes."""
    return " | ".join(filter(None, map(_part, constraints)))


def _part(constraint):
    """One way to fit a parameter of scikit-learn, empty if a configuration cannot hold it.

    Keys of a class_weight are labels, which are numbers, and keys of a configuration are text; a
    list of them is for several outputs, which no data set has.
    """
    from sklearn.utils._param_validation import Interval, StrOptions

    if isinstance(constraint, StrOptions):
        options = ", ".join(f'"{option}"' for option in sorted(constraint.options))
        return f"Literal[{options}]"
    if isinstance(constraint, Interval):
        text = _range(constraint)
        return _NAMES.get(text, text)
    if constraint is None or isinstance(constraint, str):
        return {None: "None", "boolean": "bool", "array-like": "list[int]"}.get(constraint, "")
    return ""


def _range(interval):
    """Annotation of the numbers in an interval; an end that is infinite is none."""
    name = "int" if interval.type is Integral else "float"
    low = ">" if interval.closed in ("right", "neither") else ">="
    high = "<" if interval.closed in ("left", "neither") else "<="
    ends = ((low, interval.left), (high, interval.right))
    bounds = [f"{sign} {end:g}" for sign, end in ends if end is not None and isfinite(end)]
    return f'Annotated[{name}, "{", ".join(bounds)}"]' if bounds else name


if __name__ == "__main__":
    storage.write_json(ESTIMATORS, estimators())
