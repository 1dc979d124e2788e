"""Figure 2: SHAP values as the average over all orders in which features become known.

The paper draws one order of an unnamed model. Here a real prediction: one iris and the probability
of one species by a tree whose path to it tests each of the four features once, so that the path
method is exactly one of the 24 orders.
"""

from dataclasses import replace
from fractions import Fraction
from itertools import combinations, permutations

import numpy as np
import pandas as pd

from reproduction import models
from reproduction.datasets import scikit_learn
from reproduction.figures import COLORS, images, panels
from reproduction.papers.lundberg2017 import _algorithms, _attributions
from reproduction.papers.lundberg2017._algorithms import INTERNAL, Tree
from splitcredit import to_forest

RECIPE = {"estimator": "DecisionTreeClassifier", "max_depth": 4, "max_features": 1}
RECIPE["random_state"] = 5
ROW, CLASS, SPECIES = 68, 1, "versicolor"
FEATURES = ("sepal length", "sepal width", "petal length", "petal width")
UP, DOWN = COLORS["vermilion"], COLORS["blue"]


def compute(inputs) -> pd.DataFrame:
    """Every step of every order, the path method and the SHAP values.

    Parts: ``order`` (a step: E[f | x_S] grows to ``expectation`` as the feature joins S), ``path``
    (Saabas), ``shap`` (Eq. 2). The row of position 0 has E[f] and no feature.
    """
    tree, x = explained()
    everything = range(len(FEATURES))
    f_x = {
        frozenset(S): _algorithms.expvalue(x, S, tree)
        for size in range(len(FEATURES) + 1)
        for S in combinations(everything, size)
    }
    rows = [_row("order", "", 0, "", f_x[frozenset()], Fraction(0))]
    for order in permutations(everything):
        for k, i in enumerate(order):
            before, after = f_x[frozenset(order[:k])], f_x[frozenset(order[: k + 1])]
            rows.append(_row("order", _name(order), k + 1, FEATURES[i], after, after - before))
    order = tuple(tree.d[j] for j in tree.tests(x))
    for part, name, values in (
        ("path", _name(order), _attributions.path_output(x, tree)),
        ("shap", "", _algorithms.shapley_by_subsets(x, tree)),
    ):
        for k, i in enumerate(order):
            rows.append(_row(part, name, k + 1, FEATURES[i], None, values[i]))
    return pd.DataFrame(rows)


def explained() -> tuple[Tree, list[float]]:
    """The tree for the probability of the species, in fractions, and the iris."""
    data = scikit_learn.iris()
    forest = to_forest(models.fit(RECIPE, data.X, data.y))
    tree = _algorithms.trees_of(forest, CLASS, Fraction)[0]
    # Shares of whole numbers of flowers, which float64 has rounded.
    pairs = zip(tree.v, tree.r, strict=True)
    v = [INTERNAL if v is INTERNAL else Fraction(round(v * r), int(r)) for v, r in pairs]
    return replace(tree, v=v), forest.prepare(data.X)[ROW].tolist()


def draw(table):
    """Left: arrows for the path's order, its reverse and the average; right: all orders."""
    figure = panels.figure(figsize=(9.2, 6.6))
    left, right = figure.subfigures(1, 2, width_ratios=[1.25, 1])
    steps = table[table["part"] == "order"]
    start = steps["expectation"].iloc[0]
    path = table.loc[table["part"] == "path", "order"].iloc[0]
    shap = table[table["part"] == "shap"]
    axes = left.subplots(3, 1, sharex=True)
    for axis, order, title in (
        (axes[0], path, "The path method: the order of the tree's path"),
        (axes[1], path[::-1], "The same prediction in the reverse order"),
    ):
        _arrows(axis, start, steps[steps["order"] == order], conditional=True)
        axis.set_title(title, loc="left")
    _arrows(axes[2], start, shap, conditional=False)
    axes[2].set_title("SHAP: the average over all 24 orders", loc="left", fontweight="bold")
    axes[2].set_xlabel(f"probability of {SPECIES}, iris {ROW}")
    heat_map = right.subplots()
    _orders(heat_map, steps, shap, path)
    panels.letter([*axes, heat_map])
    return figure


