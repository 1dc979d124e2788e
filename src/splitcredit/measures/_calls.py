"""Word the errors of calls: which parameter is missing or unknown, and what was meant."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

from splitcredit import measures
from splitcredit.rows.names import did_you_mean

# What to do where a parameter is missing.
_HINTS = {
    "X": "the rows, X=...",
    "y": "the targets of the rows of X, y=...",
    "background": (
        "rows that unknown features are taken from, such as a hundred rows of the training data: "
        "background=X_train[:100]"
    ),
    "scale": (
        "the size of the noise in units of the features, one number or one for each feature, or in "
        "standard deviations of each feature: scale='0.3std'"
    ),
}
# Parameters of earlier releases, by function.
_RENAMED = {("rank", "method"): "by"}
_F = TypeVar("_F", bound=Callable[..., Any])


def needs(who: str, name: str) -> str:
    """Say that a method or metric needs a parameter, and how to give it."""
    return f"{who} needs {name}: {_HINTS.get(name, f'pass {name}=...')}"


def checked(function: _F) -> _F:
    """Wrap a function so that its errors name the missing parameter, or the likely one."""
    known = inspect.signature(function).parameters
    required = [name for name, parameter in known.items() if parameter.default is parameter.empty]

    @wraps(function)
    def called(*args, **kwargs):
        for name in kwargs:
            if name not in known:
                raise TypeError(unknown(function, name))
        for k, name in enumerate(required):
            is_given = k < len(args) or name in kwargs
            value = args[k] if k < len(args) else kwargs.get(name)
            if name in _HINTS and (not is_given or (value is None and name != "X")):
                raise TypeError(needs(function.__name__, name))
        return function(*args, **kwargs)

    return called  # type: ignore[return-value]


def unknown(function, name: str) -> str:
    """Say that a function has no such parameter, with the likely one or a function that has it."""
    known = list(inspect.signature(function).parameters)
    near = did_you_mean(name, known)
    if (function.__name__, name) in _RENAMED:
        near = f", it is {_RENAMED[function.__name__, name]}= now"
    line = f"{function.__name__} has no parameter {name!r}{near}"
    takers = [] if near else _functions_that_take(name, function.__name__)
    if len(takers) > 4:
        example = "tree_shap" if "tree_shap" in takers else takers[0]
        return f"{line}: the functions of methods take it, such as splitcredit.{example}"
    if takers:
        verb = "takes" if len(takers) == 1 else "take"
        line += f": {', '.join(f'splitcredit.{taker}' for taker in takers)} {verb} it"
    return line


def _functions_that_take(parameter, asked):
    """List the measures' functions with a parameter, for `explain` or `importance`."""
    found: dict[str, None] = {}
    for name in measures.names():
        module = measures.module_of(name)
        names = {"importance": getattr(module, "IMPORTANCE", name)}
        if hasattr(module, "attribute"):
            names["explain"] = name
        for function in (
            [names.get(asked)] if asked in ("explain", "importance") else names.values()
        ):
            known = getattr(module, function or "", None)
            if known is not None and parameter in inspect.signature(known).parameters:
                found[function] = None
    return list(found)
