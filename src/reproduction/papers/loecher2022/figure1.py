"""Figure 1: a prediction of a regression tree, taken apart along its path by Saabas' method.

The paper shows a picture from a blog: a tree for prices of houses in Boston (in 1000 dollars). Its
numbers are 22.60 - 2.64 - 5.04 - 1.96 for a prediction of 12.95, and the nodes of the path have
22.60, 19.96, 14.91 and 12.95. The printed terms add up to 12.96, and from the printed nodes LSTAT
would lose 5.05: all of them are rounded. `PATH` has values that round to every printed number. The
thresholds, the numbers of rows and the values off the path are **ours**, as the text has none.

Beside it a real tree, fitted to data that come with scikit-learn.
"""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pandas as pd
from sklearn.datasets import load_diabetes

from reproduction import models
from reproduction.figures import COLORS, panels
from splitcredit import to_forest
from splitcredit.measures import saabas
from splitcredit.models.forest import LEAF, Forest

# Values of the nodes along the path. Each rounds to the printed node, and each difference to the
# printed term: that of LSTAT is 5.043.
PATH = tuple(Fraction(v) for v in ("22.597", "19.956", "14.913", "12.953"))
# Ours: the size that trees on these 506 rows have. A row goes left on <=.
COVERS = (506, 430, 175, 99)
TESTS = {"RM": 6.94, "LSTAT": 14.4, "NOX": 0.607}
# RM, LSTAT and NOX of a house that takes this path; ours as well.
HOUSE = (6.0, 20.0, 0.7)

RECIPE = {"estimator": "DecisionTreeRegressor", "max_depth": 3, "random_state": 0}
# A patient whose path tests three features, two of which lower the prediction and one raises it.
PATIENT = 24
NAMES = {"s5": "log triglycerides", "bmi": "body mass index", "age": "age"}

TITLES = {
    "blog": "The tree of the paper's figure 1",
    "real tree": f"A real tree: diabetes, patient {PATIENT}",
}
UNITS = {
    "blog": "mean price of the houses in a node (1000 dollars)",
    "real tree": "mean disease progression in a node (score after one year)",
}
UP, DOWN, ASIDE = COLORS["vermilion"], COLORS["blue"], "0.6"


def compute(inputs) -> pd.DataFrame:
    """Terms of both predictions, in units of the target.

    A ``term`` of the real tree begins with ``diabetes``. ``node`` is the mean of the target at the
    node that a step leads to, ``rows`` are those there, ``aside`` is the mean in the child beside
    it. The row ``sum of printed terms`` has the blog's terms rounded before they are added.
    """
    blog = _decomposed(blog_forest(), np.array([HOUSE]))
    terms = [round(row["value"], 2) for row in blog if row["term"] != "prediction"]
    blog.append({"term": "sum of printed terms", "value": round(sum(terms), 2)})
    real = [row | {"term": f"diabetes {row['term']}"} for row in _decomposed(*real_forest())]
    rows = [{"part": "blog", **r} for r in blog] + [{"part": "real tree", **r} for r in real]
    columns = ["part", "step", "term", "value", "test", "node", "rows", "aside"]
    return pd.DataFrame(rows, columns=columns).astype({"step": "Int64", "rows": "Int64"})


def blog_forest() -> Forest:
    """The blog's tree as far as the path goes: off it hangs one leaf at each split."""
    covers = [above - below for above, below in pairwise(COVERS)]
    rows = [mean * cover for mean, cover in zip(PATH, COVERS, strict=True)]
    sums = [above - below for above, below in pairwise(rows)]
    aside = [total / cover for total, cover in zip(sums, covers, strict=True)]
    leaves = [LEAF] * 4
    # Nodes 0 to 3 are on the path, which goes left, right and right; 4 to 6 hang beside them.
    return Forest(
        feature=[0, 1, 2, *leaves],
        threshold=[*TESTS.values(), *[0.0] * 4],
        left=[1, 5, 6, *leaves],
        right=[4, 2, 3, *leaves],
        value=np.array([*PATH, *aside], dtype=float)[:, None],
        cover=[*COVERS, *covers],
        tree_offsets=[0, 7],
        feature_names=list(TESTS),
        output_names=["price"],
    )


def real_forest() -> tuple[Forest, np.ndarray]:
    """The tree for the progression of diabetes, and the patient as an array of one row."""
    data = load_diabetes(scaled=False, as_frame=True)
    forest = to_forest(models.fit(RECIPE, data.data.rename(columns=NAMES), data.target))
    return forest, data.data.to_numpy()[[PATIENT]]


