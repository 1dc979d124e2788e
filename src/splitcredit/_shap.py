"""Results in the form that shap's plots take."""

from __future__ import annotations

import numpy as np

from splitcredit._names import rows_to_show


def imported_shap():
    """The package shap, which only explanations in its own form need.

    ModuleNotFoundError if it is not installed.
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

    ModuleNotFoundError if shap is not installed. ValueError if X has not the shape and the columns
    of the rows that were explained.

    Parameters
    ----------
    result : Attribution or Interactions
        The last axis of its values is that of the outputs; it is left out if there is one.
    X : array-like or DataFrame (n_samples, n_features), optional
        The rows that were explained.
    """
    shap = imported_shap()
    values, n_outputs = result.values, result.values.shape[-1]
    shape, given = (len(values), len(result.feature_names)), np.shape(X)
    if X is not None and given != shape:
        raise ValueError(f"X has shape {given}, and {shape} was explained: pass the same rows")
    data = None if X is None else np.asarray(rows_to_show(X, result.feature_names))
    base = np.broadcast_to(result.baseline, (len(values), n_outputs)).copy()
    is_one = n_outputs == 1
    return shap.Explanation(
        values=values[..., 0] if is_one else values,
        base_values=base[:, 0] if is_one else base,
        data=data,
        feature_names=list(result.feature_names),
        output_names=None if is_one else list(result.output_names),
    )
