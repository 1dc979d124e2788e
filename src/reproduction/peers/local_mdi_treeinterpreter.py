"""Local MDI by treeinterpreter: the method of Saabas, on impurities in place of predictions.

Local MDI adds up the decreases of the impurity along the path of a row (sutera2021, Eq. 8), Saabas
the changes of the prediction. So treeinterpreter computes local MDI if the values of the nodes are
their impurities.
"""

import copy

import numpy as np

from reproduction.peers import _results

REQUIRES = ("model", "forest", "classifier")


def explain(model, forest, X):
    """Decreases of the impurity along the path of each row, mean over the trees.

    The fitted forest of scikit-learn is copied, and only the names are those of `forest`.
    """
    from treeinterpreter import treeinterpreter

    copied = copy.deepcopy(model)
    largest = max(tree.tree_.impurity.max() for tree in copied.estimators_)
    for tree in copied.estimators_:
        # treeinterpreter divides the values of a node by their sum, so they must add up to 1.
        share = tree.tree_.impurity / largest
        tree.tree_.value[...] = 0
        tree.tree_.value[:, 0, 0] = share
        tree.tree_.value[:, 0, 1] = 1 - share
    _, _, values = treeinterpreter.predict(copied, np.asarray(X, np.float32))
    decreases = -largest * values[:, :, :1]
    return _results.attribution(
        decreases, forest, "local_mdi_treeinterpreter", 0, "treeinterpreter", "float64"
    )
