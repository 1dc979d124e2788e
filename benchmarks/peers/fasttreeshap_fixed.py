"""A maintained fork of FastTreeSHAP, algorithm v1 or v2, for the boosters."""

import numpy as np
from fasttreeshap_fixed import TreeExplainer

PACKAGE = "fasttreeshap-fixed"
THREADS = True


def construct(model, X, measure, variant, background, threads):
    """The explainer of one algorithm; v2 makes its tables anew in each call of `explain`."""
    return TreeExplainer(model, algorithm=variant, n_jobs=threads)


def explain(explainer, X):
    """Attributions of the rows."""
    return explainer.shap_values(X, check_additivity=False)


def arranged(raw):
    """For two classes the second is explained by margin, as by LightGBM itself."""
    return np.asarray(raw[-1] if isinstance(raw, list) else raw)[:, :, None]
