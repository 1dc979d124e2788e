"""Slow twins of what loecher2022 measures by in-bag and out-of-bag rows, from the definitions.

Numbers are fractions where the definition has no root, so that a twin is off by its last rounding.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import cache

import numpy as np
from scipy.stats import spearmanr
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

import twins
from forests import whole_numbers
from splitcredit import to_forest
from splitcredit.models.forest import part


def one_hot(forest, y) -> list[list[Fraction]]:
    """Targets as one column a class by its name, or as the one number of a regressor."""
    if forest.n_outputs == 1:
        return [[Fraction(float(v))] for v in y]
    return [[Fraction(str(v) == name) for name in forest.output_names] for v in y]


def rows_at_nodes(forest, X) -> tuple[list, list]:
    """For every node: its in-bag rows, repeated as often as drawn, and its out-of-bag rows."""
    inbag, oob = ([[] for _ in range(forest.n_nodes)] for _ in range(2))
    for i, row in enumerate(X):
        for t, path in enumerate(twins.paths(forest, row)):
            times = int(forest.inbag[t, i])
            for k in path:
                inbag[k] += times * [i]
                oob[k] += [i] if times == 0 else []
    return inbag, oob


def _mean(targets, rows):
    return [sum(column) / len(rows) for column in zip(*(targets[i] for i in rows), strict=True)]


def _spread(targets, rows, center):
    """Mean squared distance of the targets from a center, summed over the outputs."""
    total = sum((a - b) ** 2 for i in rows for a, b in zip(targets[i], center, strict=True))
    return total / len(rows)


def _factor(n):
    return Fraction(n, n - 1) if n > 1 else Fraction(1)


def impurity(targets, inbag, oob, alpha, penalty, correction) -> Fraction:
    """PG of one node: loecher2022, Eq. 1, 2 and 5. The penalty of two classes is half the sum."""
    alpha, penalty = Fraction(alpha), Fraction(penalty)
    mean_inbag = _mean(targets, inbag)
    mean_oob = _mean(targets, oob) if oob else mean_inbag
    sizes = {"none": (0, 0), "own": (len(oob), len(inbag)), "oob": (len(oob), len(oob))}[correction]
    v_oob = _spread(targets, oob, mean_oob) * _factor(sizes[0]) if oob else Fraction(0)
    v_in = _spread(targets, inbag, mean_inbag) * _factor(sizes[1])
    distance = sum((a - b) ** 2 for a, b in zip(mean_oob, mean_inbag, strict=True))
    return alpha * v_oob + (1 - alpha) * v_in + penalty / 2 * distance


def ufi_impurity(targets, inbag, oob) -> Fraction:
    """Zhou and Hooker (2019): sum_d p_d (1 - q_d) of in-bag p and out-of-bag q; see `ufi`."""
    p, q = _mean(targets, inbag), _mean(targets, oob)
    if len(p) > 1:
        return sum(a * (1 - b) for a, b in zip(p, q, strict=True))
    return _spread(targets, inbag, p) + _spread(targets, oob, p)


def decreases(forest, X, node_impurity, weights, keep, per_row) -> np.ndarray:
    """Weighted decreases of an impurity, by the feature that a node tests; mean over the trees.

    `node_impurity(inbag rows, oob rows)`; `keep(inbag, oob)` of both children says whether a split
    counts. A node without rows of the kind that weighs has weight and product 0.
    """
    inbag, oob = rows_at_nodes(forest, X)
    weighing = inbag if weights == "inbag" else oob

    def weighted(k):
        n = len(weighing[k])
        return n * node_impurity(inbag[k], oob[k]) if n else Fraction(0)

    total = [Fraction(0)] * forest.n_features
    for t in range(forest.n_trees):
        root = forest.tree_offsets[t]
        for k in range(root, forest.tree_offsets[t + 1]):
            if forest.feature[k] >= 0:
                pair = forest.left[k], forest.right[k]
                if len(weighing[root]) and all(keep(len(inbag[c]), len(oob[c])) for c in pair):
                    gain = weighted(k) - weighted(pair[0]) - weighted(pair[1])
                    total[forest.feature[k]] += gain / (len(weighing[root]) if per_row else 1)
    return np.array([float(v / forest.n_trees) for v in total])


def penalized_gini(forest, X, y, **s) -> np.ndarray:
    """Penalized Gini with all its settings given."""
    targets = one_hot(forest, y)
    return decreases(
        forest,
        X,
        lambda a, b: impurity(targets, a, b, s["alpha"], s["penalty"], s["correction"]),
        s["weights"],
        lambda n_in, n_oob: n_in >= s["min_child_inbag"] and n_oob >= s["min_child_oob"],
        s["per_row"],
    )


def ufi(forest, X, y) -> np.ndarray:
    """UFI by in-bag weights, per row; splits with a child without out-of-bag rows left out."""
    targets = one_hot(forest, y)
    node = lambda a, b: ufi_impurity(targets, a, b)  # noqa: E731
    return decreases(forest, X, node, "inbag", lambda n_in, n_oob: n_oob > 0, True)


def squared_error(forest, X, y) -> np.ndarray:
    """loecher2022, Eq. 18: decrease of the out-of-bag squared error about the in-bag means."""
    targets = one_hot(forest, y)
    node = lambda a, b: _spread(targets, b, _mean(targets, a))  # noqa: E731
    return decreases(forest, X, node, "oob", lambda n_in, n_oob: True, True)


def restricted_products(forest, X, y, rows="oob", columns=None, divide_by="rows") -> np.ndarray:
    """loecher2022, Eq. 8 with 10 or 11: row by row, the mean of f_{T,k}(x_i) y_i; trees' mean."""
    targets = one_hot(forest, y)
    inbag, oob = rows_at_nodes(forest, X)
    rows_at = oob if rows == "oob" else inbag
    total = [Fraction(0)] * forest.n_features
    for t, root in enumerate(forest.tree_offsets[:-1]):
        end = forest.tree_offsets[t + 1]
        means = {k: _mean(targets, inbag[k]) for k in range(root, end)}
        for c in columns if columns is not None else range(forest.n_outputs):
            n = len(rows_at[root])
            if divide_by == "targets":
                n = sum(targets[i][c] for i in rows_at[root])
            for k in range(root, end):
                if forest.feature[k] >= 0 and n:
                    for child in (forest.left[k], forest.right[k]):
                        rise = means[child][c] - means[k][c]
                        summed = sum(rise * targets[i][c] for i in rows_at[child])
                        total[forest.feature[k]] += summed / n
    return np.array([float(v / forest.n_trees) for v in total])


