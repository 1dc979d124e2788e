"""Greedy rankings by the exact prediction gap: one row's search is one thread's."""

from __future__ import annotations

import numpy as np

from splitcredit.kernels.compiled import kernel
from splitcredit.kernels.nodes import as_readonly
from splitcredit.kernels.prediction_gap.exact import Trees, gap, kernel_arrays
from splitcredit.kernels.prediction_gap.leaf_lists import begin_row, workspace


def greedy(
    gap_forest, X, tails, tolerance, order, top
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rankings by the largest PG^2 of the features so far and one more.

    Parameters
    ----------
    gap_forest : GapForest
    X : float64 (n_samples, n_features), without NaN
    tails : float64 (n_samples, n_cuts + 2); see `exact.gaps`
    tolerance : float
        Gaps that are less than the largest by at most this part of it are equal to it.
    order : int64 (n_features, n_features)
        Row k: the features in the order in which equal ones are taken in place k.
    top : int
        Places to fill.

    Returns
    -------
    rankings : int64 (n_samples, top)
    gaps : float64 (n_samples, top)
    tied : bool (n_samples, top)
    """
    n, d = X.shape
    gaps = np.zeros((n, top))
    rankings = np.tile(_all_equal(order)[:top], (n, 1))
    tied = np.tile(np.arange(top) < d - 1, (n, 1))
    if len(gap_forest.trees):
        arrays = *kernel_arrays(gap_forest), *as_readonly(X, tails, order)
        _greedy(n, *arrays, 1.0 - tolerance, rankings, gaps, tied)
    return rankings, gaps / gap_forest.divisor, tied


def _all_equal(order):
    """The ranking if no feature matters."""
    left, ranking = set(range(len(order))), []
    for places in order.tolist():
        ranking.append(next(j for j in places if j in left))
        left.remove(ranking[-1])
    return np.array(ranking, np.int64)


@kernel(parallel=True)
def _greedy(
    first_row,
    last_row,
    splits,
    leaves,
    above,
    box,
    sides,
    first,
    trees,
    lowered,
    depth,
    X,
    tails,
    order,
    nearly,
    rankings,
    gaps,
    tied,
):
    forest = Trees(splits, leaves, above, box, sides, first, trees, lowered)
    work = workspace(forest, X.shape[1], depth)
    for i in range(first_row, last_row):
        chosen, tried = np.zeros(X.shape[1], np.bool_), np.empty(X.shape[1])
        x, tail, so_far = X[i], tails[i], 0.0
        begin_row(work)
        for step in range(rankings.shape[1]):
            for j in range(X.shape[1]):
                if chosen[j]:
                    tried[j] = -1.0
                elif first[j].cut == first[j + 1].cut:  # no split tests it, so it adds nothing
                    tried[j] = so_far
                else:
                    chosen[j] = True
                    tried[j] = gap(forest, x, tail, chosen, work)
                    chosen[j] = False
            best, n_equal = _first_of_largest(tried, nearly, order, step)
            rankings[i, step], gaps[i, step] = best, tried[best]
            tied[i, step] = n_equal > 1
            chosen[best], so_far = True, tried[best]


@kernel(inner=True)
def _first_of_largest(tried, nearly, order, step):
    """The first in order of those that count as the largest, and how many these are."""
    most, best, n_equal = tried[0], -1, 0
    for j in range(1, len(tried)):
        most = max(most, tried[j])
    least = most * nearly
    for place in range(len(tried)):
        j = order[step, place]
        if tried[j] >= least:
            best = j if best < 0 else best
            n_equal += 1
    return best, n_equal
