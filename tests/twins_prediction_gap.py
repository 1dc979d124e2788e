"""Slow twins of prediction gaps, exact and sampled, by definition; and the paper's algorithm."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cache
from itertools import pairwise, product

import numpy as np

import twins

# Digits that tails of 1e-70 need, when they are made by taking a number near 1 off 1.
DIGITS = 160


def _in_digits(function):
    """Run with `DIGITS` digits."""

    def wrapped(*arguments):
        with localcontext(prec=DIGITS):
            return function(*arguments)

    return wrapped


@cache
@_in_digits
def normal_below(z: Decimal) -> Decimal:
    """P(Z < z) of a standard normal: exp(-z^2 / 2) (z + z^3 / 3 + z^5 / (3 5) + ...)."""
    if abs(z) > 40:
        return Decimal(int(z > 0))
    term = total = z
    n = 1
    while abs(term) > Decimal(10) ** -DIGITS:
        n += 2
        term *= z * z / n
        total += term
    return Decimal("0.5") + total * (-z * z / 2).exp() / (2 * _pi()).sqrt()


@cache
@_in_digits
def _pi() -> Decimal:
    """Machin's formula."""

    def arctan_of_inverse(n):
        power, total, k = Decimal(1) / n, Decimal(0), 0
        while power > Decimal(10) ** -(DIGITS + 5):
            total += (-1) ** k * power / (2 * k + 1)
            power, k = power / (n * n), k + 1
        return total

    return 4 * (4 * arctan_of_inverse(5) - arctan_of_inverse(239))


@cache
@_in_digits
def laplace_below(z: Decimal) -> Decimal:
    """P(Z < z) of density exp(-|z|) / 2."""
    return z.exp() / 2 if z < 0 else 1 - (-z).exp() / 2


def uniform_below(half_width):
    """P(Z < z) of a uniform on (-half_width, half_width)."""
    a = Decimal(half_width)
    return _in_digits(lambda z: (min(max(z, -a), a) + a) / (2 * a))


def trees_at(forest, row, output, goes_left) -> list[Fraction]:
    """Value of every tree; `goes_left(k, row)` decides at node k."""
    values = []
    for k in forest.tree_offsets[:-1]:
        while forest.feature[k] >= 0:
            k = forest.left[k] if goes_left(k, row) else forest.right[k]
        values.append(twins.aggregated(forest, Fraction(float(forest.value[k, output]))))
    return values


@_in_digits
def from_outcomes(forest, x, output, outcomes, goes_left) -> tuple[float, float]:
    """E[(f(x) - f(x'))^2], and E[(sum over the trees of their absolute differences)^2].

    `outcomes` are pairs of what happens and its probability.
    """
    at_x = trees_at(forest, x, output, lambda k, row: twins.goes_left(forest, k, row))
    gap = size = Decimal(0)
    for outcome, chance in outcomes:
        at_outcome = trees_at(forest, outcome, output, goes_left)
        steps = [a - b for a, b in zip(at_outcome, at_x, strict=True)]
        gap += _decimal(sum(steps) ** 2) * chance
        size += _decimal(sum(abs(s) for s in steps) ** 2) * chance
    return float(gap), float(size)


def _decimal(fraction):
    return Decimal(fraction.numerator) / Decimal(fraction.denominator)


def pg2(forest, x, chosen, below, scales, output=0) -> tuple[float, float]:
    """PG^2 and its size without cancellation, for noise with a density, by elementary intervals.

    `below(z)` is P(Z < z) for a Decimal; thresholds are those of the model, as real numbers.
    """
    x = x.astype(forest.x_dtype).astype(float)
    inner = forest.feature >= 0
    cells = []
    for j in np.flatnonzero(chosen):
        cuts = sorted(set(forest.threshold[inner & (forest.feature == j)].tolist()))
        cells.append((j, cuts, _masses(cuts, float(x[j]), float(scales[j]), below)))

    def outcomes():
        for places in product(*(range(len(cuts) + 1) for _, cuts, _ in cells)):
            chance = Decimal(1)
            for (_, _, masses), place in zip(cells, places, strict=True):
                chance *= masses[place]
            if chance:
                # The cell left of its first cut: everything at or above that goes left.
                tops = {
                    j: cuts[place] if place < len(cuts) else math.inf
                    for (j, cuts, _), place in zip(cells, places, strict=True)
                }
                yield tops, chance

    def goes_left(k, tops):
        j = forest.feature[k]
        return tops[j] <= forest.threshold[k] if j in tops else twins.goes_left(forest, k, x)

    return from_outcomes(forest, x, output, outcomes(), goes_left)


@_in_digits
def _masses(cuts, x, scale, below):
    """Probability of each interval between the cuts."""
    levels = [below((Decimal(t) - Decimal(x)) / Decimal(scale)) for t in cuts]
    levels = [Decimal(0), *levels, Decimal(1)]
    return [b - a for a, b in pairwise(levels)]


