"""Metrics of greedy PG^2 rankings; importances of the method ``pg2_greedy`` count."""

from collections.abc import Sequence

import pandas as pd

from reproduction.metrics import GLOBAL, _rankings, declared
from reproduction.parameters import Count, ImportanceName
from splitcredit.prediction_gap.rankings import of_attribution, top_k_mask


@declared("ranking", "k", values=("value", "tied"), METHOD="pg2_greedy", **GLOBAL)
def topk_agreement(
    attributions, data, reference: ImportanceName | None = None, ks: Sequence[Count] = (1, 2, 3)
) -> pd.DataFrame:
    """Compute the share of rows whose first k features are the reference's, as a set.

    gajewski2025, table 2. The reference is by default the first importance; local ones rank by
    absolute values, global ones by their values. One row a greedy ranking and k: ``tied`` is the
    share of the rows in which another feature would have done as well in place k.
    """
    ranked, reference = _rankings.compared(attributions, len(data.X), reference)
    reference_ranking, rows = ranked[reference], []
    for name, greedy in _rankings.greedy(attributions).items():
        ranking, d = of_attribution(greedy), reference_ranking.shape[1]
        for k in ks:
            agrees = (top_k_mask(ranking, k, d) == top_k_mask(reference_ranking, k, d)).all(axis=1)
            tied = greedy.parameters["tied_by_place"][k - 1]
            rows.append((_rankings.label(name), k, agrees.mean(), tied))
    return pd.DataFrame(rows, columns=["ranking", "k", "value", "tied"])


@declared("ranking", "quantity", "k", "arithmetic", "sigma", IMPORTANCES=1, METHOD="pg2_greedy")
def ranking_changes(attributions) -> pd.DataFrame:
    """Compare greedy rankings of the same noise that were computed in different arithmetic.

    Those of a sigma, a kind of noise and an output are compared with the first of them. One row a
    greedy ranking, place k and quantity, which is a share of the ``n_rows`` rows:

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
