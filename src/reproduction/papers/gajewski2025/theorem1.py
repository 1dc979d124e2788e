"""Theorem 0.1: PG2 exactly, in quadratic time, for any independent noise; Algorithm 1 as printed.

Exactness is compared with an enumeration and with sampling, on small ensembles. The cost is the
number of operations of our algorithm; seconds are in `timings`. Two sentences on the method are
judged as well: that effects cancel without the square, and that quasi-random points lose some of
their low discrepancy on their way to normal noise.
"""

import statistics

import numpy as np
import pandas as pd
from scipy.special import ndtr
from scipy.stats import qmc

from reproduction.figures import COLORS, panels
from reproduction.papers import finding
from reproduction.papers.gajewski2025 import (
    _algorithm1,
    _ensembles,
    _enumeration,
    _noises,
    _operations,
)
from reproduction.papers.gajewski2025._settings import NOT_NEGATIVE, SHARE, SIGMAS, counts
from reproduction.parameters import Count
from splitcredit.prediction_gap.exact_gap import pg2
from splitcredit.prediction_gap.noise import noise_stream

# A gap is a sum of some hundred products of float64 of at most its size.
ROUNDING = 1e-12
# Where the enumeration has full relative precision.
SMALLEST = 1e-60
# Chance with which the largest z-score of all may exceed its limit.
CHANCE = 1e-3
# A z-score needs so many samples in which the prediction moves.
MOVES = 30
SIZES = (1, 6, 11)
# Depths of the ensembles that grow in depth, their trees, and their noise. In shallower trees the
# leaf that x is in, which takes no part, is one of few, and the rest grows faster than the nodes.
DEPTHS, TREES_OF_DEPTHS, SIGMA = (4, 5, 6, 7, 8, 9, 10), 10, 0.3
# The stated power of n, and half a unit of its first decimal. The largest ensembles decide, at most
# so many.
POWER, HALF_DIGIT, LAST = 2, 0.05, 5
_ALGORITHM = "Algorithm 1"
# A signed gap that is nearly cancelled, as a part of the root of PG2; and the samples of a row's.
# If all cancelled, the mean of so many would be a fiftieth of that root by chance.
CANCELLED, SIGNED_DRAWS = 0.1, 2500
# A loss of low discrepancy that one would see: part of the way to pseudo-random points. A normal
# quantile and its inverse are off by roundings alone.
SOME_LOSS, NO_LOSS = 0.01, 1e-6
_GROWTHS = {"trees": "more trees", "depth": "deeper trees", "PGI2": "PGI2, more trees"}


def compute(
    inputs, cases: Count, draws: Count, trees: list[Count], rows: Count = 10
) -> pd.DataFrame:
    """Errors, z-scores, counts of operations.

    ``value`` by ``part``: ``exactness`` (relative error), ``sampling`` (z-score), ``invalid``
    (number of ``n`` gaps that are negative or NaN), ``operations`` (mean of a pair; ``growth``: of
    ``trees``, ``depth`` or, for all d sets of a ranking, ``PGI2``), ``exponent`` (of operations in
    nodes; ``low`` and ``high`` if one of the rows is left out), ``algorithm`` (share of NaN),
    ``cancellation`` (absolute mean of the signed gap over the root of PG2, of each of ten times
    `rows` rows, for the feature with the largest PG2), ``discrepancy`` (of ``n`` quasi-random
    points before and after the transformation to normal noise, and of pseudo-random ones).
    """
    rng = np.random.default_rng(2025)
    kinds = [_noises.KINDS[i % len(_noises.KINDS)] for i in range(cases)]
    measurements = [row for kind in kinds for row in _case(rng, kind, draws)]
    # Counts do not depend on the number of cases.
    of_cost = np.random.default_rng([2025, 1])
    measurements += [*_invalid(rng), *_cost(of_cost, trees, rows), *_printed_algorithm()]
    measurements += [*_cancellation(10 * rows), *_discrepancy()]
    columns = ["part", "noise", "quantity", "growth", "size", "n_nodes", "n", "sigma", "gap"]
    table = pd.DataFrame(measurements, columns=[*columns, "value", "low", "high"])
    return table.astype({name: "Int64" for name in ("size", "n_nodes", "n")})


