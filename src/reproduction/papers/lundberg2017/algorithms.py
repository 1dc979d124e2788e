"""Algorithms: agreement of the exponential and the polynomial one, their costs, and lost digits.

Three questions of section 4, settled without a clock: do Algorithm 1 with Eq. 2, Algorithm 2 and
our quadrature give the same numbers; do their elementary steps grow as stated; and how far are
implementations in floating point from fractions as trees get deep.
"""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pandas as pd

import splitcredit
from reproduction import storage
from reproduction.figures import COLORS, panels
from reproduction.papers import finding
from reproduction.papers.lundberg2017 import _algorithms, _deep, _exact, _peers, _steps, _trees
from reproduction.parameters import Count, Seed
from splitcredit.measures import tree_shap

# Basis: rounding. A number is the sum of some thousand products of float64 of at most its size.
ROUNDING = 1e-12
# Least-squares fits of exact powers are off by some units in the last place.
FIT = 1e-9
ROWS = 3
PRINTED_ALGORITHM = "Algorithm 2, float64"
MULTIPLE = "largest error over the unit roundoff"
# Sweep: the stated exponent, of all steps, those for each node, or those that more leaves add. That
# of T is 1 by addition.
STATED = {
    "M": (1, _steps.EQ2, "log2 calls of G against M"),
    "L": (1, _steps.ALGORITHM_2, "log steps added against log L"),
    "D": (2, _steps.ALGORITHM_2, "log steps for each inner node against log D"),
    "log2 L": (2, _steps.ALGORITHM_2, "log steps for each leaf against log log2 L"),
}
DIGITS = "same values are read as equal in twelve digits of float64; the paper names no precision"
BOUND = "the stated order of growth with the constants that follow from the loops"
# Depth at which float64 is judged: where extend/unwind has lost most of its digits.
DEEP = 60
# Single precision has six digits, and most readers look at no more.
LOST = 1e-6
ERROR = (0.0, None)
# How far the roundings of one precision may add up to another error, relative to the smallest step,
# than those of a few others do: half a digit.
HALF_A_DIGIT = 10**0.5
FLOAT64 = 2.0**-53
# Method and release (None: any): color, dash, and where its name stands beside its line.
LINES = {
    ("xgboost", "3.2.0"): ("purple", "-", "xgboost 3.2.0 (float32)", (42, 1e20)),
    ("shap", None): ("vermilion", "-", "shap {} (float64)", (104, 3e6)),
    ("Algorithm 2, float64", None): ("orange", (0, (4, 2)), "Algorithm 2, in float64", (104, 3e3)),
    ("xgboost", "3.4.1"): ("sky", "-", "xgboost 3.4.1 (float32, 8 points)", (84, 2e-9)),
    ("splitcredit", None): ("blue", "-", "splitcredit (float64)", (84, 4e-13)),
    ("shapiq", None): ("green", (0, (3, 2)), "shapiq {} (float64)", (84, 2e-14)),
}
# Its rows of all kinds are shown, as a band from the worst to the best of them.
BANDED = "shap"
WORST, TYPICAL, BEST = _trees.ROWS
# Color, mark and label.
COUNTED = {
    _steps.EQ2: ("orange", "^", "▲ Eq. 2 with Alg. 1: T L 2$^M$"),
    _steps.ALGORITHM_2: ("vermilion", "s", "■ Algorithm 2: T L D$^2$"),
    _steps.OURS: ("blue", "o", "● quadrature: T L D"),
}
# Trees fitted to data: marker and size.
MARKS = {
    "digits, extra-tree": ("*", 10),
    "wine, extra-tree": ("D", 5),
    "random forest, 20 features": ("v", 7),
    "random forest, 100 features, one a split": ("s", 7),
    "extra-tree, 100 features, one a split": ("P", 8),
}
# Sweeps that are drawn: size, its name, and the words for the fitted exponent.
_AGAIN = f"leaves L; {_steps.REPEATED} features tested again and again"
_BALANCED = "leaves L of balanced trees, a feature a level"
SWEEPS = {
    "M, chain": ("M", "M features, all on one chain", ""),
    "D": ("D", "depth D; 64 leaves below a handle", "for each node: D$^{{{:.2f}}}$"),
    "L": ("L", _AGAIN, "of leaves added: L$^{{{:.2f}}}$"),
    "log2 L": ("L", _BALANCED, "for each leaf: (log L)$^{{{:.2f}}}$"),
}


