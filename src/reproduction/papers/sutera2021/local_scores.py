"""Figures 3 and 5: local scores of some samples, drawn on displays and images.

The paper names no samples for figure 3; its notebook shows the display of 9 and the first digit.
The first ten rows of the digits data are the digits 0 to 9, those of figure 5.
"""

from __future__ import annotations

import pandas as pd

from reproduction.datasets import digits, led
from reproduction.figures import pictures

# K = 1, the square root of the number of features (2.6 on led, rounded down), all features.
KS = {"led": (1, 2, 7), "digits": (1, 8, 64)}
MEASURES = {"local_mdi": "local MDI", "saabas": "Saabas", "tree_shap": "TreeSHAP"}
# The paper's own scale on led; on digits one pixel of 64 has a share of a few percent.
LIMITS = {"led": 0.75, "digits": 0.1}


def compute(inputs, samples) -> pd.DataFrame:
    """Scores of the chosen samples at three values of K, shares of each row's absolute sum.

    Parameters
    ----------
    inputs : dict of DataFrame
        ``sutera2021_k_led/local_scores`` and ``sutera2021_k_digits/local_scores``.
    samples : dict of str to list of int
        By data set; equally many of each.
    """
    tables = []
    for dataset, ks in KS.items():
        scores = inputs[f"sutera2021_k_{dataset}/local_scores"]
        scores = scores.rename(columns={"model.max_features": "k", "data": "dataset"})
        chosen = scores["k"].isin(ks) & scores["sample"].isin(samples[dataset])
        tables.append(scores[chosen])
    columns = ["dataset", "k", "importance", "sample", "feature", "value"]
    return pd.concat(tables, ignore_index=True)[columns]


def draw(table):
    """Displays left, digits right; segments that are on have a dark edge."""
    from matplotlib import pyplot as plt

    n_samples = table.groupby("dataset")["sample"].nunique().max()
    figure = plt.figure(figsize=(4.5 + 1.25 * n_samples, 11))
    for part, dataset in zip(figure.subfigures(1, 2), KS, strict=True):
        _block(part, table[table["dataset"] == dataset], dataset)
    return figure


def _block(figure, table, dataset):
    """Rows: the sample itself, then measures by K; columns: samples."""
    samples = sorted(table["sample"].unique())
    rows = [(measure, k) for measure in MEASURES for k in KS[dataset]]
    axes = figure.subplots(len(rows) + 1, len(samples), squeeze=False)
    X = {"led": led, "digits": digits}[dataset].load().X
    by = table.set_index(["importance", "k", "sample"]).sort_index()
    for column, sample in enumerate(samples):
        if dataset == "led":
            pictures.display(axes[0, column], X[sample])
        else:
            pictures.gray(axes[0, column], X[sample])
        axes[0, column].set_title(str(sample) if dataset == "led" else f"row {sample}", fontsize=8)
        for axis, (measure, k) in zip(axes[1:, column], rows, strict=True):
            scores = by.loc[(measure, k, sample)].sort_values("feature")["value"].to_numpy()
            if dataset == "led":
                pictures.segments(axis, scores, LIMITS[dataset], lit=X[sample])
            else:
                pictures.pixels(axis, scores, LIMITS[dataset])
    for axis, (measure, k) in zip(axes[1:, 0], rows, strict=True):
        text = f"{MEASURES[measure]}\nK = {k}"
        axis.set_ylabel(text, rotation=0, ha="right", va="center", fontsize=8)
    _scale(figure, axes, dataset)


def _scale(figure, axes, dataset):
    from matplotlib import cm, colors

    norm = colors.Normalize(-LIMITS[dataset], LIMITS[dataset])
    bar = figure.colorbar(
        cm.ScalarMappable(norm, pictures.MAP),
        ax=axes,
        orientation="horizontal",
        shrink=0.5,
        aspect=40,
        pad=0.02,
        extend="both",
        ticks=[-LIMITS[dataset], 0, LIMITS[dataset]],
    )
    bar.set_label(f"{dataset}: share of the row's absolute scores", fontsize=8)
    bar.ax.grid(False)
