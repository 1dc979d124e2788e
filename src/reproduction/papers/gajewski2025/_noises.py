"""Kinds of noise for comparing the exact gap with an enumeration: the library's, and plain twins.

The theorem asks only that the perturbations of features are independent of each other.
"""

from decimal import Decimal
from typing import NamedTuple

import numpy as np

from reproduction.papers.gajewski2025 import _enumeration
from splitcredit.prediction_gap.perturbations import (
    Empirical,
    FeatureWise,
    Laplace,
    Marginal,
    Normal,
    Uniform,
)

NORMAL, MIXED = "normal", "feature by feature"
KINDS = (NORMAL, "uniform", "Laplace", "empirical", "marginal", MIXED)
# Half width of uniform noise, in scales; and number of values in a sample.
HALF_WIDTH, VALUES = 2.0, 12


class Noise(NamedTuple):
    """One kind of noise for one row."""

    perturbation: object  # as the library takes it
    scale: np.ndarray  # float64 (n_features,)
    below: list  # of each feature: cut -> P(perturbed value < cut), a Decimal

    def draw(self, rng, x, n) -> np.ndarray:
        """Perturbed rows, float32 (n, n_features); all features move."""
        draws = self.perturbation.draw(rng, (n, len(x)))
        if not isinstance(self.perturbation, Marginal):
            draws = x.astype(np.float64) + self.scale * draws
        return draws.astype(np.float32)


def make(kind, rng, X, x, sigma) -> Noise:
    """Noise of one of `KINDS` for the row x; marginal values are those of the rows X."""
    d = len(x)
    if kind == "marginal":
        probabilities = [_among(values) for values in X.T.astype(np.float32)]
        return Noise(Marginal(X.astype(np.float64)), np.ones(d), probabilities)
    sample = rng.normal(size=VALUES).round(1)
    perturbations = {
        NORMAL: Normal(),
        "uniform": Uniform(HALF_WIDTH),
        "Laplace": Laplace(),
        "empirical": Empirical(sample),
    }
    kinds, scale = [kind] * d, np.full(d, sigma)
    if kind == MIXED:
        kinds = rng.permutation([*perturbations, *perturbations])[:d].tolist()
        scale = sigma * rng.uniform(0.5, 2, size=d)
        perturbations[kind] = FeatureWise(tuple(perturbations[k] for k in kinds))
    below = [_below(k, x[j], scale[j], sample) for j, k in enumerate(kinds)]
    return Noise(perturbations[kind], scale, below)


def _below(kind, x, scale, sample):
    if kind == "empirical":
        return _among((float(x) + scale * sample).astype(np.float32))
    below = {
        NORMAL: _enumeration.normal_below,
        "Laplace": _laplace_below,
        "uniform": _uniform_below,
    }
    return lambda cut: below[kind]((Decimal(cut) - Decimal(float(x))) / Decimal(float(scale)))


def _among(values):
    """Share of equally likely values below a cut."""
    return lambda cut: Decimal(int((values < np.float32(cut)).sum())) / len(values)


def _laplace_below(z: Decimal) -> Decimal:
    return z.exp() / 2 if z < 0 else 1 - (-z).exp() / 2


def _uniform_below(z: Decimal) -> Decimal:
    half_width = Decimal(HALF_WIDTH)
    return (min(max(z, -half_width), half_width) + half_width) / (2 * half_width)
