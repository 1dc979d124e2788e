"""Cross-validated errors of a recipe, as a grid search compares them."""

from typing import Annotated

import numpy as np
import pandas as pd

from reproduction.parameters import Natural, Seed

KEYS = ("shuffle", "fold")
VALUES = ("value",)


def compute(
    attributions,
    training,
    refit,
    n_folds: Annotated[int, ">= 2"] = 5,
    n_shuffles: Natural = 0,
    random_state: Seed = 0,
) -> pd.DataFrame:
    """RMSE of models fitted without one part of the training rows, on that part.

    Parameters
    ----------
    training : Dataset
    refit : callable (X, y) -> fitted model
    n_folds : int, 2 or more
    n_shuffles : int
        0: the rows are cut in their order, as scikit-learn's grid search does. Else they are
        shuffled and cut so many times.
    random_state : int
        Of the shuffles.

    Returns
    -------
    DataFrame
        One row a fit: ``shuffle`` and ``fold``, both from 0; ``value``, in units of the target;
        ``n_training`` and ``n_held_out``, the rows of the fit and of the error.
    """
    from sklearn.metrics import root_mean_squared_error
    from sklearn.model_selection import KFold

    X, y = np.asarray(training.X), np.asarray(training.y)
    random = np.random.default_rng(random_state)
    orders = [random.permutation(len(X)) for _ in range(n_shuffles)] or [np.arange(len(X))]
    rows = []
    for shuffle, order in enumerate(orders):
        for fold, (training_rows, held_out) in enumerate(KFold(n_folds).split(X)):
            training_rows, held_out = order[training_rows], order[held_out]
            predicted = refit(X[training_rows], y[training_rows]).predict(X[held_out])
            row = {"shuffle": shuffle, "fold": fold}
            row["value"] = root_mean_squared_error(y[held_out], predicted)
            rows.append({**row, "n_training": len(training_rows), "n_held_out": len(held_out)})
    return pd.DataFrame(rows)
