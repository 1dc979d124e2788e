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
from reproduction.papers.loecher2022._titanic import ID, LEAST_SIZEABLE, STRONGEST, K, chosen
from splitcredit.measures import saabas, tree_shap
from splitcredit.models.forest import LEAF, Forest

INPUT = "loecher2022_titanic/mdi_by_depth"
# The first two levels of splits are near the root; those from the fifth on are deep.
NEAR, DEEP = 2, 4
_HARDLY = "less than a tenth of the strongest feature is not sizeable, and so hardly susceptible"
_MORE = "most frequently is taken for at least twice as often"
MORE_OFTEN = 2.0
_STRONGLY = "twice as much, or half of it, is taken for the least that is strongly altered"
STRONGLY = 2.0
_COLORS = dict(
    zip(
        FEATURES,
        (COLORS["sky"], COLORS["black"], COLORS["green"], COLORS["vermilion"]),
        strict=True,
    )
)
_MARKS = dict(zip(FEATURES, "s^Do", strict=True))
EXPLAINED = {"CFC": saabas.attribute, "SHAP": tree_shap.attribute}


def compute(inputs) -> pd.DataFrame:
    """Splits and MDI by depth, over the seeds, of the passengers as they are.

    Columns: ``quantity``, ``depth``, ``feature``, ``value`` (mean over the seeds) and ``error``,
    its standard error. Quantities: ``share of splits`` at a depth; ``MDI over Sex``, of all splits
    down to a depth; and of PassengerId, without depth, ``share near the root``, ``share of deep
    splits`` and the ratio ``deep over near``. Then those of `orders`, of all passengers,
    with ``other``.
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
    shares = {}
    for name, level in (
        ("share near the root", depth < NEAR),
        ("share of deep splits", depth >= DEEP),
    ):
        sums = splits[level].groupby("repeat").sum()
        shares[name] = sums[ID] / sums.sum(axis=1)
    share_near, share_deep = shares.values()
    shares["deep over near"] = share_deep / share_near
    rows = [
        {"quantity": name, "value": v.mean(), "error": v.std() / np.sqrt(len(v)), "feature": ID}
        for name, v in shares.items()
    ]
    return pd.DataFrame(rows)


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
    titles = {
        "share of splits": "share of the splits at this depth",
        "MDI over Sex": "MDI of all splits down to this depth, over that of Sex",
    }
    for axis, (quantity, title) in zip(axes, titles.items(), strict=True):
        rows = table[table["quantity"] == quantity]
        for feature in _titanic.SHOWN:
            rows_of_feature = rows[rows["feature"] == feature]
            style = {"color": _COLORS[feature], "marker": _MARKS[feature], "ms": 3.5}
            axis.plot(rows_of_feature["depth"], rows_of_feature["value"], label=feature, **style)
        axis.set_title(title, loc="left")
        axis.set_xlabel("depth (0: root)")
        axis.set_ylim(0, None)
    # Names stand beside the ends of the lines of the right panel, which lie apart.
    ends = table[table["quantity"] == "MDI over Sex"].sort_values("depth")
    ends = ends.groupby("feature")["value"].last()[list(_titanic.SHOWN)]
    for feature, place in panels.apart(ends.to_dict(), 0.07).items():
        style = {"xycoords": ("axes fraction", "data"), "va": "center", "fontsize": 8}
        axes[1].annotate(feature, (1.01, place), color=_COLORS[feature], **style)
    axes[0].legend()
    panels.letter(axes)
    figure.suptitle("Titanic: MDI takes PassengerId for important because of its deep splits")
    return figure


def statements(table):
    """s24: near the root MDI is hardly biased, deep nodes test PassengerId; s32: CFC by depth."""
    rows = table[(table["feature"] == ID) & (table["quantity"] == "MDI over Sex")]
    row = rows[rows["depth"] == NEAR - 1].iloc[0]
    measured = "PassengerId over Sex, MDI of the first two levels of splits"
    criterion = (LEAST_SIZEABLE, "at most", _HARDLY)
    yield chosen("s24", "near the root", measured, _estimate(row), *criterion)
    row = table[table["quantity"] == "deep over near"].iloc[0]
    measured = (
        "share of PassengerId among splits from the fifth level on, over that in the first two"
    )
    near = table[table["quantity"] == "share near the root"].iloc[0]
    # A share of all splits divided by this one.
    most = 1 / (near["value"] - K * near["error"])
    criterion = (MORE_OFTEN, "at least", _MORE)
    place = ("s24", "deep nodes", measured, _estimate(row))
    yield chosen(*place, *criterion, possible=(0.0, most))
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
        kind, beside = ("at least", False) if name == "CFC" else ("at most", True)
        options = {"reading": _STRONGLY, "beside": beside}
        # A mean absolute score is 1 at most.
        options["possible"] = (1.0, 1 / pair.to_numpy().min())
        yield finding(
            "s32", f"two tests, {name}", measured, factors.max(), STRONGLY, kind, **options
        )


def _estimate(row):
    """The value of a row, and its interval over the seeds."""
    return row["value"], around(row["value"], K * row["error"])
