"""Figures 3 and 5: local scores of some samples, drawn on displays and images.

The paper names no samples for figure 3; its notebook shows the display of 9 and the first digit.
The first ten rows of the digits data are the digits 0 to 9, those of figure 5.
"""

from functools import partial
from itertools import combinations

import numpy as np
import pandas as pd

from reproduction.datasets import led, scikit_learn
from reproduction.figures import COLORS, images, panels
from reproduction.papers import around, finding
from reproduction.papers.sutera2021 import led_shares
from reproduction.papers.sutera2021.figure7 import SIMILAR

# K = 1, the square root of the number of features (2.6 on led, rounded down), all features.
KS = {"led": (1, 2, 7), "digits": (1, 8, 64)}
MEASURES = {"local_mdi": "local MDI", "saabas": "Saabas", "tree_shap": "TreeSHAP"}
# On digits most pixels have shares of a few percent, and single ones ten times as much with K = 64:
# colors change in proportion up to about this share, and with its logarithm beyond.
LINEAR = {"led": None, "digits": 0.03}
# More samples are drawn for one K.
FEW = 4
_LOADERS = {"led": led.load, "digits": scikit_learn.digits}
# What a sample is, and what a feature.
_ROWS = {"led": ("display of", "segment"), "digits": ("image of", "pixel")}
_ALIKE = "vectors that correlate at 0.75 or more are similar by appendix E.2"
_OF_K = (("blue", "o"), ("orange", "s"), ("vermilion", "D"))


def compute(inputs, samples: dict[str, list[int]]) -> pd.DataFrame:
    """Scores of the chosen samples at three values of K, shares of each row's absolute sum."""
    tables = []
    for dataset, ks in KS.items():
        scores = inputs[f"sutera2021_k_{dataset}/local_scores"]
        scores = scores.rename(columns={"model.max_features": "k", "data": "dataset"})
        mask = scores["k"].isin(ks) & scores["sample"].isin(samples[dataset])
        # Segments and pixels are drawn by their place.
        places = {name: j for j, name in enumerate(_LOADERS[dataset]().feature_names)}
        tables.append(scores[mask].assign(feature=scores.loc[mask, "feature"].map(places)))
    columns = ["dataset", "k", "importance", "sample", "predicted", "feature", "value"]
    return pd.concat(tables, ignore_index=True)[columns]


def draw(table):
    """Displays, then digits. More samples than `FEW`: the largest K, and a summary of all K."""
    if table.groupby("dataset")["sample"].nunique().max() <= FEW:
        figure = panels.figure(figsize=(6.6, 9.4))
        for subfigure, (dataset, ks) in zip(figure.subfigures(1, 2), KS.items(), strict=True):
            _block(subfigure, table[table["dataset"] == dataset], dataset, ks)
        return figure
    figure = panels.figure(figsize=(11.4, 11))
    *blocks, summary = figure.subfigures(3, 1, height_ratios=[2, 2, 1])
    for subfigure, (dataset, ks) in zip(blocks, KS.items(), strict=True):
        _block(subfigure, table[table["dataset"] == dataset], dataset, ks[-1:])
    axes = summary.subplots(1, len(KS), sharey=True)
    for axis, (dataset, ks) in zip(axes, KS.items(), strict=True):
        _summary(axis, table[table["dataset"] == dataset], dataset, ks)
    axes[0].set_ylabel("least correlation\nof two measures")
    axes[0].set_ylim(axes[0].get_ylim()[0] - 0.2, 1.05)  # room for the legends
    return figure


def _summary(axis, rows, dataset, ks):
    """For each sample the least correlation of two measures' scores, a line a K."""
    least = _correlations(rows).min(axis=1).unstack("sample")
    for k, (color, marker) in zip(ks, _OF_K, strict=True):
        style = {"color": COLORS[color], "marker": marker, "ms": 5, "ls": ":", "lw": 0.8}
        axis.plot(least.columns, least.loc[k], label=f"K = {k}", **style)
    axis.set_xticks(least.columns)
    axis.set(xlabel=_ROWS[dataset][0], title=f"{dataset}: agreement of the measures by K")
    axis.legend(loc="lower left", ncols=3)


