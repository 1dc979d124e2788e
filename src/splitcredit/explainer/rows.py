"""Rows in the forms that users of shap have them in."""

from __future__ import annotations

import numpy as np

from splitcredit._containers import named, opened
from splitcredit._names import as_known, labels_of_columns
from splitcredit._tables import dense, refuse_container, with_nan


def as_rows(X, forest) -> tuple:
    """Rows as a table, and whether they were a single one without its axis.

    Returns tuple of an array or DataFrame (n_samples, n_features), and bool. A Series whose index
    holds names, or the numbers that name the features, becomes a DataFrame of one row.

    Parameters
    ----------
    X : array-like, DataFrame, Series, xgboost.DMatrix or catboost.Pool
    forest : Forest
        Of the model.
    """
    X = dense(opened(X), forest.absent)
    if hasattr(X, "columns"):
        return X, False
    if (
        hasattr(X, "to_frame")
        and hasattr(X, "index")
        and _holds_names(X.index, forest.feature_names)
    ):
        values = X.to_numpy()
        values = with_nan(values) if values.dtype == object else values
        return named(values[None], X.index), True
    refuse_container(X)
    try:
        array = np.asarray(X)
    except ValueError as error:  # lists of different lengths
        raise ValueError(f"X is no table ({error}): pass rows of equal lengths") from None
    if array.dtype.kind in "US" and not isinstance(X, np.ndarray):
        array = np.array(X, dtype=object)  # numbers beside text stay numbers
    if array.dtype == object:
        array = with_nan(array)
    return (array[None], True) if array.ndim == 1 else (array, False)


def _holds_names(index, features):
    """Whether an index has the names of columns; a row of a DataFrame with numbers for names has.

    So does one of a MultiIndex, whose names are tuples.
    """
    is_text = all(isinstance(name, (str, tuple)) for name in index)
    return is_text or set(as_known(index, features)) == set(features)


def names_of(X) -> list | None:
    """Names of the columns of a table or of a masker's rows, None of anything else."""
    names = labels_of_columns(X)
    if names is None:
        names = getattr(X, "feature_names", None) if hasattr(X, "max_samples") else None
    return None if names is None else list(names)


def values_of(rows) -> np.ndarray:
    """The values of an array or DataFrame."""
    return rows.to_numpy() if hasattr(rows, "to_numpy") else np.asarray(rows)


def is_missing(values) -> np.ndarray:
    """Where an array has no value, bool of its shape."""
    if values.dtype.kind != "O":
        return values != values
    import pandas as pd

    return pd.isna(values)
