"""Steps of the algorithms, counted as they run, over sweeps of M, T, L and D.

Each algorithm has a unit of its own, so that only growth can be compared, not height: calls of G
for Eq. 2 with Algorithm 1; passes through the loops of EXTEND and UNWIND for Algorithm 2; passes
through the loops over the points for quadrature. No clock is involved.

Upper bounds with their constants, for one tree of L leaves and depth D, and 2L - 1 nodes:

- Eq. 2 visits each node at most once a subset: at most (2L - 1) 2^M calls.
- EXTEND makes at most D passes at each of 2L - 1 nodes, UNWIND at most 2D at each of L - 1 inner
  nodes (features that repeat) and (3 D^2 - D) / 2 at each leaf: below L (3 D^2 + 7 D) / 2. In a
  balanced tree D = log2 L.
- Quadrature: 2L - 2 edges, twice at most (D + 1) / 2 points: below 2 L (D + 1).

The loops of EXTEND and UNWIND run over the features of a path, not over its edges. So cost is
linear in L alone where every path tests the same number of features: `_trees.halving`. A tree of
fixed depth in which each level tests a feature of its own cannot show that, as more leaves lie
deeper on average.
"""

from collections import Counter
from itertools import pairwise, product
from math import ceil, log2

import numpy as np

from reproduction.papers.lundberg2017 import _algorithms, _trees
from reproduction.papers.lundberg2017._algorithms import INTERNAL, Tree
from reproduction.papers.lundberg2017._exact import unique_on_path

EQ2, ALGORITHM_2, OURS = "Eq. 2 with Algorithm 1", "Algorithm 2", "quadrature"
# Sweep -> sizes. Depths are even, as K = ceil(D / 2).
MOST_FEATURES = range(2, 14)
COPIES = (1, 2, 4, 8, 16)
HEIGHTS = range(4, 12)
# Features that are tested again and again in the sweep of L.
REPEATED = 4
HANDLES = (0, 4, 10, 18, 30, 44, 60)
BRISTLES = 6


def sweeps() -> list[dict]:
    """One row a sweep, size and method: ``sweep, method, T, L, D, M, value`` (steps)."""
    rows = []
    small = _trees.broom(0, 3)
    for M in MOST_FEATURES:
        rows += _row("M, chain", _trees.caterpillar(M), M, (EQ2, ALGORITHM_2, OURS))
        if M >= 3:
            rows += _row("M", small, M, (EQ2,))
    for T in COPIES:
        forest = _trees.broom(0, 6, n_trees=T)
        rows += _row("T", forest, 6, (EQ2, ALGORITHM_2, OURS))
    for h in HEIGHTS:
        rows += _row("L", _trees.halving(h, REPEATED), REPEATED, (ALGORITHM_2, OURS))
        rows += _row("log2 L", _trees.broom(0, h), h, (ALGORITHM_2, OURS))
    for handle in HANDLES:
        forest = _trees.broom(handle, BRISTLES)
        rows += _row("D", forest, handle + BRISTLES, (ALGORITHM_2, OURS))
    return rows


def exponents(rows) -> dict[tuple[str, str], float]:
    """Slopes of log steps against the log of the size, by sweep and method; see `points`."""
    return {key: slope(values) for key, values in points(rows).items()}


def points(rows) -> dict[tuple[str, str], list[tuple[float, float]]]:
    """Size and steps at each size, whose logarithms are fitted, by sweep and method.

    Against M it is log2 of the steps against M itself. For D the steps are taken for each inner
    node, for log2 L for each leaf, as L grows with them. For L it is the steps that the last half
    of the leaves adds, because the levels near the root, where paths are short, cost less.
    """
    found = {}
    for sweep, method in product(("M", "T", "D", "log2 L", "L"), (EQ2, ALGORITHM_2, OURS)):
        values = [_point(r) for r in rows if (r["sweep"], r["method"]) == (sweep, method)]
        if sweep == "L":
            values = [(b - a, after - before) for (a, before), (b, after) in pairwise(values)]
        if values:
            found[sweep, method] = values
    return found


