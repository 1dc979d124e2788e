"""Greedy rankings: feature after feature, each with the largest PG^2 together with those before."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from splitcredit.faithfulness.prediction_gap import GapProblem
from splitcredit.faithfulness.rankings import Rankings

# Gaps that differ by a smaller part are equal: rounding must not choose between features.
TIE = 1e-14


@dataclass(frozen=True, eq=False)
class GreedyRankings(Rankings):
    """Rankings made feature after feature.

    Parameters
    ----------
    tied : bool (n_samples, n_features)
        Whether another feature would have done as well in that place.
    """

    tied: np.ndarray

    @property
    def tied_share(self) -> float:
        """Share of the rows with a tie in any place."""
        return float(self.tied.any(axis=1).mean()) if len(self.tied) else 0.0


def greedy_ranking(model, X, perturbation=None, scale=1.0, output=None) -> GreedyRankings:
    """Rank the features of each row by the greedy PG^2 method of gajewski2025.

    Place k goes to the feature i that makes PG^2 of the k - 1 features before and i the largest;
    of equal ones (to a relative 1e-14) to the one with the lowest index.

    Parameters
    ----------
    model, X, perturbation, scale, output
        See `prediction_gap.pg2`.

    Returns
    -------
    GreedyRankings

    Raises
    ------
    ValueError
        See `prediction_gap.pg2`; all features are perturbed in the end, so none may be NaN.
    """
    from splitcredit.kernels.prediction_gap import greedy as kernel

    problem = GapProblem(model, perturbation, scale, output)
    X = problem.forest.prepare(X)
    wanted = np.ones(X.shape, np.bool_)
    chunks = [
        kernel.greedy(problem.gap_forest, *problem.with_tails(X[rows], wanted[rows]), TIE)
        for rows in problem.chunks(X, wanted) or [slice(0, 0)]
    ]
    return GreedyRankings(*(np.concatenate(parts) for parts in zip(*chunks, strict=True)))
