"""Algorithm 1 as printed, to count where it divides 0 by 0."""

import math

import numpy as np


def undefined_share(forest, x, chosen, sigma, as_printed) -> float:
    """Share of the pairs of leaves whose probability line 17 makes NaN."""
    low = np.full(forest.n_features, math.inf if as_printed else -math.inf)
    state = low, np.full(forest.n_features, math.inf), np.ones(forest.n_features)
    pair_counts = [0, 0]

    def factor(q):
        if chosen[q]:
            probabilities = [_normal((end[q] - float(x[q])) / sigma) for end in state[:2]]
            return probabilities[1] - probabilities[0]
        return float(state[0][q] <= x[q] < state[1][q])

    def visit(k, prod, is_inner):
        q = forest.feature[k]
        if q < 0:
            if is_inner:
                pair_counts[0] += 1
                pair_counts[1] += math.isnan(prod)
            else:
                visit_all(prod, True)
            return
        for child, side in ((forest.left[k], 1), (forest.right[k], 0)):
            saved = [values[q] for values in state]
            nearer = min if side else max
            state[side][q] = nearer(saved[side], forest.threshold[k])
            state[2][q] = factor(q)
            # Line 17.
            visit(child, np.float64(prod) / saved[2] * state[2][q], is_inner)
            for values, before in zip(state, saved, strict=True):
                values[q] = before

    def visit_all(prod, is_inner):
        for root in forest.tree_offsets[:-1]:
            visit(int(root), prod, is_inner)

    with np.errstate(all="ignore"):
        visit_all(1.0, False)
    return pair_counts[1] / pair_counts[0]


def _normal(z):
    return 0.5 * math.erfc(-z / math.sqrt(2))