def trees(forest):
    """Each tree as a forest of its own."""
    return [part(forest, t, t + 1) for t in range(forest.n_trees)]


def oob_attributions(forest, X, rows, explained) -> np.ndarray:
    """Attributions of each tree for its rows of the kind, summed and divided by all trees."""
    total = np.zeros((len(X), forest.n_features, forest.n_outputs))
    for tree in trees(forest):
        rows_of_tree = np.flatnonzero((tree.inbag[0] > 0) == (rows == "inbag"))
        total[rows_of_tree] += np.asarray(explained(tree, X[rows_of_tree]), float)
    return total / forest.n_trees


def loss_increases(forest, X, y, permutations, columns=None) -> np.ndarray:
    """MDA tree by tree, Breiman (2001): loss with features of a column permuted, minus without."""
    columns = [[j] for j in range(forest.n_features)] if columns is None else columns
    increases = np.full((forest.n_trees, len(columns)), np.nan)
    for t, tree in enumerate(trees(forest)):
        oob_rows = np.flatnonzero(tree.inbag[0] == 0)
        if len(oob_rows) == 0:
            continue
        orders = permutations(t, len(oob_rows))
        before = _loss(tree, X[oob_rows], y[oob_rows])
        for j, features in enumerate(columns):
            permuted = X[oob_rows].copy()
            permuted[:, features] = permuted[orders[j]][:, features]
            increases[t, j] = _loss(tree, permuted, y[oob_rows]) - before
    return increases


