"""Trees that test the same two features in either order: the same function, at another depth."""

from itertools import permutations

import numpy as np

from splitcredit.measures import saabas, tree_shap
from splitcredit.models.forest import LEAF, Forest

EXPLAINED = {"CFC": saabas.attribute, "SHAP": tree_shap.attribute}


def halves(X) -> np.ndarray:
    """Each column cut in two, 0 and 1, as evenly as its values allow; (n_samples, n_features)."""
    cut = np.empty(X.shape)
    for j, column in enumerate(X.T):
        values = np.unique(column)[:-1]
        shares = np.array([(column > v).mean() for v in values])
        cut[:, j] = column > values[np.abs(shares - 0.5).argmin()]
    return cut


def tree(X, y, first: int, second: int, names) -> Forest:
    """The tree that tests one column at the root and another below, with the means of y."""
    one, two = X[:, first] == 1, X[:, second] == 1
    nodes = [one | True, ~one, one, ~one & ~two, ~one & two, one & ~two, one & two]
    leaves = [LEAF] * 4
    return Forest(
        feature=[first, second, second, *leaves],
        threshold=[0.5] * 3 + [0.0] * 4,
        left=[1, 3, 5, *leaves],
        right=[2, 4, 6, *leaves],
        value=[[y[rows].mean()] for rows in nodes],
        cover=[rows.sum() for rows in nodes],
        tree_offsets=[0, 7],
        feature_names=names,
        output_names=["P(y = 1)"],
    )


def means(X, y, names) -> list[dict]:
    """Mean absolute scores of every pair of features in both orders."""
    X, rows = halves(X), []
    for first, second in permutations(range(X.shape[1]), 2):
        forest = tree(X, y, first, second, names)
        for name, explain in EXPLAINED.items():
            mean = np.abs(explain(forest, X).values[:, :, 0]).mean(axis=0)
            for depth, (feature, other) in enumerate(((first, second), (second, first))):
                key = {"quantity": f"mean |{name}|", "depth": depth, "feature": names[feature]}
                rows.append({**key, "other": names[other], "value": mean[feature]})
    return rows
