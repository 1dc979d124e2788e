"""Importances: one file a method, found by its file name.

A local method's file has ``explain(forest, X, **parameters) -> Attribution``; a global one's has
``importance(forest, **parameters) -> Importance``, or ``importance(estimator, X, y, ...)`` if it
fits a model of its own; one that only ranks has ``rank(forest, X, **parameters) -> Attribution``,
whose values say the order and nothing else. File name, name in the configuration and
``Attribution.method`` are the same word. A file whose method does not take every model says so in
``REQUIRES``, a tuple of words: ``"impurity"`` (of every node), ``"bootstrap"`` (the bag of each
tree), ``"prediction"`` (on the scale of y), ``"score"`` or ``"refit"`` (an estimator that can be
fitted again). Its function ``refuse(model, forest)`` raises the error that says so for one model.
"""

from __future__ import annotations

from splitcredit import registry

KINDS = ("explain", "importance", "rank")


def names() -> list[str]:
    """Names of all methods."""
    return registry.names(__name__)


def available(function: str = "explain") -> list[str]:
    """Names of the methods that have `function`, one of `KINDS`."""
    return [n for n in names() if hasattr(module_of(n), function)]


def get_method(name: str, function: str = "explain"):
    """The function of one method, by name.

    ValueError if there is no such method; the message lists what there is.
    """
    if name not in names() or not hasattr(module_of(name), function):
        choices = ", ".join(available(function))
        raise ValueError(f"unknown method {name!r}: available are {choices}")
    return getattr(module_of(name), function)


def function_of(name: str):
    """The function of one method, of whichever kind; ValueError lists what there is."""
    module = module_of(name)
    return next(getattr(module, kind) for kind in KINDS if hasattr(module, kind))


def module_of(name: str):
    """The module of one method; ValueError lists what there is."""
    return registry.load(__name__, name, "method")
