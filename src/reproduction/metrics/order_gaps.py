"""PGI^2 and PGU^2 of the order of every measure, and the share of the largest PGI^2."""

import pandas as pd

from reproduction.metrics import _rankings, _yardsticks
from reproduction.parameters import Count, NonNegative
from splitcredit.prediction_gap.bounds import largest_pgi2

KEYS = ("importance", "yardstick")
VALUES = ("value", "exact")
IMPORTANCES = 1
SCORES = "global"


def compute(
    attributions,
    forest,
    data,
    sigma: NonNegative = 0.3,
    n_rows: Count = 4,
    searched: Count = 6,
) -> pd.DataFrame:
    """Exact gaps with normal noise, of the output or of the probability of the predicted class.

    Parameters
    ----------
    attributions, forest, data
        See `pgi2.compute`.
    sigma : float
        Standard deviation of the noise, in units of the features.
    n_rows : int
        The first rows, whose gaps are averaged.
    searched : int
        See `splitcredit.prediction_gap.bounds.largest_pgi2`.

    Returns
    -------
    DataFrame
        One row a measure and ``yardstick``: ``pgi2`` and ``pgu2`` in squared units of the
        prediction; ``pgi2_share``, the mean PGI^2 over the mean of the largest of all orders, or
        of its upper bound; ``exact``, the share of rows whose bound is the largest itself.
    """
    X = forest.prepare(data.X)[:n_rows]
    orders, largest, exact = _yardsticks.row_orders(attributions, len(X)), 0.0, 0.0
    sums = {yardstick: dict.fromkeys(orders, 0.0) for yardstick in ("pgi2", "pgu2")}
    for output, rows in _yardsticks.predicted_outputs(forest, X):
        bound = largest_pgi2(forest, X[rows], scale=sigma, output=output, searched=searched)
        largest, exact = largest + bound.upper.sum(), exact + bound.exact.sum()
        of_rows = {name: order[rows] for name, order in orders.items()}
        for yardstick, important in (("pgi2", True), ("pgu2", False)):
            gaps = _rankings.pgi2(forest, X[rows], of_rows, sigma, output, important)
            for name, values in gaps.items():
                sums[yardstick][name] += values.sum()
    shares = {name: gap / largest if largest else 1.0 for name, gap in sums["pgi2"].items()}
    means = {y: {name: gap / len(X) for name, gap in sums[y].items()} for y in sums}
    return pd.concat(
        [
            _yardsticks.table(values, yardstick=yardstick, exact=exact / len(X))
            for yardstick, values in (means | {"pgi2_share": shares}).items()
        ],
        ignore_index=True,
    )
