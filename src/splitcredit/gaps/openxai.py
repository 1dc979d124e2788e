"""PGI and PGU by sampling, as the OpenXAI benchmark has them: absolute gaps, averaged over k.

Source: Agarwal et al. 2022, and gajewski2025, Equation (1). OpenXAI's code took a mask for what is
kept in one place and for what is perturbed in another, and so gave PGU for PGI (its issue 28). Here
a set of features is always what is perturbed, and `gaps_by_k` says in a word which set that is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from splitcredit._tables import check_choice, check_whole
from splitcredit.formats import forest_and_rows
from splitcredit.gaps.noise import noise_pool
from splitcredit.gaps.prediction_gap import refuse_special_values
from splitcredit.gaps.rankings import checked_ks, rankings_of_model, top_k_mask
from splitcredit.gaps.sampling import checked_counts, checked_pairs
from splitcredit.kernels.prediction_gap.sampling import sampled_gaps

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike


def pgi_sampled(
    model: object,
    X: ArrayLike,
    rankings: ArrayLike,
    scale: ArrayLike,
    n_samples: int = 100,
    **options: Any,
) -> np.ndarray:
    """Prediction gap on important features, as OpenXAI has it, for each row.

    The mean of abs(f(x) - f(x')), with noise in the k MOST important features and the others kept,
    averaged over k. More is better.

    Parameters
    ----------
    model, X, rankings, scale, n_samples, **options
        See `gaps_by_k`, also for what is refused.

    Returns
    -------
    float64 (n_rows,), in units of the prediction

    Examples
    --------
    >>> from splitcredit.gaps.openxai import pgi_sampled
    >>> from sklearn.datasets import make_friedman1
    >>> from sklearn.ensemble import RandomForestRegressor
    >>> X, y = make_friedman1(200, 5, random_state=0)
    >>> model = RandomForestRegressor(10, max_depth=4, random_state=0).fit(X, y)
    >>> pgi_sampled(model, X[:1], [[3, 0, 1, 2, 4]], scale=0.1, n_samples=10000).round(1)
    array([1.5])
    """
    return gaps_by_k(model, X, rankings, scale, n_samples, "important", **options).mean(axis=1)


def pgu_sampled(
    model: object,
    X: ArrayLike,
    rankings: ArrayLike,
    scale: ArrayLike,
    n_samples: int = 100,
    **options: Any,
) -> np.ndarray:
    """Prediction gap on unimportant features, as OpenXAI has it, for each row.

    As `pgi_sampled`, but the k most important features are kept and noise is in the OTHERS. Less
    is better. At k = n_features nothing is perturbed and the gap is 0; it counts in the average.

    Parameters
    ----------
    model, X, rankings, scale, n_samples, **options
        See `gaps_by_k`, also for what is refused.

    Returns
    -------
    float64 (n_rows,), in units of the prediction

    Examples
    --------
    >>> from splitcredit.gaps.openxai import pgu_sampled
    >>> from sklearn.datasets import make_friedman1
    >>> from sklearn.ensemble import RandomForestRegressor
    >>> X, y = make_friedman1(200, 5, random_state=0)
    >>> model = RandomForestRegressor(10, max_depth=4, random_state=0).fit(X, y)
    >>> pgu_sampled(model, X[:1], [[3, 0, 1, 2, 4]], scale=0.1, n_samples=10000).round(1)
    array([0.1])
    """
    return gaps_by_k(model, X, rankings, scale, n_samples, "unimportant", **options).mean(axis=1)


def gaps_by_k(
    model: object,
    X: ArrayLike,
    rankings: ArrayLike,
    scale: ArrayLike,
    n_samples: int = 100,
    perturbed: str = "important",
    *,
    ks: Sequence[int] | None = None,
    absolute: bool = True,
    output: str | int | None = None,
    kind: str = "mc",
    random_state: int = 0,
    n_streams: int = 64,
) -> np.ndarray:
    """Sampled prediction gaps by the number of features that count as important.

    Parameters
    ----------
    model : fitted model or Forest
    X : array-like or DataFrame (n_rows, n_features)
    rankings : int (n_rows, n_ranked)
        Features of each row, the most important first.
    scale : float, (n_features,), Series or dict by feature
        Standard deviation of the noise, in units of the features.
    n_samples : int
        Samples for each row and k; their noise is independent, up to the number of streams.
    perturbed : {"important", "unimportant"}
        Whether the first k features of the ranking get noise, or all but these.
    ks : sequence of int, optional
        1 to n_ranked if not given.
    absolute : bool
        Whether the gap is abs(f(x) - f(x')) or its square.
    output : str or int, optional
        Name or index; may be left out if there is one, or if there are two that add up to the same
        everywhere, see `prediction_gap.pg2`.
    kind, random_state, n_streams
        See `noise_pool`.

    Returns
    -------
    float64 (n_rows, n_ks)
        In units of the prediction, or in squared units if `absolute` is false.

    Raises
    ------
    ValueError
        As `pg2_sampled`; if a row of the rankings does not name different features, they are a
        `Rankings` of other features than the model's, or of the rows of X in another order, or
        `perturbed` is unknown.

    Examples
    --------
    >>> from splitcredit.gaps.openxai import gaps_by_k
    >>> from sklearn.datasets import make_friedman1
    >>> from sklearn.ensemble import RandomForestRegressor
    >>> X, y = make_friedman1(200, 5, random_state=0)
    >>> model = RandomForestRegressor(10, max_depth=4, random_state=0).fit(X, y)
    >>> gaps = gaps_by_k(model, X[:1], [[3, 0, 1, 2, 4]], 0.1, 10000, ks=[1, 3])
    >>> gaps.round(1)
    array([[1.4, 1.5]])
    """
    check_choice("perturbed", perturbed, ("important", "unimportant"))
    check_whole("random_state", random_state)
    forest, table = forest_and_rows(model, X)
    refuse_special_values(forest)
    rankings = rankings_of_model(rankings, X, forest)
    ks = checked_ks(range(1, rankings.shape[1] + 1) if ks is None else ks)
    masks = np.stack([top_k_mask(rankings, k, forest.n_features) for k in ks], axis=1)
    if perturbed == "unimportant":
        masks = ~masks
    masks = masks.reshape(-1, forest.n_features)
    pairs = checked_pairs(
        forest, np.repeat(forest.prepare(table), len(ks), axis=0), masks, scale, output
    )
    pool = noise_pool(kind, forest.n_features, n_samples, n_streams, random_state)
    streams, counts = np.arange(len(masks)) % n_streams, checked_counts([n_samples])
    return sampled_gaps(*pairs, pool, streams, counts, absolute=absolute).reshape(-1, len(ks))
