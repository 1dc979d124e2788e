"""Check recipes: their names exist, and take the given parameters and values.

Values are checked against the annotations of loaders, measures, metrics and estimators, whose kinds
stand in `reproduction.parameters`. What only the rows decide is left to the job.
"""

from __future__ import annotations

import inspect
import math
import os.path
import typing
from functools import cache

import sklearn.metrics

from reproduction import datasets, metrics, models, parameters, peers, recorded
from reproduction.parameters import named, problem, written
from reproduction.planning import sweep
from reproduction.planning.errors import ConfigError, check_in

_FUNCTIONS = {"data": datasets.loader, "importance": peers.function_of, "metric": metrics.metric}
# A sweep asks for every value of every axis: what is said of the code is kept.
kind_of = cache(peers.kind_of)
# What an importance or metric is given by the job, not by its recipe.
_GIVEN = {
    "importance": {
        *("forest", "model", "X", "y", "background", "progress", "check_additivity", "dtype")
    },
    "metric": {"attributions", "data", "training", "forest", "estimator", "refit"},
}
# What the workflow reads, gives its own meaning, or the libraries would take without a word.
_OF_MODELS = {
    "folds": typing.Annotated[int, ">= 2"] | None,
    "random_state": parameters.Seed,
    "recorded": typing.Literal[tuple(recorded.TREES)] | None,
}
_OF_BOOSTED = {
    "n_estimators": parameters.Count | None,
    "subsample": parameters.Share | None,
    # Others are no sums of trees, or give other bytes.
    "booster": typing.Literal["gbtree", "dart"] | None,
    "device": typing.Literal["cpu"] | None,
    # XGBoost's mark of a missing value may be nan.
    "missing": typing.Any,
}


def signature(kind: str, name: str, place: str) -> dict[str, inspect.Parameter]:
    """Return the parameters that a recipe may give; ConfigError if the name is unknown."""
    try:
        return _signature(kind, name)
    except SyntaxError as error:
        line = f", line {error.lineno}" if error.lineno else ""
        raise ConfigError(f"{error.filename}{line}: {error.msg}") from None
    except (StopIteration, AttributeError, NameError, ImportError) as error:
        reason = str(error) or "no function"
        raise ConfigError(f"{place}: {name}.py cannot be used: {reason}") from None
    except ValueError as error:
        raise ConfigError(f"{place}.{sweep.KINDS[kind][1]}: {error}") from None


@cache
def taken(kind: str, name: str) -> dict[str, inspect.Parameter]:
    """Parameters of the function of a data set, importance or metric, annotations included."""
    return dict(inspect.signature(_FUNCTIONS[kind](name), eval_str=True).parameters)


@cache
def _signature(kind, name):
    if kind == "model":
        hints = models.annotations(name) | _OF_MODELS
        hints |= _OF_BOOSTED if name.startswith(("XGB", "LGBM")) else {}
        return _optional({n: hints.get(n, typing.Any) for n in models.parameters(name)})
    takes = taken(kind, name)
    hints = {"outcome": parameters.Outcome} if kind == "data" else {}
    takes_training = {"bootstrap", "refit"} & {*constant(kind, name, "REQUIRES")}
    if kind == "importance" and "X" in takes and not takes_training:
        hints["n_rows"] = parameters.Count | None
    if kind == "importance" and "scoring" in takes:
        hints["scoring"] = typing.Literal[tuple(sklearn.metrics.get_scorer_names())] | None
    if kind == "importance" and "ties" in takes:
        # The job takes the name of a recorded order as well, which the library does not know.
        hints["ties"] = parameters.TieOrder
    return {n: p for n, p in takes.items() if n not in _GIVEN.get(kind, ())} | _optional(hints)


def _optional(hints):
    keyword = inspect.Parameter.KEYWORD_ONLY
    return {n: inspect.Parameter(n, keyword, default=None, annotation=h) for n, h in hints.items()}


@cache
def constant(kind: str, name: str, constant_name: str, default=()):
    """Return the constant that a data set, importance or metric declares, or the default."""
    if kind == "metric":
        return getattr(metrics.module_of(name), constant_name, default)
    # A function of a family declares it itself.
    function = _FUNCTIONS[kind](name)
    of_module = getattr(inspect.getmodule(function), constant_name, default)
    return getattr(function, constant_name, of_module)


