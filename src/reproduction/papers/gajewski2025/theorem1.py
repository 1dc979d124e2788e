"""Theorem 0.1: PG2 exactly, in quadratic time; and what the printed algorithm does.

Exactness is held against an enumeration and against sampling, on small ensembles. The cost is
counted, not timed: pairs of leaves that x can come to. How seconds grow is in `timings`; the kernel
adds up whole trees of partners at a time, so it does less than this count.
"""

from __future__ import annotations

import statistics

import numpy as np
import pandas as pd

from reproduction.figures import COLORS
from reproduction.papers import finding
from reproduction.papers.gajewski2025 import _algorithm1, _ensembles, _enumeration
from reproduction.papers.gajewski2025._settings import SIGMAS
from splitcredit.faithfulness.prediction_gap import pg2

# Basis: rounding. A gap is a sum of some hundred products of float64 of at most its size.
ROUNDING = 1e-12
# Where the enumeration has full relative precision.
SMALLEST = 1e-60
# Chance with which the largest z-score of all may exceed its limit.
CHANCE = 1e-3
# A z-score needs so many samples in which the prediction moves.
MOVES = 30
SIZES = (1, 6, 11)
_ALGORITHM = "Algorithm 1"


def compute(inputs, cases: int, draws: int, trees: list[int], rows: int = 10) -> pd.DataFrame:
    """Errors, z-scores, counts of pairs.

    Parameters
    ----------
    inputs : unused
    cases : int
        Number of small ensembles, each with one row and set.
    draws : int
        Samples of each.
    trees : list of int
        Sizes of the growing ensemble.
    rows : int
        Rows, each with a random set, over which counts are averaged.

    Returns
    -------
    DataFrame
        ``part``, ``value``, and by part: ``exactness`` (relative error, ``gap``, ``sigma``),
        ``sampling`` (z-score), ``invalid`` (number of ``n`` gaps that are negative or NaN),
        ``cost`` (pairs of leaves: mean; ``most``; ``size``, ``n_trees``, ``n_leaves``), ``PGI2``
        (pairs of all d sets of a ranking), ``exponent`` (slope of log pairs against log leaves),
        ``algorithm`` (share of NaN, ``size``, ``quantity``).
    """
    rng = np.random.default_rng(2025)
    measurements = [row for _ in range(cases) for row in _case(rng, draws)]
    measurements += [*_invalid(rng), *_cost(rng, trees, rows), *_printed_algorithm()]
    columns = ["part", "quantity", "size", "n_trees", "n_leaves", "n", "sigma", "gap", "most"]
    table = pd.DataFrame(measurements, columns=[*columns, "value"])
    whole = ("size", "n_trees", "n_leaves", "n", "most")
    return table.astype({name: "Int64" for name in whole})


def _case(rng, draws):
    """Relative error, and the z-score of sampling, for one ensemble, row, set and noise."""
    forest, X = _ensembles.small(rng)
    x, d = X[rng.integers(len(X))], X.shape[1]
    chosen = _ensembles.sets(rng, 1, d, int(rng.integers(1, d + 1)))[0]
    sigma = SIGMAS[int(rng.integers(len(SIGMAS)))]
    ours = pg2(forest, x[None], chosen, scale=sigma)[0]
    exact = _enumeration.pg2(forest, x, chosen, sigma)
    key = {"sigma": sigma, "gap": exact}
    error = abs(ours - exact) / exact if exact > SMALLEST else float(ours > SMALLEST)
    moved = np.repeat(x[None], draws, axis=0)
    moved[:, chosen] += (sigma * rng.normal(size=(draws, chosen.sum()))).astype(np.float32)
    at_x = _enumeration.values(forest, x[None])
    squares = (_enumeration.values(forest, moved) - at_x).sum(axis=1) ** 2
    rows = [{"part": "exactness", **key, "value": error}]
    if np.count_nonzero(squares) >= MOVES:
        z = (squares.mean() - ours) / (squares.std(ddof=1) / np.sqrt(draws))
        rows.append({"part": "sampling", **key, "value": z})
    return rows


