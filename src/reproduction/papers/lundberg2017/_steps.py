"""Elementary steps of the algorithms, counted as they run, over sweeps of M, T, L and D.

Counted are calls of G for Eq. 2 with Algorithm 1, passes through the loops of EXTEND and UNWIND for
Algorithm 2, and for our quadrature inner nodes times quadrature points, K = ceil(m / 2) for at most
m features on a path: what the kernel does for a row in its innermost loop. No clock is involved.

Upper bounds with their constants, for one tree of L leaves and depth D, and 2L - 1 nodes:

- Eq. 2 visits each node at most once a subset: at most (2L - 1) 2^M calls.
- EXTEND makes at most D passes at each of 2L - 1 nodes, UNWIND at most 2D at each of L - 1 inner
  nodes (features that repeat) and (3 D^2 - D) / 2 at each leaf: below L (3 D^2 + 7 D) / 2. In a
  balanced tree D = log2 L.
- Ours: L - 1 inner nodes and at most (D + 1) / 2 points, below L (D + 1) / 2.
"""

from __future__ import annotations

from collections import Counter
from math import ceil, log2

import numpy as np

from reproduction.papers.lundberg2017 import _exact, _trees
from reproduction.papers.lundberg2017._algorithms import shapley_by_subsets, tree_shap, trees_of

EQ2, ALGORITHM_2, OURS = "Eq. 2 with Algorithm 1", "Algorithm 2", "splitcredit"
# Sweep -> sizes. Depths are even, as K = ceil(D / 2).
MOST_FEATURES = range(2, 14)
COPIES = (1, 2, 4, 8, 16)
HEIGHTS = range(4, 12)
FIXED_DEPTH = 12
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
        forest = _trees.broom(FIXED_DEPTH - h, h)
        rows += _row("L", forest, FIXED_DEPTH, (ALGORITHM_2, OURS))
        rows += _row("log2 L", _trees.broom(0, h), h, (ALGORITHM_2, OURS))
    for handle in HANDLES:
        forest = _trees.broom(handle, BRISTLES)
        rows += _row("D", forest, handle + BRISTLES, (ALGORITHM_2, OURS))
    return rows


def exponents(rows) -> dict[tuple[str, str], float]:
    """Slopes of log steps against the log of the size, by sweep and method.

    Against M it is log2 of the steps against M itself. For D the steps are taken for each inner
    node, for log2 L for each leaf, as L grows with them.
    """
    slopes = {}
    for sweep, size, share in (
        ("M", lambda r: 2 ** r["M"], lambda r: 1),
        ("T", lambda r: r["T"], lambda r: 1),
        ("L", lambda r: r["L"], lambda r: 1),
        ("D", lambda r: r["D"], lambda r: r["L"] - 1),
        ("log2 L", lambda r: log2(r["L"]), lambda r: r["L"]),
    ):
        for method in (EQ2, ALGORITHM_2, OURS):
            counts = [r for r in rows if r["sweep"] == sweep and r["method"] == method]
            if counts:
                points = [(size(r), r["value"] / share(r)) for r in counts]
                slopes[sweep, method] = slope(points)
    return slopes


def slope(points) -> float:
    """Least-squares slope in log-log coordinates."""
    x, y = np.log(np.array(points, dtype=float)).T
    return float(np.polyfit(x, y, 1)[0])


def bound(row) -> float:
    """Steps over the upper bound of the module's docstring."""
    L, D = row["L"], row["D"]
    if row["method"] == EQ2:
        return row["value"] / (row["T"] * (2 * L - 1) * 2 ** row["M"])
    most = (3 * D**2 + 7 * D) / 2 if row["method"] == ALGORITHM_2 else (D + 1) / 2
    return row["value"] / (row["T"] * L * most)


def loops_of_broom(handle: int, height: int) -> int:
    """Passes through the loops of Algorithm 2 on `_trees.broom`, by formula.

    EXTEND makes k at each node of depth k, and the UNWINDs at a leaf of depth u make
    u^2 + u (u - 1) / 2. There are two nodes at each depth of the handle, one of them a leaf.
    """
    D = handle + height
    nodes = [2 if k <= handle else 2 ** (k - handle) for k in range(1, D + 1)]
    leaves = [1 if k <= handle else 0 for k in range(1, D + 1)]
    if height:
        leaves[-1] = 2**height
    else:
        leaves = [*leaves[:-1], 2]
    return sum(
        n * k + many * (k * k + k * (k - 1) // 2)
        for k, (n, many) in enumerate(zip(nodes, leaves, strict=True), 1)
    )


def finite_size_of_l() -> float:
    """What the exponent of L exceeds 1 by in its sweep, by the formula for the steps.

    At a fixed depth the mean depth of the leaves grows with their number, so that the steps for
    each leaf do: this goes to 0 as L grows, and comes on top of the 1.
    """
    sizes = [(FIXED_DEPTH - h, h) for h in HEIGHTS]
    points = [(s + 2**h, loops_of_broom(s, h) / (s + 2**h)) for s, h in sizes]
    return slope(points)


def count(method, forest, x) -> int:
    """Steps for one row."""
    steps = Counter()
    for tree in trees_of(forest):
        if method == EQ2:
            shapley_by_subsets(x, tree, steps)
        elif method == ALGORITHM_2:
            tree_shap(x, tree, steps)
        else:
            inner = len(tree.v) - tree.n_leaves
            steps["points"] += inner * ceil(_exact.unique_on_path(tree) / 2)
    return sum(steps.values())


def _row(sweep, forest, M, methods):
    x = [1.0] * M
    trees = trees_of(forest)
    sizes = {"sweep": sweep, "T": len(trees), "M": M}
    sizes |= {"L": max(t.n_leaves for t in trees), "D": max(t.depth for t in trees)}
    return [{**sizes, "method": m, "value": count(m, forest, x)} for m in methods]