def compute(
    inputs,
    recorded: str | None = None,
    n_forests: Count = 40,
    depths: Sequence[Count] = _deep.DEPTHS,
    seed: Seed = 0,
) -> pd.DataFrame:
    """Equalities, errors against depth, steps and their exponents.

    Parts: ``equality`` (largest error over ``n`` numbers), ``error`` (largest over rows of a kind,
    each over its largest SHAP value), ``lost`` (depth from which errors are above `LOST`),
    ``control`` (see `controls`), ``steps`` and ``exponent``, the slope of a sweep.
    """
    steps = _steps.sweeps()
    rows = list(_equalities(n_forests, seed))
    of_methods = errors(recorded, depths)
    rows += [{"part": "error", **row} for row in of_methods]
    rows += [{"part": "lost", **row} for row in lost(of_methods)]
    rows += [{"part": "control", **row} for row in controls()]
    rows += [{"part": "steps", **row} for row in steps]
    for (sweep, method), slope in _steps.exponents(steps).items():
        rows.append({"part": "exponent", "sweep": sweep, "method": method, "value": slope})
    columns = "part quantity n tree depth rows method version reference sweep T L D M value"
    table = pd.DataFrame(rows, columns=columns.split())
    return table.astype({name: "Int64" for name in ("n", "depth", "T", "L", "D", "M")})


def errors(recorded=None, depths=_deep.DEPTHS) -> list[dict]:
    """Errors of all methods on deep trees, and those that another environment has recorded."""
    names = {"splitcredit": ("splitcredit", splitcredit.__version__)}
    names |= {peer: (peer, _peers.release(peer)) for peer in ("shap", "xgboost")}
    names["algorithm_2"] = (PRINTED_ALGORITHM, "")
    rows = []
    for case in (*map(_deep.chain, depths), *_deep.real_cases(), *_deep.forest_cases()):
        for method, (name, release) in names.items():
            if case.reference != "fractions" and method != "shap":
                continue
            key = {"tree": case.name, "depth": case.depth, "method": name, "version": release}
            key["reference"] = case.reference
            # In Python each row takes seconds.
            explained = case.one_row_a_kind() if method == "algorithm_2" else case
            values = getattr(_peers, method)(explained.forest, explained.X)
            largest = explained.errors(values)
            rows += [{**key, "rows": kind, "value": error} for kind, error in largest.items()]
    for row in storage.read_rows(recorded) if recorded else []:
        number = {"depth": int(row["depth"]), "value": float(row.pop("error"))}
        rows.append({**row, **number, "reference": "fractions"})
    return rows


def controls() -> list[dict]:
    """Why Algorithm 2 loses digits: the features on a path decide how many, whatever the precision.

    Errors on a chain as deep in which few features come again and again; and on the chain of as
    many features as tests in several precisions, as multiples of their unit roundoff.
    """
    few = _deep.chain(DEEP, _deep.FEW).one_row_a_kind()
    multiples = _deep.in_decimals(_deep.chain(DEEP).one_row_a_kind())
    key = {"tree": few.name, "method": PRINTED_ALGORITHM, "quantity": "largest error"}
    found = [(key, few.errors(_peers.algorithm_2(few.forest, few.X)))]
    for digits, of_kinds in multiples.items():
        key = {"tree": "caterpillar", "method": f"Algorithm 2, {digits} digits"}
        found.append((key | {"quantity": MULTIPLE}, of_kinds))
    return [
        {**key, "depth": DEEP, "rows": kind, "value": value}
        for key, of_kinds in found
        for kind, value in of_kinds.items()
    ]


def lost(errors) -> list[dict]:
    """Depth of caterpillars from which on errors are above `LOST`, between two depths by the line
    through the logarithms; none where they stay below.
    """
    lines: dict = {}
    for row in errors:
        if row["tree"] == "caterpillar":
            key = (row["rows"], row["method"], row["version"])
            lines.setdefault(key, []).append((row["depth"], row["value"]))
    depths_of_loss = []
    for (kind, method, release), line in lines.items():
        depths, values = zip(*sorted(line), strict=True)
        last = max((k for k, value in enumerate(values) if value <= LOST), default=None)
        if last is None or last == len(values) - 1:
            continue
        (x0, x1), (y0, y1) = depths[last : last + 2], np.log(values[last : last + 2])
        share = (np.log(LOST) - y0) / (y1 - y0) if np.isfinite([y0, y1]).all() else 1.0
        key = {"tree": "caterpillar", "rows": kind, "method": method, "version": release}
        depths_of_loss.append({**key, "value": float(x0 + (x1 - x0) * share)})
    return depths_of_loss


