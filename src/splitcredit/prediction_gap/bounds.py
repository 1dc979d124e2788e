"""Bound the largest PGI^2 of all rankings of many features: exactly where possible."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import TYPE_CHECKING

import numpy as np

from splitcredit.prediction_gap.exact_gap import problem_and_rows, refuse_nan

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

# Most features whose sets are all searched: each further one doubles time and memory.
MOST_SEARCHED = 16


@dataclass(frozen=True, eq=False)
class LargestPgi2:
    """Bounds that no ranking of the features exceeds, for some rows.

    Parameters
    ----------
    upper : float64 (n_samples,)
        At least the largest PGI^2 of all rankings, in squared units of the prediction.
    exact : bool (n_samples,)
        Whether `upper` is the largest PGI^2 itself.
    """

    upper: np.ndarray
    exact: np.ndarray


def largest_pgi2(
    model: object,
    X: ArrayLike,
    perturbation: object = None,
    scale: object = 1.0,
    output: str | int | None = None,
    *,
    searched: int = 12,
) -> LargestPgi2:
    """Bound the PGI^2 (gajewski2025, Eq. 3) of all rankings of the features, row by row.

    Parameters
    ----------
    model, X, perturbation, scale, output
        See `exact_gap.pg2`.
    searched : int, 1 to 16
        Number of features, the ones with the largest effects, all sets of which are measured.
        If no other feature has an effect, the bound is the optimum. More are slower and tighter.

    Returns
    -------
    LargestPgi2

    Raises
    ------
    ValueError
        If `searched` is out of range, and as `exact_gap.pg2` of all features.

    Notes
    -----
    Let x_S be the row with noise on the features S, g_S = f(x_S) - f(x), and ``|.|`` the root of
    the mean square over the noise, a norm: PG^2(S) = ``|g_S|^2``. Let C be the features searched, R
    the others. For A in C and B in R the triangle inequality gives::

        |g_(A+B)| <= |g_A| + |f(x_(A+B)) - f(x_A)|.

    The second norm has two bounds, each a sum over the trees, by the triangle inequality again.

    *By features.* Let the features of B join one after the other. Where feature i joins a set T, a
    tree changes its value from that of a leaf u to that of a leaf w, v_u to v_w. Both rows agree
    but in i. So u's interval of i has x_i inside and w's has not: else x_T would lie in w, and w
    would be u. Whether or not j is in T, the chance that both rows are in the intervals of j is at
    most m_j(u, w), the larger of P(x_j + noise in both) and of 1 if x_j is in both, else 0. So the
    step is at most::

        c_i = sum over trees of sqrt( sum over u, w of (v_u - v_w)^2 P(x_i + noise in w)
                                      product over j other than i of m_j(u, w) ),

    whatever T is, and all of B is worth at most the sum of its c_i.

    *By trees.* Where all of B joins A, u's intervals of the features in R have x inside, and w has
    at least one that has not. Of those the chance is P(x_j + noise in w), of the others in R at
    most 1, of those in C at most m_j(u, w). The root of the sum of (v_u - v_w)^2 times the product
    of these chances, added up over the trees, bounds what any B is worth.

    With e_j, the least of the two for the j features of R with the largest c_i, an order whose
    first k features are A and j = ``k - |A|`` others has there a gap of at most::

        V(A, j) = (|g_A| + e_j)^2,    V(A, 0) = PG^2(A),

    and at most the largest PG^2 of all sets of k features, which is searched for the k that have
    at most 2^searched sets. The best way from (no feature, 0) to (C, ``|R|``), one feature a step,
    is at least as good as every order. If all e_j are 0, its value is reached.

    Examples
    --------
    >>> from splitcredit.prediction_gap.bounds import largest_pgi2
    >>> bound = largest_pgi2(model, X[:2], scale=0.1, searched=3)
    >>> bound.upper.round(3), bound.exact
    (array([3.825, 3.318]), array([False, False]))
    """
    if not isinstance(searched, (int, np.integer)) or not 1 <= searched <= MOST_SEARCHED:
        raise ValueError(
            f"searched={searched}: expected 1 to {MOST_SEARCHED} features, a whole number"
        )
    problem, table = problem_and_rows(model, X, perturbation, scale, output)
    refuse_nan(problem.forest, table, np.ones(table.shape, np.bool_))
    n, d = table.shape
    trees, size = _leaf_pairs(problem.gap_forest, d), min(searched, d)
    upper, exact = np.empty(n), np.empty(n, np.bool_)
    for i in range(n):
        upper[i], exact[i] = _of_row(problem, trees, table[i : i + 1], size)
    return LargestPgi2(upper, exact)


@dataclass(frozen=True, eq=False)
class _Pairs:
    """Leaves of one tree, and its pairs of leaves u and w that differ in value."""

    features: np.ndarray  # those that the tree splits on, int64 (k,)
    low: np.ndarray  # cuts that each interval lies between, int64 (n_leaves, k)
    high: np.ndarray
    u: np.ndarray  # int64 (n_pairs,)
    w: np.ndarray
    both_low: np.ndarray  # cuts of the intersection of the two, int64 (n_pairs, k)
    both_high: np.ndarray
    square: np.ndarray  # squared difference of the values, float64 (n_pairs,)


def _leaf_pairs(gap_forest, d) -> list[_Pairs]:
    sides, at = gap_forest.sides, gap_forest.cuts.lowered
    n_cuts, trees = len(gap_forest.cuts.feature), []
    for first, last in pairwise(gap_forest.first_leaf):
        leaves = gap_forest.leaves[first:last]
        low, high = np.full((len(leaves), d), n_cuts), np.full((len(leaves), d), n_cuts + 1)
        for row, leaf in enumerate(leaves):
            box = gap_forest.box[leaf["box"] : leaf["box_end"]]
            low[row, box["feature"]] = sides["low"][box["side"]]
            high[row, box["feature"]] = sides["high"][box["side"]]
        features = np.flatnonzero((low < n_cuts).any(axis=0) | (high < n_cuts).any(axis=0))
        low, high, value = low[:, features], high[:, features], leaves["value"]
        u, w = np.nonzero(value[:, None] != value)
        both_low = np.where(at[low[u]] >= at[low[w]], low[u], low[w])
        both_high = np.where(at[high[u]] <= at[high[w]], high[u], high[w])
        square = (value[u] - value[w]) ** 2 / gap_forest.divisor
        trees.append(_Pairs(features, low, high, u, w, both_low, both_high, square))
    return trees


class _Chances:
    """Probabilities of the intervals of all trees for one row."""

    def __init__(self, problem, trees, X):
        (x,), (self.tail,) = problem.with_tails(X, np.ones(X.shape, np.bool_))
        self.at, self.trees, self.of_tree = problem.gap_forest.cuts.lowered, trees, []
        for tree in trees:
            values = x[tree.features]
            in_leaf, inside = self._intervals(values, tree.low, tree.high)
            in_both, inside_both = self._intervals(values, tree.both_low, tree.both_high)
            self.of_tree.append((in_leaf, inside, np.maximum(in_both, inside_both)))

    def _intervals(self, x, low, high):
        """Return the probability of each interval under perturbation, and whether x is in it."""
        begin, end, below, above = self.at[low], self.at[high], self.tail[low], self.tail[high]
        chance = np.where(x <= begin, below - above, above - below)
        inside = (begin < x) & (x <= end)
        chance = np.where(inside, 1.0 - below - above, chance)
        return np.where(begin < end, np.maximum(chance, 0.0), 0.0), inside

    def of_features(self, d) -> np.ndarray:
        """Bound what each feature adds to others, float64 (d,): c_i."""
        worth = np.zeros(d)
        for tree, (in_leaf, inside, both) in zip(self.trees, self.of_tree, strict=True):
            for c, feature in enumerate(tree.features):
                moved = inside[tree.u, c] & ~inside[tree.w, c]
                other_chances = np.delete(both[moved], c, axis=1).prod(axis=1)
                squares = tree.square[moved] * in_leaf[tree.w[moved], c] * other_chances
                worth[feature] += np.sqrt(squares.sum())
        return worth

    def of_rest(self, rest) -> float:
        """Bound what the features `rest`, bool (d,), add together."""
        worth = 0.0
        for tree, (in_leaf, inside, both) in zip(self.trees, self.of_tree, strict=True):
            in_rest = rest[tree.features]
            stays = inside[:, in_rest]
            moved = stays[tree.u].all(axis=1) & ~stays[tree.w].all(axis=1)
            reached = np.where(stays, 1.0, in_leaf[:, in_rest]).prod(axis=1)[tree.w[moved]]
            shared = both[moved][:, ~in_rest].prod(axis=1)
            worth += np.sqrt((tree.square[moved] * reached * shared).sum())
        return worth


def _of_row(problem, trees, X, size):
    """Return the bound of the PGI^2 of one row, and whether it is reached."""
    d = X.shape[1]
    chances = _Chances(problem, trees, X)
    worth = chances.of_features(d)
    order = np.argsort(-worth, kind="stable")
    searched, rest = order[:size], order[size:]
    together = chances.of_rest(np.isin(np.arange(d), rest))
    added = np.minimum(np.append(0.0, worth[rest].cumsum()), together)
    lattice = np.zeros((2**size, d), np.bool_)
    lattice[:, searched] = np.arange(2**size)[:, None] >> np.arange(size) & 1
    exact = not added.any()
    sizes = [] if exact else [k for k in range(1, d + 1) if math.comb(d, k) <= len(lattice)]
    groups = [lattice, *(_sets_of_size(d, k) for k in sizes)]
    gaps = problem.gaps(X, np.concatenate(groups)[None])[0]
    gaps, *by_size = np.split(gaps, np.cumsum([len(group) for group in groups])[:-1])
    largest = np.full(d + 1, np.inf)
    for k, gaps_of_size in zip(sizes, by_size, strict=True):
        largest[k] = gaps_of_size.max()
    # Nothing is added to a gap that needs nothing, so that the optimum keeps its digits.
    values = gaps[:, None] + added * (2.0 * np.sqrt(gaps)[:, None] + added)
    return _best_path(values, largest, size) / d, exact


def _sets_of_size(d, k):
    members = np.array(list(combinations(range(d), k)))
    masks = np.zeros((len(members), d), np.bool_)
    np.put_along_axis(masks, members, True, axis=1)
    return masks


def _best_path(values, largest, size):
    """Maximize the sum of values, (2**size, n_others + 1), from no feature to all of them."""
    sets, n_others = np.arange(2**size), values.shape[1] - 1
    n_set = np.bitwise_count(sets).astype(np.int64)
    values = np.minimum(values, largest[n_set[:, None] + np.arange(n_others + 1)])
    behind = np.full(values.shape, -np.inf)
    behind[-1, -1] = 0.0
    for k in range(size, -1, -1):
        of_size = sets[n_set == k]
        best = behind[of_size]
        for i in range(size):
            new = (of_size >> i & 1) == 0
            to = of_size[new] | 1 << i
            best[new] = np.maximum(best[new], values[to] + behind[to])
        for j in range(n_others - 1, -1, -1):
            best[:, j] = np.maximum(best[:, j], values[of_size, j + 1] + best[:, j + 1])
        behind[of_size] = best
    return behind[0, 0]
