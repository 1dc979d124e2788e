"""Figure 1: two trees over fever and cough, and which attributions of cough fall from A to B.

The values of the leaves are **assumed**: the paper's text says only that A is an AND function and
that B adds an increase when there is cough. 80 and 10 are those of the figure's later versions.
The results for them are exact, and the range of values for which the conclusions hold is given.
"""

from fractions import Fraction
from itertools import product

import pandas as pd

from reproduction.figures import COLORS, images, panels
from reproduction.papers import finding
from reproduction.papers.lundberg2017 import _algorithms, _attributions, _consistency
from reproduction.papers.lundberg2017._algorithms import INTERNAL, Tree
from reproduction.parameters import Count, Seed

# Assumed: output of the AND function, and the increase with cough in B.
AND, INCREASE = Fraction(80), Fraction(10)
FEATURES = ("Fever", "Cough")
FEVER, COUGH = 0, 1
ROWS = [(0, 0), (0, 1), (1, 0), (1, 1)]
EXPLAINED = (1, 1)
# (task, method) of the attributions of cough that fall from A to B; the others of `LABELS` rise.
FALLING = {("output", "path"), ("gain", "path"), ("split count", "split count")}
# INCREASE / AND. Up to the second number all conclusions of the figure hold, as the smallest of the
# ratios at which one turns, (sqrt 2 - 1) / 2 = 0.207 for the gain, says; see `relative_change`.
RATIOS = [Fraction(k, 100) for k in range(1, 61)]
HOLDS_UP_TO = 0.2
# Nothing is rounded here, so a value of at least this is not 0.
MARGIN = 1e-6
N_PAIRS = 2000
SIZES = (2, 3)
# Colors of what falls and rises.
DOWN, UP = COLORS["vermilion"], COLORS["blue"]
PAPER = "0.97"
# Task and method: name in the table; in the figure color, dash, short name, and where that name
# stands beside its line: ratio and percent.
LABELS = {
    ("output", "path"): "output of the patient, path (Saabas)",
    ("output", "SHAP"): "output of the patient, SHAP",
    ("output", "mean |SHAP|"): "output, mean |SHAP| of all patients",
    ("gain", "path"): "gain in squared error, path (MDI)",
    ("gain", "SHAP"): "gain in squared error, SHAP",
    ("split count", "split count"): "number of splits",
}
LINES = {
    ("output", "path"): (DOWN, "-", "output, path", (0.335, -30)),
    ("gain", "path"): (DOWN, "--", "gain, path", (0.225, -14)),
    ("split count", "split count"): (COLORS["orange"], "-", "splits", (0.35, -47)),
    ("output", "SHAP"): (UP, "-", "output, SHAP", (0.335, 26)),
    ("output", "mean |SHAP|"): (COLORS["sky"], "-", "mean |SHAP|", (0.275, 80)),
    ("gain", "SHAP"): (UP, "--", "gain, SHAP", (0.13, 85)),
}
ASSUMED = 1 / 8


def compute(inputs, n_pairs: Count = N_PAIRS, seed: Seed = 0) -> pd.DataFrame:
    """Numbers of the figure, and those that decide whether it depends on the assumed leaves.

    Parts: ``leaf`` (assumed), ``attribution``, ``marginal`` (what knowing the feature adds,
    ``method`` names what else is known), ``range`` (relative change of cough's attribution from A
    to B at the ratio ``x``), ``pairs`` (in how many of ``n`` random ones with ``x`` features it
    falls). ``exact`` is the value as a fraction.
    """
    cases = trees()
    rows = list(_leaves(cases))
    for name, tree in cases.items():
        rows += [*_attributed(name, tree), *_marginals(name, tree)]
    for ratio in RATIOS:
        for (task, method), change in relative_change(ratio).items():
            key = {"part": "range", "feature": "Cough", "task": task, "method": method}
            rows.append({**key, "x": float(ratio), **_number(change)})
    for M in SIZES:
        for (task, method), count in _consistency.violations(M, n_pairs, seed).items():
            key = {"part": "pairs", "task": task, "method": method, "x": M, "n": n_pairs}
            rows.append({**key, **_number(Fraction(count))})
    columns = ["part", "tree", "feature", "task", "method", "x", "n", "value", "exact"]
    return pd.DataFrame(rows, columns=columns)