def draw(table):
    """Headline left, steps right."""
    figure = panels.figure(figsize=(10.8, 8))
    left, right = figure.subfigures(1, 2, width_ratios=[1.85, 1])
    part = dict(iter(table.groupby("part")))
    headline, axes = left.subplots(), right.subplots(4, 1)
    # Errors of Algorithm 2 on a chain as deep in which few features come again.
    few = part["control"][part["control"]["quantity"] == "largest error"]
    label = f"Algorithm 2 on a {few['tree'].iloc[0]}: each kind of row"
    style = {"color": COLORS["orange"], "ms": 7, "mec": "white", "label": label}
    headline.plot(few["depth"], _drawn(few), "X", **style)
    _draw_errors(headline, part["error"], part.get("lost", table[:0]))
    slope = part["exponent"].set_index(["sweep", "method"])["value"]
    for axis, sweep in zip(axes, SWEEPS, strict=True):
        _draw_sweep(axis, part["steps"][part["steps"]["sweep"] == sweep], sweep, slope)
    panels.letter([headline, *axes])
    right.supylabel("steps for one row, counted; each method in units of its own", fontsize=9)
    return figure


def _drawn(rows):
    """Errors; those below the rounding of one float64 are drawn there."""
    return np.maximum(rows["value"].to_numpy(), FLOAT64)


def _draw_errors(axis, table, lost):
    axis.set_yscale("log")
    for level, text, above in (
        (1, "as wrong as the answer is large", 2.2),
        (1e-6, "six digits left", 2.2),
        (FLOAT64, "rounding of one float64", 0.11),
    ):
        axis.axhline(level, color="0.45", lw=0.8, ls="-" if level == 1 else ":")
        axis.text(153, level * above, text, fontsize=7.5, color="0.35", ha="right")
    for (method, release), (color, dash, name, at_text) in LINES.items():
        rows = table[table["method"] == method]
        rows = rows[rows["version"] == release] if release else rows
        if rows.empty:
            continue
        color = COLORS[color]
        chain = rows[rows["tree"] == "caterpillar"].sort_values("depth")
        kinds = dict(iter(chain.groupby("rows")))
        width = 2.4 if method in ("splitcredit", "shap") else 1.4
        worst = kinds[WORST]
        axis.plot(worst["depth"], _drawn(worst), color=color, ls=dash, lw=width, marker=".", ms=5)
        if method == BANDED:  # from the worst to the best kind of row, and the middle one
            low, depth = _drawn(kinds[BEST]), worst["depth"].astype(float)
            axis.fill_between(depth, low, _drawn(worst), color=color, alpha=0.2, lw=0)
            middle = kinds[TYPICAL]
            axis.plot(middle["depth"], _drawn(middle), color=color, lw=1, ls=":")
        for tree, (mark, size) in MARKS.items():
            points = rows[rows["tree"] == tree]
            style = {"color": color, "ms": size, "mec": "white", "mew": 0.6}
            axis.plot(points["depth"], _drawn(points), mark, **style)
        release = str(rows["version"].iloc[0])
        axis.text(*at_text, name.format(release), color=color, fontsize=8.5, fontweight="bold")
    fitted = table[table["tree"] != "caterpillar"].groupby("tree")[["depth", "reference"]].first()
    for tree in (t for t in MARKS if t in fitted.index):
        mark, size = MARKS[tree]
        label = f"{tree}: depth {fitted['depth'][tree]:.0f}"
        if fitted["reference"][tree] == "splitcredit":
            label += f", unpruned, {_deep.FOREST_SIZE} rows; against splitcredit"
        axis.plot([], [], mark, color="0.35", ms=size, label=label)
    chain = "caterpillar: a feature of its own at each level; the row that takes the whole chain"
    axis.plot([], [], ".-", color="0.35", label=chain)
    band = f"{BANDED}: from that row to rows that pass every other test; between, 9 of 10"
    axis.fill_between([], [], [], color=COLORS["vermilion"], alpha=0.2, lw=0, label=band)
    # Below the axes, so that it covers no line and the lines have all the room.
    style = {"loc": "upper left", "bbox_to_anchor": (-0.1, -0.11), "alignment": "left"}
    axis.legend(fontsize=8, title=_words_of_lost(lost), title_fontsize=8, **style)
    axis.set(xlim=(0, 154), ylim=(5e-18, 1e36), xlabel="depth of the tree")
    axis.set_yticks([10.0**k for k in range(-16, 33, 8)])
    axis.set_ylabel("largest error of a row's SHAP values / its largest SHAP value")
    axis.set_title(
        "Extend and unwind lose digits with the features on a path", loc="left", fontweight="bold"
    )