def _arrows(axis, start, steps, conditional):
    """One arrow a feature from E[f] to f(x), red up and blue down."""
    expectation, known_features = start, []
    axis.plot([expectation, expectation], [-0.5, 0.35], color="0.5", lw=0.8, ls=":")
    axis.text(expectation, -0.72, f"E[f(x)] = {start:.3f}", ha="center", fontsize=7.5)
    for y, step in enumerate(steps.itertuples()):
        end, color = expectation + step.value, UP if step.value > 0 else DOWN
        arrow = {"arrowstyle": "-|>", "color": color, "lw": 3.2, "shrinkA": 0, "shrinkB": 0}
        axis.annotate("", (end, y), (expectation, y), arrowprops={**arrow, "mutation_scale": 13})
        axis.plot([end, end], [y - 0.3, y + 1.3], color="0.5", lw=0.8, ls=":")
        text = f"{step.feature} {step.value:+.3f}".replace("-", "−")
        beyond = max(expectation, end) + 0.015
        axis.text(beyond, y - 0.05, text, color=color, va="center", fontsize=8)
        known_features.append(f"x$_{FEATURES.index(step.feature) + 1}$")
        if conditional and y < len(steps) - 1:
            reached = f"E[f(x) | {', '.join(known_features)}] = {end:.3f}"
            axis.text(beyond, y + 0.4, reached, color="0.35", va="center", fontsize=6.5)
        expectation = end
    at = expectation, len(steps) + 0.72
    text = f"f(x) = {expectation:.3f}"
    axis.text(*at, text, fontweight="bold", ha="center", fontsize=7.5)
    axis.set(ylim=(len(steps) + 0.9, -1.3), xlim=(0.2, 1.32), yticks=[])
    axis.set_xticks([0.2, 0.4, 0.6, 0.8, 1.0])
    axis.spines["left"].set_visible(False)
    axis.grid(axis="y", visible=False)


def _orders(axis, steps, shap, path):
    """Rows: orders; columns: features; colors: the step of the feature in that order."""
    from matplotlib.patches import Rectangle

    features = list(FEATURES)
    steps = steps[steps["position"] > 0]
    cells = steps.pivot(index="order", columns="feature", values="value")[features]
    mean = shap.set_index("feature")["value"][features].to_numpy()
    image = np.vstack([cells.to_numpy(), np.full((1, len(FEATURES)), np.nan), mean])
    limit = np.nanmax(np.abs(image))
    axis.imshow(image, cmap=images.MAP, vmin=-limit, vmax=limit, aspect="auto")
    for (row, column), value in np.ndenumerate(image):
        if not np.isnan(value):
            style = {"color": "white" if abs(value) > 0.6 * limit else "0.15", "fontsize": 6.5}
            style["fontweight"] = "bold" if row == len(image) - 1 else "normal"
            text = f"{value:+.3f}".replace("-", "−")
            axis.text(column, row, text, ha="center", va="center", **style)
    labels = [order.replace("-", " ") for order in cells.index]
    axis.set_yticks([*range(len(cells)), len(image) - 1], [*labels, "SHAP"], fontsize=7)
    axis.get_yticklabels()[-1].set_fontweight("bold")
    names = [f"{k}\n{name.replace(' ', chr(10))}" for k, name in enumerate(FEATURES, 1)]
    axis.set_xticks(range(len(FEATURES)), names, fontsize=7.5)
    axis.xaxis.tick_top()
    axis.tick_params(length=0)
    row = list(cells.index).index(path)
    box = {"fill": False, "ec": "black", "lw": 1.8, "clip_on": False}
    axis.add_patch(Rectangle((-0.5, row - 0.5), len(FEATURES), 1, **box))
    axis.get_yticklabels()[row].set_fontweight("bold")
    axis.text(len(FEATURES) - 0.4, row, "path", va="center", fontsize=7.5, fontweight="bold")
    axis.grid(False)
    axis.spines[:].set_visible(False)
    axis.set_ylabel("order in which the features become known")
    axis.set_title("What a feature adds, by order", loc="left")


def _row(part, order, position, feature, expectation, value):
    row = {"part": part, "order": order, "position": position, "feature": feature}
    row["expectation"] = None if expectation is None else float(expectation)
    return {**row, "value": float(value), "exact": str(value)}


def _name(order):
    """Features from 1 on, e.g. 4-2-1-3, which stays text in a file."""
    return "-".join(str(i + 1) for i in order)
