"""Figures 2 (digits) and 6 (led): correlations of all pairs of local measures against K."""

import pandas as pd

from reproduction.figures import COLORS, panels
from reproduction.papers import around, finding
from reproduction.papers.sutera2021 import _led_limit
from reproduction.papers.sutera2021.figure7 import CLOSE, CLOSE_TO_1, SIMILAR

_PAIRS = {
    ("local_mdi", "saabas"): ("local MDI, Saabas", COLORS["blue"]),
    ("local_mdi", "tree_shap"): ("local MDI, TreeSHAP", COLORS["vermilion"]),
    ("saabas", "tree_shap"): ("Saabas, TreeSHAP", COLORS["green"]),
}


# The largest K draws all features, which tells the data sets apart.
_DATASETS = {7: "led", 64: "digits"}
_ROWS = {"led": "Led, ten displays", "digits": "Digits"}
# Up to this number, values of K are marked one by one.
_FEW = 20
_SEEN = "a change of the shaded area that a reader of the figure, whose axis is 1 high, sees"


def compute(inputs) -> pd.DataFrame:
    """Mean and range over the samples of the correlation of absolute scores, by K and pair."""
    (summary,) = inputs.values()
    table = summary.rename(columns={"model.max_features": "k"})
    table = table[table["statistic"].isin(["mean", "min", "max", "undefined"])]
    return table[["k", "reference", "versus", "correlation", "statistic", "value"]]


def draw(table):
    """A row a correlation, a column a pair: means over the samples, [min, max] shaded."""
    figure, axes = panels.subplots(2, 3, figsize=(9, 5.2), sharex=True, sharey="row")
    for row, correlation in zip(axes, ("pearson", "spearman"), strict=True):
        rows_of_correlation = table[table["correlation"] == correlation]
        cells = rows_of_correlation.pivot_table(
            index="k", columns=["reference", "versus", "statistic"], values="value"
        )
        closest = max(_PAIRS, key=lambda pair: cells[(*pair, "mean")].mean())
        for axis, (pair, (label, color)) in zip(row, _PAIRS.items(), strict=True):
            for other_pair in _PAIRS:
                if other_pair != pair:
                    axis.plot(
                        cells.index, cells[(*other_pair, "mean")], color="0.7", lw=0.8, zorder=1
                    )
            low, high = cells[(*pair, "min")], cells[(*pair, "max")]
            axis.fill_between(cells.index, low, high, color=color, alpha=0.2, lw=0)
            style = {"marker": ".", "ms": 4} if len(cells) < _FEW else {}
            axis.plot(cells.index, cells[(*pair, "mean")], color=color, **style)
            word = ", the closest pair" if pair == closest else ""
            axis.set_title(f"{label}\n{correlation.capitalize()}{word}", fontsize=9)
        row[0].set_ylabel("correlation of absolute scores")
    for axis in axes[1]:
        axis.set_xlabel("K, features drawn at a node")
        ks = sorted(table["k"].unique())
        axis.set_xticks(ks if len(ks) < _FEW else [ks[0], *ks[15::16]])
    panels.letter(axes)
    dataset = _DATASETS[table["k"].max()]
    figure.suptitle(
        f"{_ROWS[dataset]}; extra-trees, random_state 0. Line: mean over the samples, shaded: from "
        "the least to the\nlargest sample, gray: means of the other two pairs",
        fontsize=8.5,
    )
    return figure


def statements(table):
    """s17, s18 and s19 on the data set; the paper does not say which correlation it shows."""
    dataset = _DATASETS[table["k"].max()]
    for correlation, rows in table.groupby("correlation", sort=False):
        cells = rows.pivot_table(
            index=["k", "reference", "versus"], columns="statistic", values="value"
        )
        means = cells["mean"].unstack(["reference", "versus"])
        widths = (cells["max"] - cells["min"]).unstack(["reference", "versus"])
        variant = f"{dataset}, {correlation.capitalize()}"
        yield from _close_to_1(variant, means, _smallest_mean(dataset, correlation, means))
        options = {"basis": "chosen", "reason": _SEEN, "possible": (0, 2)}
        measured = "largest change of a pair's range over K"
        change = (widths.max() - widths.min()).max()
        yield finding("s18", variant, measured, change, 0.05, "at least", **options)
        lead = _lead(means).min()
        options = {"basis": "printed", "possible": (-2, 2)}
        if dataset == "led" and lead < 0:
            of_limit = _lead(_means_of_limit(correlation, means.index)).min()
            options["expected"] = around(of_limit, _led_limit.NEAR)
        measured = "smallest lead of Saabas-TreeSHAP over the other pairs"
        yield finding("s19", variant, measured, lead, 0.0, "at least", **options)


def _close_to_1(variant, means, expected):
    """s17 by both bounds; below one the value is to be the expected one."""
    for bound in (SIMILAR, CLOSE):
        value = means.min().min()
        yield finding(
            "s17",
            f"{variant}, {bound:g}",
            "smallest mean correlation of a pair over K",
            value,
            bound,
            "at least",
            basis="chosen",
            reason=CLOSE_TO_1,
            possible=(-1, 1),
            expected=expected if value < bound else None,
        )


def _smallest_mean(dataset, correlation, means):
    """Where the smallest mean is expected if it is not close to 1.

    On led near that of infinitely many trees. On digits at or below that of K = 1, which table 4
    prints for signed scores.
    """
    if dataset == "led":
        return around(_means_of_limit(correlation, means.index).min().min(), _led_limit.NEAR)
    return SIMILAR, means.iloc[0].min()


def _lead(means):
    """By K: how much closer Saabas and TreeSHAP are to each other than the closest other pair."""
    others = means[[("local_mdi", "saabas"), ("local_mdi", "tree_shap")]].max(axis=1)
    return means["saabas", "tree_shap"] - others


def _means_of_limit(correlation, ks):
    """Means over the displays of led for infinitely many trees, by K and pair."""
    rows = {}
    for k in ks:
        of_pairs = _led_limit.correlations(int(k), absolute=True)
        rows[k] = {
            pair: values.mean() for (kind, pair), values in of_pairs.items() if kind == correlation
        }
    return pd.DataFrame.from_dict(rows, orient="index")
