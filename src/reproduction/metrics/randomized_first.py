"""Error of the prediction with the first features of each row randomized, classes included."""

import numpy as np
import pandas as pd

from reproduction.metrics import _yardsticks
from reproduction.parameters import Count, Seed, Share
from splitcredit.prediction_gap.randomizing import randomized_predictions
from splitcredit.prediction_gap.rankings import top_k_mask

KEYS = ("importance",)
VALUES = ("value",)
IMPORTANCES = 1
SCORES = "global"


def compute(
    attributions,
    forest,
    data,
    training,
    share: Share = 0.25,
    n_rows: Count = 8,
    n_draws: Count = 50,
    random_state: Seed = 0,
) -> pd.DataFrame:
    """RMSE of the mean prediction over draws of the first features from their marginals.

    As `randomized_error`; the error of a class is 1 minus the probability of the true one.

    Parameters
    ----------
    attributions, forest
        See `pgi2.compute`.
    data, training : Dataset
        Rows that are explained, and those that values are drawn from.
    share : float
        Of the features, which is randomized.
    n_rows, n_draws : int
        The first rows, and draws of each.
    random_state : int

    Returns
    -------
    DataFrame
        One row a measure, in units of the target.
    """
    X, d = data.X[:n_rows], data.X.shape[1]
    orders, k = _yardsticks.row_orders(attributions, len(X)), _yardsticks.n_first(share, d)
    sets = np.stack([top_k_mask(order, k, d) for order in orders.values()], axis=1)
    squares = np.zeros(len(orders))
    for output, rows, wanted in _yardsticks.targets(forest.output_names, data.y[:n_rows]):
        how = {"reference": training.X, "n_draws": n_draws, "random_state": random_state}
        predicted = (
            np.zeros((len(rows), len(orders)))
            if output is None
            else randomized_predictions(forest, X[rows], sets[rows], output=output, **how)
        )
        squares += ((predicted - wanted[:, None]) ** 2).sum(axis=0)
    return _yardsticks.table(dict(zip(orders, np.sqrt(squares / len(X)), strict=True)))
