"""Compute tail probabilities of perturbed values at the thresholds of a forest."""

from __future__ import annotations

from functools import partial

import numpy as np

from splitcredit.kernels.error_free import two_difference, two_product
from splitcredit.kernels.prediction_gap.normal_tails import normal_tails
from splitcredit.prediction_gap.perturbations import (
    Empirical,
    FeatureWise,
    Marginal,
    Normal,
    Uniform,
)

# Probabilities that are computed together: intermediate arrays stay in the caches.
AT_ONCE = 1 << 14


def tails(cuts, forest, perturbation, X, wanted, scales) -> np.ndarray:
    """Return the probability that a perturbed value crosses each cut of `gap_forest.Cuts`.

    It is the small one of the two probabilities at a cut if the noise has median 0, so nothing is
    lost by keeping it alone. Features that are not `wanted`, and the two cuts at infinity, have 0.
    Values of noise with a density are compared as real numbers, others cast to `x_dtype`.
    """
    if isinstance(perturbation, FeatureWise):
        return _by_feature(cuts, forest, perturbation.noises, X, wanted, scales)
    if isinstance(perturbation, Normal):
        moved = wanted & (scales > 0)
        return normal_tails(cuts, X.astype(np.float64), moved, scales, perturbation.scale)
    shares = _shares(cuts, forest, perturbation) if isinstance(perturbation, Marginal) else None
    chances = partial(_chances, cuts, forest, perturbation, shares)
    out, x = np.zeros((len(X), len(cuts.lowered))), X.astype(np.float64)
    n_cuts = np.diff(cuts.first)
    for j in np.flatnonzero(scales * n_cuts > 0):
        rows, of_j = np.flatnonzero(wanted[:, j]), slice(cuts.first[j], cuts.first[j + 1])
        step = max(1, AT_ONCE // n_cuts[j])
        for i in range(0, len(rows), step):
            part = rows[i : i + step]
            out[part, of_j] = chances(x[part, j][:, None], of_j, scales[j])
    return out


def _chances(cuts, forest, perturbation, shares, x, k, scale):
    """Return the probabilities of values x, a column, across the cuts k of their feature."""
    left = x.astype(forest.x_dtype) <= cuts.lowered[k]
    if shares is not None:
        return np.where(left, shares[1][k], shares[0][k])
    if isinstance(perturbation, Empirical):
        at_most = _counted(perturbation, x, scale, cuts.lowered[k], forest.x_dtype)
        values = len(perturbation.values)
        return np.where(left, values - at_most, at_most) / values
    if isinstance(perturbation, Uniform):
        return _within(perturbation.half_width, cuts.threshold[k], x, scale, left)
    with np.errstate(over="ignore"):
        z = (cuts.threshold[k] - x) / scale
    return _beyond(perturbation, z, left, forest.strict)


def _by_feature(cuts, forest, noises, X, wanted, scales):
    """Return the same as `tails` by each feature's own noise; equal noises go together."""
    out = np.zeros((len(X), len(cuts.lowered)))
    for noise in {id(noise): noise for noise in noises}.values():
        has_noise = np.array([other is noise for other in noises])
        out += tails(cuts, forest, noise, X, wanted & has_noise, scales)
    return out


def _beyond(noise, z, left, strict):
    """Return P(Z goes right of z) for rows that are left of it, else P(Z goes left of z)."""
    goes_left = noise.probability_below if strict else noise.probability_at_most
    goes_right = noise.probability_at_least if strict else noise.probability_above
    chance = np.empty(z.shape)
    chance[left], chance[~left] = goes_right(z[left]), goes_left(z[~left])
    return chance


def _within(half_width, threshold, x, scale, left):
    """Return the probability of uniform noise beyond each threshold, exact at its edge.

    Rounding of (threshold - x) / scale would be all that is left there, so that it is a sum of two
    numbers: the rounded one and, with errors far below, what rounding took.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        far, far_rest = two_difference.py_func(threshold, x)
        z = far / scale
        product, product_rest = two_product.py_func(z, scale)
        rest = ((far - product) - product_rest + far_rest) / scale
    # Numbers too large to split lie far outside.
    rest = np.where(np.isfinite(rest), rest, 0.0)
    away = np.where(left, -1.0, 1.0)
    inside = (half_width + away * z) + away * rest
    return np.clip(inside, 0.0, 2.0 * half_width) / (2.0 * half_width)


def _shares(cuts, forest, marginal):
    """Return the shares of a feature's values that go left and right at each cut."""
    with np.errstate(over="ignore"):
        values = np.sort(marginal.rows.astype(forest.x_dtype), axis=0)
    at_most = np.zeros(len(cuts.feature), np.int64)
    for j in np.unique(cuts.feature):
        of_j = slice(cuts.first[j], cuts.first[j + 1])
        at_most[of_j] = np.searchsorted(values[:, j], cuts.lowered[of_j], side="right")
    return at_most / len(values), (len(values) - at_most) / len(values)


def _counted(noise, x, scale, lowered, x_dtype):
    """Count the values of the sample that send a row left, as the model itself decides."""
    atoms = noise.atoms

    def goes_left(k):
        with np.errstate(over="ignore"):
            return (x + scale * atoms[k]).astype(x_dtype) <= lowered

    with np.errstate(over="ignore"):
        k = np.searchsorted(atoms, (lowered - x) / scale, side="right")
    while True:  # rounding puts the first guess off by an atom or so
        up = (k < len(atoms)) & goes_left(np.minimum(k, len(atoms) - 1))
        down = (k > 0) & ~goes_left(np.maximum(k - 1, 0))
        if not (up | down).any():
            return noise.counts[k]
        k = k + up - down
