"""Infinitely many extra-trees on finitely many binary rows, by recursion over sets of rows.

A node of a tree is known by its training rows, so that the expectation over all random trees of
anything that adds up along paths obeys a recursion: over the inputs that may split the node, each
with its probability, and over the children.
"""

from functools import cache, cached_property
from math import comb
from typing import NamedTuple

import numpy as np

from reproduction.theory.distributions import impurity_of
from reproduction.theory.games import shapley_values

# Decreases of impurity closer than this are equal: they are sums of some ten float64 of size 1.
TIE = 1e-12


def chances_of_best(gains, k: int) -> np.ndarray:
    """Probability that each of n candidates is the best of k drawn without replacement, (n,).

    Equally good ones are equally likely. The best is one of the a best if not all k are among the
    n - a others, which happens with probability C(n - a, k) / C(n, k).
    """
    gains = np.asarray(gains, dtype=np.float64)
    order = np.argsort(-gains, kind="stable")
    n = len(gains)
    chances = np.zeros(n)
    start = 0
    while start < n:
        end = start + 1
        while end < n and gains[order[end - 1]] - gains[order[end]] <= TIE:
            end += 1
        ways = comb(n - start, k) - comb(n - end, k)
        chances[order[start:end]] = ways / comb(n, k) / (end - start)
        start = end
    return chances


def chances_of_split(gains, p: int, k: int) -> np.ndarray:
    """Probability that each non-constant input splits a node, by scikit-learn's rule, (n,).

    It draws K of **all** p inputs, those that are constant in the node included, and goes on
    drawing only while all of them were constant. So the number of non-constant ones among K is
    hypergeometric, with 0 raised to 1. (Louppe et al. 2013 draw K of the inputs left.)
    """
    n = len(gains)
    chances = np.zeros(n)
    for n_drawn in range(max(0, k - (p - n)), min(n, k) + 1):
        chance = comb(n, n_drawn) * comb(p - n, k - n_drawn) / comb(p, k)
        chances += chance * chances_of_best(gains, max(n_drawn, 1))
    return chances


class _Node(NamedTuple):
    """A set of training rows: its share of all, its classes' shares of it, its impurity."""

    weight: float
    classes: np.ndarray
    impurity: float


class _Split(NamedTuple):
    """An input that may split a node; the children at 0 and 1, and their shares of the node."""

    feature: int
    chance: float
    children: tuple[int, int]
    shares: tuple[float, float]