def _words_of_lost(lost):
    """At which depth each method loses its sixth digit, by kind of row."""
    lines = []
    for (method, release), rows in lost.groupby(["method", "version"], sort=False, dropna=False):
        depth = rows.set_index("rows")["value"]
        depths = " / ".join(f"{depth[k]:.0f}" if k in depth else "-" for k in _trees.ROWS)
        name = method if pd.isna(release) or not release else f"{method} {release}"
        lines.append(f"{name}: {depths}")
    kinds = "whole chain / 9 of 10 tests / every other"
    return f"depth at which six digits are gone, caterpillars ({kinds}):\n" + "; ".join(lines)


def _draw_sweep(axis, table, sweep, slope):
    """Steps of the methods against one size, and their fitted exponents in their colors."""
    size, name, exponent = SWEEPS[sweep]
    methods = [m for m in COUNTED if m in set(table["method"])]
    for method in methods:
        color, mark, _ = COUNTED[method]
        rows = table[table["method"] == method].sort_values(size)
        axis.plot(rows[size], rows["value"], marker=mark, ms=3, color=COLORS[color])
    axis.set_yscale("log", base=10)
    axis.set_xlabel(name, fontsize=8)
    axis.tick_params(labelsize=8)
    if size != "M":
        axis.set_xscale("log", base=2)
    # Room for the names.
    low, high = axis.get_ylim()
    axis.set_ylim(low, high * (high / low) ** 0.5)
    if size != "M":
        ticks = sorted(table[size].unique())[:: 2 if size == "L" else 1]
        axis.set_xticks(ticks, [f"{t:.0f}" for t in ticks])
        axis.minorticks_off()
    for k, method in enumerate(methods):
        color, _, words = COUNTED[method]
        words = exponent.format(slope[sweep, method]) if exponent else words
        style = {"color": COLORS[color], "fontsize": 8, "va": "center"}
        axis.text(0.03, 0.92 - 0.14 * k, words, transform=axis.transAxes, **style)


def statements(table):
    """s02, s03 and s04: local accuracy and missingness, costs, equality."""
    equality = table[table["part"] == "equality"].set_index("quantity")["value"]
    of_sum, error = "largest error of E[f] + sum of phi = f(x)", {"possible": ERROR}
    for variant, measured, quantity, limit in (
        ("fractions", f"{of_sum}, Algorithm 2 in fractions", "additivity, fractions", 0.0),
        ("splitcredit", f"{of_sum}, ours, relative", "additivity, splitcredit", ROUNDING),
        ("missingness", "largest |phi| of a feature no tree tests", "unused features, any", 0.0),
    ):
        yield finding("s02", variant, measured, equality[quantity], limit, **error)
    steps = table[table["part"] == "steps"].to_dict("records")
    in_float64, bounded = {"reading": DIGITS, **error}, {"reading": BOUND, **error}
    exponents = table[table["part"] == "exponent"].set_index(["sweep", "method"])["value"]
    bound = ("bound", "calls of G over their bound T (2L - 1) 2^M, largest")
    yield finding("s03", *bound, _over_bound(steps, _steps.EQ2), 1.0, **bounded)
    of_subsets = _exponent("s03", "M", exponents, steps)
    yield of_subsets
    # The cost is as bad as stated, and not better.
    yield of_subsets | {"variant": "exponential", "limit": 1.0 - FIT, "kind": "at least"}
    exact, rounded = (f"Algorithm 2 - Eq. 2, {number}" for number in ("fractions", "float64"))
    for variant, quantity, limit, options in (
        ("fractions", exact, 0.0, error),
        ("float64, shallow", rounded, ROUNDING, in_float64),
    ):
        measured = f"largest relative difference, {quantity}"
        yield finding("s04", variant, measured, equality[quantity], limit, **options)
    of_algorithm = table[(table["part"] == "error") & (table["method"] == PRINTED_ALGORITHM)]
    is_chain = of_algorithm["tree"] == "caterpillar"
    measured = f"largest error of {PRINTED_ALGORITHM}"
    for row in of_algorithm[is_chain & (of_algorithm["depth"] == DEEP)].itertuples():
        variant = f"float64, caterpillar of depth {DEEP}, {row.rows}"
        options = {**in_float64, "expected": _rounded(table, row.rows)}
        yield finding("s04", variant, measured, row.value, ROUNDING, **options)
    for row in of_algorithm[~is_chain].itertuples():
        yield finding("s04", f"float64, {row.tree}", measured, row.value, ROUNDING, **in_float64)
    bound = ("bound", "steps over T L (3 D^2 + 7 D) / 2, largest")
    yield finding("s04", *bound, _over_bound(steps, _steps.ALGORITHM_2), 1.0, **bounded)
    for sweep in ("L", "D", "log2 L"):
        yield _exponent("s04", sweep, exponents, steps)