def required(kind: str, name: str) -> list[str]:
    """Parameters without a default."""
    return [n for n, p in signature(kind, name, "").items() if p.default is p.empty]


def check_required(kind: str, recipe: dict, place: str) -> None:
    """Check that a recipe gives every parameter that has no default."""
    name = recipe[sweep.KINDS[kind][1]]
    ungiven = ", ".join(n for n in required(kind, name) if n not in recipe)
    if ungiven:
        raise ConfigError(f"{place}: {name} needs {ungiven}")


def check_recipe(kind: str, recipe: dict, place: str) -> None:
    """Check that the name in a recipe exists and takes the parameters given."""
    key = sweep.KINDS[kind][1]
    if reason := problem(str, recipe[key]):
        raise ConfigError(f"{place}.{key}: {reason}")
    name, given = recipe[key], {k: v for k, v in recipe.items() if k != key}
    allowed = signature(kind, name, place)
    may_be_empty = allowed if kind == "model" else constant(kind, name, "MAY_BE_EMPTY")
    for parameter, value in given.items():
        check_parameter(parameter, value, allowed, place, f"a parameter of {name}", may_be_empty)
        _check_value(kind, name, parameter, value, f"{place}.{parameter}")
    check_before = constant(kind, name, "check", None) if kind == "data" else None
    if check_before:
        try:
            check_before(**{k: v for k, v in given.items() if k != "outcome"})
        except ValueError as error:
            raise ConfigError(f"{place}.{error}") from None


def check_parameter(
    parameter: str, value, allowed: dict, place: str, what: str, may_be_empty=()
) -> None:
    """Check that a parameter is allowed, and that its value fits its annotation."""
    check_in([parameter], sorted(allowed), place, what)
    declared = allowed[parameter]
    if reason := problem(declared.annotation, value):
        raise ConfigError(f"{place}.{parameter}: {reason}")
    if value == [] and declared.default not in ([], ()) and parameter not in may_be_empty:
        raise ConfigError(f"{place}.{parameter}: [] is not allowed; expected at least one value")


def _check_value(kind, name, parameter, value, place):
    """Check what the annotation of a parameter does not cover."""
    hint = signature(kind, name, place)[parameter].annotation
    if kind == "model" and (reason := _problem_of_model(name, parameter, value)):
        raise ConfigError(f"{place}: {reason}")
    if kind == "metric" and (repeated := _repeated(name, parameter, value, hint)):
        raise ConfigError(f"{place}: {written(repeated[0])} is there twice: name it once")
    for dataset in named(hint, value, parameters.DatasetName):
        check_in([dataset], datasets.available(), place, "a data set")
        if needed := ", ".join(required("data", dataset)):
            raise ConfigError(
                f"{place}: {dataset} needs {needed}, which cannot be given here; name another data "
                "set"
            )
    # A name that is too long, or the home of nobody, is no file either.
    if parameter == "path" and not os.path.isfile(os.path.expanduser(value)):
        raise ConfigError(f"{place}: {value}: no such file (working directory {os.getcwd()})")


def _problem_of_model(name, parameter, value):
    """Return the problem with one value of a model, if no rows decide it."""
    if parameters.tip(value):
        return f"{written(value)} is not allowed{parameters.tip(value)}"
    if parameter in _OF_MODELS or isinstance(value, (dict, list)):
        return ""
    if isinstance(value, float) and not math.isfinite(value) and parameter != "missing":
        return f"{written(value)} is not allowed; expected a finite number"
    reason = models.refusal(name, parameter, value, type(value))
    return f"{written(value)} is not allowed: {reason}" if reason else ""


def _repeated(name, parameter, value, hint):
    """Values that a list has more than once, if their rows would then count as repeats."""
    # As `ks` has a column `k`, and `sigmas` one `sigma_metric`.
    words = {word for column in constant("metric", name, "KEYS") for word in column.split("_")}
    has_rows = parameter in words or parameter.removesuffix("s") in words
    if isinstance(value, list) and (has_rows or named(hint, value, parameters.ImportanceName)):
        return [v for place, v in enumerate(value) if v in value[:place]]
    return []
