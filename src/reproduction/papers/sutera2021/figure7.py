"""Figure 7: correlation of local MDI with Saabas and TreeSHAP, sample by sample, sorted."""

from __future__ import annotations

import numpy as np
import pandas as pd

from reproduction.figures import COLORS
from reproduction.papers import finding

PANELS = {
    "led": "Led",
    "led_sampled": "Led (sampled)",
    "iris": "Iris",
    "wine": "Wine",
    "breast_cancer": "Breast cancer",
    "digits": "Digits",
}
_LINES = {
    ("saabas", "pearson"): ("Saabas, Pearson", COLORS["blue"], "-"),
    ("saabas", "spearman"): ("Saabas, Spearman", COLORS["blue"], ":"),
    ("tree_shap", "pearson"): ("TreeSHAP, Pearson", COLORS["vermilion"], "-"),
    ("tree_shap", "spearman"): ("TreeSHAP, Spearman", COLORS["vermilion"], ":"),
}


def compute(inputs) -> pd.DataFrame:
    """Correlations of every sample in rising order, of the forests of table 4.

    Parameters
    ----------
    inputs : dict of DataFrame
        ``sutera2021_local/row_correlation``.
    """
    rows = inputs["sutera2021_local/row_correlation"].rename(columns={"data": "dataset"})
    keys = ["variant", "dataset", "versus", "correlation"]
    rows = rows.sort_values([*keys, "value"], kind="stable", ignore_index=True)
    rows["rank"] = rows.groupby(keys).cumcount()
    return rows[[*keys, "rank", "value"]]


def draw(table):
    """Six panels as in the paper (signed scores, those of table 4 as printed)."""
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(2, 3, figsize=(9, 5), sharey=True)
    published = table[table["variant"] == "published"]
    for axis, (dataset, title) in zip(axes.flat, PANELS.items(), strict=True):
        panel = published[published["dataset"] == dataset]
        for (versus, correlation), (label, color, dash) in _LINES.items():
            line = panel[(panel["versus"] == versus) & (panel["correlation"] == correlation)]
            percent = 100 * (np.arange(len(line)) + 0.5) / max(len(line), 1)
            axis.plot(percent, line["value"], label=label, color=color, linestyle=dash)
        for threshold in (0.75, 0.9):
            axis.axhline(threshold, color="0.6", linewidth=0.7, zorder=1)
        n = panel["rank"].max() + 1 if len(panel) else 0
        axis.set_title(f"{title} ({n:.0f} samples)")
        axis.set_xlim(0, 100)
    for axis in axes[1]:
        axis.set_xlabel("samples, sorted (%)")
    for axis in axes[:, 0]:
        axis.set_ylabel("correlation with local MDI")
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4)
    return figure


def statements(table) -> list[dict]:
    """s21: some 1 to 10 % of the samples have uncorrelated scores.

    Counted here: Pearson correlation with TreeSHAP below 0.5, the middle between none and full.
    """
    rows = table[(table["variant"] == "published") & (table["correlation"] == "pearson")]
    rows = rows[rows["versus"] == "tree_shap"]
    shares = 100 * (rows["value"] < 0.5).groupby(rows["dataset"], sort=False).mean()
    return [
        finding("s21", dataset, "samples correlating below 0.5 (%)", share, 10.0)
        for dataset, share in shares.items()
    ]
