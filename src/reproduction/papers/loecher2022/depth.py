"""Sections 7 and 8.3 in numbers: the bias of MDI comes from deep nodes (Titanic, PassengerId).

And section 3: contributions (CFC) depend on the distance of a test from the root. A tree of two
tests predicts the same whichever comes first, so what a feature gets should hardly change.
"""

from itertools import permutations

import numpy as np
import pandas as pd

from reproduction.datasets import titanic
from reproduction.datasets.titanic import FEATURES
from reproduction.figures import COLORS, panels
from reproduction.papers import around, finding
from reproduction.papers.loecher2022 import _titanic
from reproduction.papers.loecher2022._titanic import ID, SIZEABLE, STRONGEST, K, chosen
from splitcredit.measures import saabas, tree_shap
from splitcredit.models.forest import LEAF, Forest

INPUT = "loecher2022_titanic/mdi_by_depth"
# The first two levels of splits are near the root; those from the fifth on are deep.
NEAR, DEEP = 2, 4
# Limits, the side on which a finding holds, and why.
_HARDLY = "less than a tenth of the strongest feature is not sizeable, and so hardly susceptible"
HARDLY = SIZEABLE[0], "at most", _HARDLY
MORE_OFTEN = 2.0, "at least", "most frequently is taken for at least twice as often"
STRONGLY = 2.0
_STRONGLY = "twice as much, or half of it, is taken for the least that is strongly altered"
_COLORS = dict(zip(FEATURES, ("sky", "black", "green", "vermilion"), strict=True))
_MARKS = dict(zip(FEATURES, "s^Do", strict=True))
EXPLAINED = {"CFC": saabas.attribute, "SHAP": tree_shap.attribute}


def compute(inputs) -> pd.DataFrame:
    """Splits and MDI by depth, of the passengers as they are: means over the seeds, and `orders`.

    ``share of splits`` is at a depth, ``MDI over Sex`` of all splits down to a depth.
    """
    rows = inputs[INPUT]
    unshuffled = rows["data.shuffled"].isna() | (rows["data.shuffled"] == "")
    rows = rows[unshuffled & rows["data.share"].isna()]
    splits, mdi = (
        rows.pivot(index=["repeat", "depth"], columns="feature", values=name).fillna(0)
        for name in ("splits", "value")
    )
    shares = splits.div(splits.sum(axis=1), axis=0)
    # Below the depth of a tree its sum stays the same.
    filled = mdi.unstack("depth").fillna(0).stack("depth", future_stack=True)
    down_to = filled.groupby("repeat").cumsum()
    ratios = down_to.div(down_to[STRONGEST], axis=0)
    tables = [_by_depth("share of splits", shares), _by_depth("MDI over Sex", ratios)]
    data = titanic.load()
    by_order = pd.DataFrame(orders(data.X, data.y, data.feature_names))
    return pd.concat([*tables, _of_id(splits), by_order], ignore_index=True)


def _by_depth(quantity, values):
    long = values.stack().rename("value").reset_index()
    grouped = long.groupby(["depth", "feature"])["value"]
    table = grouped.agg(value="mean", error=lambda v: v.std() / np.sqrt(len(v))).reset_index()
    return table.assign(quantity=quantity)[["quantity", "depth", "feature", "value", "error"]]


def _of_id(splits):
    """Share of splits that test PassengerId, near the root and deep."""
    depth = splits.index.get_level_values("depth")
    of_levels = []
    for level in (depth < NEAR, depth >= DEEP):
        sums = splits[level].groupby("repeat").sum()
        of_levels.append(sums[ID] / sums.sum(axis=1))
    near, deep = of_levels
    shares = {
        "share near the root": near,
        "share of deep splits": deep,
        "deep over near": deep / near,
    }
    return pd.DataFrame(
        {"quantity": name, "value": v.mean(), "error": v.std() / np.sqrt(len(v)), "feature": ID}
        for name, v in shares.items()
    )


# Trees that test the same two features in either order: the same function, at another depth.


def halves(X) -> np.ndarray:
    """Each column cut in two, 0 and 1, as evenly as its values allow; (n_samples, n_features)."""
    cut = np.empty(X.shape)
    for j, column in enumerate(X.T):
        values = np.unique(column)[:-1]
        shares = np.array([(column > v).mean() for v in values])
        cut[:, j] = column > values[np.abs(shares - 0.5).argmin()]
    return cut


