"""Growth of seconds: of both algorithms with nodes, and of sampling with iterations.

Iterations of equal time are in `equal_time`. Everything runs on one thread.
"""

import time
from functools import partial

import numpy as np
import pandas as pd

from reproduction.figures import COLORS, panels
from reproduction.papers import finding, of_size
from reproduction.papers.gajewski2025 import _ensembles
from reproduction.papers.gajewski2025._settings import METHODS, NOT_NEGATIVE
from reproduction.parameters import Count
from splitcredit.kernels.compiled import threads
from splitcredit.prediction_gap.exact_gap import GapProblem
from splitcredit.prediction_gap.noise import noise_pool
from splitcredit.prediction_gap.sampling import pg2_sampled

# The stated power of the exact algorithm, and half a unit of the first decimal of a power.
POWER, HALF_DIGIT = 2, 0.05
# Sizes of the ensemble, the largest ones, over which exponents are taken.
LAST = 5
COUNTS = (100, 1000, 5000, 10000, 20000, 35000)
METHOD_OF_GROWTH = {"exact": "exact algorithm, a pair", "mc": "Monte Carlo, an iteration"}
# Each pair has a cost, and so has each sample. Both follow from the times at two counts.
FEW, MANY = 100, 4000
# Noise is drawn anew for every pair, as in the paper; or it is drawn before, shared by all pairs,
# and not timed.
FRESH, SHARED = "fresh noise", "shared noise"
STREAMS = 8
_COLUMNS = ["part", "method", "noise", "n_trees", "nodes", "size", "iterations", "value"]
_COLUMNS += ["low", "high"]


