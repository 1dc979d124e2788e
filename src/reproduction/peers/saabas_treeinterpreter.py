"""Saabas attributions by treeinterpreter, the package that Saabas wrote."""

import copy
from typing import Literal

import numpy as np

from reproduction.parameters import Natural
from reproduction.peers import _results

REQUIRES = ("model", "scikit-learn", "classifier")


def explain(model, forest, X, output: Literal["predicted"] | Natural = "predicted"):
    """Contributions of the features to the fraction of a class; `forest` gives the names."""
    from treeinterpreter import treeinterpreter

    rows = np.asarray(X, np.float32)
    # treeinterpreter divides the values of the nodes in place.
    _, _, values = treeinterpreter.predict(copy.deepcopy(model), rows)
    return _results.attribution(
        values, forest, "saabas_treeinterpreter", output, "treeinterpreter", "float64", model, rows
    )