def tree(X, y, first: int, second: int, names) -> Forest:
    """The tree that tests one column at the root and another below, with the means of y."""
    one, two = X[:, first] == 1, X[:, second] == 1
    nodes = [one | True, ~one, one, ~one & ~two, ~one & two, one & ~two, one & two]
    leaves = [LEAF] * 4
    return Forest(
        feature=[first, second, second, *leaves],
        threshold=[0.5] * 3 + [0.0] * 4,
        left=[1, 3, 5, *leaves],
        right=[2, 4, 6, *leaves],
        value=[[y[rows].mean()] for rows in nodes],
        cover=[rows.sum() for rows in nodes],
        tree_offsets=[0, 7],
        feature_names=names,
        output_names=["P(y = 1)"],
    )


def orders(X, y, names) -> list[dict]:
    """Mean absolute scores of every pair of features in both orders."""
    X, rows = halves(X), []
    for first, second in permutations(range(X.shape[1]), 2):
        forest = tree(X, y, first, second, names)
        for name, explain in EXPLAINED.items():
            mean = np.abs(explain(forest, X).values[:, :, 0]).mean(axis=0)
            for depth, (feature, other) in enumerate(((first, second), (second, first))):
                key = {"quantity": f"mean |{name}|", "depth": depth, "feature": names[feature]}
                rows.append({**key, "other": names[other], "value": mean[feature]})
    return rows


def draw(table):
    """Share of the splits left, MDI down to a depth right."""
    figure, axes = panels.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    for axis, quantity, title in (
        (axes[0], "share of splits", "share of the splits at this depth"),
        (axes[1], "MDI over Sex", "MDI of all splits down to this depth, over that of Sex"),
    ):
        of_feature = dict(iter(table[table["quantity"] == quantity].groupby("feature")))
        for feature in _titanic.SHOWN:
            style = {"color": COLORS[_COLORS[feature]], "marker": _MARKS[feature], "ms": 3.5}
            axis.plot("depth", "value", data=of_feature[feature], label=feature, **style)
        axis.set_title(title, loc="left")
        axis.set(xlabel="depth (0: root)", ylim=(0, None))
    # Names stand beside the ends of the lines of the right panel, which lie apart.
    ends = {feature: rows["value"].iloc[-1] for feature, rows in of_feature.items()}
    for feature, place in panels.apart(ends, 0.07).items():
        style = {"xycoords": ("axes fraction", "data"), "va": "center", "fontsize": 8}
        axes[1].annotate(feature, (1.01, place), color=COLORS[_COLORS[feature]], **style)
    axes[0].legend()
    panels.letter(axes)
    figure.suptitle("Titanic: MDI takes PassengerId for important because of its deep splits")
    return figure


def statements(table):
    """s24: near the root MDI is hardly biased, deep nodes test PassengerId; s32: CFC by depth."""
    of_id = table[table["feature"] == ID].set_index("quantity")
    row = of_id.loc["MDI over Sex"].set_index("depth").loc[NEAR - 1]
    measured = "PassengerId over Sex, MDI of the first two levels of splits"
    yield chosen("s24", "near the root", measured, _estimate(row), *HARDLY)
    measured = (
        "share of PassengerId among splits from the fifth level on, over that in the first two"
    )
    place = ("s24", "deep nodes", measured, _estimate(of_id.loc["deep over near"]))
    # A share of all splits divided by this one.
    near = of_id.loc["share near the root"]
    most = 1 / (near["value"] - K * near["error"])
    yield chosen(*place, *MORE_OFTEN, possible=(0.0, most))
    yield from _by_order(table)


def _by_order(table):
    """s32: how much a feature gets below another one, over what it gets at the root."""
    for name in EXPLAINED:
        rows = table[table["quantity"] == f"mean |{name}|"]
        pair = rows.pivot(index=["feature", "other"], columns="depth", values="value")
        factors = np.exp(np.abs(np.log(pair[1] / pair[0])))
        feature, other = factors.idxmax()
        measured = "largest factor between what a feature gets at the root and below another one "
        measured += f"in the same function, {name} ({feature} and {other})"
        # A control: SHAP values of the same trees change with the order, as the features depend on
        # each other, but less.
        kind = "at least" if name == "CFC" else "at most"
        place = ("s32", f"two tests, {name}", measured, factors.max(), STRONGLY, kind)
        # A mean absolute score is 1 at most.
        possible = (1.0, 1 / pair.to_numpy().min())
        yield finding(*place, reading=_STRONGLY, beside=name != "CFC", possible=possible)


def _estimate(row):
    """The value of a row, and its interval over the seeds."""
    return row["value"], around(row["value"], K * row["error"])