def _case(rng, kind, draws):
    """Relative error, and the z-score of sampling, for one ensemble, row, set and noise."""
    forest, X = _ensembles.small(rng)
    x, d = X[rng.integers(len(X))], X.shape[1]
    mask = _ensembles.sets(rng, 1, d, int(rng.integers(1, d + 1)))[0]
    sigma = SIGMAS[int(rng.integers(len(SIGMAS)))]
    noise = _noises.make(kind, rng, X, x, sigma)
    ours = pg2(forest, x[None], mask, noise.perturbation, noise.scale)[0]
    exact = _enumeration.pg2(forest, x, mask, noise.below)
    key = {"noise": kind, "sigma": sigma, "gap": exact}
    error = abs(ours - exact) / exact if exact > SMALLEST else float(ours > SMALLEST)
    perturbed = np.where(mask, noise.draw(rng, x, draws), x)
    at_x = _enumeration.values(forest, x[None])
    squares = (_enumeration.values(forest, perturbed) - at_x).sum(axis=1) ** 2
    yield {"part": "exactness", **key, "value": error}
    if np.count_nonzero(squares) >= MOVES and squares.std() > 0:
        z = (squares.mean() - ours) / (squares.std(ddof=1) / np.sqrt(draws))
        yield {"part": "sampling", **key, "value": z}


