"""Permutation judged by the loss that models are fitted by: the log loss, or the squared error."""

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform
from scipy.stats import rankdata

from reproduction.parameters import Count, Positive, Seed
from splitcredit.results.attribution import Importance

# Probabilities of averaged trees may be 0: they are moved this far from 0 and 1.
_LEAST = 0.01


def importance(
    forest,
    X,
    y,
    background,
    n_repeats: Count = 5,
    groups_above: Positive | None = None,
    random_state: Seed = 0,
) -> Importance:
    """Measure the mean rise of the loss if a feature is permuted, and its error over the rows.

    With `groups_above`, features whose mean rank correlation in the background is above are
    permuted together, and each has the value of its group.
    """
    rng = np.random.default_rng(random_state)
    group = groups(background, groups_above) if groups_above else np.arange(X.shape[1])
    before, rises = losses(forest, X, y), np.empty((group.max() + 1, len(X)))
    for g in range(len(rises)):
        changed = np.repeat(X[None], n_repeats, axis=0)
        for rows in changed:
            rows[:, group == g] = X[rng.permutation(len(X))][:, group == g]
        after = losses(forest, changed.reshape(-1, X.shape[1]), np.tile(y, n_repeats))
        rises[g] = after.reshape(n_repeats, -1).mean(axis=0) - before
    error = rises.std(axis=1, ddof=1) / np.sqrt(len(X))
    return Importance(
        rises.mean(axis=1)[group],
        forest.feature_names,
        "permutation_loss",
        standard_error=error[group],
    )


def groups(X, above) -> np.ndarray:
    """Number the group of each feature, from 0: average linkage by 1 - |Spearman's correlation|."""
    correlations = np.abs(np.nan_to_num(np.corrcoef(rankdata(X, axis=0), rowvar=False)))
    np.fill_diagonal(correlations, 1.0)
    tree = linkage(squareform(1 - correlations, checks=False), "average")
    return fcluster(tree, 1 - above, "distance") - 1


def losses(forest, X, y) -> np.ndarray:
    """Compute the loss of every row: the log loss of two classes in nats, or the squared error."""
    predicted = forest.predict(X)
    if y.dtype.kind != "i":
        return (predicted[:, 0] - y) ** 2
    if forest.aggregate == "mean":
        share = predicted[np.arange(len(y)), y]
        return -np.log(np.clip(share, _LEAST, 1 - _LEAST))
    return np.logaddexp(0.0, np.where(y == 1, -1.0, 1.0) * predicted[:, 0])
