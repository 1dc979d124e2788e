"""Greedy ranking: the next feature is the one with the largest joint PG^2 (gajewski2025)."""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np

from splitcredit.models.opened import Opened
from splitcredit.prediction_gap.exact_gap import only_output
from splitcredit.prediction_gap.greedy import greedy_ranking
from splitcredit.results.attribution import Attribution


def rank(
    forest,
    X,
    sigma: Annotated[float, ">= 0"],
    output=None,
    arithmetic: Literal["double", "single"] = "double",
    ties=None,
    noise: Literal["normal", "laplace", "uniform"] = "normal",
) -> Attribution:
    """Rank the features of each row greedily by PG^2 (gajewski2025, Feature Ranking Using PG^2).

    Parameters
    ----------
    forest : Forest or fitted model
    X : array-like or DataFrame (n_samples, n_features)
    sigma : float
        Scale of the noise, in units of the features; the standard deviation of normal noise.
    output
        See `prediction_gap.exact_gap.pg2`.
    arithmetic, ties
        See `prediction_gap.greedy.greedy_ranking`.
    noise : {"normal", "laplace", "uniform"}
        See `prediction_gap.perturbations`.

    Returns
    -------
    Attribution
        Of one output. Values are places: n_features for the first feature of the ranking, 1 for the
        last. The baseline is 0. Beside the arguments ``parameters`` holds ``tied_share``, the share
        of rows with a tie in some place, and ``tied_by_place``, that share for each place.

    Raises
    ------
    ValueError
        As `prediction_gap.greedy.greedy_ranking`.

    Examples
    --------
    >>> from splitcredit.measures import pg2_greedy
    >>> places = pg2_greedy.rank(model, X[:1], sigma=0.3, output=0)
    >>> places.values[0, :, 0]  # the fourth feature is first
    array([3., 1., 2., 4.])
    """
    opened = Opened(forest, X)
    forest, X = opened.forest, opened.rows
    how = {"arithmetic": arithmetic, "ties": ties}
    greedy = greedy_ranking(forest, X, noise, sigma, output, **how)
    n, d = greedy.rankings.shape
    values = np.empty((n, d))
    np.put_along_axis(values, greedy.rankings, np.arange(d, 0, -1.0)[None], axis=1)
    noise_parameter = {} if noise == "normal" else {"noise": noise}
    return Attribution(
        values=values[:, :, None],
        baseline=np.zeros(1),
        feature_names=forest.feature_names,
        output_names=(forest.output_names[only_output(forest, output)],),
        method="pg2_greedy",
        parameters={
            "sigma": float(sigma),
            "arithmetic": arithmetic,
            **noise_parameter,
            "tied_share": greedy.tied_share,
            "tied_by_place": greedy.tied.mean(axis=0).tolist() if n else [0.0] * d,
        },
    )
