"""Importances: one file a measure, found by its file name.

A local measure's file has ``explain(forest, X, **parameters) -> Attribution``; a global one's has
``importance(forest, **parameters) -> Importance``, or ``importance(estimator, X, y, ...)`` if it
fits a model of its own; one that only ranks has ``rank(forest, X, **parameters) -> Attribution``,
whose values say the order and nothing else. File name, name in the configuration and
``Attribution.method`` are the same word.
"""

from __future__ import annotations

from splitcredit import registry
from splitcredit.attribution import Attribution
from splitcredit.convert import to_forest

KINDS = ("explain", "importance", "rank")


def available(function: str = "explain") -> list[str]:
    """Names of the measures that have `function`, one of `KINDS`."""
    return [n for n in registry.names(__name__) if hasattr(_load(n), function)]


def measure(name: str, function: str = "explain"):
    """The function of one measure, by name.

    Raises
    ------
    ValueError
        If there is no such measure; the message lists what there is.
    """
    if name not in registry.names(__name__) or not hasattr(_load(name), function):
        known = ", ".join(available(function))
        raise ValueError(f"unknown measure {name!r}: available are {known}")
    return getattr(_load(name), function)


def function_of(name: str):
    """The function of one measure, of whichever kind; ValueError lists what there is."""
    module = _load(name)
    return next(getattr(module, kind) for kind in KINDS if hasattr(module, kind))


def explain(model, X, method: str = "tree_shap", **parameters) -> Attribution:
    """Attribute the predictions (or impurity decreases) of a fitted forest to its features.

    Parameters
    ----------
    model : fitted model or Forest
        Anything `splitcredit.to_forest` accepts.
    X : array-like or DataFrame (n_samples, n_features)
    method : str
        ``"tree_shap"``, ``"saabas"`` or ``"local_mdi"``.
    **parameters
        Passed to the measure; see its module.

    Returns
    -------
    Attribution
        ``values`` is (n_samples, n_features, n_outputs).

    Raises
    ------
    TypeError, ValueError
        See `to_forest`, `Forest.prepare` and the measure.
    """
    return measure(method)(to_forest(model), X, **parameters)


def _load(name):
    return registry.load(__name__, name, "measure")
