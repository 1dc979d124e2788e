"""Algorithms: agreement of the exponential and the polynomial one, their costs, and lost digits.

Three questions of section 4, settled without a clock: do Algorithm 1 with Eq. 2, Algorithm 2 and
our quadrature give the same numbers; do their elementary steps grow as stated; and how far are
implementations in floating point from fractions as trees get deep.
"""

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pandas as pd

import splitcredit
from reproduction import storage
from reproduction.figures import COLORS, panels
from reproduction.papers import finding
from reproduction.papers.lundberg2017 import (
    _algorithms,
    _deep,
    _exact,
    _peers,
    _steps,
    _trees,
)
from reproduction.parameters import Count, Seed
from splitcredit.measures import tree_shap

# Basis: rounding. A number is the sum of some thousand products of float64 of at most its size.
ROUNDING = 1e-12
# Least-squares fits of exact powers are off by some units in the last place.
FIT = 1e-9
ROWS = 3
METHODS = ("splitcredit", "shap", "xgboost", "algorithm_2")
PRINTED_ALGORITHM = "Algorithm 2, float64"
MULTIPLE = "largest error over the unit roundoff"
# Sweep and method: the stated exponent. That of T is 1 by addition.
STATED = {
    ("M", _steps.EQ2): 1,
    ("L", _steps.ALGORITHM_2): 1,
    ("D", _steps.ALGORITHM_2): 2,
    ("log2 L", _steps.ALGORITHM_2): 2,
}
# Steps that are fitted: all, or those for each node, or those that more leaves add.
SHARES = {"D": " for each inner node", "log2 L": " for each leaf", "L": " added"}
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
COUNTED = {
    _steps.EQ2: ("orange", "▲ Eq. 2 with Alg. 1: T L 2$^M$"),
    _steps.ALGORITHM_2: ("vermilion", "■ Algorithm 2: T L D$^2$"),
    _steps.OURS: ("blue", "● quadrature: T L D"),
}
_POINTS = dict(zip(COUNTED, "^so", strict=True))
# Trees fitted to data: marker and size.
MARKS = {
    "digits, extra-tree": ("*", 10),
    "wine, extra-tree": ("D", 5),
    "random forest, 20 features": ("v", 7),
    "random forest, 100 features, one a split": ("s", 7),
    "extra-tree, 100 features, one a split": ("P", 8),
}
# Errors below the rounding of one float64 are drawn there.
LEAST = 2.0**-53


