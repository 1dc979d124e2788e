"""Error of a model that is fitted again without the first features of a measure."""

import numpy as np
import pandas as pd

from reproduction.metrics import _yardsticks
from reproduction.parameters import Share

KEYS = ("importance",)
VALUES = ("value", "n_fits")
IMPORTANCES = 1
SCORES = "global"


def compute(attributions, data, training, refit, share: Share = 0.25) -> pd.DataFrame:
    """RMSE on the rows that are explained; of classes, of 1 minus the probability of the true one.

    As `removed_error`, with one order for all rows: a model for each set of features.

    Parameters
    ----------
    attributions : dict of str to Attribution, with one output, or Importance
    data, training : Dataset
    refit : callable (X, y) -> fitted model
    share : float
        Of the features, which is removed.

    Returns
    -------
    DataFrame
        One row a measure, in units of the target; ``n_fits``, the models behind all rows.
    """
    k = _yardsticks.n_first(share, data.X.shape[1])
    orders = _yardsticks.global_orders(attributions)
    sets = {name: tuple(sorted(order[:k].tolist())) for name, order in orders.items()}
    errors = {removed: _error(removed, data, training, refit) for removed in set(sets.values())}
    values = {name: errors[removed] for name, removed in sets.items()}
    return _yardsticks.table(values, n_fits=len(errors))


def _error(removed, data, training, refit):
    model = refit(np.delete(training.X, removed, axis=1), training.y)
    X, squares = np.delete(data.X, removed, axis=1), np.empty(len(data.X))
    classes = getattr(model, "classes_", ())
    predicted = model.predict_proba(X) if len(classes) else model.predict(X)[:, None]
    for output, rows, wanted in _yardsticks.targets(classes, data.y):
        squares[rows] = wanted**2 if output is None else (predicted[rows, output] - wanted) ** 2
    return float(np.sqrt(squares.mean()))
