"""Global scores of any measure."""

from __future__ import annotations

import numpy as np

from splitcredit.attribution import Importance


def global_scores(found) -> tuple[np.ndarray, np.ndarray]:
    """Scores of all features and their standard errors, float64 (n_features,).

    Those of an Importance are its values; those of an Attribution with one output are mean absolute
    values over the rows, with errors of 0, as nothing is sampled.

    Raises
    ------
    ValueError
        If an Attribution has several outputs.
    """
    if isinstance(found, Importance):
        return found.values, found.standard_error
    if found.values.shape[2] != 1:
        raise ValueError(
            f"{found.method} explains {found.values.shape[2]} outputs, and a global score is of "
            "one: set output: predicted, or choose one"
        )
    values = np.abs(found.values[:, :, 0]).mean(axis=0)
    return values, np.zeros_like(values)