def compute(
    inputs,
    recorded: str | None = None,
    n_forests: Count = 40,
    depths: Sequence[Count] = _deep.DEPTHS,
    seed: Seed = 0,
) -> pd.DataFrame:
    """Equalities, errors against depth, steps and their exponents.

    Columns: ``part``; ``value``; and by part ``quantity`` and ``n`` (``equality``: largest error
    over n numbers; ``exponent``: slope), ``tree, depth, rows, method, version, reference``
    (``error``: largest error over rows of a kind, each over its largest SHAP value), ``tree, rows,
    method, version`` (``lost``: depth from which errors are above `LOST`, if they are), ``quantity,
    tree, depth, rows, method`` (``control``: errors of Algorithm 2 at depth `DEEP` on a chain with
    few features, and in other precisions, over their unit roundoff), ``sweep, T, L, D, M, method``
    (``steps``).
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
    columns = ["part", "quantity", "n", "tree", "depth", "rows", "method", "version", "reference"]
    columns.append("sweep")
    table = pd.DataFrame(rows, columns=[*columns, "T", "L", "D", "M", "value"])
    return table.astype({name: "Int64" for name in ("n", "depth", "T", "L", "D", "M")})


def errors(recorded=None, depths=_deep.DEPTHS) -> list[dict]:
    """Errors of all methods on deep trees, and those that another environment has recorded."""
    names = {"algorithm_2": (PRINTED_ALGORITHM, "")}
    names["splitcredit"] = ("splitcredit", splitcredit.__version__)
    for peer in ("shap", "xgboost"):
        names[peer] = (peer, _peers.release(peer))
    rows = []
    for case in (*_deep.cases(depths), *_deep.real_cases(), *_deep.forest_cases()):
        for method in METHODS if case.reference == "fractions" else ("shap",):
            name, release = names[method]
            key = {"tree": case.name, "depth": case.depth, "method": name, "version": release}
            key["reference"] = case.reference
            # In Python each row takes seconds.
            explained_case = case.one_row_a_kind() if method == "algorithm_2" else case
            largest = explained_case.errors(
                getattr(_peers, method)(explained_case.forest, explained_case.X)
            )
            rows += [{**key, "rows": kind, "value": error} for kind, error in largest.items()]
    for row in storage.read_rows(recorded) if recorded else []:
        value = float(row.pop("error"))
        key = {**row, "depth": int(row["depth"]), "reference": "fractions"}
        rows.append({**key, "value": value})
    return rows


def controls() -> list[dict]:
    """Why Algorithm 2 loses digits: the features on a path decide how many, whatever the precision.

    Errors on a chain as deep in which few features come again and again; and on the chain of as
    many features as tests in several precisions, as multiples of their unit roundoff.
    """
    rows = []
    few = _deep.chain(DEEP, _deep.FEW).one_row_a_kind()
    errors_on_few = few.errors(_peers.algorithm_2(few.forest, few.X))
    for kind, error in errors_on_few.items():
        key = {"tree": few.name, "depth": DEEP, "rows": kind, "method": PRINTED_ALGORITHM}
        rows.append({**key, "quantity": "largest error", "value": error})
    for digits, multiples in _deep.in_decimals(_deep.chain(DEEP).one_row_a_kind()).items():
        for kind, multiple in multiples.items():
            key = {"tree": "caterpillar", "depth": DEEP, "rows": kind}
            key["method"] = f"Algorithm 2, {digits} digits"
            rows.append({**key, "quantity": MULTIPLE, "value": multiple})
    return rows


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
        key = {"tree": "caterpillar", "rows": kind, "method": method, "version": release}
        depths, values = zip(*sorted(line), strict=True)
        last = max((k for k, value in enumerate(values) if value <= LOST), default=None)
        if last is None or last == len(values) - 1:
            continue
        (x0, x1), (y0, y1) = depths[last : last + 2], np.log(values[last : last + 2])
        share = (np.log(LOST) - y0) / (y1 - y0) if np.isfinite([y0, y1]).all() else 1.0
        depths_of_loss.append({**key, "value": float(x0 + (x1 - x0) * share)})
    return depths_of_loss


def draw(table):
    """Headline left, steps right."""
    figure = panels.figure(figsize=(10.8, 8))
    left, right = figure.subfigures(1, 2, width_ratios=[1.85, 1])
    depths_of_loss = table[table["part"] == "lost"]
    headline = left.subplots()
    _few_features(headline, table[table["part"] == "control"])
    _draw_errors(headline, table[table["part"] == "error"], depths_of_loss)
    steps, slopes = table[table["part"] == "steps"], table[table["part"] == "exponent"]
    slope = slopes.set_index(["sweep", "method"])["value"]
    axes = right.subplots(4, 1)
    for axis, sweep in zip(axes, ("M, chain", "D", "L", "log2 L"), strict=True):
        _draw_sweep(axis, steps[steps["sweep"] == sweep], sweep)
        _exponents(axis, slope, sweep)
    panels.letter([headline, *axes])
    right.supylabel("steps for one row, counted; each method in units of its own", fontsize=9)
    return figure


def _few_features(axis, table):
    """Errors of Algorithm 2 on a chain as deep in which few features come again."""
    rows = table[table["quantity"] == "largest error"]
    label = f"Algorithm 2 on a {rows['tree'].iloc[0]}: each kind of row"
    value = np.maximum(rows["value"], LEAST)
    axis.plot(rows["depth"], value, "X", color=COLORS["orange"], ms=7, mec="white", label=label)


def _draw_errors(axis, table, lost):
    axis.set_yscale("log")
    for level, text, above in (
        (1, "as wrong as the answer is large", 2.2),
        (1e-6, "six digits left", 2.2),
        (2.0**-53, "rounding of one float64", 0.11),
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
        kinds = {kind: rows_of_kind for kind, rows_of_kind in chain.groupby("rows")}
        width = 2.4 if method in ("splitcredit", "shap") else 1.4
        worst = kinds[WORST]
        value = np.maximum(worst["value"], LEAST)
        axis.plot(worst["depth"], value, color=color, ls=dash, lw=width, marker=".", ms=5)
        if method == BANDED:
            _band(axis, kinds, color)
        for tree, (mark, size) in MARKS.items():
            fitted_rows = rows[rows["tree"] == tree]
            points = fitted_rows["depth"], np.maximum(fitted_rows["value"], LEAST)
            axis.plot(*points, mark, color=color, ms=size, mec="white", mew=0.6)
        release = str(rows["version"].iloc[0])
        axis.text(*at_text, name.format(release), color=color, fontsize=8.5, fontweight="bold")
    fitted = table[table["tree"] != "caterpillar"]
    depths = fitted.groupby("tree")["depth"].first()
    references = fitted.groupby("tree")["reference"].first()
    for tree in (t for t in MARKS if t in depths):
        mark, size = MARKS[tree]
        label = f"{tree}: depth {depths[tree]:.0f}"
        if references[tree] == "splitcredit":
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


def _band(axis, kinds, color):
    """All kinds of rows of one method: an area, and the middle kind as a line."""
    low, high = (np.maximum(kinds[kind]["value"].to_numpy(), LEAST) for kind in (BEST, WORST))
    axis.fill_between(kinds[WORST]["depth"].astype(float), low, high, color=color, alpha=0.2, lw=0)
    middle = kinds[TYPICAL]
    axis.plot(middle["depth"], np.maximum(middle["value"], LEAST), color=color, lw=1, ls=":")


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


def _draw_sweep(axis, table, sweep):
    """Steps of the methods against one size."""
    size = {"M, chain": "M", "D": "D"}.get(sweep, "L")
    for method, (color, _) in COUNTED.items():
        rows = table[table["method"] == method].sort_values(size)
        if len(rows):
            style = {"marker": _POINTS[method], "ms": 3, "color": COLORS[color]}
            axis.plot(rows[size], rows["value"], **style)
    axis.set_yscale("log", base=10)
    if size != "M":
        axis.set_xscale("log", base=2)
    labels = {
        "M, chain": "M features, all on one chain",
        "D": "depth D; 64 leaves below a handle",
        "L": f"leaves L; {_steps.REPEATED} features tested again and again",
        "log2 L": "leaves L of balanced trees, a feature a level",
    }
    axis.set_xlabel(labels[sweep], fontsize=8)
    axis.tick_params(labelsize=8)
    # Room for the names.
    low, high = axis.get_ylim()
    axis.set_ylim(low, high * (high / low) ** 0.5)
    if size != "M":
        ticks = sorted(table[size].unique())[:: 2 if size == "L" else 1]
        axis.set_xticks(ticks, [f"{t:.0f}" for t in ticks])
        axis.minorticks_off()


def _exponents(axis, slope, sweep):
    """The methods and their fitted exponents, in their colors, and the fitted quantity."""
    texts = {
        "M, chain": {method: label for method, (_, label) in COUNTED.items()},
        "D": "for each node: D$^{{{:.2f}}}$",
        "L": "of leaves added: L$^{{{:.2f}}}$",
        "log2 L": "for each leaf: (log L)$^{{{:.2f}}}$",
    }
    methods = COUNTED if sweep == "M, chain" else (_steps.ALGORITHM_2, _steps.OURS)
    for k, method in enumerate(methods):
        text = texts[sweep]
        words = text[method] if sweep == "M, chain" else text.format(slope[sweep, method])
        style = {"color": COLORS[COUNTED[method][0]], "fontsize": 8, "va": "center"}
        axis.text(0.03, 0.92 - 0.14 * k, words, transform=axis.transAxes, **style)


def statements(table):
    """s02, s03 and s04: local accuracy and missingness, costs, equality."""
    return [*_s02(table), *_s03(table), *_s04(table)]


def _s02(table):
    exact, ours, unused = (
        _equality(table, name)
        for name in ("additivity, fractions", "additivity, splitcredit", "unused features, any")
    )
    measured = "largest error of E[f] + sum of phi = f(x)"
    return [
        finding(*("s02", variant, text, value, limit), possible=ERROR)
        for variant, text, value, limit in (
            ("fractions", f"{measured}, Algorithm 2 in fractions", exact, 0.0),
            ("splitcredit", f"{measured}, ours, relative", ours, ROUNDING),
            ("missingness", "largest |phi| of a feature no tree tests", unused, 0.0),
        )
    ]


def _s03(table):
    slope, ends = _slopes(table)["M", _steps.EQ2]
    steps = _with_bounds(table, _steps.EQ2)
    measured = "calls of G over their bound T (2L - 1) 2^M, largest"
    yield finding("s03", "bound", measured, steps.max(), 1.0, reading=BOUND, possible=ERROR)
    yield _slope("s03", "M", "log2 calls of G against M", slope, ends, STATED["M", _steps.EQ2])
    # The cost is as bad as stated, and not better.
    measured = "slope of log2 calls of G against M"
    place = ("s03", "exponential", measured, slope, 1.0 - FIT, "at least")
    yield finding(*place, basis="printed", possible=ends)


def _s04(table):
    in_float64 = {"reading": DIGITS, "possible": ERROR}
    for variant, quantity, limit, options in (
        ("fractions", "Algorithm 2 - Eq. 2, fractions", 0.0, {"possible": ERROR}),
        ("float64, shallow", "Algorithm 2 - Eq. 2, float64", ROUNDING, in_float64),
    ):
        measured = f"largest relative difference, {quantity}"
        yield finding("s04", variant, measured, _equality(table, quantity), limit, **options)
    of_algorithm = table[(table["part"] == "error") & (table["method"] == PRINTED_ALGORITHM)]
    chain = of_algorithm[(of_algorithm["tree"] == "caterpillar") & (of_algorithm["depth"] == DEEP)]
    measured = f"largest error of {PRINTED_ALGORITHM}"
    for kind, rows in chain.groupby("rows", sort=False):
        variant = f"float64, caterpillar of depth {DEEP}, {kind}"
        place = ("s04", variant, measured, rows["value"].max(), ROUNDING)
        yield finding(*place, **in_float64, expected=_rounded(table, kind))
    fitted = of_algorithm[of_algorithm["tree"] != "caterpillar"]
    for row in fitted.itertuples():
        place = ("s04", f"float64, {row.tree}", measured, row.value, ROUNDING)
        yield finding(*place, **in_float64)
    value = _with_bounds(table, _steps.ALGORITHM_2).max()
    measured = "steps over T L (3 D^2 + 7 D) / 2, largest"
    chosen = {"reading": BOUND, "possible": ERROR}
    yield finding("s04", "bound", measured, value, 1.0, **chosen)
    slopes = _slopes(table)
    for (sweep, method), stated_slope in STATED.items():
        if method == _steps.ALGORITHM_2:
            measured = f"log steps{SHARES[sweep]} against log {sweep}"
            yield _slope("s04", sweep, measured, *slopes[sweep, method], stated_slope)


def _rounded(table, kind):
    """Error in float64 that the multiples of the unit roundoff in other precisions predict."""
    control = table[(table["part"] == "control") & (table["quantity"] == MULTIPLE)]
    multiples = control.loc[control["rows"] == kind, "value"]
    factors = multiples.min() / HALF_A_DIGIT, multiples.max() * HALF_A_DIGIT
    return FLOAT64 * factors[0], FLOAT64 * factors[1]


def _slope(statement, sweep, measured, value, ends, stated_slope):
    place = (f"exponent of {sweep}", f"slope of {measured}", value, stated_slope + FIT)
    return finding(statement, *place, basis="printed", possible=ends)


def _equality(table, quantity):
    rows = table[(table["part"] == "equality") & (table["quantity"] == quantity)]
    return rows["value"].iloc[0]


def _slopes(table):
    """Slope of each sweep and method, and the range of the slopes between the counted steps."""
    rows = table[table["part"] == "exponent"]
    steps = _steps.points(table[table["part"] == "steps"].to_dict("records"))
    slopes = {}
    for key, value in rows.set_index(["sweep", "method"])["value"].items():
        low, high = _steps.slopes_between(steps[key])
        slopes[key] = value, (low - FIT, high + FIT)
    return slopes


def _with_bounds(table, method):
    rows = table[(table["part"] == "steps") & (table["method"] == method)]
    return pd.Series([_steps.bound(row) for row in rows.to_dict("records")])


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
    reference = _phi(forest, X, Fraction, lambda x, tree, _: _exact.tree_shap(x, tree))
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
                values[n, :, c] += method(x, tree, Counter())
    return values


def _expectations(forest, X):
    """Predictions of the rows and E[f], in fractions."""
    all_features = range(X.shape[1])
    prediction = np.zeros((len(X), forest.n_outputs), dtype=object)
    mean = np.zeros(forest.n_outputs, dtype=object)
    for c in range(forest.n_outputs):
        for tree in _algorithms.trees_of(forest, c, Fraction):
            mean[c] += _algorithms.expvalue(X[0], (), tree, Counter())
            for n, x in enumerate(X.tolist()):
                prediction[n, c] += _algorithms.expvalue(x, all_features, tree, Counter())
    return prediction, mean
