"""Slow twin of PG^2 in single precision: the recursion of gajewski2025's program, step by step.

The state is the interval that the way so far leaves to each feature. Every number is a float32, and
every operation is rounded to it.
"""

from __future__ import annotations

import math

import numpy as np

F = np.float32


def below(value, x, sigma):
    """P(x + sigma Z is at most the float32 before `value`), in double precision, rounded once."""
    reached = np.nextafter(F(value), F(-np.inf))
    z = (float(reached) - float(x)) / float(F(sigma))
    return F(0.5 * math.erfc(-z / math.sqrt(2)))


def mass(interval, x, sigma, chosen):
    """Probability of low <= x' < high; without noise whether x itself lies there."""
    low, high = interval
    if not chosen:
        return F(low <= x < high)
    top = F(1) if high == math.inf else below(high, x, sigma)
    bottom = F(0) if low == -math.inf else below(low, x, sigma)
    return max(F(top - bottom), F(0))


def descend(forest, k, state, worth, x, sigma, chosen):
    """Mean of what the leaves below k are worth, by conditional probabilities from k down."""
    if forest.feature[k] < 0:
        return worth(k, state)
    j, t = int(forest.feature[k]), float(forest.threshold[k])
    low, high = state[j]
    mass_here = mass((low, high), x[j], sigma, chosen[j])
    if mass_here == 0:
        return F(0)
    share = F(mass((low, min(high, t)), x[j], sigma, chosen[j]) / mass_here)
    total = F(0)
    if share > 1e-12:
        left = {**state, j: (low, min(high, t))}
        mean_below = descend(forest, forest.left[k], left, worth, x, sigma, chosen)
        total = F(total + F(share * mean_below))
    if 1.0 - float(share) >= 1e-12:
        right = {**state, j: (max(low, t), high)}
        mean_below = descend(forest, forest.right[k], right, worth, x, sigma, chosen)
        total = F(total + F(F(F(1) - share) * mean_below))
    return total


def pg2(forest, x, chosen, sigma):
    """PG^2 of one row and set."""
    x = np.asarray(x, F)
    unrestricted = dict.fromkeys(range(forest.n_features), (-math.inf, math.inf))
    roots = forest.tree_offsets[:-1].tolist()

    def value(k, state=None):
        return F(forest.value[k, 0])

    center = F(0)
    for root in roots:
        k = root
        while forest.feature[k] >= 0:
            goes_left = x[forest.feature[k]] < F(forest.threshold[k])
            k = forest.left[k] if goes_left else forest.right[k]
        center = F(center + value(k))
    base = F(forest.base[0])
    center = F(F(center + base) - base)

    def with_all_trees(k, state):
        prediction = F(0)
        for root in roots:
            prediction = F(prediction + descend(forest, root, state, value, x, sigma, chosen))
        return F(value(k) * F(float(prediction) - 2.0 * float(center)))

    result = F(center * center)
    for root in roots:
        result = F(result + descend(forest, root, unrestricted, with_all_trees, x, sigma, chosen))
    return result


def greedy(forest, x, sigma, order):
    """Ranking of one row, and whether there was a choice in each place.

    `order[k]` names all features; the first of those with the largest gap is taken in place k.
    """
    d, ranking, tied = forest.n_features, [], []
    for place in range(d):
        gaps = {}
        for j in order[place]:
            if j not in ranking:
                mask = np.isin(np.arange(d), [*ranking, j])
                gaps[int(j)] = pg2(forest, x, mask, sigma)
        best = max(gaps, key=gaps.get)
        tied.append(sum(gap == gaps[best] for gap in gaps.values()) > 1)
        ranking.append(best)
    return ranking, tied