def _invalid(rng, n_pairs=2000):
    """Gaps of an ensemble of the paper's size that are not numbers from 0."""
    forest, X = _ensembles.wine_like(40)
    d = X.shape[1]
    chosen = np.concatenate([_ensembles.sets(rng, n_pairs // d, d, m) for m in range(1, d + 1)])
    x = X[rng.integers(len(X), size=len(chosen))]
    for sigma in SIGMAS:
        gaps = pg2(forest, x, chosen, scale=sigma)
        count = int((~(gaps >= 0) | np.isinf(gaps)).sum())
        yield {"part": "invalid", "sigma": sigma, "n": len(gaps), "value": count}


def _cost(rng, trees, n_rows):
    """Pairs of leaves by ensemble and size of the set, and the slopes."""
    d = _ensembles.FEATURES
    taken = rng.integers(_ensembles.ROWS, size=n_rows)
    chosen = {size: _ensembles.sets(rng, n_rows, d, size) for size in SIZES}
    order = rng.permutation(d)
    firsts = [np.isin(np.arange(d), order[:k]) for k in range(1, d + 1)]
    counts, leaves = {size: [] for size in SIZES}, []
    for n_trees in trees:
        forest, X = _ensembles.wine_like(n_trees)
        leaves.append(_ensembles.n_leaves(forest))
        key = {"n_trees": n_trees, "n_leaves": leaves[-1]}
        for size in SIZES:
            pairs = _pairs(forest, X[taken], chosen[size])
            counts[size].append(np.mean(pairs))
            yield {"part": "cost", **key, "size": size, "value": np.mean(pairs), "most": max(pairs)}
        whole = sum(_pairs(forest, X[taken[:1]].repeat(d, axis=0), firsts))
        yield {"part": "PGI2", **key, "size": d, "value": whole, "most": whole}
    for size, pairs in counts.items():
        yield {"part": "exponent", "size": size, "value": _ensembles.slope(leaves, pairs)}


def _pairs(forest, X, chosen):
    return [
        _algorithm1.pairs(_algorithm1.active_leaves(forest, x, moving))
        for x, moving in zip(X, chosen, strict=True)
    ]


def _printed_algorithm(n_trees=8):
    """Share of pairs that are NaN in the printed algorithm, at sigma 0.3."""
    forest, X = _ensembles.wine_like(n_trees)
    for size in (SIZES[0], SIZES[-1]):
        chosen = np.arange(X.shape[1]) < size
        for quantity, as_printed in ((f"{_ALGORITHM}, as printed", True), (_ALGORITHM, False)):
            share = _algorithm1.undefined_share(forest, X[0], chosen, 0.3, as_printed)
            key = {"part": "algorithm", "quantity": quantity, "size": size, "n_trees": n_trees}
            yield {**key, "value": share}


def draw(table):
    """Counted pairs against leaves, and errors against the gap."""
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(8.6, 3.6), layout="none")
    figure.subplots_adjust(left=0.09, right=0.985, bottom=0.15, top=0.9, wspace=0.28)
    cost = table[table["part"] == "cost"]
    exponents = table[table["part"] == "exponent"].set_index("size")["value"]
    for size, color, marker in zip(SIZES, ("blue", "orange", "green"), "os^", strict=True):
        cost_of_size = cost[cost["size"] == size]
        label = f"|S| = {size}: exponent {exponents[size]:.2f}"
        style = {"marker": marker, "ms": 4, "color": COLORS[color]}
        axes[0].loglog(
            cost_of_size["n_leaves"].astype(float), cost_of_size["value"], label=label, **style
        )
    leaves = np.sort(cost["n_leaves"].unique().astype(float))
    axes[0].loglog(leaves, leaves**2 / 2, ":", color=COLORS["black"], label="leaves$^2$ / 2")
    axes[0].set_xlabel("leaves of the ensemble")
    axes[0].set_ylabel("pairs of leaves, mean over rows and sets")
    axes[0].set_title("Cost, counted")
    axes[0].legend(loc="upper left")
    exactness = table[table["part"] == "exactness"]
    for sigma, color, marker in zip(SIGMAS, ("blue", "orange", "green"), "os^", strict=True):
        some = exactness[exactness["sigma"] == sigma]
        style = {"marker": marker, "ms": 3.5, "ls": "", "color": COLORS[color]}
        shown = some["value"].clip(lower=1e-17)
        axes[1].loglog(some["gap"], shown, label=f"$\\sigma$ = {sigma}", **style)
    axes[1].axhline(ROUNDING, color=COLORS["black"], lw=0.8, ls=":")
    axes[1].set_xlabel("PG$^2$ by enumeration (squared units of the target)")
    axes[1].set_ylabel("relative error (0 drawn at $10^{-17}$)")
    axes[1].set_title(f"Exactness, {len(exactness)} small ensembles")
    axes[1].legend(loc="center left")
    return figure


def statements(table) -> list[dict]:
    """s01: exact and quadratic; s04: stable, ours and as printed."""
    parts = {name: rows for name, rows in table.groupby("part", sort=False)}
    error = parts["exactness"]["value"].max()
    z = parts["sampling"]["value"].abs()
    limit = statistics.NormalDist().inv_cdf(1 - CHANCE / 2 / len(z))
    bound = {name: (parts[name]["most"] / _most_pairs(parts[name])).max() for name in _COUNTED}
    n = len(parts["exactness"])
    equal = f"largest relative error against enumeration, {n} ensembles"
    findings = [
        finding("s01", "equality", equal, error, ROUNDING, "at most"),
        finding("s01", "sampling", f"largest |z| of {len(z)} samplings", z.max(), limit, "at most"),
    ]
    for name, measured in _COUNTED.items():
        findings.append(finding("s01", f"cost, {name}", measured, bound[name], 1.0, "at most"))
    invalid = parts["invalid"]
    measured = f"negative or NaN gaps of {invalid['n'].sum():.0f}"
    findings.append(finding("s04", "values", measured, invalid["value"].sum(), 0, "at most"))
    findings.append(finding("s04", "equality", equal, error, ROUNDING, "at most"))
    for quantity, rows in parts["algorithm"].groupby("quantity", sort=False):
        measured = f"largest share of pairs of leaves that are 0/0 in {quantity}, |S| of 1 and 11"
        findings.append(finding("s04", quantity, measured, rows["value"].max(), 0, "at most"))
    return findings


_COUNTED = {
    "cost": "pairs of leaves for PG2 over their bound n(n + 1)/2, n leaves, largest",
    "PGI2": "pairs of leaves for PGI2 over their bound d n(n + 1)/2, n leaves, largest",
}


def _most_pairs(rows):
    leaves = rows["n_leaves"].astype(float)
    d = np.where(rows["part"] == "PGI2", rows["size"].astype(float), 1.0)
    return d * leaves * (leaves + 1) / 2