def _decomposed(forest, x):
    """Baseline, contribution of each feature on the path, and prediction of one row."""
    explained, row = saabas.attribute(forest, x), forest.prepare(x)[0]
    steps, k = [_at("baseline", explained.baseline[0], forest, 0, 0)], 0
    while (j := forest.feature[k]) != LEAF:
        name, threshold = forest.feature_names[j], forest.threshold[k]
        goes_left = row[j] <= threshold
        child, aside = (forest.left[k], forest.right[k])[:: 1 if goes_left else -1]
        # A feature comes once on these paths, so its contribution is one step.
        step = _at(name, explained.values[0, j, 0], forest, child, len(steps))
        test = f"{name} {'≤' if goes_left else '>'} {threshold:.4g}"
        steps.append({**step, "test": test, "aside": float(forest.value[aside, 0])})
        k = child
    return [*steps, _at("prediction", forest.predict(x)[0, 0], forest, k, len(steps))]


def _at(term, value, forest, k, step):
    node = {"node": float(forest.value[k, 0]), "rows": int(forest.cover[k])}
    return {"step": step, "term": term, "value": float(value), **node}


def draw(table):
    """Both paths from top to bottom: a node stands at its mean, one level below its parent."""
    figure, axes = panels.subplots(1, 2, figsize=(10.4, 4.8))
    for axis, (part, title) in zip(axes, TITLES.items(), strict=True):
        _path(axis, table[(table["part"] == part) & table["step"].notna()])
        axis.set_title(title, fontweight="bold")
        axis.set_xlabel(UNITS[part])
    panels.letter(axes)
    note = "Left: means and terms along the path round to the printed numbers, which add up to "
    note += "12.96; thresholds, numbers of rows and gray values are ours."
    figure.supxlabel(note, fontsize=8, color="0.35", style="italic")
    return figure


def _path(axis, rows):
    *nodes, prediction = rows.to_dict("records")
    all_means = [n[k] for n in nodes for k in ("node", "aside") if n[k] == n[k]]
    low, width = min(all_means), max(all_means) - min(all_means)
    axis.set(xlim=(low - 0.5 * width, low + 1.5 * width), ylim=(len(nodes) - 0.5, -0.5))
    top, end = nodes[0], nodes[-1]
    _mark(axis, top, 0)
    root_text = f"mean of all {top['rows']:.0f} rows: {top['value']:.2f}"
    axis.text(top["node"], -0.2, root_text, ha="center", fontweight="bold")
    for level, (parent, child) in enumerate(pairwise(nodes)):
        _split(axis, parent, child, level, 0.035 * width)
    text = f"prediction: {prediction['value']:.2f}"
    axis.text(end["node"], len(nodes) - 0.68, text, ha="center", fontweight="bold")
    axis.set_yticks(range(len(nodes)), [f"depth {d}" for d in range(len(nodes))])
    axis.grid(axis="y", visible=False)
    axis.spines["left"].set_visible(False)
    axis.tick_params(axis="y", length=0)


def _split(axis, parent, child, level, gap):
    """The way to the child in color, with its contribution, and the child off the path in gray."""
    depth, rises = level + 1, child["value"] > 0
    side, color, node_align, aside_align = (
        (1, UP, "left", "right") if rises else (-1, DOWN, "right", "left")
    )
    axis.plot([parent["node"], child["aside"]], [level, depth], color=ASIDE, lw=0.9, zorder=1)
    axis.plot(child["aside"], depth, "o", ms=6, mfc="white", mec=ASIDE, zorder=2)
    aside = f"{child['aside']:.2f} ({parent['rows'] - child['rows']:.0f} rows)"
    style = {"va": "center", "fontsize": 7.5, "color": "0.4"}
    axis.text(child["aside"] - side * gap, depth, aside, ha=aside_align, **style)
    arrow = {"arrowstyle": "-|>", "color": color, "lw": 2.4, "shrinkA": 5, "shrinkB": 6}
    axis.annotate("", (child["node"], depth), (parent["node"], level), arrowprops=arrow)
    _mark(axis, child, depth)
    beside = {"ha": node_align, "va": "center"}
    node = f"{child['node']:.2f} ({child['rows']:.0f} rows)"
    axis.text(child["node"] + side * gap, depth, node, fontsize=8, **beside)
    text_x = 0.3 * parent["node"] + 0.7 * child["node"] + side * gap
    axis.text(text_x, level + 0.4, child["test"], fontsize=8, **beside)
    step = f"{child['value']:+.2f}".replace("-", "−")
    axis.text(text_x, level + 0.62, step, fontweight="bold", color=color, **beside)


def _mark(axis, node, level):
    axis.plot(node["node"], level, "o", ms=7, color="0.15", zorder=3)
