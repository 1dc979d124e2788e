"""Importances: one file a measure, found by its file name.

A local measure's file has ``explain(forest, X, **parameters) -> Attribution``; a global one's has
``importance(forest, **parameters) -> float64 array (n_features,)``. File name, name in the
configuration and ``Attribution.method`` are the same word.
"""

from __future__ import annotations

import importlib
import pkgutil

import numpy as np

from splitcredit.attribution import Attribution
from splitcredit.convert import to_forest


def available(function: str = "explain") -> list[str]:
    """Names of the measures that have `function` (``"explain"`` or ``"importance"``)."""
    names = [m.name for m in pkgutil.iter_modules(__path__)]
    return sorted(n for n in names if hasattr(_load(n), function))


def measure(name: str, function: str = "explain"):
    """The function of one measure, by name.

    Raises
    ------
    ValueError
        If there is no such measure; the message lists what there is.
    """
    if name not in available(function):
        raise ValueError(f"unknown measure {name!r}: available are {', '.join(available(function))}")
    return getattr(_load(name), function)


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


def select_outputs(forest, X, output) -> tuple[np.ndarray, np.ndarray | None]:
    """Which outputs to explain.

    Parameters
    ----------
    forest : Forest
    X : prepared rows
    output : "all", "predicted", or the name or index of one output
        ``"predicted"`` is, for each row, the output with the largest prediction (the first of
        equals).

    Returns
    -------
    outputs : int array of the outputs wanted, the same for all rows
    index : int64 (n_samples,) with one output a row if `output` is ``"predicted"``, else None

    Raises
    ------
    ValueError
        If there is no such output; the message lists what there is.
    """
    if isinstance(output, str) and output == "all":
        return np.arange(forest.n_outputs), None
    if isinstance(output, str) and output == "predicted":
        from splitcredit.kernels import predict

        return np.zeros(0, np.int64), predict.predict(forest, X).argmax(axis=1)
    if isinstance(output, str) and output in forest.output_names:
        return np.array([forest.output_names.index(output)]), None
    if isinstance(output, (int, np.integer)) and 0 <= output < forest.n_outputs:
        return np.array([int(output)]), None
    raise ValueError(
        f"output={output!r} is not one of 'all', 'predicted', an index below {forest.n_outputs}, "
        f"or a name in {list(forest.output_names)}"
    )


def _load(name):
    return importlib.import_module(f"{__name__}.{name}")