def trees(leaf=AND, increase=INCREASE) -> dict[str, Tree]:
    """The two trees: A tests fever first, B cough first; a quarter of the rows in each leaf."""
    zero = leaf * 0
    return {
        "A": _tree(FEVER, COUGH, [zero, zero, zero, leaf]),
        "B": _tree(COUGH, FEVER, [zero, zero, increase, leaf + increase]),
    }


def attributions(tree: Tree) -> dict[tuple[str, str], list]:
    """Every attribution of the figure by task and method, one number a feature."""
    M = len(FEATURES)
    return {
        ("output", "path"): _attributions.path_output(EXPLAINED, tree),
        ("output", "SHAP"): _algorithms.shapley_by_subsets(EXPLAINED, tree),
        ("output", "mean |SHAP|"): _attributions.mean_absolute_shap(ROWS, tree),
        ("gain", "path"): _attributions.path_gain(M, tree),
        ("gain", "SHAP"): _algorithms.shapley(M, _attributions.gain_game(ROWS, tree)),
        ("split count", "split count"): [Fraction(tree.d.count(i)) for i in range(M)],
    }


def relative_change(ratio) -> dict[tuple[str, str], Fraction]:
    """Change of cough's attribution from A to B over that in A, for any ratio of the leaves.

    With q = INCREASE / AND these are q - 1/2 and (1 + 2q)^2 / 2 - 1 for the path method's output
    and gain, -1/2 for the split count, and 4q/3, 2q and 8 (q + q^2) / 3 for SHAP's three: below
    zero for q < 1/2, q < (sqrt 2 - 1) / 2, always, and never.
    """
    a, b = (attributions(tree) for tree in trees(Fraction(1), ratio).values())
    return {key: b[key][COUGH] / a[key][COUGH] - 1 for key in a}


def draw(table):
    """Trees on top, attributions beneath, then the attributions for other leaves and trees."""
    figure = panels.figure(figsize=(8.4, 8.8))
    trees, middle, bottom = figure.subfigures(3, 1, height_ratios=[1.0, 0.9, 0.9])
    pair, lowest = trees.subplots(1, 2), bottom.subplots(1, 2)
    leaves = table[table["part"] == "leaf"].groupby("tree")["exact"].apply(list)
    # The leaves of the table are by fever, then cough.
    for axis, tree, features, order, title in (
        (pair[0], "A", FEATURES, (0, 1, 2, 3), "Tree A: an AND"),
        (pair[1], "B", FEATURES[::-1], (0, 2, 1, 3), "Tree B: the same, and more with cough"),
    ):
        _draw_tree(axis, features, [leaves[tree][k] for k in order])
        axis.set_title(title, fontweight="bold")
    note = "A quarter of the patients in each leaf. The values of the leaves are assumed: "
    note += "the text of the paper does not print them."
    trees.supxlabel(note, fontsize=8, color="0.35", style="italic")
    comparison = middle.subplots()
    _draw_table(comparison, table[table["part"] == "attribution"])
    _draw_ranges(lowest[0], table[table["part"] == "range"])
    _draw_pairs(lowest[1], table[table["part"] == "pairs"])
    panels.letter([*pair, comparison, *lowest])
    return figure