class InfiniteForest:
    """The limit of infinitely many fully grown, unbagged extra-trees on binary inputs.

    Splits are scikit-learn's: see `chances_of_split`. A random threshold always lies between 0 and
    1, so a split has nothing random but its input. For K = 1 these are the totally randomized trees
    of sutera2021. Tables of expectations have an axis an input, and 3^p cells for TreeSHAP.
    """

    def __init__(self, X, y, k, impurity="entropy", weights=None):
        X = _binary(X)
        self.n_features = X.shape[1]
        if not 1 <= k <= self.n_features:
            raise ValueError(f"k={k}: expected 1 to {self.n_features}, the number of inputs")
        self.k, self.impurity = k, impurity
        self.classes, codes = np.unique(np.asarray(y), return_inverse=True)
        weights = np.ones(len(X)) if weights is None else np.asarray(weights, dtype=np.float64)
        self._by_class = np.eye(len(self.classes))[codes] * (weights / weights.sum())[:, None]
        # A set of rows is an integer with a bit a row.
        self._all = (1 << len(X)) - 1
        self._ones = [sum(1 << i for i in np.flatnonzero(column).tolist()) for column in X.T]
        self._node, self._splits = cache(self._make_node), cache(self._make_splits)

    def mdi(self) -> np.ndarray:
        """Global MDI, Eq. 2 and 3 of sutera2021, (p,), in units of the impurity (bits)."""

        @cache
        def below(rows):
            decreases, node = np.zeros(self.n_features), self._node(rows)
            for s in self._splits(rows):
                decreases[s.feature] += s.chance * node.weight * self._gain(rows, s)
                decreases += s.chance * (below(s.children[0]) + below(s.children[1]))
            return decreases

        return below(self._all)

    def local_mdi(self, X) -> np.ndarray:
        """Local MDI of any inputs, Eq. 8 of sutera2021, (n, p), in units of the impurity (bits)."""
        return -self._credit(lambda rows: np.array([self._node(rows).impurity]), X)[:, :, 0]

    def saabas(self, X) -> np.ndarray:
        """Saabas' attributions of the prediction, (n, p, n_classes)."""
        return self._credit(self._value, X)

    def predict(self, X=None) -> np.ndarray:
        """Class probabilities (with the variance: the mean of y), (n, n_classes).

        Of all 2^p inputs by default, in the order of `numpy.ndindex`, whether they occur or not.
        """
        X = list(np.ndindex((2,) * self.n_features)) if X is None else X
        return _look_up(self._expectations, _binary(X))

    def tree_shap(self, X) -> np.ndarray:
        """Path-dependent TreeSHAP, (n, p, n_classes), by Algorithm 1 of lundberg2017.

        Where the split's input is not known, both children count, by their shares of the rows.
        """
        X, table = _binary(X), self._expectations

        def v(s):
            known_values = np.full_like(X, 2)
            known_values[:, s] = X[:, s]
            return _look_up(table, known_values)

        return np.moveaxis(shapley_values(self.n_features, v), 0, 1)

    def tree_shap_interventional(self, X, background) -> np.ndarray:
        """Interventional TreeSHAP, (n, p, n_classes); rows of `background` are equally likely."""
        X, background, table = _binary(X), _binary(background), self._expectations

        def v(s):
            mixed = np.repeat(background[None], len(X), axis=0)
            mixed[:, :, s] = X[:, None, s]
            return _look_up(table, mixed).mean(axis=1)

        return np.moveaxis(shapley_values(self.n_features, v), 0, 1)

    @cached_property
    def _expectations(self):
        """E over the trees of E[f(x) | x_S]: an axis an input (0, 1, not in S), then outputs."""

        # In the recursion an axis has length 1 where the input is constant in the node.
        @cache
        def table(rows):
            splits = self._splits(rows)
            if not splits:
                return self._value(rows).reshape((1,) * self.n_features + (-1,))
            means = 0.0
            for s in splits:
                zero, one = map(table, s.children)
                unknown = s.shares[0] * zero + s.shares[1] * one
                means = means + s.chance * _along(s.feature, zero, one, unknown)
            return means

        return table(self._all)

    def _credit(self, quantity, X):
        """Changes of `quantity` (of a node, (d,)) along the path of each row, (n, p, d)."""

        @cache
        def table(rows):
            splits, node_value = self._splits(rows), quantity(rows)
            if not splits:
                return np.zeros((1,) * self.n_features + (self.n_features, len(node_value)))
            credit = 0.0
            for s in splits:
                sides = [table(child).copy() for child in s.children]
                for side, child in zip(sides, s.children, strict=True):
                    side[..., s.feature, :] += quantity(child) - node_value
                credit = credit + s.chance * _along(s.feature, *sides)
            return credit

        return _look_up(table(self._all), _binary(X))

    def _make_node(self, rows):
        members = [i for i in range(len(self._by_class)) if rows >> i & 1]
        by_class = self._by_class[members].sum(axis=0)
        # The variance needs the numbers that the classes stand for.
        values = self.classes if self.impurity == "variance" else None
        impurity = float(impurity_of(by_class, self.impurity, values))
        return _Node(by_class.sum(), by_class / by_class.sum(), impurity)

    def _make_splits(self, rows):
        """Splits that the node may have; none if it is pure or all inputs are constant."""
        node, splits = self._node(rows), []
        # Like scikit-learn, whose limit is 2**-52; splits of a pure node would change nothing.
        if node.impurity <= TIE:
            return ()
        for j, ones in enumerate(self._ones):
            children = rows & ~ones, rows & ones
            if all(children):
                shares = tuple(self._node(c).weight / node.weight for c in children)
                splits.append(_Split(j, 1.0, children, shares))
        gains = [self._gain(rows, s) for s in splits]
        chances = chances_of_split(gains, self.n_features, self.k).tolist()
        return tuple(s._replace(chance=c) for s, c in zip(splits, chances, strict=True) if c > 0)

    def _gain(self, rows, split):
        impurities = [self._node(c).impurity for c in split.children]
        below = sum(w * i for w, i in zip(split.shares, impurities, strict=True))
        return self._node(rows).impurity - below

    def _value(self, rows):
        """The prediction of a node, (n_classes,); with the variance the mean of y, (1,)."""
        shares = self._node(rows).classes
        return np.array([shares @ self.classes]) if self.impurity == "variance" else shares


def _binary(X):
    X = np.asarray(X)
    if not np.isin(X, (0, 1)).all():
        raise ValueError("X must hold 0 and 1 only")
    return X.astype(int)


def _along(axis, *tables):
    """The tables, one after the other along an axis of length 1, broadcast along the other axes."""
    shape = list(np.broadcast(*tables).shape)
    shape[axis] = len(tables)
    joined = np.empty(shape)
    for place, table in enumerate(tables):
        joined[(slice(None),) * axis + (slice(place, place + 1),)] = table
    return joined


def _look_up(table, X):
    """Cells of a table with an axis an input, (..., p) to (..., rest of the table)."""
    last = np.array(table.shape[: X.shape[-1]]) - 1
    return table[tuple(np.moveaxis(np.minimum(X, last), -1, 0))]
