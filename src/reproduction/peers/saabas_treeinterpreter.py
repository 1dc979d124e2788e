"""Saabas attributions by treeinterpreter, the package that Saabas wrote."""

import copy
from typing import Literal

import numpy as np

from reproduction.parameters import Natural
from reproduction.peers import _results

REQUIRES = ("model", "scikit-learn", "classifier")


def explain(model, forest, X, output: Literal["predicted"] | Natural = "predicted"):
    """Contributions of the features to the fraction of a class.

    Parameters
    ----------
    model : fitted forest or tree of scikit-learn, a classifier
        It is copied: treeinterpreter divides the values of the nodes in place.
    forest : Forest
        The same, converted; only its names are taken.
    X : array (n_samples, n_features)
    output : "predicted" or int
        The class that is explained.
    """
    from treeinterpreter import treeinterpreter

    rows = np.asarray(X, np.float32)
    _, _, values = treeinterpreter.predict(copy.deepcopy(model), rows)
    return _results.attribution(
        values, forest, "saabas_treeinterpreter", output, "treeinterpreter", "float64", model, rows
    )
