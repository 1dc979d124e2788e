"""PGI^2 of rankings with normal noise: exactly, against the largest of all, and sampled.

Common parameters: ``sigmas`` are standard deviations of the noise, in units of the features, in the
column ``sigma_metric``; ``n_rows`` takes only so many of the first rows, and the column says how
many these were; for ``searched`` see `splitcredit.prediction_gap.bounds.largest_pgi2`. PGI^2 is in
squared units of the prediction. ``median``, ``quantile5`` (5 %) and ``least`` summarize the shares
of the rows, each 1 where the largest gap is 0.
"""

from collections.abc import Sequence
from itertools import combinations, product
from typing import Annotated

import numpy as np
import pandas as pd
from scipy.stats import rankdata

from reproduction.metrics import GLOBAL, _rankings, declared
from reproduction.parameters import Count, ImportanceName, NonNegative, Seed
from splitcredit.prediction_gap import optimum
from splitcredit.prediction_gap.bounds import largest_pgi2
from splitcredit.prediction_gap.exact_gap import GapProblem, pg2
from splitcredit.prediction_gap.rankings import first_of_same
from splitcredit.prediction_gap.sampling import gaps_by_k

# With more features, the search through all their sets takes too long.
MOST_FEATURES = 12
# A ranking whose PGI^2 is less than the largest by at most this part of it is optimal.
_NEAR = 1e-9
# Exact values that differ by a smaller part are equal.
_EQUAL = 1e-12


def exact_gaps(forest, X, ranked, sigma) -> dict[str, np.ndarray]:
    """Compute PGI^2 of several rankings of the same prepared rows, with normal noise.

    The same bytes as `splitcredit.faithfulness` gives, but a set that several rankings begin with,
    such as all features, is measured once. A ranking may be of more rows than `X`.
    """
    n, d = X.shape
    places = [np.argsort(ranking[:n], axis=1) for ranking in ranked.values()]
    firsts = np.arange(1, d + 1)[:, None]
    masks = np.concatenate([place[:, None, :] < firsts for place in places], axis=1)
    first_index = first_of_same(masks)
    # A repeated set is replaced by the empty set, whose gap takes no time.
    masks &= (first_index == np.arange(masks.shape[1]))[:, :, None]
    gaps = np.take_along_axis(
        GapProblem(forest, None, sigma, None).gaps(X, masks), first_index, axis=1
    )
    blocks = np.split(gaps, len(ranked), axis=1)
    return {name: block.mean(axis=1) for name, block in zip(ranked, blocks, strict=True)}


@declared("ranking", "sigma_metric", values=("value", "lead", "low", "high"), **GLOBAL)
def pgi2(
    attributions,
    forest,
    data,
    sigmas: Sequence[NonNegative],
    reference: ImportanceName | None = None,
    n_rows: Count | None = None,
    random_state: Seed = 0,
) -> pd.DataFrame:
    """Mean PGI^2 of every ranking (gajewski2025, tables 3 and 6, where they are of three rows).

    One row a sigma and ranking: ``row_deviation`` is the standard deviation over the rows, ``lead``
    the value minus the one of `reference`, by default the first importance, and ``low`` and
    ``high`` its 95 % bootstrap interval over resampled rows, by `random_state`.
    """
    ranked, reference = _rankings.compared(attributions, len(data.X), reference)
    X, rows = forest.prepare(data.X)[:n_rows], []
    for sigma in sigmas:
        gaps = exact_gaps(forest, X, ranked, sigma)
        for name, gap in gaps.items():
            row = {"sigma_metric": float(sigma), "ranking": name, "value": gap.mean()}
            row |= {"n_rows": len(X), "row_deviation": gap.std(ddof=1) if len(X) > 1 else np.nan}
            rows.append(row | _rankings.lead(gap, gaps[reference], "mean", random_state))
    return pd.DataFrame(rows)


@declared(
    "ranking",
    "sigma_metric",
    values=("value", "median", "quantile5", "pgi2", "largest", "exact", "n_rows"),
    **GLOBAL,
)
def pgi2_bound(
    attributions,
    forest,
    data,
    sigmas: Sequence[NonNegative],
    searched: Annotated[int, ">= 1, <= 16"] = 12,
    n_rows: Count | None = None,
) -> pd.DataFrame:
    """PGI^2 of rankings of many features as a share of the largest, or of an upper bound of it.

    One row a sigma and ranking: ``value``, the mean PGI^2 over the mean of the bounds, which is at
    most the share of the largest PGI^2; ``pgi2`` and ``largest``, the two means; ``exact``, the
    share of the rows whose bound is the largest PGI^2 itself.
    """
    ranked, rows = _rankings.rankings(attributions, len(data.X)), []
    X = forest.prepare(data.X)[:n_rows]
    for sigma in sigmas:
        best = largest_pgi2(forest, X, scale=sigma, searched=searched)
        for name, gap in exact_gaps(forest, X, ranked, sigma).items():
            row = {"ranking": name, "sigma_metric": float(sigma), **_share(gap, best.upper)[1]}
            row |= {"pgi2": gap.mean(), "largest": best.upper.mean()}
            rows.append(row | {"exact": best.exact.mean(), "n_rows": len(X)})
    return pd.DataFrame(rows)


