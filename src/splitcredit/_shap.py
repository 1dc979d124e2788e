"""Results in the form that shap's plots take."""

from __future__ import annotations

import numpy as np

from splitcredit._names import columns_in_order


def imported_shap():
    """The package shap, which only explanations in its own form need.

    Raises
    ------
    ModuleNotFoundError
        If it is not installed.
    """
    try:
        import shap
    except ModuleNotFoundError as error:
        if error.name != "shap":
            raise
        raise ModuleNotFoundError(
            "a shap.Explanation needs shap, which is not installed: pip install shap", name="shap"
        ) from None
    return shap


def explanation(result, X):
    """A ``shap.Explanation`` of attributions or of a matrix of interactions.

    Parameters
    ----------
    result : Attribution or Interactions
        The last axis of its values is that of the outputs; it is left out if there is one.
    X : array-like or DataFrame (n_samples, n_features), optional
        The rows that were explained.

    Raises
    ------
    ModuleNotFoundError
        If shap is not installed.
    ValueError
        If X has not the shape of the rows that were explained.
    """
    shap = imported_shap()
    values, n_outputs = result.values, result.values.shape[-1]
    shape = len(values), len(result.feature_names)
    data = None if X is None else np.asarray(columns_in_order(X, result.feature_names))
    if data is not None and data.shape != shape:
        raise ValueError(f"X has shape {data.shape}, and {shape} was explained: pass the same rows")
    base = np.broadcast_to(result.baseline, (len(values), n_outputs)).copy()
    is_one = n_outputs == 1
    return shap.Explanation(
        values=values[..., 0] if is_one else values,
        base_values=base[:, 0] if is_one else base,
        data=data,
        feature_names=list(result.feature_names),
        output_names=None if is_one else list(result.output_names),
    )
