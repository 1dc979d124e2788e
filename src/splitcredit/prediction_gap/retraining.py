"""Predict by models fitted again without the most important features of a row.

Source: gajewski2025, Comparison vs SHAP with Feature Removing, second method, and table 5; after
remove-and-retrain (Hooker et al. 2019).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from splitcredit.prediction_gap.rankings import (
    refuse_another_order_of_rows,
    top_k_mask,
    validate_rankings,
)
from splitcredit.rows.names import columns_in_order, names_of_columns

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike


def removed_predictions(
    fit: Callable,
    X_train: ArrayLike,
    y_train: ArrayLike,
    X_test: ArrayLike,
    rankings: ArrayLike,
    k: int,
    models: dict | None = None,
) -> np.ndarray:
    """Predict each test row by a model fitted without the row's first k features.

    Rows without the same features share one fit.

    Parameters
    ----------
    fit : callable (X, y) -> fitted model with ``predict(X)``
        Given the training columns that are left, in their order.
    X_train : float (n_train, n_features)
    y_train : (n_train,)
    X_test : float (n_test, n_features)
        If both are tables with names, its columns may come in any order.
    rankings : int (n_test, n_ranked)
        Features of each test row, the most important first, by their places in X_train.
    k : int, 0 to n_features - 1
    models : dict, optional
        Fits by the sorted tuple of the features removed. Those in it are used, new ones are added:
        pass one to all calls with the same `fit` and training data.

    Returns
    -------
    float64 (n_test,)

    Raises
    ------
    ValueError
        If shapes, names or the order of columns do not fit each other, or no feature would be left.

    Examples
    --------
    >>> from splitcredit.prediction_gap.retraining import removed_predictions, squared_errors
    >>> from sklearn.base import clone
    >>> def fit(X, y):
    ...     return clone(model).fit(X, y)
    >>> first = [[3, 0, 1, 2, 4]] * 20  # the same ranking for all rows
    >>> for k in (0, 2):
    ...     predictions = removed_predictions(fit, X[20:], y[20:], X[:20], first, k)
    ...     print(k, squared_errors(predictions, y[:20]).mean().round(0))
    0 8.0
    2 16.0
    """
    refuse_another_order_of_rows(rankings, X_test)
    _refuse_another_order_of_columns(rankings, X_train)
    X_test = _in_order_of(X_train, X_test)
    X_train, X_test = np.asarray(X_train), np.asarray(X_test)
    n_features = X_train.shape[1]
    if X_test.ndim != 2 or X_test.shape[1] != n_features:
        raise ValueError(f"X_test has shape {X_test.shape}, expected {n_features} features")
    models = {} if models is None else models
    out = np.empty(len(X_test))
    for removed, rows in removed_sets(rankings, k, len(X_test), n_features).items():
        left = np.setdiff1d(np.arange(n_features), removed)
        if removed not in models:
            models[removed] = fit(X_train[:, left], y_train)
        out[rows] = np.asarray(models[removed].predict(X_test[np.ix_(rows, left)])).reshape(-1)
    return out


def _refuse_another_order_of_columns(rankings, X_train):
    """Refuse a `Rankings` of X_train's columns in another order: its indices differ."""
    ranked, names = getattr(rankings, "feature_names", None), names_of_columns(X_train)
    if ranked is None or names is None:
        return
    if list(ranked) != names and sorted(ranked) == sorted(names):
        raise ValueError(
            f"{rankings!r} has the features {list(ranked)[:5]}, and X_train has the columns "
            f"{names[:5]}: pass them in the order of the ranking"
        )


def _in_order_of(X_train, X_test):
    """Return test rows with columns in the order of the training rows, if both have names."""
    names, given = names_of_columns(X_train), names_of_columns(X_test)
    if names is None or given is None:
        return X_test
    X_test = columns_in_order(X_test, names)
    if names_of_columns(X_test) != names:
        raise ValueError(
            f"X_test has the columns {given[:5]}, and X_train {names[:5]}: pass the same columns"
        )
    return X_test


def removed_sets(
    rankings: ArrayLike, k: int, n_rows: int, n_features: int
) -> dict[tuple[int, ...], np.ndarray]:
    """Return the different sets of first k features, each with the rows that have it.

    Parameters
    ----------
    rankings : int (n_rows, n_ranked)
    k, n_rows, n_features : int
        What does not fit the rankings, or leaves no feature, raises a ValueError.

    Returns
    -------
    dict of sorted tuple of int to int64 array of rows, in the order of the tuples

    Examples
    --------
    >>> from splitcredit.prediction_gap.retraining import removed_sets
    >>> removed_sets([[2, 0, 1], [0, 2, 1], [1, 2, 0]], k=2, n_rows=3, n_features=3)
    {(0, 2): array([0, 1]), (1, 2): array([2])}
    """
    rankings = validate_rankings(rankings, n_rows, n_features)
    if not 0 <= k < n_features:
        raise ValueError(f"k={k} is not in 0..{n_features - 1}: a feature must be left")
    masks = top_k_mask(rankings, k, n_features) if k else np.zeros((n_rows, n_features), np.bool_)
    sets: dict[tuple[int, ...], list[int]] = {}
    for row, mask in enumerate(masks):
        sets.setdefault(tuple(np.flatnonzero(mask).tolist()), []).append(row)
    return {removed: np.array(rows) for removed, rows in sorted(sets.items())}


def squared_errors(predictions: ArrayLike, y: ArrayLike) -> np.ndarray:
    """Compute the squared error of each row.

    Parameters
    ----------
    predictions : float (n_rows,) or (n_rows, ...)
    y : float (n_rows,), else a ValueError is raised

    Returns
    -------
    float64 of the shape of the predictions, in squared units of y

    Examples
    --------
    >>> from splitcredit.prediction_gap.retraining import squared_errors
    >>> squared_errors([1.0, 2.0], [0.0, 4.0])
    array([1., 4.])
    """
    predictions, y = np.asarray(predictions, float), np.asarray(y, float)
    if y.shape != predictions.shape[:1]:
        raise ValueError(f"y has shape {y.shape}, and there are {len(predictions)} predictions")
    return (predictions - y.reshape(-1, *[1] * (predictions.ndim - 1))) ** 2