def _invalid(rng, n_pairs=2000):
    """Gaps of an ensemble of the paper's size that are not numbers from 0."""
    forest, X = _ensembles.wine_like(40)
    d = X.shape[1]
    masks = np.concatenate([_ensembles.sets(rng, n_pairs // d, d, m) for m in range(1, d + 1)])
    x = X[rng.integers(len(X), size=len(masks))]
    for sigma in SIGMAS:
        gaps = pg2(forest, x, masks, scale=sigma)
        count = int((~(gaps >= 0) | np.isinf(gaps)).sum())
        yield {"part": "invalid", "sigma": sigma, "n": len(gaps), "value": count}


def _cost(rng, trees, n_rows):
    """Operations by ensemble and size of the set, and the exponents."""
    d = _ensembles.FEATURES
    row_indices = rng.integers(_ensembles.ROWS, size=n_rows)
    masks = {size: _ensembles.sets(rng, n_rows, d, size) for size in SIZES}
    grown = {"trees": [_ensembles.wine_like(n) for n in trees]}
    grown["depth"] = [_ensembles.wine_like(TREES_OF_DEPTHS, depth) for depth in DEPTHS]
    for growth, ensembles in grown.items():
        for size in SIZES:
            counts = [
                _operations.count(forest, X[row_indices], masks[size], SIGMA)
                for forest, X in ensembles
            ]
            yield from _growth(growth, size, ensembles, counts)
    firsts = np.argsort(rng.permuted(np.tile(np.arange(d), (n_rows, 1)), axis=1), axis=1)
    counts = [
        sum(_operations.count(forest, X[row_indices], firsts < k, SIGMA) for k in range(1, d + 1))
        for forest, X in grown["trees"]
    ]
    yield from _growth("PGI2", d, grown["trees"], counts)


def _growth(growth, size, ensembles, counts):
    key = {"growth": growth, "size": size}
    nodes = [forest.n_nodes for forest, _ in ensembles]
    for n, counts_of_pairs in zip(nodes, counts, strict=True):
        yield {"part": "operations", **key, "n_nodes": n, "value": np.mean(counts_of_pairs)}
    counts, nodes = np.array(counts)[-LAST:], nodes[-LAST:]
    fewer = [np.delete(counts, row, axis=1) for row in range(counts.shape[1])]
    value, *without_one_row = [_ensembles.slope(nodes, c.mean(axis=1)) for c in (counts, *fewer)]
    ends = {"low": min(value, *without_one_row), "high": max(value, *without_one_row)}
    yield {"part": "exponent", **key, "value": value, **ends}


def _printed_algorithm(n_trees=8):
    """Share of pairs that are NaN in the printed algorithm, at sigma 0.3."""
    forest, X = _ensembles.wine_like(n_trees)
    for size in (SIZES[0], SIZES[-1]):
        mask = np.arange(X.shape[1]) < size
        for quantity, as_printed in ((f"{_ALGORITHM}, as printed", True), (_ALGORITHM, False)):
            share = _algorithm1.undefined_share(forest, X[0], mask, 0.3, as_printed)
            key = {"part": "algorithm", "quantity": quantity, "size": size}
            yield {**key, "value": share}


def _cancellation(n_rows, sigma=SIGMAS[0]):
    """Signed gaps of an ensemble of the paper's size, each for the most important feature."""
    forest, X = _ensembles.wine_like(40)
    X, rng = X[:n_rows], np.random.default_rng([2025, 2])
    masks = np.eye(X.shape[1], dtype=bool)
    gaps = np.stack([pg2(forest, X, mask, scale=sigma) for mask in masks], axis=1)
    for x, j, gap in zip(X, gaps.argmax(axis=1), gaps.max(axis=1), strict=True):
        perturbed = np.tile(x, (SIGNED_DRAWS, 1))
        perturbed[:, j] += rng.normal(scale=sigma, size=SIGNED_DRAWS).astype(np.float32)
        signed = forest.predict(perturbed)[:, 0].mean() - forest.predict(x[None])[0, 0]
        row = {"part": "cancellation", "sigma": sigma, "gap": gap, "n": SIGNED_DRAWS}
        yield {**row, "value": abs(signed) / np.sqrt(gap)}


def _discrepancy(n_points=1000):
    """Discrepancy of points in the unit cube, in as many dimensions as red wine has features."""
    d, seed = _ensembles.FEATURES, np.random.SeedSequence(2025)
    uniform = qmc.Halton(d, scramble=True, seed=np.random.default_rng(seed)).random(n_points)
    # A seed gives the same points only if nothing was drawn from it.
    noise = noise_stream("halton", d, n_points, np.random.SeedSequence(2025)).T
    points = {
        _UNIFORM: uniform,
        _NOISE: ndtr(noise.astype(np.float32).astype(float)),
        _PSEUDO: np.random.default_rng([2025, 3]).random((n_points, d)),
    }
    for quantity, of_quantity in points.items():
        row = {"part": "discrepancy", "quantity": quantity, "n": n_points}
        yield {**row, "value": np.sqrt(qmc.discrepancy(of_quantity))}


_UNIFORM, _NOISE, _PSEUDO = "quasi-random", "quasi-random, as normal noise", "pseudo-random"


def draw(table):
    """Operations against nodes, errors against the gap, and z-scores of sampling."""
    figure, axes = panels.subplots(2, 2, figsize=(9.6, 7.4), layout="none")
    figure.subplots_adjust(left=0.08, right=0.985, bottom=0.075, top=0.95, wspace=0.24, hspace=0.34)
    for axis, growth in zip(axes[0], ("trees", "depth"), strict=True):
        _draw_cost(axis, table, growth)
    _draw_exactness(axes[1, 0], table[table["part"] == "exactness"])
    _draw_sampling(axes[1, 1], table[table["part"] == "sampling"])
    panels.letter(axes)
    return figure


def _draw_cost(axis, table, growth):
    from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

    rows = table[table["growth"] == growth]
    exponents = rows[rows["part"] == "exponent"].set_index("size")["value"]
    cost = rows[rows["part"] == "operations"]
    for size, color, marker in zip(SIZES, ("blue", "orange", "green"), "os^", strict=True):
        rows_of_size = cost[cost["size"] == size]
        style = {"marker": marker, "ms": 4, "color": COLORS[color]}
        style["label"] = f"|S| = {size}: exponent {exponents[size]:.2f}"
        axis.loglog(rows_of_size["n_nodes"].astype(float), rows_of_size["value"], **style)
    nodes = np.sort(cost["n_nodes"].unique().astype(float))
    axis.loglog(nodes, nodes**2, ":", color=COLORS["black"], label="nodes$^2$")
    # On an axis of little more than a decade matplotlib labels one tick, or too many.
    axis.xaxis.set_major_locator(LogLocator(subs=(1, 3)))
    axis.xaxis.set_major_formatter(StrMethodFormatter("{x:.0f}"))
    axis.xaxis.set_minor_formatter(NullFormatter())
    axis.set(xlabel="nodes of the ensemble", ylabel="operations for a pair, mean")
    axis.set_title(f"Cost with {_GROWTHS[growth]}")
    axis.legend(loc="upper left")


_NOISE_COLORS = dict(
    zip(_noises.KINDS, ("blue", "orange", "green", "vermilion", "purple", "sky"), strict=True)
)


# Smaller values are drawn at these: one gap far below the others would press the others together.
_LEAST_GAP, _LEAST_ERROR = 1e-20, 1e-17


def _limit(axis, value):
    axis.axhline(value, color=COLORS["black"], lw=0.8, ls=":")
    style = {"xycoords": ("axes fraction", "data"), "fontsize": 7.5, "color": "0.3"}
    panels.note(axis, "limit of the statement", (0.01, value), (0, 2), **style)


def _draw_exactness(axis, exactness):
    for (noise, color), marker in zip(_NOISE_COLORS.items(), "os^vDP", strict=True):
        rows_of_noise = exactness[exactness["noise"] == noise]
        style = {"marker": marker, "ms": 3, "ls": "", "color": COLORS[color], "label": noise}
        gap = rows_of_noise["gap"].clip(lower=_LEAST_GAP)
        axis.loglog(gap, rows_of_noise["value"].clip(lower=_LEAST_ERROR), **style)
    _limit(axis, ROUNDING)
    axis.set_ylim(top=1e-10)
    axis.set_xlabel("PG$^2$ by enumeration (squared units of the target; least at $10^{-20}$)")
    axis.set_ylabel("relative error (0 at $10^{-17}$)")
    axis.set_title(f"Exactness, {len(exactness)} small ensembles")
    axis.legend(loc="upper center", ncols=3)


def _draw_sampling(axis, sampling):
    for place, (noise, color) in enumerate(_NOISE_COLORS.items()):
        z = np.sort(sampling.loc[sampling["noise"] == noise, "value"])
        spread = place + np.linspace(-0.3, 0.3, len(z)) if len(z) > 1 else [place] * len(z)
        axis.plot(spread, z, "o", ms=3, color=COLORS[color])
    limit = _largest_z(max(len(sampling), 1))
    for sign in (-1, 1):
        _limit(axis, sign * limit)
    axis.set_ylim(-limit - 1, limit + 1)
    words = [kind.replace(" by ", "\nby ") for kind in _NOISE_COLORS]
    axis.set_xticks(range(len(words)), words, fontsize=8)
    axis.set_ylabel("z-score")
    axis.set_title(f"Monte Carlo less exact, {len(sampling)} samplings")


def _largest_z(n):
    """The limit that the largest |z| of n exceeds with a probability of `CHANCE`."""
    return statistics.NormalDist().inv_cdf(1 - CHANCE / 2 / n)


def statements(table):
    """s01: exact and quadratic; s04: stable, ours and as printed; s28: any independent noise; s36,
    s37: what the square is for, and the transformation of quasi-random points.
    """
    parts = {name: rows for name, rows in table.groupby("part")}
    exactness, sampling, invalid = (parts[name] for name in ("exactness", "sampling", "invalid"))
    largest_error = "largest relative error against enumeration"
    for noise, rows in exactness.groupby("noise", sort=False):
        statement = "s01" if noise == _noises.NORMAL else "s28"
        place = (statement, f"equality, {noise}", f"{largest_error}, {len(rows)} ensembles")
        yield finding(*place, rows["value"].max(), ROUNDING, possible=NOT_NEGATIVE)
    is_normal = sampling["noise"] == _noises.NORMAL
    reason = f"exceeded with a probability of {CHANCE} if the exact gaps are right"
    options = {"basis": "monte-carlo", "reason": reason, "possible": NOT_NEGATIVE}
    for statement, chosen in (("s01", is_normal), ("s28", ~is_normal)):
        z = sampling.loc[chosen, "value"].abs()
        if len(z):
            place = (statement, "sampling", f"largest |z| of {len(z)} samplings", z.max())
            yield finding(*place, _largest_z(len(z)), **options)
    reason = "half a unit of the first decimal of the stated power; the interval is the range if "
    reason += "one row is left out"
    measured = f"exponent of operations in nodes, largest {LAST} ensembles"
    exponents = parts["exponent"]
    for row in exponents[exponents["size"] == SIZES[-1]].to_dict("records"):  # all features
        name = f"operations, {_GROWTHS[row['growth']]}, all features"
        options = {"interval": (row["low"], row["high"]), "possible": NOT_NEGATIVE}
        place = ("s01", name, measured, row["value"], POWER + HALF_DIGIT)
        yield finding(*place, reason=reason, **options)
    yield from _bounded(parts["operations"])
    n_gaps = invalid["n"].sum()
    place = ("s04", "values", f"negative or NaN gaps of {n_gaps:.0f}")
    yield finding(*place, invalid["value"].sum(), 0, possible=counts(n_gaps))
    place = ("s04", "equality", f"{largest_error}, any noise", exactness["value"].max())
    yield finding(*place, ROUNDING, possible=NOT_NEGATIVE)
    yield from _undefined(parts["algorithm"])
    yield from _of_method(parts["cancellation"], parts["discrepancy"])


def _undefined(rows):
    """s04: where the printed algorithm divides 0 by 0."""
    # The fewer features are perturbed, the more factors are 0; and with l = infinity a factor is 0
    # wherever it is with l = -infinity.
    shares = rows.set_index(["quantity", "size"])["value"]
    as_meant, all_features = shares[_ALGORITHM], SIZES[-1]
    for quantity, of_quantity in shares.groupby(level="quantity", sort=False):
        expected = as_meant.max(), 1
        if quantity == _ALGORITHM:
            expected = as_meant[all_features], shares.max()
        measured = f"largest share of pairs of leaves that are 0/0 in {quantity}, |S| of 1 and 11"
        options = {"possible": SHARE, "expected": expected}
        yield finding("s04", quantity, measured, of_quantity.max(), 0, **options)


def _of_method(cancellation, discrepancy):
    """s36: signed gaps may cancel; s37: what the transformation costs quasi-random points."""
    measured = (
        f"share of {len(cancellation)} rows whose mean signed gap is less than {CANCELLED} of the "
        "root of PG2, feature with the largest PG2"
    )
    place = ("s36", "most important feature", measured)
    share, options = (cancellation["value"] < CANCELLED).mean(), {"possible": SHARE}
    options["reading"] = '"could": in one row of a hundred at least'
    yield finding(*place, share, 0.01, "at least", **options)
    of_points = discrepancy.set_index("quantity")["value"]
    change = abs(of_points[_NOISE] - of_points[_UNIFORM])
    part = change / (of_points[_PSEUDO] - of_points[_UNIFORM])
    measured = "change of the discrepancy by the transformation, as a part of the way to that of "
    place = ("s37", "Halton points", f"{measured}pseudo-random points")
    reading = '"some loss": one part in a hundred of what pseudo-random points have lost'
    options = {"reading": reading, "possible": NOT_NEGATIVE, "expected": (0, NO_LOSS)}
    yield finding(*place, part, SOME_LOSS, "at least", **options)


def _bounded(operations):
    """s01: fewer features, and each gap of a ranking, take no more operations than all features."""
    # The operations of a smaller set may grow faster than the square, as long as the share of the
    # leaves that take part grows. They are still bounded by the square of all features.
    counted = operations.set_index(["growth", "size", "n_nodes"])["value"].sort_index()
    largest = SIZES[-1]
    reading = "the operations of all features grow with the square of the nodes at most"
    measured = "largest ratio of operations to those of one gap of all features"
    compared = [(growth, size, 1) for growth in ("trees", "depth") for size in SIZES[:-1]]
    for growth, size, n_gaps in [*compared, ("PGI2", largest, largest)]:
        of_all = counted["trees" if growth == "PGI2" else growth, largest]
        ratios = counted[growth, size] / (n_gaps * of_all)
        name = f"|S| = {size}" if n_gaps == 1 else "each of the d gaps"
        place = ("s01", f"operations, {_GROWTHS[growth]}, {name}", measured, ratios.max())
        yield finding(*place, 1.0, reading=reading, possible=NOT_NEGATIVE)
