"""Figures 2 (digits) and 6 (led): correlations of all pairs of local measures against K."""

from __future__ import annotations

import pandas as pd

from reproduction.figures import COLORS
from reproduction.papers import finding

_PAIRS = {
    ("local_mdi", "saabas"): ("local MDI, Saabas", COLORS["blue"]),
    ("local_mdi", "tree_shap"): ("local MDI, TreeSHAP", COLORS["vermilion"]),
    ("saabas", "tree_shap"): ("Saabas, TreeSHAP", COLORS["green"]),
}


# The largest K draws all features, which tells the data sets apart.
_DATASETS = {7: "led", 64: "digits"}


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
    """Two panels, Pearson and Spearman: means as lines, [min, max] shaded."""
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), sharey=True)
    for axis, correlation in zip(axes, ("pearson", "spearman"), strict=True):
        for (reference, versus), (label, color) in _PAIRS.items():
            pair = table[(table["reference"] == reference) & (table["versus"] == versus)]
            pair = pair[pair["correlation"] == correlation]
            by_k = pair.pivot_table(index="k", columns="statistic", values="value")
            axis.fill_between(by_k.index, by_k["min"], by_k["max"], color=color, alpha=0.12, lw=0)
            axis.plot(by_k.index, by_k["mean"], color=color, label=label, marker=".", ms=3)
        axis.set_title(correlation.capitalize())
        axis.set_xlabel("K, features drawn at a node")
    axes[0].set_ylabel("correlation of absolute scores")
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3)
    return figure


def statements(table) -> list[dict]:
    """s17, s18 and s19 on the data set, by Pearson correlation.

    "Close to 1" is judged by the paper's own bound for similar scores, 0.75 (appendix E.2).
    """
    dataset = _DATASETS[table["k"].max()]
    pearson = table[table["correlation"] == "pearson"]
    by = pearson.pivot_table(
        index=["k", "reference", "versus"], columns="statistic", values="value"
    )
    means = by["mean"].unstack(["reference", "versus"])
    widths = (by["max"] - by["min"]).unstack(["reference", "versus"])
    others = means[[("local_mdi", "saabas"), ("local_mdi", "tree_shap")]].max(axis=1)
    margin = means["saabas", "tree_shap"] - others
    spread = widths.max() - widths.min()
    findings = {
        "s17": ("smallest mean correlation of a pair over K", means.min().min(), 0.75),
        "s18": ("largest change of a pair's range over K", spread.max(), 0.01),
        "s19": ("smallest lead of Saabas-TreeSHAP over the other pairs", margin.min(), 0.0),
    }
    return [
        finding(name, dataset, measured, value, limit, "at least")
        for name, (measured, value, limit) in findings.items()
    ]
