"""Global scores of any measure."""

import numpy as np

from splitcredit.results.attribution import Importance


def global_scores(computed) -> tuple[np.ndarray, np.ndarray]:
    """Scores of all features and their standard errors, float64 (n_features,).

    Those of an Importance are its values; those of an Attribution with one output are mean absolute
    values over the rows, with errors of 0, as nothing is sampled.

    Raises
    ------
    ValueError
        If an Attribution has several outputs.
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
