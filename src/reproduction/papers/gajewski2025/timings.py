"""Growth of seconds: of both algorithms with nodes, and of sampling with iterations.

Iterations of equal time are in `equal_time`. Everything runs on one thread.
"""

from functools import partial

import numpy as np
import pandas as pd

from reproduction.figures import COLORS, panels
from reproduction.papers import finding, of_size
from reproduction.papers.gajewski2025 import _clocks, _ensembles
from reproduction.papers.gajewski2025._settings import NOT_NEGATIVE
from reproduction.parameters import Count
from splitcredit.kernels.compiled import threads

# The stated power of the exact algorithm, and half a unit of the first decimal of a power.
POWER, HALF_DIGIT = 2, 0.05
# Sizes of the ensemble, the largest ones, over which exponents are taken.
LAST = 5
COUNTS = (100, 1000, 5000, 10000, 20000, 35000)
METHOD_OF_GROWTH = {"exact": "exact algorithm, a pair", "mc": "Monte Carlo, an iteration"}
_COLUMNS = ["part", "method", "noise", "n_trees", "nodes", "size", "iterations", "value"]
_COLUMNS += ["low", "high"]


def compute(
    inputs, pairs: Count, repeats: Count, trees: list[Count], sizes: list[Count]
) -> pd.DataFrame:
    """CPU seconds and how they grow.

    Columns: ``part``; ``value``, of the medians over the turns; ``low`` and ``high``, the least and
    the largest if one turn is left out. By part: ``growth``: CPU seconds of the exact algorithm a
    pair, and of Monte Carlo an iteration (``method``); ``n_trees``, ``nodes``, ``size``;
    ``exponent`` of these seconds in nodes, over the last five sizes of the ensemble;
    ``iterations``: CPU seconds of sampling a pair (``method``, ``noise``) and ``iterations``;
    ``power`` of the iterations beyond the second count in the seconds beyond its own.
    """
    with threads(1):
        grown = list(_clocks.growth(trees, sizes, 2 * pairs // 5, pairs, repeats))
        sampled = list(_clocks.by_iterations(COUNTS, pairs // 2, 5 * pairs, repeats))
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


def _summary(seconds, measure):
    """The measure of the medians over the turns, and its range if one turn is left out."""
    seconds = np.asarray(seconds)
    turns = range(seconds.shape[1])
    without_one_turn = (
        [np.delete(seconds, turn, axis=1) for turn in turns] if len(turns) > 1 else []
    )
    values = [measure(np.median(s, axis=1).squeeze()) for s in (seconds, *without_one_turn)]
    return {"value": values[0], "low": min(values), "high": max(values)}


def _power(seconds):
    """Exponent of seconds in iterations; both less their second values, so the set-up cancels.

    The fewest iterations are timed after those of another method, whose noise and code have taken
    the place of theirs in the caches: they take longer than their share.
    """
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
    axis.set_xlabel("nodes of the ensemble")
    axis.set_ylabel("CPU seconds, one thread")
    axis.set_title(title[0].upper() + title[1:])
    axis.legend(loc="upper left")


_AROUND = {"ms": 7, "mfc": "none"}


def _iterations(axis, rows):
    styles = {"mc": ("blue", "o"), "halton": ("vermilion", "s")}
    for (method, noise), curve in rows.groupby(["method", "noise"], sort=False):
        is_fresh = noise == _clocks.FRESH
        color, marker = styles[method]
        style = {"color": COLORS[color], "ls": "-" if is_fresh else ":"}
        # With shared noise the methods take as long: one mark stands around the other.
        style |= {"marker": marker} | ({"ms": 4} if is_fresh or method == "mc" else _AROUND)
        label = f"{_clocks.METHODS[method]}, {noise}"
        axis.plot(curve["iterations"].astype(float), curve["value"], label=label, **style)
    axis.set(xscale="log", yscale="log")
    axis.set_xlabel("iterations")
    axis.set_ylabel("CPU seconds a pair, one thread")
    axis.set_title("Sampling, 40 trees")
    axis.legend(loc="upper left")
    low, high = axis.get_ylim()
    axis.set_ylim(low, high * 6)


def statements(table):
    """s01 in seconds; s29: linear in iterations; s30: growth with nodes, as stated."""
    words = "the interval is the range if one turn of the clock is left out"
    reason = f"half a unit of the first decimal of the stated power; {words}"
    for row in table[table["part"] == "exponent"].to_dict("records"):
        options = {"reason": reason, "possible": NOT_NEGATIVE}
        options["interval"] = row["low"], row["high"]
        name = f"seconds, |S| = {row['size']:.0f}"
        measured = f"exponent of CPU seconds in nodes: {METHOD_OF_GROWTH[row['method']]}"
        if row["method"] == "mc":
            place = ("s30", f"sampling, {name}", measured, row["value"], 1 + HALF_DIGIT)
            yield finding(*place, **options)
            continue
        yield finding("s01", name, measured, row["value"], POWER + HALF_DIGIT, **options)
        options["interval"] = of_size(row["low"] - POWER, row["high"] - POWER)
        # The square is a bound: with fewer nodes no more seconds, and at most quadratic.
        options |= {"reading": f"quadratically: as a power; {reason}", "expected": (0, POWER)}
        place = ("s30", f"exact, {name}", f"|{measured}, less {POWER}|")
        yield finding(*place, abs(row["value"] - POWER), HALF_DIGIT, **options)
    for row in table[table["part"] == "power"].to_dict("records"):
        name = f"{row['method']}, {row['noise']}"
        measured = (
            f"|exponent - 1| of CPU seconds in iterations, beyond {COUNTS[1]}, to {COUNTS[-1]}"
        )
        options = {"reason": reason, "possible": NOT_NEGATIVE}
        options["interval"] = of_size(row["low"] - 1, row["high"] - 1)
        yield finding("s29", name, measured, abs(row["value"] - 1), HALF_DIGIT, **options)
