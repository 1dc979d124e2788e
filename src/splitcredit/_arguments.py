"""Parameters of methods: one clear line where one is missing or unknown."""

from __future__ import annotations

import inspect
from functools import lru_cache

# What to do where a parameter is missing.
_HINTS = {
    "X": "the rows, X=...",
    "y": "the targets of the rows of X, y=...",
    "background": (
        "rows that unknown features are taken from, such as a hundred rows of the training data: "
        "background=X_train[:100]"
    ),
    "scale": (
        "the size of the noise in units of the features, one number or one for each feature: "
        "scale=0.3 * X_train.std(axis=0)"
    ),
}
# What the face gives itself: the model, under whatever name, the noise, and whether to show a bar.
_GIVEN = ("forest", "estimator", "model", "perturbation", "progress")


def check(method: str, function, given, parameters, extra=()) -> None:
    """Compare what a method is called with and what it takes.

    TypeError if a parameter is missing or unknown. The message names the method and its parameters.

    Parameters
    ----------
    method : str
    function : callable
    given : sequence of str
        Arguments beside the parameters.
    parameters : dict
        By name.
    extra : sequence of str
        Parameters that the face takes in the place of those of the function.
    """
    signature = _parameters(function)
    accepted = [name for name in signature if name not in (*_GIVEN, "X", "y")]
    accepted = [*extra, *accepted]
    unknown = [name for name in parameters if name not in accepted]
    if unknown:
        raise TypeError(f"method {method!r} has no parameter {unknown[0]!r}: {_list(accepted)}")
    for name, parameter in signature.items():
        missing = parameter.default is inspect.Parameter.empty and name not in _GIVEN
        if missing and parameters.get(name) is None and name not in given:
            raise TypeError(f"{needs(f'method {method!r}', name)}; {_list(accepted)}")


def takes(function, name: str) -> bool:
    """Whether a function has a parameter of that name."""
    return name in _parameters(function)


@lru_cache(maxsize=128)
def _parameters(function):
    """Parameters by name; reading them anew would take longer than to explain one row."""
    return inspect.signature(function).parameters


def needs(who: str, name: str) -> str:
    """The line that a method or metric needs a parameter, and how to give it."""
    return f"{who} needs {name}: {_HINTS.get(name, f'pass {name}=...')}"


def _list(names):
    return f"its parameters are {', '.join(names)}" if names else "it has no parameters"