def _point(row):
    T, L, D, M, steps = (row[name] for name in ("T", "L", "D", "M", "value"))
    return {
        "M": (2**M, steps),
        "T": (T, steps),
        "D": (D, steps / (L - 1)),
        "log2 L": (log2(L), steps / L),
        "L": (L, steps),
    }[row["sweep"]]


def slopes_between(points) -> tuple[float, float]:
    """Least and largest slope between neighbors. `slope`, a weighted mean of them, lies between."""
    slopes = [slope(pair) for pair in pairwise(points)]
    return min(slopes), max(slopes)


def slope(points) -> float:
    """Least-squares slope in log-log coordinates."""
    x, y = np.log(np.array(points, dtype=float)).T
    return float(np.polyfit(x, y, 1)[0])


def bound(row) -> float:
    """Steps over the upper bound of the module's docstring."""
    L, D = row["L"], row["D"]
    if row["method"] == EQ2:
        return row["value"] / (row["T"] * (2 * L - 1) * 2 ** row["M"])
    steps_per_leaf = (3 * D**2 + 7 * D) / 2 if row["method"] == ALGORITHM_2 else 2 * (D + 1)
    return row["value"] / (row["T"] * L * steps_per_leaf)


def count(method, forest, x) -> int:
    """Steps for one row."""
    steps = Counter()
    algorithm = {
        EQ2: _algorithms.shapley_by_subsets,
        ALGORITHM_2: _algorithms.tree_shap,
        OURS: quadrature,
    }[method]
    for tree in _algorithms.trees_of(forest):
        algorithm(x, tree, steps)
    return sum(steps.values())


def _row(sweep, forest, M, methods):
    x = [1.0] * M
    trees = _algorithms.trees_of(forest)
    sizes = {"sweep": sweep, "T": len(trees), "M": M}
    sizes |= {"L": max(t.n_leaves for t in trees), "D": max(t.depth for t in trees)}
    return [{**sizes, "method": m, "value": count(m, forest, x)} for m in methods]


def quadrature(x, tree: Tree, steps: Counter) -> list[float]:
    """Phi by feature of one row by quadrature, as the kernels do it, with its steps counted.

    The derivation is in `splitcredit.kernels.tree_shap.blocks`. With f_i(t) = (1 - t) z_i + t o_i
    for each feature i of a path, the Shapley values are integrals over [0, 1] of polynomials, for
    which K = ceil(m / 2) points suffice on a tree whose paths test at most m features. An edge that
    takes feature i from (z, o) to (z_c, o_c) adds

        (o_c z - z_c o) * sum over the points of (weight and product of all f above) * below / f_i^2

    to phi_i, where "below" sums the leaves below times what is still to come of their products.
    """
    points, weights = np.polynomial.legendre.leggauss(max(1, ceil(unique_on_path(tree) / 2)))
    points, weights = ((points + 1) / 2).tolist(), (weights / 2).tolist()
    phi = [0.0] * len(x)

    def below(j, above, factors):
        if tree.v[j] is not INTERNAL:
            return [tree.v[j]] * len(points)
        i = tree.d[j]
        z, o = factors.get(i, (1.0, 1.0))
        child_of_x = tree.child(j, x)
        total = [0.0] * len(points)
        for child in (tree.a[j], tree.b[j]):
            z_c, o_c = z * tree.r[child] / tree.r[j], o * (child == child_of_x)
            ratio = []
            for t in points:
                steps["loop"] += 1
                ratio.append(((1 - t) * z_c + t * o_c) / ((1 - t) * z + t * o))
            products = [a * f for a, f in zip(above, ratio, strict=True)]
            sums = below(child, products, {**factors, i: (z_c, o_c)})
            integral = 0.0
            for k, t in enumerate(points):
                steps["loop"] += 1
                integral += above[k] * sums[k] / ((1 - t) * z + t * o) ** 2
                total[k] += ratio[k] * sums[k]
            phi[i] += (o_c * z - z_c * o) * integral
        return total

    below(0, weights, {})
    return phi