def orders_within_cells(forest, X, permutations, threshold, columns=None):
    """Orders of Strobl et al. (2008): rows of a cell get its rows' values in the order drawn."""
    columns = columns or [[j] for j in range(forest.n_features)]
    used, ranked = {*forest.feature[forest.feature >= 0].tolist()}, np.nan_to_num(X, nan=np.inf)

    def rho(one, other):
        pairs = [(a, b) for a in one for b in other if {a, b} <= used]
        return max((abs(spearmanr(*ranked[:, pair].T).statistic) for pair in pairs), default=0)

    def of_tree(t, n):
        tree = trees(forest)[t]
        oob_rows, drawn = X[tree.inbag[0] == 0], permutations(t, n)
        orders, split_on = drawn.copy(), tree.feature[tree.feature >= 0]
        for j, own in enumerate(columns):
            if not np.isin(own, split_on).any():
                continue  # the order is of no effect
            others = [k for k in range(len(columns)) if k != j and rho(own, columns[k]) > threshold]
            cuts = [(f, tree.threshold[tree.feature == f]) for k in others for f in columns[k]]
            cells = [tuple("missing" if np.isnan(x[f]) else sum(float(x[f]) > c for c in at)
                           for f, at in cuts if len(at)) for x in oob_rows]  # fmt: skip
            for cell in set(cells):
                members = [a for a in range(n) if cells[a] == cell]
                orders[j, members] = [a for a in drawn[j] if cells[a] == cell]
        return orders

    return of_tree


def _loss(tree, X, y):
    predictions = twins.predict(tree, X)
    if tree.n_outputs == 1:
        return np.mean((predictions[:, 0] - y) ** 2)
    classes = predictions.argmax(1)
    return np.mean([tree.output_names[c] != str(v) for c, v in zip(classes, y, strict=True)])


# Bagged forests of all kinds, with their training rows and targets.


def _small(kind, seed=0, **parameters):
    """A small bagged forest, deep enough for nodes without out-of-bag rows."""
    X, y = whole_numbers("values" if kind == "values" else "classes", 60, 5, seed)
    y = (y > 0).astype(int) if kind == "two classes" else y
    y = np.where(y == 2, "c", np.where(y == 1, "b", "a")) if kind == "three names" else y
    model = RandomForestRegressor if kind == "values" else RandomForestClassifier
    model = model(4, random_state=seed, max_features=2, **parameters).fit(X, y)
    return to_forest(model, X), X, y


def _rare():
    """Trees that saw one class only, beside others."""
    X = np.arange(8.0)[:, None] * np.ones((1, 2))
    y = np.array([0, 0, 0, 0, 0, 0, 0, 1])
    model = RandomForestClassifier(12, random_state=0).fit(X, y)
    return to_forest(model, X), X, y


def _one_row_drawn_all():
    """A tree without out-of-bag rows beside one with them."""
    forest, X, y = _small("two classes")
    counts = np.array(forest.inbag)
    counts[0] += counts[0] == 0
    return replace(forest, inbag=counts), X, y


CASES = {
    "two classes": lambda: _small("two classes"),
    "three names": lambda: _small("three names", seed=1),
    "values": lambda: _small("values", seed=2),
    # Its nodes keep medians, which are not held against the means of the targets.
    "medians": lambda: _small("values", criterion="absolute_error", max_depth=3),
    "few rows drawn": lambda: _small("two classes", seed=3, max_samples=0.3),
    "trees of one class": _rare,
    "a tree without out-of-bag rows": _one_row_drawn_all,
}


@cache
def case(name):
    """Forest, X and y of one case."""
    return CASES[name]()
