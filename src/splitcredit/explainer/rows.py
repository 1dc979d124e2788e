"""Rows in the forms that users of shap have them in."""

from __future__ import annotations

import numpy as np


def as_rows(X) -> tuple:
    """Rows as a table, and whether they were a single one without its axis.

    Parameters
    ----------
    X : array-like, DataFrame, Series or xgboost.DMatrix

    Returns
    -------
    tuple of an array or DataFrame (n_samples, n_features), and bool
    """
    if type(X).__name__ == "DMatrix" and hasattr(X, "get_data"):
        return _dense(X.get_data()), False
    if hasattr(X, "columns") or hasattr(X, "toarray"):
        return X, False
    X = np.asarray(X)
    return (X[None], True) if X.ndim == 1 else (X, False)


def _dense(sparse):
    """Array of the rows of a DMatrix, where what is not stored is missing."""
    dense = np.full(sparse.shape, np.nan)
    stored = sparse.tocoo()
    dense[stored.row, stored.col] = stored.data
    return dense


def names_of(X) -> list | None:
    """Names of the columns of a DataFrame or of a masker's rows, None of anything else."""
    names = getattr(X, "columns", None)
    if names is None:
        names = getattr(X, "feature_names", None) if hasattr(X, "max_samples") else None
    return None if names is None else list(names)


def values_of(rows) -> np.ndarray:
    """The values of an array or DataFrame."""
    return rows.to_numpy() if hasattr(rows, "to_numpy") else np.asarray(rows)
