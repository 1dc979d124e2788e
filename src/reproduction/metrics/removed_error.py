"""Error of models fitted again without the first features of each row (gajewski2025, table 5)."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from reproduction.metrics import _rankings
from reproduction.parameters import ImportanceName, Natural, Seed
from splitcredit.prediction_gap.retraining import removed_predictions, removed_sets, squared_errors

KEYS = ("ranking", "k")
VALUES = ("value", "lead", "low", "high", "standard_error")
IMPORTANCES = 1
SCORES = "global"


def compute(
    attributions,
    data,
    training,
    refit,
    ks: Sequence[Natural],
    reference: ImportanceName | None = None,
    random_state: Seed = 0,
) -> pd.DataFrame:
    """RMSE on the test of models that have not the first k features of the row.

    Parameters
    ----------
    attributions : dict of str to Attribution, each with one output
    data, training : Dataset
        Rows of the test, which are ranked, and those that models are fitted on.
    refit : callable (X, y) -> fitted model
        Called once for each set of features that is removed; rankings and k share the fits.
    reference : str, optional
        The importance that leads are over; by default the first.
    ks : sequence of int
    random_state : int
        Of the bootstrap.

    Returns
    -------
    DataFrame
        One row a ranking and k, in units of the target: ``ranking``, ``k``, ``value``; ``lead``,
        the value minus the reference's, and ``low`` and ``high``, its 95 % bootstrap interval over
        resampled rows; ``standard_error`` of the value, by the spread over the rows (delta method);
        ``n_fits``, the number of models behind the value.

    Raises
    ------
    ValueError
        If there is no such importance, or no feature would be left.
    """
    reference = _rankings.reference_of(attributions, reference)
    ranked, models, errors = _rankings.rankings(attributions, len(data.X), reference), {}, {}
    n, d = data.X.shape
    for k in ks:
        for name, ranking in ranked.items():
            predictions = removed_predictions(
                refit, training.X, training.y, data.X, ranking, k, models
            )
            errors[name, k] = squared_errors(predictions, data.y)
        print(f"removed_error: {len(models)} models fitted up to k={k}", flush=True)
    rows = []
    for (name, k), errors_of_rows in errors.items():
        row = {"ranking": name, "k": k, "value": np.sqrt(errors_of_rows.mean())}
        base = errors[_rankings.label(reference), k]
        row |= _rankings.lead(errors_of_rows, base, "rmse", random_state)
        row["standard_error"] = _rankings.rmse_error(errors_of_rows)
        row["n_fits"] = len(removed_sets(ranked[name], k, n, d))
        rows.append(row)
    return pd.DataFrame(rows)
