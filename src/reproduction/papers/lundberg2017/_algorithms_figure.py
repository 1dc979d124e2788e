"""Drawing of the algorithms artefact: errors against depth, and steps against M, D and L."""

import numpy as np
import pandas as pd

from reproduction.figures import COLORS, panels
from reproduction.papers.lundberg2017 import _deep, _steps, _trees

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
METHODS = {
    _steps.EQ2: ("orange", "▲ Eq. 2 with Alg. 1: T L 2$^M$"),
    _steps.ALGORITHM_2: ("vermilion", "■ Algorithm 2: T L D$^2$"),
    _steps.OURS: ("blue", "● quadrature: T L D"),
}
_POINTS = dict(zip(METHODS, "^so", strict=True))
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


def draw(table):
    """Headline left, steps right."""
    figure = panels.figure(figsize=(10.8, 8))
    left, right = figure.subfigures(1, 2, width_ratios=[1.85, 1])
    depths_of_loss = table[table["part"] == "lost"]
    headline = left.subplots()
    _few_features(headline, table[table["part"] == "control"])
    _errors(headline, table[table["part"] == "error"], depths_of_loss)
    steps, slopes = table[table["part"] == "steps"], table[table["part"] == "exponent"]
    slope = slopes.set_index(["sweep", "method"])["value"]
    axes = right.subplots(4, 1)
    for axis, sweep in zip(axes, ("M, chain", "D", "L", "log2 L"), strict=True):
        _sweep(axis, steps[steps["sweep"] == sweep], sweep)
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


def _errors(axis, table, lost):
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
    axis.legend(fontsize=8, title=_lost(lost), title_fontsize=8, **style)
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


def _lost(lost):
    """At which depth each method loses its sixth digit, by kind of row."""
    lines = []
    for (method, release), rows in lost.groupby(["method", "version"], sort=False, dropna=False):
        depth = rows.set_index("rows")["value"]
        depths = " / ".join(f"{depth[k]:.0f}" if k in depth else "-" for k in _trees.ROWS)
        name = method if pd.isna(release) or not release else f"{method} {release}"
        lines.append(f"{name}: {depths}")
    kinds = "whole chain / 9 of 10 tests / every other"
    return f"depth at which six digits are gone, caterpillars ({kinds}):\n" + "; ".join(lines)


def _sweep(axis, table, sweep):
    """Steps of the methods against one size."""
    size = {"M, chain": "M", "D": "D"}.get(sweep, "L")
    for method, (color, _) in METHODS.items():
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
        "M, chain": {method: label for method, (_, label) in METHODS.items()},
        "D": "for each node: D$^{{{:.2f}}}$",
        "L": "of leaves added: L$^{{{:.2f}}}$",
        "log2 L": "for each leaf: (log L)$^{{{:.2f}}}$",
    }
    methods = METHODS if sweep == "M, chain" else (_steps.ALGORITHM_2, _steps.OURS)
    for k, method in enumerate(methods):
        text = texts[sweep]
        words = text[method] if sweep == "M, chain" else text.format(slope[sweep, method])
        style = {"color": COLORS[METHODS[method][0]], "fontsize": 8, "va": "center"}
        axis.text(0.03, 0.92 - 0.14 * k, words, transform=axis.transAxes, **style)