@declared(
    "ranking",
    "sigma_metric",
    values=("value", "median", "quantile5", "least", "optimal", "first_best"),
    **GLOBAL,
)
def pgi2_optimum(
    attributions, forest, data, sigmas: Sequence[NonNegative], n_rows: Count | None = None
) -> pd.DataFrame:
    """Compute PGI^2 as a share of the largest of all rankings, an open question of gajewski2025.

    One row a sigma and ranking: ``value``, the mean PGI^2 over the mean of the best; ``optimal``,
    the share of the rows where the ranking is as good as the best; ``first_best``, the share where
    no other single feature has a larger PG^2 than its first. With more than 12 features nothing is
    measured: shares are NaN and ``n_rows`` 0.
    """
    ranked, rows = _rankings.rankings(attributions, len(data.X)), []
    if forest.n_features > MOST_FEATURES:
        empty = dict.fromkeys(pgi2_optimum.VALUES, np.nan) | {"n_rows": 0}
        keys = product(map(float, sigmas), ranked)
        return pd.DataFrame([{"sigma_metric": s, "ranking": name} | empty for s, name in keys])
    X, features = forest.prepare(data.X)[:n_rows], np.eye(forest.n_features, dtype=bool)
    for sigma in sigmas:
        best = optimum.best_ranking(forest, X, scale=sigma).pgi2
        of_one = np.stack([pg2(forest, X, mask, scale=sigma) for mask in features], axis=1)
        largest_of_one = of_one.max(axis=1)
        for name, gap in exact_gaps(forest, X, ranked, sigma).items():
            share, cells = _share(gap, best)
            row = {"sigma_metric": float(sigma), "ranking": name, **cells, "least": share.min()}
            row["optimal"] = (share >= 1 - _NEAR).mean()
            first = np.take_along_axis(of_one, ranked[name][: len(X), :1], axis=1)[:, 0]
            row["first_best"] = (first >= largest_of_one * (1 - _NEAR)).mean()
            rows.append(row | {"n_rows": len(X)})
    return pd.DataFrame(rows)


def _share(gap, largest):
    """Shares of the largest gap, 1 where it is 0, and the cells of a table about them."""
    share = np.divide(gap, largest, out=np.ones_like(gap), where=largest > 0)
    value = gap.mean() / largest.mean() if largest.any() else 1.0
    quantiles = {"median": np.median(share), "quantile5": np.quantile(share, 0.05)}
    return share, {"value": value, **quantiles}


@declared("ranking", "other", "quantity", "sigma_metric", **GLOBAL)
def pgi_agreement(
    attributions,
    forest,
    data,
    sigmas: Sequence[NonNegative],
    n_samples: Count = 100,
    n_rows: Count | None = 200,
    random_state: Seed = 0,
) -> pd.DataFrame:
    """Agreement of absolute PGI, sampled as OpenXAI does, with exact PGI^2 under the same noise.

    There are `n_samples` for each row and number of features, the same for all rankings. One row a
    sigma, quantity, ``ranking`` and, if it is of two, ``other``. Quantities:

    - ``spearman``: correlation of the two over the rows, for one ranking; NaN if one of the two is
      the same for all rows.
    - ``alike``: for two rankings, the share of the rows in which both put the same one first, or
      neither; ``n_rows`` are all.
    - ``alike_unequal``: the same among the rows in which their PGI^2 differ.
    - ``swapped``: for two rankings, the share of the rows in which the mean absolute gap puts one
      first and the mean squared gap, of the same samples, the other.
    """
    ranked, rows = _rankings.rankings(attributions, len(data.X)), []
    X = forest.prepare(data.X)[:n_rows]
    for sigma in sigmas:
        exact, sampled, squared = exact_gaps(forest, X, ranked, sigma), {}, {}
        for name, ranking in ranked.items():
            rows_of = forest, X, ranking[: len(X)], sigma
            options = {"n_samples": n_samples, "random_state": random_state}
            sampled[name] = gaps_by_k(*rows_of, absolute=True, **options).mean(axis=1)
            squared[name] = gaps_by_k(*rows_of, absolute=False, **options).mean(axis=1)
        quantities = [("spearman", a, "", _spearman(sampled[a], exact[a]), len(X)) for a in ranked]
        for a, b in combinations(ranked, 2):
            ours, theirs = _order(exact[a], exact[b]), _order(sampled[a], sampled[b])
            same_order, unequal = ours == theirs, ours != 0
            share = same_order[unequal].mean() if unequal.any() else np.nan
            swapped = theirs * _order(squared[a], squared[b]) < 0
            quantities += [
                ("alike", a, b, same_order.mean(), len(X)),
                ("alike_unequal", a, b, share, unequal.sum()),
                ("swapped", a, b, swapped.mean(), len(X)),
            ]
        rows += [(float(sigma), *row) for row in quantities]
    columns = ["sigma_metric", "quantity", "ranking", "other", "value", "n_rows"]
    return pd.DataFrame(rows, columns=columns)


def _order(a, b):
    """1 where a is larger, -1 where b is, 0 where they are equal."""
    return np.where(np.abs(a - b) <= _EQUAL * np.maximum(a, b), 0.0, np.sign(a - b))


def _spearman(a, b):
    if np.ptp(a) == 0 or np.ptp(b) == 0:
        return np.nan
    return float(np.corrcoef(rankdata(a), rankdata(b))[0, 1])
