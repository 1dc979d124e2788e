"""Greedy rankings by the exact prediction gap: one row's search is one thread's."""

from __future__ import annotations

import numpy as np
from numba import prange

from splitcredit.kernels.compiled import kernel
from splitcredit.kernels.nodes import as_readonly
from splitcredit.kernels.prediction_gap.exact import gap, kernel_arrays, locate_row, workspace


def greedy(gap_forest, X, tails, tolerance) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rankings by the largest PG^2 of the features so far and one more.

    Parameters
    ----------
    gap_forest : GapForest
    X : float64 (n_samples, n_features), without NaN
    tails : float64 (n_samples, n_cuts + 2); see `exact.gaps`
    tolerance : float
        Gaps that are less than the largest by at most this part of it are equal to it.

    Returns
    -------
    rankings : int64 (n_samples, n_features)
    gaps : float64 (n_samples, n_features)
    tied : bool (n_samples, n_features)
    """
    n, d = X.shape
    gaps = np.zeros((n, d))
    rankings, tied = np.tile(np.arange(d), (n, 1)), np.tile(np.arange(d) < d - 1, (n, 1))
    if len(gap_forest.roots):
        arrays = *kernel_arrays(gap_forest), *as_readonly(X, tails)
        _greedy(*arrays, 1.0 - tolerance, rankings, gaps, tied)
    return rankings, gaps / gap_forest.divisor, tied


@kernel(parallel=True)
def _greedy(nodes, sides, roots, lowered, first, depth, X, tails, nearly, rankings, gaps, tied):
    for i in prange(len(X)):
        work = workspace(len(nodes), len(sides), len(roots), X.shape[1], depth)
        row_values, mass_below = np.empty(len(roots)), np.empty(X.shape[1])
        chosen, tried = np.zeros(X.shape[1], np.bool_), np.empty(X.shape[1])
        x, tail, so_far = X[i], tails[i], 0.0
        locate_row(nodes, roots, lowered, first, x, tail, row_values, mass_below)
        for step in range(X.shape[1]):
            for j in range(X.shape[1]):
                if chosen[j]:
                    tried[j] = -1.0
                elif first[j] == first[j + 1]:  # no split tests it, so it adds nothing
                    tried[j] = so_far
                else:
                    chosen[j] = True
                    tried[j] = gap(
                        nodes, sides, roots, lowered, x, tail, chosen, row_values, mass_below, work
                    )
                    chosen[j] = False
            best = _first_of_largest(tried, nearly)
            rankings[i, step], gaps[i, step] = best, tried[best]
            tied[i, step] = _next_of_largest(tried, nearly, best)
            chosen[best], so_far = True, tried[best]


@kernel()
def _first_of_largest(tried, nearly):
    """Lowest index whose value counts as the largest."""
    j = 0
    while tried[j] < tried.max() * nearly:
        j += 1
    return j


@kernel()
def _next_of_largest(tried, nearly, best):
    """Whether another value counts as the largest."""
    another = False
    for j in range(best + 1, len(tried)):
        another |= tried[j] >= tried.max() * nearly
    return another
