"""Slow twins of the kernels: the papers' definitions in plain Python, for any `Forest`.

Sums are made with `math.fsum` or in fractions, so that a twin is off by its last rounding only.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache
from itertools import combinations, pairwise

import numpy as np

# Basis of the tolerance: rounding. A kernel makes at most some thousand float64 operations for a
# number, each off by at most 2**-53 of the largest intermediate; 1e3 * 2**-53 is 1e-13.
ROUNDING = 1e-13
# Basis of the tolerance of other libraries' TreeSHAP in float64: to extend and unwind a path they
# subtract and divide numbers that are near each other, and lose some of the 16 digits.
UNWINDING = 1e-9


def largest_error(ours, twin) -> float:
    """Largest difference, as a share of the largest number of the twin."""
    ours, twin = np.asarray(ours, dtype=float), np.asarray(twin, dtype=float)
    assert ours.shape == twin.shape
    scale = np.abs(twin).max(initial=0.0)
    return float(np.abs(ours - twin).max(initial=0.0) / (scale or 1.0))


def goes_left(forest, k, row) -> bool:
    """Whether a row goes left at node k: the row is cast, the threshold is not.

    Rows are prepared where a forest has columns for subsets of categories.
    """
    x = row[forest.feature[k] if forest.column is None else forest.column[k]]
    x = float(np.float32(x)) if forest.x_dtype == "float32" else float(x)
    if math.isnan(x):
        return bool(forest.missing_left[k])
    return x < forest.threshold[k] if forest.strict else x <= forest.threshold[k]


def paths(forest, row) -> list[list[int]]:
    """Nodes that a row visits in each tree, from the root to the leaf."""
    visited = []
    for root in forest.tree_offsets[:-1]:
        path = [int(root)]
        while forest.feature[path[-1]] >= 0:
            k = path[-1]
            path.append(int(forest.left[k] if goes_left(forest, k, row) else forest.right[k]))
        visited.append(path)
    return visited


def predict(forest, X) -> np.ndarray:
    """Values of the leaves that each row reaches, averaged or summed, plus the base."""
    predictions = np.zeros((len(X), forest.n_outputs))
    for i, row in enumerate(X):
        leaves = [path[-1] for path in paths(forest, row)]
        for c in range(forest.n_outputs):
            total = math.fsum(forest.value[leaf, c] for leaf in leaves)
            predictions[i, c] = aggregated(forest, total) + forest.base[c]
    return predictions


def mdi_of_tree(forest, t) -> list[Fraction]:
    """MDI of one tree, exact: sutera2021, Eq. 2.

    The sum of p(t) Δi(s_t, t) over the nodes that test X_m, with p(t) the share of the training
    weight that reaches t and Δi(s_t, t) = i(t) - p_L i(t_L) - p_R i(t_R).
    """
    cover = [Fraction(c) for c in forest.cover.tolist()]
    impurity = [Fraction(i) for i in forest.impurity.tolist()]
    importances = [Fraction(0)] * forest.n_features
    root, end = forest.tree_offsets[t], forest.tree_offsets[t + 1]
    for k in range(root, end):
        if forest.feature[k] >= 0:
            a, b = forest.left[k], forest.right[k]
            decrease = impurity[k] - (cover[a] * impurity[a] + cover[b] * impurity[b]) / cover[k]
            importances[forest.feature[k]] += cover[k] / cover[root] * decrease
    return importances


def mdi(forest) -> np.ndarray:
    """Global MDI, the mean over the trees: sutera2021, Eq. 3."""
    trees = [mdi_of_tree(forest, t) for t in range(forest.n_trees)]
    return np.array([float(sum(column) / len(trees)) for column in zip(*trees, strict=True)])


def mdi_normalized_by_tree(forest) -> np.ndarray:
    """`feature_importances_` as the scikit-learn guide defines it (no equation in the papers).

    Each tree's importances are divided by their sum if that is above 0, trees of a single node are
    left out, and the mean of the rest is divided by its sum. GradientBoosting, whose trees are
    added up, does not divide those of each tree.
    """
    shares = []
    for t in range(forest.n_trees):
        if forest.tree_offsets[t + 1] - forest.tree_offsets[t] > 1:
            tree = mdi_of_tree(forest, t)
            divided = forest.aggregate == "mean" and sum(tree) > 0
            shares.append([part / sum(tree) if divided else part for part in tree])
    total = [sum(column) for column in zip(*shares, strict=True)] or [0] * forest.n_features
    return np.array([float(part / sum(total)) if sum(total) > 0 else 0.0 for part in total])


def local_mdi(forest, X) -> np.ndarray:
    """Local MDI of each row: sutera2021, Definition 1, Eq. 8, (n_samples, n_features).

    Both sums run over the whole difference i(t) - i(t_{x_m}); the parentheses are not printed.
    """
    return -_rises(forest, X, forest.impurity[:, None])[:, :, 0] / forest.n_trees


def saabas(forest, X) -> np.ndarray:
    """Saabas attributions of all outputs, (n_samples, n_features, n_outputs).

    The "path" method of lundberg2017, section 2, after Saabas (2014): the change of the node's
    prediction goes to the feature that the parent tests. No equation is printed.
    """
    return aggregated(forest, _rises(forest, X, forest.value))


def _rises(forest, X, numbers):
    """Sums, on each row's paths, of a child's numbers minus its parent's, by the tested feature."""
    sums = np.zeros((len(X), forest.n_features, numbers.shape[1]))
    for i, row in enumerate(X):
        steps = [step for path in paths(forest, row) for step in pairwise(path)]
        for c, number in enumerate(numbers.T):
            terms = [[] for _ in range(forest.n_features)]
            for t, child in steps:
                terms[forest.feature[t]] += [number[child], -number[t]]
            sums[i, :, c] = [math.fsum(part) for part in terms]
    return sums