def _block(figure, table, dataset, ks):
    """Rows: the sample itself, then measures by K; columns: samples."""
    samples = sorted(table["sample"].unique())
    rows = [(measure, k) for measure in MEASURES for k in ks]
    axes = figure.subplots(len(rows) + 1, len(samples), squeeze=False)
    data = _LOADERS[dataset]()
    norm = _norm(table.loc[table["k"].isin(ks), "value"], LINEAR[dataset])
    indexed = table.set_index(["importance", "k", "sample"]).sort_index()
    predicted = table.dropna(subset="predicted").groupby("sample")["predicted"].unique()
    for column, sample in enumerate(samples):
        x = data.X[sample]
        if dataset == "led":
            images.display(axes[0, column], x)
        else:
            images.gray(axes[0, column], x)
        classes = ", ".join(str(int(c)) for c in predicted[sample])
        axes[0, column].set_title(f"{data.y[sample]}\n{classes}", fontsize=8)
        for axis, (measure, k) in zip(axes[1:, column], rows, strict=True):
            scores = indexed.loc[(measure, k, sample)].sort_values("feature")["value"].to_numpy()
            if dataset == "led":
                images.segments(axis, scores, norm, lit=x)
            else:
                images.pixels(axis, scores, norm)
    words = f"{_ROWS[dataset][0]}\npredicted"
    style = {"xycoords": "axes fraction", "ha": "right", "va": "baseline", "fontsize": 8}
    panels.note(axes[0, 0], words, (0, 1), (-4, 6), **style)
    for axis, (measure, k) in zip(axes[1:, 0], rows, strict=True):
        text = f"{MEASURES[measure]}\nK = {k}"
        axis.set_ylabel(text, rotation=0, ha="right", va="center", fontsize=8)
    _scale(figure, axes, norm, LINEAR[dataset], "bottom" if len(ks) > 1 else "right")
    figure.suptitle(f"{dataset}: scores of each {_ROWS[dataset][1]}")


def _norm(values, linear):
    """From minus to plus the largest share drawn, rounded up to a twentieth."""
    from matplotlib import colors

    limit = np.ceil(20 * np.abs(values).max()) / 20
    of = colors.Normalize if linear is None else partial(colors.AsinhNorm, linear)
    return of(-limit, limit)


def _scale(figure, axes, norm, linear, place):
    from matplotlib import cm

    limit = norm.vmax
    inner = [limit / 2] if linear is None else [linear, 0.1]
    ticks = [*(-t for t in (limit, *inner[::-1])), 0, *inner, limit]
    style = {"location": place, "shrink": 0.75, "aspect": 40, "pad": 0.02}
    colors = cm.ScalarMappable(norm, images.MAP)
    bar = figure.colorbar(colors, ax=axes, ticks=ticks, format="%.3g", **style)
    bar.set_label("share in the sum of absolute scores", fontsize=8)
    bar.ax.minorticks_off()
    bar.ax.tick_params(labelsize=7)
    bar.ax.grid(False)


def statements(table):
    """s42: correlations of the scores of all pairs of measures, of the samples of the figure."""
    measured = "smallest correlation of two measures' scores of a sample, three values of K"
    for dataset, rows in table.groupby("dataset", sort=False):
        smallest = _correlations(rows).min().min()
        options = {"reading": _ALIKE, "possible": (-1, 1)}
        if dataset == "led" and smallest < SIMILAR:
            samples = rows["sample"].unique().astype(int)
            options["expected"] = around(_smallest_of_limit(samples), led_shares.NEAR)
        yield finding("s42", dataset, measured, smallest, SIMILAR, "at least", **options)


def _correlations(rows):
    """Of the scores of each pair of measures, a column a pair, a row a K and sample."""
    by_measure = rows.pivot_table(
        index=["k", "sample", "feature"], columns="importance", values="value"
    )
    correlations = by_measure.groupby(level=["k", "sample"]).corr()
    of_a = {a: correlations.xs(a, level="importance") for a in MEASURES}
    return pd.DataFrame({(a, b): of_a[a][b] for a, b in combinations(MEASURES, 2)})


def _smallest_of_limit(samples):
    """Smallest Pearson correlation of two measures, of some displays of led."""
    return min(
        values[samples].min()
        for k in KS["led"]
        for (kind, _), values in led_shares.correlations(k, absolute=False).items()
        if kind == "pearson"
    )
