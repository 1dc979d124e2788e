"""Shared by the metrics of clusterings: merge lists, and R2 along them."""

import numpy as np

LINKAGES = ("average", "complete", "ward")


def merges(values, linkage: str) -> np.ndarray:
    """Merge list of an agglomerative clustering of rows by Euclidean distance.

    Parameters
    ----------
    values : float64 (n_samples, n_features)
    linkage : str
        As scipy calls it: average, complete, ward, ...

    Returns
    -------
    float64 (n_samples - 1, 4)
        As `scipy.cluster.hierarchy.linkage` gives it: the two groups (merge i makes group
        n_samples + i), their distance, and the size.

    Raises
    ------
    ValueError
        If there is no such linkage.
    """
    from scipy.cluster import hierarchy

    return hierarchy.linkage(values, linkage)


def r2_by_groups(merges, y) -> np.ndarray:
    """Share of the variance of `y` between the groups, for every number of groups.

    One pass: merging groups a and b raises the sum of squares within groups by
    d^2 n_a n_b / (n_a + n_b), where d is the difference of their means.

    Parameters
    ----------
    merges : float64 (n_samples - 1, 4)
    y : (n_samples,)

    Returns
    -------
    float64 (n_samples,)
        Of 1, 2, ... n_samples groups.

    Raises
    ------
    ValueError
        If `y` is constant.
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


def standardized(X) -> np.ndarray:
    """Features less their means, over their standard deviations; missing values are the mean."""
    scale = np.nanstd(X, axis=0)
    centered = np.nan_to_num(X - np.nanmean(X, axis=0))
    return centered / np.where(scale > 0, scale, 1.0)