def _rounded(table, kind):
    """Error in float64 that the multiples of the unit roundoff in other precisions predict."""
    control = table[(table["part"] == "control") & (table["quantity"] == MULTIPLE)]
    multiples = control.loc[control["rows"] == kind, "value"]
    return FLOAT64 * (multiples.min() / HALF_A_DIGIT), FLOAT64 * (multiples.max() * HALF_A_DIGIT)


def _exponent(statement, sweep, exponents, steps):
    """A finding on a fitted slope, which lies between the least and the largest of two steps."""
    stated, method, measured = STATED[sweep]
    low, high = _steps.slopes_between(_steps.points(steps)[sweep, method])
    place = (f"exponent of {sweep}", f"slope of {measured}", exponents[sweep, method])
    options = {"basis": "printed", "possible": (low - FIT, high + FIT)}
    return finding(statement, *place, stated + FIT, **options)


def _over_bound(steps, method):
    return max(_steps.bound(row) for row in steps if row["method"] == method)


def _equalities(n_forests, seed):
    """Largest differences over random forests: features repeat, several outputs, one unused."""
    errors = {}
    for k in range(n_forests):
        rng = np.random.default_rng([seed, k])
        n_used, depth = int(rng.integers(2, 6)), int(rng.integers(2, 6))
        forest = _trees.random_forest(rng, n_used, depth, 1 + k % 3, 1 + k % 2, n_unused=1)
        X = _trees.random_rows(rng, ROWS, n_used + 1)
        for quantity, values in _differences(forest, X).items():
            errors.setdefault(quantity, []).append(np.ravel(values))
    for quantity, arrays in errors.items():
        values = np.abs(np.concatenate(arrays))
        row = {"part": "equality", "quantity": quantity, "value": float(values.max())}
        yield {**row, "n": len(values)}


def _differences(forest, X) -> dict[str, np.ndarray]:
    """Differences that should be 0, on one forest; relative to its largest number unless exact."""
    eq2 = _phi(forest, X, Fraction, _algorithms.shapley_by_subsets)
    exact = _phi(forest, X, Fraction, _algorithms.tree_shap)
    reference = _phi(forest, X, Fraction, _exact.tree_shap)
    rounded = _phi(forest, X, float, _algorithms.tree_shap)
    ours = tree_shap.attribute(forest, X)
    prediction, mean = _expectations(forest, X)
    largest = float(np.abs(eq2).max()) or 1.0
    size = float(np.abs(prediction).max()) or 1.0
    return {
        "Algorithm 2 - Eq. 2, fractions": exact - eq2,
        "reference - Eq. 2, fractions": reference - eq2,
        "Algorithm 2 - Eq. 2, float64": (rounded - eq2.astype(float)) / largest,
        "splitcredit - Eq. 2": (ours.values - eq2.astype(float)) / largest,
        "additivity, fractions": exact.sum(axis=1) + mean - prediction,
        "additivity, splitcredit": (ours.totals() - prediction.astype(float)) / size,
        "unused features, any": np.stack([exact, rounded, ours.values])[:, :, -1].astype(float),
    }


def _phi(forest, X, number, method):
    """Values of all rows, features and outputs, summed over the trees."""
    values = np.zeros((*X.shape, forest.n_outputs), dtype=object)
    for c in range(forest.n_outputs):
        for tree in _algorithms.trees_of(forest, c, number):
            for n, x in enumerate(X.tolist()):
                values[n, :, c] += method(x, tree)
    return values


def _expectations(forest, X):
    """Predictions of the rows and E[f], in fractions."""
    all_features = range(X.shape[1])
    prediction = np.zeros((len(X), forest.n_outputs), dtype=object)
    mean = np.zeros(forest.n_outputs, dtype=object)
    for c in range(forest.n_outputs):
        for tree in _algorithms.trees_of(forest, c, Fraction):
            mean[c] += _algorithms.expvalue(X[0], (), tree)
            for n, x in enumerate(X.tolist()):
                prediction[n, c] += _algorithms.expvalue(x, all_features, tree)
    return prediction, mean
