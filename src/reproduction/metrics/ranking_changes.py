"""Influence of the arithmetic on greedy PG^2 rankings: ties, and changes by other computations."""

import pandas as pd

from reproduction.metrics import _rankings
from splitcredit.prediction_gap.rankings import of_attribution, top_k_mask

KEYS = ("ranking", "quantity", "k", "arithmetic", "sigma")
VALUES = ("value",)
IMPORTANCES = 1
METHOD = "pg2_greedy"


def compute(attributions) -> pd.DataFrame:
    """Compare greedy rankings of the same noise that were computed in different ways.

    Parameters
    ----------
    attributions : dict of str to Attribution
        Those of the method ``pg2_greedy`` count. The others of a sigma, a kind of noise and an
        output are compared with their first.

    Returns
    -------
    DataFrame
        One row a greedy ranking, place and quantity: ``ranking``, ``arithmetic``, ``sigma``,
        ``quantity``, ``k``, ``value``, ``n_rows``. Quantities are shares of the rows:

        - ``tied``: another feature would have done as well in place k;
        - ``set``: the first k features are, as a set, others than in the first ranking;
        - ``order``: they or their order are; at the last k that is the whole ranking.
    """
    first, rows = {}, []
    for name, greedy in _rankings.greedy(attributions).items():
        ranking, sigma = of_attribution(greedy), greedy.parameters["sigma"]
        problem = sigma, greedy.parameters.get("noise", "normal"), greedy.output_names
        base, (n, d) = first.setdefault(problem, ranking), ranking.shape
        for k in range(1, d + 1):
            sets = (top_k_mask(ranking, k, d) != top_k_mask(base, k, d)).any(axis=1)
            for quantity, value in (
                ("tied", greedy.parameters["tied_by_place"][k - 1]),
                ("set", sets.mean()),
                ("order", (ranking[:, :k] != base[:, :k]).any(axis=1).mean()),
            ):
                arithmetic = greedy.parameters["arithmetic"]
                rows.append((_rankings.label(name), arithmetic, sigma, quantity, k, value, n))
    columns = ["ranking", "arithmetic", "sigma", "quantity", "k", "value", "n_rows"]
    return pd.DataFrame(rows, columns=columns)