def pg2_of_values(forest, x, chosen, values, output=0) -> tuple[float, float]:
    """PG^2 and its size, if each chosen feature takes each of its values equally likely."""
    features = np.flatnonzero(chosen)
    chance = Decimal(1) / math.prod(len(values[j]) for j in features)

    def outcomes():
        for replacements in product(*(values[j] for j in features)):
            row = np.array(x, float)
            row[features] = replacements
            yield row, chance

    return from_outcomes(
        forest, x, output, outcomes(), lambda k, row: twins.goes_left(forest, k, row)
    )


# Sampled gaps, randomizing and retraining.


def gaps(forest, row, features, scale, noise) -> list[float]:
    """f(x') - f(x) for each sample: gajewski2025, Equations (1) and (2).

    `noise` is (n_columns, n_samples); column c is that of the c-th of the sorted features. The row
    is what the model sees, cast, and so are the samples (by `twins.goes_left`).
    """
    row = [float(v) for v in forest.prepare([row])[0]]
    leaves_of_row = [path[-1] for path in twins.paths(forest, row)]
    differences = []
    for i in range(noise.shape[1]):
        perturbed = list(row)
        for c, j in enumerate(sorted(features)):
            perturbed[j] = row[j] + float(scale[j]) * float(noise[c, i])
        leaves = [path[-1] for path in twins.paths(forest, perturbed)]
        pairs = zip(leaves, leaves_of_row, strict=True)
        total = math.fsum(forest.value[a, 0] - forest.value[b, 0] for a, b in pairs)
        differences.append(twins.aggregated(forest, total))
    return differences


def mean_gap(forest, row, features, scale, noise, absolute=False) -> float:
    """Mean of the squared or absolute gaps."""
    differences = gaps(forest, row, features, scale, noise)
    return math.fsum(abs(g) if absolute else g * g for g in differences) / len(differences)


def randomized(forest, row, removed, draws) -> float:
    """Mean prediction with the removed features taken from each of the draws (n, n_features)."""
    predictions = []
    for draw in draws:
        mixed = [draw[j] if j in removed else row[j] for j in range(len(row))]
        predictions.append(twins.predict(forest, np.array([mixed]))[0, 0])
    return math.fsum(predictions) / len(predictions)


def retrained(fit, X_train, y_train, row, removed) -> float:
    """Prediction for one row by a model of its own, fitted without the removed features."""
    remaining = [j for j in range(len(row)) if j not in removed]
    return float(fit(X_train[:, remaining], y_train).predict(np.array([row])[:, remaining])[0])


class Algorithm1:
    """gajewski2025, Algorithm 1, line by line in float64, for normal noise.

    `as_printed` begins with l = infinity (line 1) and lets x = r pass on the left (line 15); else
    both are repaired. Line 17 divides by a factor that may be 0: `not_a_number` counts the pairs
    of leaves whose probability is then NaN.
    """

    def __init__(self, forest, x, chosen, sigma, as_printed):
        self.forest, self.x, self.chosen, self.sigma = forest, x, chosen, sigma
        self.as_printed = as_printed
        self.low = np.full(forest.n_features, np.inf if as_printed else -np.inf)
        self.high = np.full(forest.n_features, np.inf)
        self.factor = np.ones(forest.n_features)
        self.pairs = self.not_a_number = 0
        self.total = np.float64(0.0)
        at_x = [path[-1] for path in twins.paths(forest, x)]
        self.center = float(sum(forest.value[k, 0] for k in at_x))
        with np.errstate(all="ignore"):
            for root in forest.tree_offsets[:-1]:
                self.compute(int(root), None, None, np.float64(1.0), None)

    def cdf(self, z):
        """F of the normal noise."""
        return np.float64(0.5 * math.erfc(-z / self.sigma / math.sqrt(2)))

    def compute(self, v, parent, left, prod, u):
        """Compute-Prob(v, prod, u); `left` says whether v is the left child of its parent."""
        f = self.forest
        if parent is not None:
            q, t = int(f.feature[parent]), float(f.threshold[parent])
            saved = self.low[q], self.high[q], self.factor[q]
            if left:
                self.high[q] = min(self.high[q], t)
            else:
                self.low[q] = max(self.low[q], t)
            self.factor[q] = self.new_factor(q)
            prod = (prod / saved[2]) * self.factor[q]
        if f.feature[v] >= 0:
            self.compute(int(f.left[v]), v, True, prod, u)
            self.compute(int(f.right[v]), v, False, prod, u)
        elif u is None:
            for root in f.tree_offsets[:-1]:
                self.compute(int(root), None, None, prod, v)
        else:
            self.pairs += 1
            self.not_a_number += bool(np.isnan(prod))
            self.total += prod * f.value[u, 0] * f.value[v, 0]
        if parent is not None:
            self.low[q], self.high[q], self.factor[q] = saved

    def new_factor(self, q):
        """Lines 12 to 16."""
        x, low, high = float(self.x[q]), self.low[q], self.high[q]
        if self.chosen[q]:
            return self.cdf(high - x) - self.cdf(low - x)
        row_is_inside = low <= x <= high if self.as_printed else low <= x < high
        return np.float64(row_is_inside)