def compute(
    inputs, pairs: Count, repeats: Count, trees: list[Count], sizes: list[Count]
) -> pd.DataFrame:
    """CPU seconds and how they grow.

    ``value`` of the medians over the turns; ``low`` and ``high``, the least and the largest if one
    turn is left out. By ``part``: ``growth``: seconds of the exact algorithm a pair, and of Monte
    Carlo an iteration; ``exponent`` of these in nodes, over the last five sizes of the ensemble;
    ``iterations``: seconds of sampling a pair; ``power`` of the iterations beyond the second count
    in the seconds beyond its own.
    """
    with threads(1):
        grown = list(growth(trees, sizes, 2 * pairs // 5, pairs, repeats))
        sampled = list(by_iterations(COUNTS, pairs // 2, 5 * pairs, repeats))
    rows = [{"part": "growth", **row, **_summary([row["seconds"]], float)} for row in grown]
    for method in METHOD_OF_GROWTH:
        for size in sizes:
            largest = [r for r in grown if (r["method"], r["size"]) == (method, size)][-LAST:]
            nodes = [row["nodes"] for row in largest]
            exponent = _summary([r["seconds"] for r in largest], partial(_ensembles.slope, nodes))
            rows.append({"part": "exponent", "method": method, "size": size, **exponent})
    rows += [{"part": "iterations", **row, **_summary([row["seconds"]], float)} for row in sampled]
    for key in dict.fromkeys((row["method"], row["noise"]) for row in sampled):
        seconds = [r["seconds"] for r in sampled if (r["method"], r["noise"]) == key]
        row = dict(zip(("method", "noise"), key, strict=True))
        rows.append({"part": "power", **row, **_summary(seconds, _power)})
    table = pd.DataFrame(rows, columns=_COLUMNS)
    return table.astype({n: "Int64" for n in ("n_trees", "nodes", "size", "iterations")})


def growth(trees, sizes, n_pairs, n_sampled, repeats):
    """CPU seconds, by number of trees and size of the set."""
    rng = np.random.default_rng(1)
    n_rows = max(n_pairs, n_sampled)
    sets = {size: _ensembles.sets(rng, n_rows, _ensembles.FEATURES, size) for size in sizes}
    for n_trees in trees:
        forest, X = _ensembles.wine_like(n_trees)
        setting, x = GapProblem(forest, None, 0.3, None), X[:n_rows]
        options = {"pool": noise_pool("mc", X.shape[1], MANY, STREAMS)}
        jobs = {}
        for size, masks in sets.items():
            jobs["exact", size] = partial(setting.gaps, x[:n_pairs], masks[:n_pairs, None])
            pairs = x[:n_sampled], masks[:n_sampled]
            jobs |= {(n, size): _sampling(forest, *pairs, n, "mc", options) for n in (FEW, MANY)}
        seconds = turns(jobs, repeats, [name for name in jobs if MANY not in name])
        for size in sizes:
            key = {"n_trees": n_trees, "nodes": forest.n_nodes, "size": size}
            yield {"method": "exact", **key, "seconds": seconds["exact", size] / n_pairs}
            of_samples = np.maximum(seconds[MANY, size] - seconds[FEW, size], 0)
            yield {"method": "mc", **key, "seconds": of_samples / (MANY - FEW) / n_sampled}


def by_iterations(counts, n_fresh, n_shared, repeats, n_trees=40):
    """CPU seconds of sampling a pair, by number of iterations; sets of all sizes."""
    forest, X = _ensembles.wine_like(n_trees)
    n_pairs = {FRESH: n_fresh, SHARED: n_shared}
    x, d = X[: max(n_pairs.values())], X.shape[1]
    masks = np.arange(d) < (np.arange(len(x)) % d + 1)[:, None]
    pools = {kind: noise_pool(kind, d, max(counts), STREAMS) for kind in METHODS}
    jobs = {}
    for kind in METHODS:
        for noise, options in ((FRESH, {"draws": "literal"}), (SHARED, {"pool": pools[kind]})):
            pairs = x[: n_pairs[noise]], masks[: n_pairs[noise]]
            for n in counts:
                jobs[kind, noise, n] = _sampling(forest, *pairs, n, kind, options)
    loads = [name for name in jobs if min(counts) in name]
    for (kind, noise, count), seconds in turns(jobs, repeats, loads).items():
        row = {"method": kind, "noise": noise, "iterations": count}
        yield {**row, "seconds": seconds / n_pairs[noise]}


def _sampling(forest, x, masks, count, kind, options):
    return partial(pg2_sampled, forest, x, masks, [count], 0.3, kind, **options)


def turns(jobs, repeats, loads) -> dict:
    """CPU seconds of each job, float64 (repeats,), taken in turn.

    The jobs of `loads` run once before, not counted: they load the kernels that the others use too.
    """
    for name in loads:
        jobs[name]()
    times = {name: [] for name in jobs}
    for _ in range(repeats):
        for name, job in jobs.items():
            start = time.process_time()
            job()
            times[name].append(time.process_time() - start)
    return {name: np.array(seconds) for name, seconds in times.items()}


def _summary(seconds, measure):
    """The measure of the medians over the turns, and its range if one turn is left out."""
    seconds = np.asarray(seconds)
    n_turns = seconds.shape[1]
    fewer = [np.delete(seconds, turn, axis=1) for turn in range(n_turns) if n_turns > 1]
    values = [measure(np.median(s, axis=1).squeeze()) for s in (seconds, *fewer)]
    return {"value": values[0], "low": min(values), "high": max(values)}


def _power(seconds):
    """Exponent of seconds in iterations; both less their second values, so the set-up cancels."""
    # The fewest iterations are timed after those of another method, whose noise and code have
    # taken the place of theirs in the caches: they take longer than their share.
    counts = np.array(COUNTS)
    return _ensembles.slope((counts - counts[1])[2:], (seconds - seconds[1])[2:])


def draw(table):
    """Seconds against nodes, and against iterations."""
    figure, axes = panels.subplots(1, 3, figsize=(11.5, 3.7), layout="none")
    figure.subplots_adjust(left=0.065, right=0.99, bottom=0.14, top=0.91, wspace=0.27)
    for axis, (method, title) in zip(axes, METHOD_OF_GROWTH.items(), strict=False):
        _growth(axis, table[table["method"] == method], title)
    _iterations(axes[2], table[table["part"] == "iterations"])
    panels.letter(axes)
    return figure


def _growth(axis, table, title):
    exponents = table[table["part"] == "exponent"].set_index("size")["value"]
    grown = table[table["part"] == "growth"]
    styles = (("blue", "o"), ("orange", "s"), ("green", "^"))
    for (size, rows), (color, marker) in zip(grown.groupby("size"), styles, strict=False):
        label = f"|S| = {size:.0f}: exponent {exponents[size]:.2f}"
        style = {"color": COLORS[color], "ms": 4, "label": label}
        bars = np.abs(rows[["low", "high"]].to_numpy().T - rows["value"].to_numpy())
        axis.errorbar(rows["nodes"].astype(float), rows["value"], bars, fmt=f"{marker}-", **style)
    axis.set(xscale="log", yscale="log")
    axis.set(xlabel="nodes of the ensemble", ylabel="CPU seconds, one thread")
    axis.set_title(title[0].upper() + title[1:])
    axis.legend(loc="upper left")


def _iterations(axis, rows):
    styles = {"mc": ("blue", "o"), "halton": ("vermilion", "s")}
    for (method, noise), curve in rows.groupby(["method", "noise"], sort=False):
        is_fresh = noise == FRESH
        color, marker = styles[method]
        style = {"color": COLORS[color], "ls": "-" if is_fresh else ":"}
        # With shared noise the methods take as long: one mark stands around the other.
        around = {"ms": 7, "mfc": "none"}
        style |= {"marker": marker} | ({"ms": 4} if is_fresh or method == "mc" else around)
        label = f"{METHODS[method]}, {noise}"
        axis.plot(curve["iterations"].astype(float), curve["value"], label=label, **style)
    axis.set(xscale="log", yscale="log", title="Sampling, 40 trees")
    axis.set(xlabel="iterations", ylabel="CPU seconds a pair, one thread")
    axis.legend(loc="upper left")
    low, high = axis.get_ylim()
    axis.set_ylim(low, high * 6)


def statements(table):
    """s01 in seconds; s29: linear in iterations; s30: growth with nodes, as stated."""
    words = "the interval is the range if one turn of the clock is left out"
    reason = f"half a unit of the first decimal of the stated power; {words}"
    stated = {"reason": reason, "possible": NOT_NEGATIVE}
    for row in table[table["part"] == "exponent"].to_dict("records"):
        name, value = f"seconds, |S| = {row['size']:.0f}", row["value"]
        measured = f"exponent of CPU seconds in nodes: {METHOD_OF_GROWTH[row['method']]}"
        options = {**stated, "interval": (row["low"], row["high"])}
        if row["method"] == "mc":
            place = ("s30", f"sampling, {name}", measured)
            yield finding(*place, value, 1 + HALF_DIGIT, **options)
            continue
        yield finding("s01", name, measured, value, POWER + HALF_DIGIT, **options)
        options["interval"] = of_size(row["low"] - POWER, row["high"] - POWER)
        # The square is a bound: with fewer nodes no more seconds, and at most quadratic.
        options |= {"reading": f"quadratically: as a power; {reason}", "expected": (0, POWER)}
        place = ("s30", f"exact, {name}", f"|{measured}, less {POWER}|")
        yield finding(*place, abs(value - POWER), HALF_DIGIT, **options)
    measured = f"|exponent - 1| of CPU seconds in iterations, beyond {COUNTS[1]}, to {COUNTS[-1]}"
    for row in table[table["part"] == "power"].to_dict("records"):
        place = ("s29", f"{row['method']}, {row['noise']}", measured, abs(row["value"] - 1))
        interval = of_size(row["low"] - 1, row["high"] - 1)
        yield finding(*place, HALF_DIGIT, interval=interval, **stated)
