"""Fitted models to `Forest`: one file a library."""

from __future__ import annotations

import importlib

from splitcredit.forest import Forest

# Top-level package of the model's class -> module with `convert(model, X_train)`.
_CONVERTERS = {"sklearn": "splitcredit.convert.sklearn"}


def to_forest(model, X_train=None) -> Forest:
    """Convert a fitted tree ensemble.

    Parameters
    ----------
    model : fitted estimator, or Forest
        Scikit-learn decision trees, random forests and extra-trees, classifiers and regressors.
        A `Forest` is returned as it is.
    X_train : array-like (n_train, n_features), optional
        The training rows; only their hash is kept, so that measures which need them (out-of-bag
        ones) can tell whether they were given the right ones.

    Returns
    -------
    Forest

    Raises
    ------
    TypeError
        If no converter knows the model.
    sklearn.exceptions.NotFittedError
        If the model is not fitted.
    ValueError
        If the model has something that a Forest cannot express (several targets).
    """
    if isinstance(model, Forest):
        return model
    for base in type(model).__mro__:
        module = _CONVERTERS.get(base.__module__.partition(".")[0])
        if module is not None:
            return importlib.import_module(module).convert(model, X_train)
    raise TypeError(
        f"cannot convert {type(model).__module__}.{type(model).__qualname__} to a Forest: "
        f"models of {', '.join(sorted(_CONVERTERS))} are supported"
    )
