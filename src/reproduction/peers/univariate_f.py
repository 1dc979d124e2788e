"""The F statistic of each feature alone: a ranking that needs no model."""

import numpy as np
from sklearn.feature_selection import f_classif, f_regression

from splitcredit.results.attribution import Importance

REQUIRES = ("refit",)


def importance(model, X, y) -> Importance:
    """Compute F of the means by class, or of a linear regression, with ``p_values`` beside it."""
    statistic, p = (f_classif if y.dtype.kind == "i" else f_regression)(X, y)
    names = tuple(f"x{j}" for j in range(X.shape[1]))
    given = {"p_values": np.nan_to_num(p, nan=1.0).tolist()}
    return Importance(np.nan_to_num(statistic), names, "univariate_f", given)
