"""Drawing of the algorithms artefact: errors against depth, and steps against M, D and L."""

from __future__ import annotations

import numpy as np

from reproduction.figures import COLORS
from reproduction.papers.lundberg2017 import _steps

# Method and release (None: any): color, dash, and where its name stands beside its line.
LINES = {
    ("xgboost", "3.2.0"): ("purple", "-", "xgboost 3.2.0 (float32)", (55, 1e18)),
    ("shap", None): ("vermilion", "-", "shap {} (float64)", (97, 1e6)),
    ("Algorithm 2, float64", None): ("orange", (0, (4, 2)), "Algorithm 2, in float64", (97, 2e3)),
    ("xgboost", "3.4.1"): ("sky", "-", "xgboost 3.4.1 (float32, 8 points)", (79, 4e-6)),
    ("splitcredit", None): ("blue", "-", "splitcredit (float64)", (63, 4e-13)),
    ("shapiq", None): ("green", (0, (3, 2)), "shapiq {} (float64)", (63, 2e-14)),
}
METHODS = {
    _steps.EQ2: ("orange", "Eq. 2 with Alg. 1: T L 2$^M$"),
    _steps.ALGORITHM_2: ("vermilion", "Algorithm 2: T L D$^2$"),
    _steps.OURS: ("blue", "splitcredit: T L D"),
}
MARKS = {"digits, extra-tree": "*", "wine, extra-tree": "D"}
# Errors below the rounding of one float64 are drawn there.
LEAST = 2.0**-53


def draw(table):
    """Headline left, steps right."""
    from matplotlib import pyplot as plt

    figure = plt.figure(figsize=(10.2, 6.4))
    left, right = figure.subfigures(1, 2, width_ratios=[1.75, 1])
    _errors(left.subplots(), table[table["part"] == "error"])
    steps, slopes = table[table["part"] == "steps"], table[table["part"] == "exponent"]
    slope = slopes.set_index(["sweep", "method"])["value"]
    for axis, (sweep, size) in zip(
        right.subplots(3, 1), (("M, chain", "M"), ("D", "D"), ("log2 L", "L")), strict=True
    ):
        _sweep(axis, steps[steps["sweep"] == sweep], size)
        _exponents(axis, slope, sweep)
    right.supylabel("elementary steps for one row, counted", fontsize=9)
    return figure


def _errors(axis, table):
    axis.set_yscale("log")
    axis.axhline(1, color="0.45", lw=0.8)
    axis.text(153, 2.2, "as wrong as the answer is large", fontsize=7.5, color="0.35", ha="right")
    axis.axhline(2.0**-53, color="0.45", lw=0.8, ls=":")
    axis.text(153, 1.2e-17, "rounding of one float64", fontsize=7.5, color="0.35", ha="right")
    for (method, release), (color, dash, name, at_text) in LINES.items():
        rows = table[table["method"] == method]
        rows = rows[rows["version"] == release] if release else rows
        if rows.empty:
            continue
        color = COLORS[color]
        chain = rows[rows["tree"] == "caterpillar"].sort_values("depth")
        width = 2.4 if method in ("splitcredit", "shap") else 1.4
        value = np.maximum(chain["value"], LEAST)
        axis.plot(chain["depth"], value, color=color, ls=dash, lw=width, marker=".", ms=5)
        for tree, mark in MARKS.items():
            real = rows[rows["tree"] == tree]
            at = real["depth"], np.maximum(real["value"], LEAST)
            axis.plot(*at, mark, color=color, ms=10 if mark == "*" else 5, mec="white", mew=0.6)
        release = str(rows["version"].iloc[0])
        axis.text(*at_text, name.format(release), color=color, fontsize=8.5, fontweight="bold")
    depths = table[table["tree"] != "caterpillar"].groupby("tree")["depth"].first()
    for tree, mark in MARKS.items():
        label = f"extra-tree on {tree.split(',')[0]}, depth {depths[tree]:.0f}"
        axis.plot([], [], mark, color="0.35", ms=10 if mark == "*" else 5, label=label)
    axis.plot([], [], ".-", color="0.35", label="caterpillar: a feature of its own at each level")
    axis.legend(loc="upper left")
    axis.set(xlim=(0, 154), ylim=(5e-18, 1e33), xlabel="depth of the tree")
    axis.set_yticks([10.0**k for k in range(-16, 33, 8)])
    axis.set_ylabel("largest error of a SHAP value / largest SHAP value")
    axis.set_title("Extend and unwind lose their digits with depth", loc="left", fontweight="bold")


def _sweep(axis, table, size):
    """Steps of the methods against one size."""
    for method, (color, _) in METHODS.items():
        rows = table[table["method"] == method].sort_values(size)
        if len(rows):
            axis.plot(rows[size], rows["value"], ".-", color=COLORS[color], ms=5)
    axis.set_yscale("log", base=10)
    if size != "M":
        axis.set_xscale("log", base=2)
    labels = {
        "M": "M features, all on one chain",
        "D": "depth D; 64 leaves below a handle",
        "L": "leaves L of balanced trees",
    }
    axis.set_xlabel(labels[size], fontsize=8)
    axis.tick_params(labelsize=7.5)
    if size != "M":
        ticks = sorted(table[size].unique())[:: 2 if size == "L" else 1]
        axis.set_xticks(ticks, [f"{t:.0f}" for t in ticks])
        axis.minorticks_off()


def _exponents(axis, slope, sweep):
    """The methods and their fitted exponents, in their colors."""
    texts = {
        "M, chain": [(method, None, label) for method, (_, label) in METHODS.items()],
        "D": [
            (_steps.ALGORITHM_2, "D", "D$^{{{:.2f}}}$ a node"),
            (_steps.OURS, "D", "D$^{{{:.2f}}}$"),
        ],
        "log2 L": [
            (_steps.ALGORITHM_2, "log2 L", "(log L)$^{{{:.2f}}}$ a leaf"),
            (_steps.OURS, "log2 L", "(log L)$^{{{:.2f}}}$"),
        ],
    }
    for k, (method, name, text) in enumerate(texts[sweep]):
        shown = text.format(slope[name, method]) if name else text
        style = {"color": COLORS[METHODS[method][0]], "fontsize": 7.5, "va": "center"}
        axis.text(0.03, 0.92 - 0.12 * k, shown, transform=axis.transAxes, **style)
