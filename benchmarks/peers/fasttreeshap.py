"""LinkedIn's FastTreeSHAP, algorithm v1 or v2; the release of 2023, for scikit-learn."""

import numpy as np
from fasttreeshap import TreeExplainer

PACKAGE = "fasttreeshap"
THREADS = True


def construct(model, X, measure, variant, background, threads):
    """The explainer of one algorithm; v2 makes its tables anew in each call of `explain`."""
    return TreeExplainer(model, algorithm=variant, n_jobs=threads)


def explain(explainer, X):
    """Attributions of the rows."""
    return explainer.shap_values(X, check_additivity=False)


def arranged(raw):
    """One array a class, or a single one."""
    return np.stack(raw, axis=2) if isinstance(raw, list) else raw[:, :, None]
