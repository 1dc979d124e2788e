"""Slow twin of the upper bound of PGI^2 of all orders, from the formulas in `largest_pgi2`."""

from __future__ import annotations

import math
from itertools import combinations, permutations, product

import numpy as np
from scipy.stats import norm

import twins
from splitcredit.prediction_gap.exact_gap import pg2

INF = math.inf


def leaves_of_trees(forest):
    """Of each tree, its leaves as (value, {feature: (low, high)}); x is inside if low < x <= high.

    Features whose interval is the whole line are left out. Values are what the leaf adds to the
    prediction.
    """
    trees = []
    for root in forest.tree_offsets[:-1]:
        leaves = []
        for leaf, path in twins.ways(forest, root):
            box = {}
            for k, left, _ in path:
                j, t = int(forest.feature[k]), float(forest.threshold[k])
                low, high = box.get(j, (-INF, INF))
                box[j] = (low, min(high, t)) if left else (max(low, t), high)
            leaves.append((twins.aggregated(forest, float(forest.value[leaf, 0])), box))
        trees.append(leaves)
    return trees


class Row:
    """One row with normal noise of some scale."""

    def __init__(self, forest, x, scale):
        self.forest, self.x, self.scale = forest, x, scale
        self.trees = leaves_of_trees(forest)

    def inside(self, leaf, j):
        """Whether the row itself is in the interval of a leaf."""
        low, high = leaf[1].get(j, (-INF, INF))
        return low < self.x[j] <= high

    def chance(self, j, *leaves):
        """Chance that the perturbed value is in the intervals of all these leaves."""
        intervals = [leaf[1].get(j, (-INF, INF)) for leaf in leaves]
        low, high = max(i[0] for i in intervals), min(i[1] for i in intervals)
        if low >= high:
            return 0.0
        a, b = ((end - self.x[j]) / self.scale for end in (low, high))
        return norm.sf(a) - norm.sf(b) if a > 0 else norm.cdf(b) - norm.cdf(a)

    def shared(self, j, u, w):
        """m_j(u, w)."""
        return 1.0 if self.inside(u, j) and self.inside(w, j) else self.chance(j, u, w)

    def worth_together(self, rest):
        """What any of the features `rest` are worth, by trees; of one feature this is c_i."""
        searched = [j for j in range(self.forest.n_features) if j not in rest]
        total = 0.0
        for leaves in self.trees:
            squares = []
            for u in leaves:
                for w in leaves:
                    left_interval = [j for j in rest if not self.inside(w, j)]
                    if left_interval and all(self.inside(u, j) for j in rest):
                        reached = math.prod(self.chance(j, w) for j in left_interval)
                        reached_together = math.prod(self.shared(j, u, w) for j in searched)
                        squares.append((u[0] - w[0]) ** 2 * reached * reached_together)
            total += math.sqrt(math.fsum(squares))
        return total


def gaps_of_all_sets(forest, x, scale):
    """PG^2 of every set of features."""
    d = forest.n_features
    masks = np.array(list(product([False, True], repeat=d)))
    gaps = pg2(forest, np.tile(x, (len(masks), 1)), masks, scale=scale)
    return {frozenset(np.flatnonzero(m).tolist()): g for m, g in zip(masks, gaps, strict=True)}


def largest_pgi2(forest, x, scale, searched):
    """Bound of one row: the best of all orders, each measured by V and the largest of its size."""
    row, gaps, d = Row(forest, x, scale), gaps_of_all_sets(forest, x, scale), forest.n_features
    worth = [row.worth_together([j]) for j in range(d)]
    by_worth = sorted(range(d), key=lambda j: (-worth[j], j))
    searched_features, rest = frozenset(by_worth[:searched]), by_worth[searched:]
    together = row.worth_together(rest)
    worth_of_more = [min(sum(worth[j] for j in rest[:k]), together) for k in range(len(rest) + 1)]
    limit = [INF] * (d + 1)
    for k in range(1, d + 1):
        if math.comb(d, k) <= 2 ** min(searched, d) and any(worth_of_more):
            limit[k] = max(gaps[frozenset(features)] for features in combinations(range(d), k))
    best = 0.0
    for order in permutations(range(d)):
        values = []
        for k in range(1, d + 1):
            first = searched_features.intersection(order[:k])
            value = (math.sqrt(gaps[first]) + worth_of_more[k - len(first)]) ** 2
            values.append(min(value, limit[k]))
        best = max(best, math.fsum(values) / d)
    return best
