"""What each measure is: its method and parameters, and how its work grows."""

import json

import numpy as np
import pandas as pd

from splitcredit.results.attribution import Importance

KEYS = ("importance",)
VALUES = ("steps",)
IMPORTANCES = 1

# Method -> steps for a row, the leading term. T trees of L leaves and depth D on d features; n rows
# are explained, and b are the background. A global measure's steps are divided among the rows.
STEPS = {
    "random_order": lambda s, p: s["d"] / s["n"],
    "mdi": lambda s, p: 2 * s["T"] * s["L"] / s["n"],
    "splits": lambda s, p: 2 * s["T"] * s["L"] / s["n"],
    "saabas": lambda s, p: s["T"] * s["D"],
    "local_mdi": lambda s, p: s["T"] * s["D"],
    "mdi_oob": lambda s, p: s["T"] * s["D"],
    "ufi": lambda s, p: s["T"] * s["D"],
    "penalized_gini": lambda s, p: s["T"] * s["D"],
    "mda": lambda s, p: s["d"] * s["T"] * s["D"],
    "permutation": lambda s, p: p["n_repeats"] * s["d"] * s["T"] * s["D"],
    "air": lambda s, p: 2 * s["d"] * s["T"] * s["D"],
    "tree_shap": lambda s, p: s["T"] * s["L"] * s["D"] ** 2,
    "oob_attributions": lambda s, p: s["T"] * s["L"] * s["D"] ** 2,
    "tree_shap_interventional": lambda s, p: s["T"] * s["L"] * s["b"],
    "sage": lambda s, p: p["n_permutations"] * s["d"] * s["b"] * s["T"] * s["D"] / s["n"],
    "rank": lambda s, p: s["d"] ** 2 / 2 * (s["T"] * s["L"]) ** 2,
}


def compute(attributions, forest, data, training) -> pd.DataFrame:
    """Method, parameters and steps of every measure.

    Parameters
    ----------
    attributions : dict of str to Attribution or Importance
    forest : Forest
    data, training : Dataset
        Rows that are explained, and the background.

    Returns
    -------
    DataFrame
        One row a measure: ``importance``; ``method``; ``parameters``, JSON; ``is_global``;
        ``steps`` for a row, the leading term, NaN for a method that `STEPS` does not list.
    """
    is_leaf, n_trees = forest.feature < 0, len(forest.tree_offsets) - 1
    sizes = {"T": n_trees, "L": is_leaf.sum() / n_trees, "d": forest.n_features}
    sizes |= {"D": _depths(forest)[is_leaf].mean(), "n": len(data.X), "b": len(training.X)}
    rows = []
    for name, computed in attributions.items():
        parameters, steps = computed.parameters, STEPS.get(computed.method)
        row = {"importance": name, "method": computed.method}
        row["parameters"] = json.dumps(parameters, default=list)
        row["is_global"] = isinstance(computed, Importance)
        rows.append(row | {"steps": steps(sizes, parameters) if steps else np.nan})
    return pd.DataFrame(rows)


def _depths(forest):
    depth = np.zeros(len(forest.feature))
    for node in np.flatnonzero(forest.feature >= 0):
        depth[[forest.left[node], forest.right[node]]] = depth[node] + 1
    return depth
