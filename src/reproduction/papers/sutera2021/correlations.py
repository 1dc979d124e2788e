"""Figures 2 (digits) and 6 (led): correlations of all pairs of local measures against K."""

from __future__ import annotations

import pandas as pd

from reproduction.figures import COLORS, panels
from reproduction.papers import finding

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


def compute(inputs) -> pd.DataFrame:
    """Mean and range over the samples of the correlation of absolute scores, by K and pair.

    Parameters
    ----------
    inputs : dict of DataFrame
        ``pair_correlation_summary`` of ``sutera2021_k_digits`` or of ``sutera2021_k_led``.
    """
    (summary,) = inputs.values()
    table = summary.rename(columns={"model.max_features": "k"})
    table = table[table["statistic"].isin(["mean", "min", "max", "undefined"])]
    return table[["k", "reference", "versus", "correlation", "statistic", "value"]]


def draw(table):
    """A row a correlation, a column a pair: means over the samples, [min, max] shaded."""
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(2, 3, figsize=(9, 5.2), sharex=True, sharey="row")
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


def statements(table) -> list[dict]:
    """s17, s18 and s19 on the data set; the paper does not say which correlation it shows."""
    dataset = _DATASETS[table["k"].max()]
    return [
        row
        for correlation, rows in table.groupby("correlation", sort=False)
        for row in _statements(f"{dataset}, {correlation.capitalize()}", rows)
    ]


def _statements(variant, rows):
    cells = rows.pivot_table(
        index=["k", "reference", "versus"], columns="statistic", values="value"
    )
    means = cells["mean"].unstack(["reference", "versus"])
    widths = (cells["max"] - cells["min"]).unstack(["reference", "versus"])
    other_pairs = means[[("local_mdi", "saabas"), ("local_mdi", "tree_shap")]].max(axis=1)
    lead = means["saabas", "tree_shap"] - other_pairs
    spread = widths.max() - widths.min()
    for statement, measured, value, limit, reason in (
        (
            "s17",
            "smallest mean correlation of a pair over K",
            means.min().min(),
            0.75,
            "vectors that correlate at 0.75 or more are similar by appendix E.2 of the paper",
        ),
        (
            "s18",
            "largest change of a pair's range over K",
            spread.max(),
            0.05,
            "a change of the shaded area that a reader of the figure, whose axis is 1 high, sees",
        ),
        ("s19", "smallest lead of Saabas-TreeSHAP over the other pairs", lead.min(), 0.0, ""),
    ):
        basis = {"basis": "chosen" if reason else "printed", "reason": reason}
        yield finding(statement, variant, measured, value, limit, "at least", **basis)
