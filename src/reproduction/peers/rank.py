"""The rankings of `splitcredit.rank`; of classes, those of the one that the row is taken for."""

from typing import Annotated, Literal

import numpy as np

import splitcredit
from splitcredit.results.attribution import Attribution


def rank(
    forest,
    X,
    scale: Annotated[float, ">= 0"] | None = None,
    method: Literal["pg2_greedy", "pgi2_optimum"] = "pg2_greedy",
    background=None,
) -> Attribution:
    """Places as values, n_features for the first feature of a ranking and 1 for the last.

    The noise is normal, and `scale` its standard deviation in units of the features; without it,
    features are redrawn from the background.
    """
    whole = {"top": forest.n_features} if method == "pg2_greedy" else {}
    noise = {"background": background} if scale is None else {"scale": scale}
    rankings = splitcredit.rank(forest, X, method, progress=False, **noise, **whole).rankings
    n, d = rankings.shape
    values = np.empty((n, d))
    np.put_along_axis(values, rankings, np.arange(d, 0, -1.0)[None], axis=1)
    return Attribution(
        values=values[:, :, None],
        baseline=np.zeros(1),
        feature_names=forest.feature_names,
        output_names=("place",),
        method="rank",
        parameters={"method": method, "scale": scale},
    )
