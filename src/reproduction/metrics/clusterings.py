"""Agglomerative clusterings of rows by their attributions (lundberg2017, figures 3 and 4).

Distances are Euclidean, and linkages have the names that scipy gives them. ``importances`` are the
measures that are taken, by default all that explain rows by one output.
"""

from collections.abc import Sequence
from typing import Literal

import numpy as np
import pandas as pd
from scipy.cluster import hierarchy

from reproduction.metrics import LOCAL, _scores, declared
from reproduction.parameters import Count, ImportanceName, ImportanceNames, Linkage, Natural, Seed

LINKAGES = ("average", "complete", "ward")
# Numbers of groups at which curves are kept: ten a decade.
GROUPS = (1, 2, 3, 4, 5, 6, 8, 10, 13, 16, 20, 25, 32, 40, 50, 63, 79)
GROUPS += (100, 126, 158, 200, 251, 316, 398, 501, 631, 794, 1000)
RANDOM = ("features", "labels")


@declared("clustered", "sample", **LOCAL)
def cluster_bars(
    attributions,
    data,
    importances: ImportanceNames = None,
    linkage: Linkage = "average",
    largest: Count = 5,
    decimals: Natural = 3,
) -> pd.DataFrame:
    """Attributions of every row as stacked bars, and the dendrogram of the rows by them.

    As small as a figure needs: numbers rounded to `decimals`; bars of their own for the `largest`
    features, by the mean absolute attribution, added up over the measures; the others added up.

    One row a measure and sample: ``clustered``, ``sample``, ``position`` (in the order of the
    leaves), ``label``, ``value`` (the prediction), ``bar_1`` ... (attributions to the largest
    features), ``rest_positive`` and ``rest_negative`` (sums over the others). The row of sample i
    also holds merge i, as in `scipy.cluster.hierarchy.linkage`: ``merge_left``, ``merge_right``,
    ``height``; and ``feature``, the name of the feature of ``bar_i+1``.
    """
    tables = _scores.local_tables(attributions, importances)
    size = sum(np.abs(values).mean(axis=0) for values in tables.values())
    order = np.argsort(-size, kind="stable")
    top, other_features = order[:largest], order[largest:]
    names = [data.feature_names[j] for j in top]
    frames = []
    for name, values in tables.items():
        tree = hierarchy.linkage(values, linkage)
        columns = {"clustered": name, "sample": np.arange(len(values))}
        columns |= {"position": np.argsort(hierarchy.leaves_list(tree)), "label": data.y}
        columns["value"] = attributions[name].totals()[:, 0]
        columns |= {f"bar_{i + 1}": values[:, j] for i, j in enumerate(top)}
        columns["rest_positive"] = np.maximum(values[:, other_features], 0).sum(axis=1)
        columns["rest_negative"] = np.minimum(values[:, other_features], 0).sum(axis=1)
        frame = pd.DataFrame(columns)
        of_merges = {"merge_left": tree[:, 0], "merge_right": tree[:, 1], "height": tree[:, 2]}
        merged = pd.DataFrame(of_merges).astype({"merge_left": "Int64", "merge_right": "Int64"})
        frame = pd.concat([frame, merged], axis=1).round(decimals)
        frames.append(frame.assign(feature=pd.Series(names)))
    return pd.concat(frames, ignore_index=True)


@declared(
    *("clustered", "linkage", "outcome", "statistic", "n_groups"),
    SCORES="local",
    # Without them there are the clusters of the features, nothing random, and the area alone.
    MAY_BE_EMPTY=("importances", "random", "groups"),
)
def clustering_r2(
    attributions,
    data,
    importances: ImportanceNames = None,
    linkages: Sequence[Linkage] = LINKAGES,
    random: Sequence[Literal["features", "labels"]] = RANDOM,
    outcomes: Sequence[Literal["label"] | ImportanceName] = ("label",),
    groups: Sequence[Count] = GROUPS,
    random_state: Seed = 0,
) -> pd.DataFrame:
    """R2 of the outcome against the number of groups: rows clustered by attributions or features.

    Beside the attributions are clustered ``unsupervised``: the standardized features; and at random
    ``random_features``: normal noise of their shape, clustered in the same way, and
    ``random_labels``: the groups of ``unsupervised``, with the outcomes permuted among the rows.

    An outcome is ``label``, the target, or the name of a measure that explains predictions: the
    prediction, which is its baseline plus its sum. `groups` are the numbers of groups whose R2 are
    kept; those above the number of rows are left out, which is added.

    One row a linkage, clustering, outcome and number of groups, with the statistic ``r2``; and one
    without ``n_groups``, with ``area``, the mean of R2 over all numbers from 1 to that of rows.
    """
    if not set(random) <= set(RANDOM):
        raise ValueError(f"random={list(random)}: expected some of {', '.join(RANDOM)}")
    generator = np.random.default_rng(random_state)
    noise, order = generator.standard_normal(data.X.shape), generator.permutation(len(data.y))
    tables = _scores.local_tables(attributions, importances, at_least=0)
    tables["unsupervised"] = standardized(data.X)
    if "features" in random:
        tables["random_features"] = noise
    targets = {name: _outcome(attributions, data, name) for name in outcomes}
    frames = []
    for linkage in linkages:
        trees = {name: hierarchy.linkage(values, linkage) for name, values in tables.items()}
        curves = {
            (name, outcome): r2_by_groups(tree, y)
            for name, tree in trees.items()
            for outcome, y in targets.items()
        }
        if "labels" in random:
            for outcome, y in targets.items():
                curve = r2_by_groups(trees["unsupervised"], y[order])
                curves["random_labels", outcome] = curve
        frames += [_frame(curve, groups, linkage, *key) for key, curve in curves.items()]
    return pd.concat(frames, ignore_index=True)


def standardized(X) -> np.ndarray:
    """Features less their means, over their standard deviations; missing values are the mean."""
    scale = np.nanstd(X, axis=0)
    centered = np.nan_to_num(X - np.nanmean(X, axis=0))
    return centered / np.where(scale > 0, scale, 1.0)


def r2_by_groups(merges, y) -> np.ndarray:
    """Share of the variance of `y` between 1, 2, ... n_samples groups; ValueError without variance.

    One pass over the merges of `scipy.cluster.hierarchy.linkage`: merging groups a and b raises the
    sum of squares within groups by d^2 n_a n_b / (n_a + n_b), d the difference of their means.
    """
    n = len(y)
    mean, size = [*map(float, y)], [1.0] * n
    within_sums = np.zeros(n)
    for step, (a, b) in enumerate(merges[:, :2].astype(int).tolist()):
        total = size[a] + size[b]
        within_sums[n - 2 - step] = (mean[a] - mean[b]) ** 2 * size[a] * size[b] / total
        mean.append((size[a] * mean[a] + size[b] * mean[b]) / total)
        size.append(total)
    within_sums = within_sums[::-1].cumsum()[::-1]
    if within_sums[0] == 0:
        raise ValueError("the outcome is the same in all rows: it has no variance to explain")
    return 1 - within_sums / within_sums[0]


def _outcome(attributions, data, name):
    if name == "label":
        return np.asarray(data.y, dtype=np.float64)
    _scores.local_scores(attributions, name)
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
