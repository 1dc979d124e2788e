"""Scores of features under any measure, over all rows or of each."""

from collections.abc import Sequence

import numpy as np

from splitcredit.results.attribution import Attribution, Importance


def global_scores(computed) -> tuple[np.ndarray, np.ndarray]:
    """Scores of all features and their standard errors; ValueError if there are several outputs.

    The scores of an Importance are its values. Those of an Attribution are mean absolute values
    over the rows, with errors of 0, as nothing is sampled.
    """
    if isinstance(computed, Importance):
        return computed.values, np.nan_to_num(computed.standard_error)
    if computed.values.shape[2] != 1:
        raise ValueError(
            f"{computed.method} explains {computed.values.shape[2]} outputs, and a global score is "
            "of one: set output: predicted, or choose one"
        )
    values = np.abs(computed.values[:, :, 0]).mean(axis=0)
    return values, np.zeros_like(values)


def local_scores(attributions, name: str) -> np.ndarray:
    """Scores of rows, (n_samples, n_features), of a measure with one output; ValueError."""
    if name not in attributions:
        raise ValueError(
            f"no importances named {name!r} in this run: it has {sorted(attributions)}"
        )
    attribution = attributions[name]
    if not _has_one_number_a_row(attribution):
        raise ValueError(
            f"{name} has values of shape {attribution.values.shape}, and this metric needs one "
            "number a row and feature: use a local measure, and set output: predicted"
        )
    return attribution.values[:, :, 0]


def local_tables(
    attributions, chosen: Sequence[str] | None, at_least: int = 1
) -> dict[str, np.ndarray]:
    """`local_scores` of the measures chosen, by default of all that explain rows by one output."""
    if chosen is None:
        chosen = [name for name, a in attributions.items() if _has_one_number_a_row(a)]
        if len(chosen) < at_least:
            raise ValueError(
                f"of the importances {', '.join(attributions) or 'none'} {len(chosen)} explain "
                f"rows by one output, and this metric needs {at_least}: add local measures, with "
                "output: predicted"
            )
    return {name: local_scores(attributions, name) for name in chosen}


def _has_one_number_a_row(attribution):
    return isinstance(attribution, Attribution) and attribution.values.shape[2] == 1
