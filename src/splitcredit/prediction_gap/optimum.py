"""Find the ranking with the largest PGI^2 of all, which gajewski2025 leaves open."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from splitcredit.prediction_gap.exact_gap import CHUNK, problem_and_rows
from splitcredit.prediction_gap.greedy import TIE
from splitcredit.prediction_gap.rankings import Rankings

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

# 2**16 sets take seconds a row; each further feature doubles time and memory.
MOST_FEATURES = 16


def best_ranking(
    model: object,
    X: ArrayLike,
    perturbation: object = None,
    scale: object = 1.0,
    output: str | int | None = None,
    *,
    done: Callable | None = None,
) -> Rankings:
    """Rank each row's features so that PGI^2 (gajewski2025, Eq. 3) is the largest of all.

    The best way from the empty set to all features, through all 2^d sets (dynamic programming). Of
    the rankings whose PGI^2 is the largest, up to a relative 1e-14, this is the first in
    lexicographic order.

    Parameters
    ----------
    model, X, perturbation, scale, output
        See `exact_gap.pg2`.
    done : callable, optional
        As for `greedy.greedy_ranking`.

    Returns
    -------
    Rankings

    Raises
    ------
    ValueError
        If there are more than 16 features, and as `exact_gap.pg2` of all features.

    Examples
    --------
    >>> from splitcredit.prediction_gap.optimum import best_ranking
    >>> best = best_ranking(model, X[:2], scale=0.1)
    >>> best.rankings
    array([[3, 0, 4, 1, 2],
           [1, 2, 3, 4, 0]])
    >>> best.pgi2.round(3)
    array([3.324, 2.705])
    """
    problem, table = problem_and_rows(model, X, perturbation, scale, output)
    n, d = len(table), problem.forest.n_features
    refuse(model, problem.forest)
    masks = (np.arange(2**d)[:, None] >> np.arange(d) & 1).astype(np.bool_)[None]
    step = max(1, CHUNK // (8 * 2**d))
    chunks = [
        _best_rankings(problem.gaps(table[i : i + step], masks, done), d)
        for i in range(0, n, step) or [0]
    ]
    fields = (np.concatenate(part) for part in zip(*chunks, strict=True))
    return Rankings(*fields, feature_names=problem.forest.feature_names)


def _best_rankings(gaps, d):
    """Return the best rankings, and the gaps along them, from gaps of all sets (n, 2**d)."""
    behind = _best_behind(gaps, d)
    n = len(gaps)
    chosen, rows = np.zeros(n, np.int64), np.arange(n)
    order, along = np.empty((n, d), np.int64), np.empty((n, d))
    # Whole rankings are compared: the rest of one may be a small part of it.
    enough = behind[:, 0] * (1 - TIE)
    so_far = np.zeros(n)
    for k in range(d):
        worth = np.full((n, d), -np.inf)
        for i in range(d):
            addable = (chosen >> i & 1) == 0
            extended = chosen[addable] | 1 << i
            worth[addable, i] = so_far[addable] + (
                gaps[rows[addable], extended] + behind[rows[addable], extended]
            )
        # Rounding of the sums may leave no order that is good enough; then the best one is.
        least = np.minimum(enough, worth.max(axis=1))
        order[:, k] = (worth >= least[:, None]).argmax(axis=1)
        chosen |= 1 << order[:, k]
        along[:, k] = gaps[rows, chosen]
        so_far += along[:, k]
    return order, along


def _best_behind(gaps, d):
    """Maximize the sum of gaps from each set, itself excluded, to all features, (n, 2**d)."""
    sets = np.arange(2**d)
    size = np.bitwise_count(sets)
    behind = np.zeros_like(gaps)
    for k in range(d - 1, -1, -1):
        for i in range(d):
            of_size = sets[(size == k) & (sets >> i & 1 == 0)]
            to = of_size | 1 << i
            behind[:, of_size] = np.maximum(behind[:, of_size], gaps[:, to] + behind[:, to])
    return behind


def refuse(model, forest) -> None:
    """Raise a ValueError if a forest has too many features."""
    d = forest.n_features
    if d > MOST_FEATURES:
        raise ValueError(
            f"the model has {d} features: the best of all rankings takes 2**{d} sets a row and is "
            f"offered up to {MOST_FEATURES}; use greedy_ranking, or bounds.largest_pgi2"
        )