def _draw_tree(axis, order, leaves):
    """A tree of two levels; the way of a patient with both symptoms in dark."""
    axis.set(xlim=(-0.06, 1.06), ylim=(0.0, 1.06))
    images.blank(axis)
    places = [(0.5, 0.95), (0.23, 0.55), (0.77, 0.55), *((0.095 + 0.27 * k, 0.1) for k in range(4))]
    for child in range(1, len(places)):
        _arrow(axis, places[(child - 1) // 2], places[child], on_path=child in (2, 6))
    first, second = order
    for k, text in enumerate((f"{first}?", f"{second}?", f"{second}?", *leaves)):
        _box(axis, places[k], text, on_path=k in (0, 2, 6), leaf=k > 2)


def _arrow(axis, start, end, on_path):
    color = "0.15" if on_path else "0.65"
    style = {"arrowstyle": "-|>", "color": color, "lw": 1.8 if on_path else 1.0}
    axis.annotate("", end, start, arrowprops={**style, "shrinkA": 13, "shrinkB": 12})
    x, y = ((s + e) / 2 for s, e in zip(start, end, strict=True))
    answer, side = ("Yes", 1) if end[0] > start[0] else ("No", -1)
    axis.text(x + 0.045 * side, y + 0.03, answer, color=color, fontsize=8, ha="center")


def _box(axis, center, text, on_path, leaf):
    edge, width, weight = ("0.15", 1.6, "bold") if on_path else ("0.65", 0.9, "normal")
    face, shape = (PAPER, "square,pad=0.4") if leaf else ("white", "round,pad=0.35")
    box = {"boxstyle": shape, "fc": face, "ec": edge, "lw": width}
    axis.text(*center, text, ha="center", va="center", bbox=box, fontweight=weight, fontsize=9)


def _draw_table(axis, table):
    """Six attributions in both trees, and the change of cough's."""
    images.blank(axis)
    axis.set(xlim=(0, 1), ylim=(-0.3, len(LABELS) + 1.5))
    numbers = table.set_index(["task", "method", "tree", "feature"])
    exact, value = numbers["exact"], numbers["value"]
    columns = dict(zip(product("AB", FEATURES), (0.42, 0.51, 0.61, 0.7), strict=True))
    title = {"ha": "center", "fontweight": "bold"}
    for tree, x in (("A", 0.465), ("B", 0.655)):
        axis.text(x, len(LABELS) + 0.95, f"tree {tree}", **title)
    words = {"fontsize": 8, "color": "0.35", "ha": "center"}
    for (_, feature), x in columns.items():
        axis.text(x, len(LABELS) + 0.2, feature, **words)
    axis.text(0.87, len(LABELS) + 0.95, "Cough, from A to B", **title)
    axis.text(0.87, len(LABELS) + 0.2, "it matters more in B", **words)
    for k, (key, label) in enumerate(LABELS.items()):
        y = len(LABELS) - 1 - k
        if k % 2 == 0:
            axis.axhspan(y - 0.18, y + 0.78, color=PAPER, zorder=0)
        axis.text(0.01, y + 0.3, label, va="center")
        change = value[(*key, "B", "Cough")] / value[(*key, "A", "Cough")] - 1
        falls, rises = f"▼ falls by {-change:.0%}: inconsistent", f"▲ rises by {change:.0%}"
        color, text = (DOWN, falls) if change < 0 else (UP, rises)
        for (tree, feature), x in columns.items():
            bold = {"color": color, "fontweight": "bold"} if feature == "Cough" else {}
            axis.text(x, y + 0.3, exact[(*key, tree, feature)], ha="center", va="center", **bold)
        axis.text(0.775, y + 0.3, text, va="center", color=color)


def _draw_ranges(axis, table):
    """Relative change of cough's attribution against the assumed ratio of the leaf values."""
    axis.axhspan(-75, 0, color=DOWN, alpha=0.07, lw=0)
    axis.axhline(0, color="0.4", lw=0.8)
    axis.axvline(ASSUMED, color="0.4", lw=0.8, ls=":")
    for key in LABELS:
        rows = table[(table["task"] == key[0]) & (table["method"] == key[1])]
        color, dash, name, xy = LINES[key]
        axis.plot(rows["x"], 100 * rows["value"], color=color, ls=dash)
        axis.text(*xy, name, color=color, fontsize=7.5)
    axis.text(ASSUMED + 0.008, -69, "assumed: 10 / 80", fontsize=7, color="0.3")
    axis.set(xlim=(0, 0.45), ylim=(-75, 130), title="Other values of the leaves")
    axis.set_xlabel("increase with cough in B / value of the AND")
    axis.set_ylabel("change of cough's\nattribution, A to B (%)")


def _draw_pairs(axis, table):
    """Share of random pairs in which the attribution falls although the feature matters more."""
    order = [("gain", "path"), ("output", "path"), ("gain", "SHAP"), ("output", "SHAP")]
    places = {key: k for k, key in enumerate(order)}
    for row in table.sort_values("x", kind="stable").itertuples():
        offset, alpha = (0.19, 1.0) if row.x == table["x"].min() else (-0.19, 0.6)
        share, y = 100 * row.value / row.n, places[row.task, row.method] + offset
        axis.barh(y, share, height=0.34, color=LINES[row.task, row.method][0], alpha=alpha)
        text = f"{share:.1f} %  (M = {row.x:.0f})" if share else f"0  (M = {row.x:.0f})"
        axis.text(share + 0.5, y, text, va="center", fontsize=7)
    axis.set_yticks(range(len(order)), [LINES[key][2] for key in order])
    axis.grid(axis="y", visible=False)
    share = f"% of {table['n'].iloc[0]:.0f} pairs, orders drawn"
    axis.set_xlabel(f"falls though the feature matters more\n({share})")
    axis.set(xlim=(0, 18), title="Random pairs of trees, M features")


def statements(table):
    """s01: the attributions that fall and rise from A to B, and in how many random pairs."""
    attributed = table[(table["part"] == "attribution") & (table["feature"] == "Cough")]
    cough = attributed.set_index(["task", "method", "tree"])["value"]
    falls, rises = _least({key: cough[*key, "B"] / cough[*key, "A"] - 1 for key in LABELS})
    # Changes grow with the ratio of the leaves' values, which lies between two of `RATIOS`.
    (_, *below), (_, *above) = _neighbors(table)
    measured = "smallest {} of cough's attribution from A to B, relative"
    place = ("s01", "falls", measured.format("fall (path, splits)"), falls, MARGIN, "at least")
    not_0 = "nothing is rounded, so what is at least this is not 0"
    yield finding(*place, reading=not_0, possible=(above[0], below[0]))
    place = ("s01", "rises", measured.format("rise (SHAP)"), rises, 0.0, "at least")
    yield finding(*place, possible=(below[1], above[1]))
    ranges = table[(table["part"] == "range") & (table["x"] <= HOLDS_UP_TO)]
    is_falling = [key in FALLING for key in zip(ranges["task"], ranges["method"], strict=True)]
    exceptions = ((ranges["value"] < 0) != is_falling).sum()
    measured = f"exceptions among other leaf values, increase / AND from 0.01 to {HOLDS_UP_TO}"
    place = ("s01", "other leaf values", measured, exceptions, 0.0)
    yield finding(*place, possible=(0, len(ranges)))
    exists = "a method is inconsistent if there is one pair of models for which it is"
    pairs = table[table["part"] == "pairs"]
    for (task, method), rows in pairs.groupby(["task", "method"], sort=False):
        count, n = rows["value"].sum(), rows["n"].sum()
        measured = f"falls in {n:.0f} random pairs where the feature matters more"
        place = ("s01", f"pairs, {method} of the {task}", measured, count)
        limit = (0.0, "at most", "") if method == "SHAP" else (1.0, "at least", exists)
        yield finding(*place, *limit[:2], reading=limit[2], possible=(0, n))


def _least(change):
    """Smallest fall of the attributions that fall, and smallest rise of those that rise."""
    falls = -max(change[key] for key in FALLING)
    return falls, min(change[key] for key in LABELS if key not in FALLING)


def _neighbors(table):
    """Ratio, smallest fall and rise at the ratios below and above that of the leaves."""
    ranges = table[table["part"] == "range"]
    least = [
        (x, *_least(rows.set_index(["task", "method"])["value"]))
        for x, rows in ranges.groupby("x", sort=True)
    ]
    ratio = float(INCREASE / AND)
    return max(row for row in least if row[0] < ratio), min(row for row in least if row[0] > ratio)


def _tree(first, second, leaves):
    return Tree(
        v=[INTERNAL, INTERNAL, *leaves[:2], INTERNAL, *leaves[2:]],
        a=[1, 2, -1, -1, 5, -1, -1],
        b=[4, 3, -1, -1, 6, -1, -1],
        t=[0.5] * 7,
        r=[Fraction(r) for r in (4, 2, 1, 1, 2, 1, 1)],
        d=[first, second, -1, -1, second, -1, -1],
    )


def _leaves(cases):
    """Assumed values of the leaves, by the answers to fever and cough."""
    for name, tree in cases.items():
        for x in ROWS:
            answers = "fever {}, cough {}".format(*("yes" if answer else "no" for answer in x))
            value = _number(_algorithms.expvalue(x, (FEVER, COUGH), tree))
            yield {"part": "leaf", "tree": name, "method": f"assumed: {answers}", **value}


def _attributed(name, tree):
    for (task, method), values in attributions(tree).items():
        for feature, value in zip(FEATURES, values, strict=True):
            key = {"part": "attribution", "tree": name, "feature": feature}
            yield {**key, "task": task, "method": method, **_number(value)}


def _marginals(name, tree):
    """Change of the output and of the gain by knowing cough, without and with fever."""
    games = {
        "output": lambda S: _algorithms.expvalue(EXPLAINED, S, tree),
        "gain": _attributions.gain_game(ROWS, tree),
    }
    for task, v in games.items():
        for context, S in (("nothing known", ()), ("fever known", (FEVER,))):
            key = {"part": "marginal", "tree": name, "feature": "Cough", "task": task}
            yield {**key, "method": context, **_number(v((*S, COUGH)) - v(S))}


def _number(value):
    return {"value": float(value), "exact": str(value)}