def expvalue(forest, row, known, number=float) -> list:
    """E[f(x) | x_S] of the ensemble, by output: lundberg2017, Algorithm 1 (EXPVALUE).

    The second recursive call is printed with a_j twice: G(b_j, w r_{b_j} / r_j) is right.
    `number` is the arithmetic: float, or Fraction for no rounding at all.
    """
    total = [number(0)] * forest.n_outputs

    def g(j, w):
        if forest.feature[j] < 0:
            for c in range(forest.n_outputs):
                total[c] += w * number(forest.value[j, c])
            return
        a, b = forest.left[j], forest.right[j]
        if forest.feature[j] in known:
            g(a if goes_left(forest, j, row) else b, w)
        else:
            r = number(forest.cover[j])
            g(a, w * number(forest.cover[a]) / r)
            g(b, w * number(forest.cover[b]) / r)

    for root in forest.tree_offsets[:-1]:
        g(root, number(1))
    return [aggregated(forest, s) + number(b) for s, b in zip(total, forest.base, strict=True)]


def tree_shap_by_subsets(forest, X, players=None) -> np.ndarray:
    """Shapley values by enumeration of all subsets: lundberg2017, Eq. 2 with Algorithm 1.

    Each of the players is a list of features that are known together; by default each feature is
    one.
    """
    players = players or [[j] for j in range(forest.n_features)]
    values = []
    for row in X:
        worth = {
            S: expvalue(forest, row, [j for i in S for j in players[i]])
            for S in coalitions(len(players))
        }
        values.append(shapley(worth, len(players)))
    return np.array(values)


def coalitions(p) -> list[tuple]:
    """All subsets of p players, as sorted tuples."""
    return [S for size in range(p + 1) for S in combinations(range(p), size)]


def shapley(worth, p) -> np.ndarray:
    """Shapley values, (p, n_outputs), from the worth of all coalitions: lundberg2017, Eq. 2.

    Eq. 2 is printed with the factor (M - |S|! - 1); |S|! (M - |S| - 1)! / M! is right.
    """
    values = []
    for i in range(p):
        gains = []
        for S in worth:
            if i not in S:
                weight = orders(p)[len(S)] / math.factorial(p)
                pairs = zip(worth[tuple(sorted((*S, i)))], worth[S], strict=True)
                gains.append([weight * (with_i - without_i) for with_i, without_i in pairs])
        values.append([math.fsum(of_output) for of_output in zip(*gains, strict=True)])
    return np.array(values)


@cache
def orders(m):
    """Numbers of orders of m features in which a subset of size 0, 1, ... goes before a feature."""
    return [math.factorial(size) * math.factorial(m - size - 1) for size in range(m)]


def ways(forest, root):
    """Every leaf below a node, and the path to it as triples of a node, left and the child."""
    waiting = [(int(root), [])]
    while waiting:
        k, path = waiting.pop()
        if forest.feature[k] < 0:
            yield k, path
            continue
        for child, left in ((int(forest.left[k]), True), (int(forest.right[k]), False)):
            waiting.append((child, [*path, (k, left, child)]))


def aggregated(forest, total):
    """The mean over the trees, of their sum; or the sum, where the forest adds its trees up."""
    return total / forest.n_trees if forest.aggregate == "mean" else total
