"""Cross-validated error of a recipe, as a grid search compares it."""

from __future__ import annotations

from typing import Annotated

import numpy as np
import pandas as pd


def compute(attributions, training, refit, n_folds: Annotated[int, ">= 2"] = 5) -> pd.DataFrame:
    """RMSE of models fitted without one part of the training rows, on that part.

    Parameters
    ----------
    attributions : dict
        Not used.
    training : Dataset
        Cut into parts in the order of its rows, as scikit-learn's grid search does.
    refit : callable (X, y) -> fitted model
    n_folds : int, 2 or more

    Returns
    -------
    DataFrame
        One row, in units of the target: ``value``, the mean over the parts, ``deviation`` over
        them, and ``n_folds``.
    """
    from sklearn.metrics import root_mean_squared_error
    from sklearn.model_selection import KFold

    X, y = np.asarray(training.X), np.asarray(training.y)
    errors = []
    for kept, held_out in KFold(n_folds).split(X):
        predicted = refit(X[kept], y[kept]).predict(X[held_out])
        errors.append(root_mean_squared_error(y[held_out], predicted))
    found = {"value": np.mean(errors), "deviation": np.std(errors, ddof=1), "n_folds": n_folds}
    return pd.DataFrame([found])
