"""Scores of rows under any local measure."""

from collections.abc import Sequence

import numpy as np

from splitcredit.results.attribution import Attribution


def local_scores(attributions, name: str) -> np.ndarray:
    """Scores of one measure, float64 (n_samples, n_features).

    Raises
    ------
    ValueError
        If there is no such measure, it explains no rows, or several outputs.
    """
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


def local_names(attributions, chosen: Sequence[str] | None, at_least: int = 1) -> list[str]:
    """The measures chosen; without a choice all that explain rows, one output each.

    Raises
    ------
    ValueError
        If there are fewer than `at_least`.
    """
    if chosen is not None:
        return list(chosen)
    names = [
        name for name, attribution in attributions.items() if _has_one_number_a_row(attribution)
    ]
    if len(names) < at_least:
        raise ValueError(
            f"of the importances {', '.join(attributions) or 'none'} {len(names)} explain rows by "
            f"one output, and this metric needs {at_least}: add local measures, with "
            "output: predicted"
        )
    return names


def _has_one_number_a_row(attribution):
    return isinstance(attribution, Attribution) and attribution.values.shape[2] == 1
