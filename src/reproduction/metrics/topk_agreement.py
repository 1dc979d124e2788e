"""Agreement of greedy PG^2 rankings with another in the first features: gajewski2025, table 2."""

from collections.abc import Sequence

import pandas as pd

from reproduction.metrics import _rankings
from reproduction.parameters import Count, ImportanceName
from splitcredit.prediction_gap.rankings import of_attribution, top_k_mask

KEYS = ("ranking", "k")
VALUES = ("value", "tied")
IMPORTANCES = 1
SCORES = "global"
METHOD = "pg2_greedy"


def compute(
    attributions, data, reference: ImportanceName | None = None, ks: Sequence[Count] = (1, 2, 3)
) -> pd.DataFrame:
    """Share of the rows whose first k features are, as a set, those of the reference.

    Parameters
    ----------
    attributions : dict of str to Attribution, each with one output
        Those of the method ``pg2_greedy`` are compared with the reference.
    data : Dataset
        The rows that are ranked.
    reference : str, optional
        An importance, by default the first; local ones rank by absolute values, global ones by
        their values.
    ks : sequence of int

    Returns
    -------
    DataFrame
        One row a greedy ranking and k: ``ranking``, ``k``; ``value``; ``tied``, the share of the
        rows in which another feature would have done as well in place k.

    Raises
    ------
    ValueError
        If there is no such importance or k.
    """
    reference = _rankings.reference_of(attributions, reference)
    ranked, rows = _rankings.rankings(attributions, len(data.X), reference), []
    reference_ranking = ranked[_rankings.label(reference)]
    for name, greedy in _rankings.greedy(attributions).items():
        ranking, d = of_attribution(greedy), reference_ranking.shape[1]
        for k in ks:
            agrees = (top_k_mask(ranking, k, d) == top_k_mask(reference_ranking, k, d)).all(axis=1)
            tied = greedy.parameters["tied_by_place"][k - 1]
            rows.append((_rankings.label(name), k, agrees.mean(), tied))
    return pd.DataFrame(rows, columns=["ranking", "k", "value", "tied"])
