"""Global scores of any measure."""

from __future__ import annotations

import numpy as np

from splitcredit.attribution import Importance


def global_scores(computed) -> tuple[np.ndarray, np.ndarray]:
    """Scores of all features and their standard errors, float64 (n_features,).

    Those of an Importance are its values; those of an Attribution with one output are mean absolute
    values over the rows, with errors of 0, as nothing is sampled.
    """
    if isinstance(computed, Importance):
        return computed.values, computed.standard_error
    values = np.abs(computed.values[:, :, 0]).mean(axis=0)
    return values, np.zeros_like(values)
