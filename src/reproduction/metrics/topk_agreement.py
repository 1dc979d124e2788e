"""How often greedy PG^2 rankings begin with the same features as another (gajewski2025, table 2).

Where features tie, the agreement depends on the order in which a program happens to try them. The
bounds are over all orders. A program that works out c^2 + E[f^2] - 2 c E[f] in single precision, c
the prediction without the base score, as the authors' does, cannot tell apart what differs by less
than rounding in c^2, and so has many more ties.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from reproduction.metrics import _rankings
from reproduction.parameters import Count, ImportanceName
from splitcredit.faithfulness.greedy import TIE
from splitcredit.faithfulness.prediction_gap import GapProblem
from splitcredit.faithfulness.rankings import of_attribution, top_k_mask

# Sets of features are bits of an integer.
MOST_FEATURES = 62
# Rounding of such a program, as a part of c^2: four times the half unit of single precision.
SINGLE = 4 * 2.0**-24
_OVER_TIES = ("low", "high", "tied", "low_single", "high_single")
COLUMNS = ("ranking", "k", "value", *_OVER_TIES)


def compute(
    attributions,
    forest,
    data,
    reference: ImportanceName = "tree_shap",
    ks: Sequence[Count] = (1, 2, 3),
    bounds: bool = True,
) -> pd.DataFrame:
    """Share of the rows whose first k features are, as a set, those of the reference.

    Parameters
    ----------
    attributions : dict of str to Attribution, each with one output
        Those of the method ``pg2_greedy`` are compared with the reference.
    forest : Forest
    data : Dataset
        The rows that are ranked.
    reference : str
        An importance; its features are ranked by absolute value.
    ks : sequence of int
    bounds : bool
        Whether to follow ties, which takes as long as ranking does; what comes of it is NaN if not.

    Returns
    -------
    DataFrame
        One row a greedy ranking and k: ``ranking``, ``k``; ``value``, where of equal features the
        one with the lowest index comes first; ``low`` and ``high``, the shares of the rows in which
        every choice among equals, and some choice, agrees, in the greedy search (what counts as
        equal is said in `faithfulness.greedy`; all ways to go on from there) and among the absolute
        values of the reference; ``tied``, the share of the rows with a tie of the greedy search in
        the first k places; ``low_single`` and ``high_single``, as ``low`` and ``high`` if gaps
        within the rounding of single precision count as equal.

    Raises
    ------
    ValueError
        If there is no such importance or k, or there are more than 62 features.
    """
    _rankings.rankings(attributions, reference)
    X, d = forest.prepare(data.X), forest.n_features
    scores = np.abs(attributions[reference].values[:, :, 0])
    of_reference = of_attribution(attributions[reference])
    rows, squares = [], (forest.predict(data.X)[:, 0] - forest.base[0]) ** 2
    for name, found in _rankings.greedy(attributions).items():
        ranked, sigma = of_attribution(found), found.parameters["sigma"]
        if bounds:
            reached = _reached(forest, X, sigma, max(ks), SINGLE * squares)
        for k in ks:
            same = (top_k_mask(ranked, k, d) == top_k_mask(of_reference, k, d)).all(axis=1)
            shares = _over_ties(reached[k - 1], _choices(scores, k), len(X)) if bounds else ()
            rows.append((_rankings.label(name), k, *(np.mean(share) for share in (same, *shares))))
    columns = COLUMNS if bounds else COLUMNS[:3]
    return pd.DataFrame(rows, columns=columns).reindex(columns=COLUMNS)


def _over_ties(reached, choices, n_rows):
    """Rows that count in each of `_OVER_TIES`, bool (n_rows,) each."""
    row, sets, sharp, tied = reached
    agreement = _agreement(sets, *(masks[row] for masks in choices))
    exact = _bounds(row, *agreement, sharp, n_rows)
    return *exact, tied, *_bounds(row, *agreement, np.ones_like(sharp), n_rows)


def _choices(scores, k):
    """Features in every set of k largest scores, and those in some, bool (n_rows, n_features)."""
    last = -np.sort(-scores, axis=1)[:, k - 1 : k]
    return scores * (1 - TIE) > last, scores >= last * (1 - TIE)


def _agreement(sets, must, may):
    """Whether a set is the only one with these choices, and whether it is one of them.

    All arguments are bool (n_sets, n_features), each set with the choices of its row.
    """
    some = (must <= sets).all(axis=1) & (sets <= may).all(axis=1)
    return some & (sets == may).all(axis=1), some


def _bounds(row, every, some, counted, n_rows):
    """Whether all sets of a row that count agree, and whether some does, bool (n_rows,) each."""
    every = np.bincount(row, counted & ~every, n_rows) == 0
    return every, np.bincount(row, counted & some, n_rows) > 0


def _reached(forest, X, sigma, k, slack):
    """Sets that some way to break ties reaches, breadth first.

    Parameters
    ----------
    forest : Forest
    X : prepared rows (n_rows, n_features)
    sigma : float
    k : int
    slack : float (n_rows,)
        Gaps count as the largest if they are less by at most this, and a relative `TIE`.

    Returns
    -------
    list of k tuples (row, sets, sharp, tied), one for each size of the sets
        int64 (n_sets,), the row of each set; bool (n_sets, n_features); bool (n_sets,), whether it
        is reached without slack; bool (n_rows,), whether, without slack, there was a tie before.
    """
    d = forest.n_features
    if d > MOST_FEATURES:
        raise ValueError(f"topk_agreement: {d} features, ties are followed up to {MOST_FEATURES}")
    problem, levels, tied = GapProblem(forest, None, sigma, None), [], np.zeros(len(X), np.bool_)
    used = np.unique(forest.feature[forest.feature >= 0])
    row, bits, sharp = np.arange(len(X)), np.zeros(len(X), np.int64), np.ones(len(X), np.bool_)
    for _ in range(k):
        worth = _worth(problem, X, used, row, bits)
        least = worth.max(axis=1, keepdims=True) * (1 - TIE)
        best = (worth >= least) & sharp[:, None]
        tied = tied | (np.bincount(row, best.sum(axis=1) > 1, len(X)) > 0)
        state, feature = np.nonzero((worth >= least - slack[row, None]) & (worth >= 0))
        found = np.stack([row[state], bits[state] | 1 << feature])
        (row, bits), place = np.unique(found, axis=1, return_inverse=True)
        sharp = np.bincount(place.reshape(-1), best[state, feature], len(row)) > 0
        levels.append((row, _sets(bits, d), sharp, tied))
    return levels


def _worth(problem, X, used, row, bits):
    """Gap of each set and one more feature, -1 for those in it: float64 (n_sets, n_features).

    Features without a split add nothing, so sets that differ in these alone are tried once.
    """
    d = X.shape[1]
    kept = bits & sum(1 << int(j) for j in used)
    tried, place = np.unique(np.stack([row, kept]), axis=1, return_inverse=True)
    sets = _sets(tried[1], d)
    masks = np.repeat(sets[:, None], 1 + len(used), axis=1)
    masks[:, 1 + np.arange(len(used)), used] = True
    # Gaps of the empty set, which nobody reads, take no time.
    masks[:, 0] &= len(used) < d
    masks[:, 1:][sets[:, used]] = False
    gaps = problem.gaps(X[tried[0]], masks)
    worth = np.repeat(gaps[:, :1], d, axis=1)
    worth[:, used] = gaps[:, 1:]
    return np.where(_sets(bits, d), -1.0, worth[place.reshape(-1)])


def _sets(bits, d):
    return (bits[:, None] >> np.arange(d) & 1).astype(np.bool_)
