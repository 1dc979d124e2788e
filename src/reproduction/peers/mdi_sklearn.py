"""MDI by scikit-learn."""

import numpy as np

from reproduction.peers import _results

REQUIRES = ("model", "forest")


def importance(model, forest):
    """Mean decrease of impurity over the trees, not divided by its sum.

    Parameters
    ----------
    model : fitted forest of scikit-learn
    forest : Forest
        The same, converted; only its names are taken.
    """
    trees = [t.tree_.compute_feature_importances(normalize=False) for t in model.estimators_]
    return _results.importance(np.mean(trees, axis=0), forest, "mdi_sklearn", "scikit-learn")
