"""Share of an outcome's variance between the groups of a clustering (lundberg2017, figure 4)."""

from collections.abc import Sequence
from typing import Literal

import numpy as np
import pandas as pd

from reproduction.metrics import _dendrogram, _local
from reproduction.parameters import Count, ImportanceName, Linkage, Seed

KEYS = ("clustered", "linkage", "outcome", "statistic", "n_groups")
VALUES = ("value",)
SCORES = "local"

# Numbers of groups at which curves are kept: ten a decade.
GROUPS = (1, 2, 3, 4, 5, 6, 8, 10, 13, 16, 20, 25, 32, 40, 50, 63, 79)
GROUPS += (100, 126, 158, 200, 251, 316, 398, 501, 631, 794, 1000)
RANDOM = ("features", "labels")
# Without them there are the clusters of the features, nothing at random, and the area alone.
MAY_BE_EMPTY = ("importances", "random", "groups")


def compute(
    attributions,
    data,
    importances: list[ImportanceName] | None = None,
    linkages: Sequence[Linkage] = _dendrogram.LINKAGES,
    random: Sequence[Literal["features", "labels"]] = RANDOM,
    outcomes: Sequence[Literal["label"] | ImportanceName] = ("label",),
    groups: Sequence[Count] = GROUPS,
    random_state: Seed = 0,
) -> pd.DataFrame:
    """R2 of the outcome against the number of groups: rows clustered by attributions or features.

    Clusterings are agglomerative, by Euclidean distance. Beside the attributions are clustered
    ``unsupervised``: the standardized features; and at random ``random_features``: normal noise
    of their shape, clustered in the same way, and ``random_labels``: the groups of
    ``unsupervised``, with the outcomes permuted among the rows.

    Parameters
    ----------
    attributions : dict of str to Attribution, each with one output
    data : Dataset
    importances : list of str, optional
        Which measures; by default all that explain rows.
    linkages : list of str
        As scipy calls them.
    random : list of {"features", "labels"}
    outcomes : list of str
        ``label``: the target. The name of a measure that explains predictions: the prediction,
        which is its baseline plus its sum.
    groups : list of int
        Numbers of groups whose R2 are kept; those above the number of rows are left out, which
        is added.
    random_state : int

    Returns
    -------
    DataFrame
        One row a linkage, clustering, outcome and number of groups: ``linkage``, ``clustered``,
        ``outcome``, ``statistic``, ``n_groups``, ``value``. Statistics: ``r2``, and ``area``, the
        mean of R2 over all numbers of groups from 1 to that of rows, without ``n_groups``.

    Raises
    ------
    ValueError
        If there is no such measure or option, a measure has several outputs, or an outcome is
        constant.
    """
    if not set(random) <= set(RANDOM):
        raise ValueError(f"random={list(random)}: expected some of {', '.join(RANDOM)}")
    generator = np.random.default_rng(random_state)
    noise, order = generator.standard_normal(data.X.shape), generator.permutation(len(data.y))
    tables = {
        name: _local.local_scores(attributions, name)
        for name in _local.local_names(attributions, importances, at_least=0)
    }
    tables["unsupervised"] = _dendrogram.standardized(data.X)
    if "features" in random:
        tables["random_features"] = noise
    targets = {name: _outcome(attributions, data, name) for name in outcomes}
    frames = []
    for linkage in linkages:
        trees = {name: _dendrogram.merges(values, linkage) for name, values in tables.items()}
        curves = {
            (name, outcome): _dendrogram.r2_by_groups(tree, y)
            for name, tree in trees.items()
            for outcome, y in targets.items()
        }
        if "labels" in random:
            for outcome, y in targets.items():
                curve = _dendrogram.r2_by_groups(trees["unsupervised"], y[order])
                curves["random_labels", outcome] = curve
        frames += [_frame(curve, groups, linkage, *key) for key, curve in curves.items()]
    return pd.concat(frames, ignore_index=True)


def _outcome(attributions, data, name):
    if name == "label":
        return np.asarray(data.y, dtype=np.float64)
    _local.local_scores(attributions, name)
    return attributions[name].totals()[:, 0]


def _frame(curve, groups, linkage, clustered, outcome):
    """Rows of one curve: R2 at the chosen numbers of groups, and the mean of all."""
    n = len(curve)
    kept_groups = sorted({g for g in groups if g <= n} | {n})
    columns = {"linkage": linkage, "clustered": clustered, "outcome": outcome}
    columns["statistic"] = ["r2"] * len(kept_groups) + ["area"]
    columns["n_groups"] = pd.array([*kept_groups, None], dtype="Int64")
    columns["value"] = [*curve[np.array(kept_groups) - 1], curve.mean()]
    return pd.DataFrame(columns)
