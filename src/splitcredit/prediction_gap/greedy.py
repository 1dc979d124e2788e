"""Rank greedily: each next feature has the largest PG^2 together with those before."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from splitcredit.kernels.prediction_gap import single_precision
from splitcredit.prediction_gap.exact_gap import CHUNK, problem_and_rows, refuse_nan, report_share
from splitcredit.prediction_gap.perturbations import Normal
from splitcredit.prediction_gap.rankings import Rankings
from splitcredit.rows.tables import check_choice

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

# Gaps that differ by a smaller part are equal: rounding must not choose between features.
TIE = 1e-14
ARITHMETICS = ("double", "single")


@dataclass(frozen=True, eq=False, repr=False)
class GreedyRankings(Rankings):
    """Rankings made feature after feature.

    Parameters
    ----------
    tied : bool (n_samples, n_ranked)
        Whether another feature would have done as well in that place.
    """

    tied: np.ndarray

    @property
    def tied_share(self) -> float:
        """Share of the rows with a tie in any place."""
        return float(self.tied.any(axis=1).mean()) if len(self.tied) else 0.0


def greedy_ranking(
    model: object,
    X: ArrayLike,
    perturbation: object = None,
    scale: object = 1.0,
    output: str | int | None = None,
    *,
    arithmetic: str = "double",
    ties: ArrayLike | None = None,
    top: int | None = None,
    done: Callable | None = None,
) -> GreedyRankings:
    """Rank the features of each row by the greedy PG^2 method of gajewski2025.

    Place k goes to the feature i that makes PG^2 of the k - 1 features before and i the largest;
    of equal ones to the one with the lowest index.

    Parameters
    ----------
    model, X, perturbation, scale, output
        See `exact_gap.pg2`.
    arithmetic : {"double", "single"}
        ``"double"``: gaps of `exact_gap.pg2`, equal within a relative 1e-14. ``"single"``: as in
        the program of gajewski2025, in single precision, where many are the same number: below 1e-7
        times the squared prediction they are lost (`kernels.prediction_gap.single_precision`).
    ties : int (n_features,) or (n_features, n_features), optional
        Indices of the features in the order in which equal ones are taken, for all places or, row
        by row, for each.
    top : int, optional
        Rank only so many features, the first; by default all. The work grows with it.
    done : callable, optional
        Called with the numbers of rows that were done since its last call, which may be parts.

    Returns
    -------
    GreedyRankings

    Raises
    ------
    ValueError
        As `exact_gap.pg2`, of all features; if `ties` are not permutations of all features; and if
        model or noise do not suit single precision, which takes sums of trees that compare ``x <
        threshold`` in single precision, and `Normal` with a scale above 0.

    Examples
    --------
    >>> from splitcredit.prediction_gap.greedy import greedy_ranking
    >>> greedy = greedy_ranking(model, X[:2], scale=0.1)
    >>> greedy.rankings
    array([[3, 0, 4, 1, 2],
           [1, 2, 3, 4, 0]])
    >>> greedy.pgi2.round(3), greedy.tied_share
    (array([3.324, 2.705]), 0.0)
    """
    check_choice("arithmetic", arithmetic, ARITHMETICS)
    problem, table = problem_and_rows(model, X, perturbation, scale, output)
    n, d = len(table), problem.forest.n_features
    order, perturbed = _checked_order(ties, d), np.ones((n, d), np.bool_)
    top = d if top is None else min(int(top), d)
    done = done or (lambda rows: None)
    if arithmetic == "single":
        ranked = _in_single_precision(problem, table, order, top)
        done(len(table))
        return ranked
    chunks = [
        _in_double_precision(problem, table[rows], order, top, done)
        for rows in problem.chunks(table, perturbed, d) or [slice(0, 0)]
    ]
    fields = (np.concatenate(part) for part in zip(*chunks, strict=True))
    return GreedyRankings(*fields, feature_names=problem.forest.feature_names)


def _in_double_precision(problem, X, order, top, done):
    """Return rankings, gaps and ties of some rows."""
    n, d, each = len(X), problem.forest.n_features, np.arange(len(X))
    of_pairs = problem.of_pairs(X, np.ones((n, d), np.bool_))
    tested, chosen, so_far = problem.tested, np.zeros((n, d), np.bool_), np.zeros(n)
    rankings, gaps = np.zeros((n, top), np.int64), np.zeros((n, top))
    tied = np.zeros((n, top), np.bool_)
    worth, is_new, step = np.zeros((n, d)), True, max(1, CHUNK // d)
    for place in range(top):
        left = ~chosen & tested
        rows, features = np.nonzero(left)
        for i in range(0, len(rows) if is_new else 0, step):
            part = slice(i, i + step)
            sets = chosen[rows[part]]
            sets[np.arange(len(sets)), features[part]] = True
            report = partial(report_share, done, n / top * len(sets) / len(rows))
            worth[rows[part], features[part]] = of_pairs(rows[part], sets, report)
        if not (is_new and len(rows)):
            done(n / top)
        # A feature that no split tests adds nothing.
        tried = np.where(chosen, -1.0, np.where(left, worth, so_far[:, None]))
        equal = tried >= tried.max(axis=1, keepdims=True) * (1.0 - TIE)
        best = order[place][equal[:, order[place]].argmax(axis=1)]
        tied[:, place] = np.count_nonzero(equal, axis=1) > 1
        chosen[each, best], so_far, is_new = True, tried[each, best], tested[best].any()
        rankings[:, place], gaps[:, place] = best, so_far
    return rankings, gaps, tied


def _in_single_precision(problem, X, order, top):
    forest = problem.forest
    if not forest.strict or forest.x_dtype != "float32" or forest.aggregate != "sum":
        raise ValueError(
            "arithmetic='single' is for models that go left on x < threshold in single precision "
            "and add up their trees, as XGBoost's do"
        )
    if not isinstance(problem.perturbation, Normal) or (problem.scales <= 0).any():
        raise ValueError("arithmetic='single' is for normal noise with a scale above 0")
    refuse_nan(forest, X, np.ones(X.shape, np.bool_))
    trees = single_precision.single_forest(forest, problem.output)
    scales = problem.scales * problem.perturbation.scale
    fields = single_precision.greedy(trees, X, scales, order[:top])
    return GreedyRankings(*fields, feature_names=forest.feature_names)


def _checked_order(ties, n_features):
    """Return the order of ties for each place, int64 (n_features, n_features)."""
    order = np.arange(n_features) if ties is None else np.asarray(ties)
    shapes = (n_features,), (n_features, n_features)
    if order.shape not in shapes or (np.sort(order, axis=-1) != np.arange(n_features)).any():
        raise ValueError(f"ties must name each of the {n_features} features once, by its index")
    return np.broadcast_to(order.astype(np.int64), shapes[1])
