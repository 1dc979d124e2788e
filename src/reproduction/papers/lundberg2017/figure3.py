"""Figure 3: supervised clustering, attributions as stacked bars in the order of a dendrogram.

The paper's data (518 participants, 200 gene modules, CERAD score) are not open: see
`reproduction.datasets.gene_modules` and `reproduction.datasets.ad_data`.
"""

import numpy as np
import pandas as pd

from reproduction.figures import COLORS, panels

# Titles of the data sets, of figure 4 too; `STAND_IN` is the note below the figures.
DATASETS = {
    "gene_modules": "Stand-in 1: simulated gene modules, ordinal score",
    "ad_data": "Stand-in 2: spinal-fluid proteins, impaired or not",
}
STAND_IN = (
    "Both data sets stand in for the paper's 518 participants (gene modules, CERAD score), whose "
    "data are not open.\nGene modules: simulated by rules of our own. "
    "Proteins: 333 people, Craig-Schapiro et al. 2011."
)
# Name in the paper, color and line of each clustering.
CLUSTERED = {
    "tree_shap": ("SHAP", COLORS["vermilion"], "-"),
    "saabas": ("path (Saabas)", COLORS["blue"], "-"),
    "local_mdi": ("local MDI", COLORS["green"], "-"),
    "unsupervised": ("unsupervised", COLORS["black"], "-"),
    "random_features": ("random features", "0.55", "--"),
    "random_labels": ("random labels", "0.55", ":"),
}
PANELS = {"saabas": "path (Saabas)", "tree_shap": "SHAP"}
# Colors of the features with the largest attributions; the side of zero shows their sign.
_COLORS = [COLORS[name] for name in ("blue", "vermilion", "green", "orange", "purple", "sky")]
_OTHERS = "0.85"
# Heights of the row of a data set, and of the note below all rows, in inches.
_HEIGHT, _NOTE = 4.5, 0.55


def compute(inputs) -> pd.DataFrame:
    """Bars of all rows and their dendrograms, in-sample; see `metrics.cluster_bars`."""
    table = inputs["lundberg2017_bars/cluster_bars"].rename(columns={"data": "dataset"})
    table = table.drop(columns=["model", "run"], errors="ignore")
    return table.astype({"merge_left": "Int64", "merge_right": "Int64"})


def datasets_of(table) -> list[str]:
    """The data sets of a table, those that are known first."""
    present = table["dataset"].unique().tolist()
    return [d for d in DATASETS if d in present] + [d for d in present if d not in DATASETS]


def draw(table):
    """One row a data set; path left, SHAP right: dendrogram, bars, outcome."""
    datasets = datasets_of(table)
    # Places are fixed: the solver of automatic layouts is off by a last bit now and then, and the
    # same figure would not be the same bytes.
    inches = _HEIGHT * len(datasets) + _NOTE
    figure = panels.figure(figsize=(10, inches))
    figure.set_layout_engine("none")
    firsts = []
    for row, dataset in enumerate(datasets):
        place = (1 - row * _HEIGHT / inches, _HEIGHT / inches)
        firsts += _draw_row(figure, *place, table[table["dataset"] == dataset])
    panels.letter(firsts)
    figure.text(0.075, 0.1 / inches, STAND_IN, fontsize=8, va="bottom", linespacing=1.4)
    return figure


def _draw_row(figure, top, height, rows):
    """Panels of one data set; the uppermost axis of each."""
    grid = figure.add_gridspec(
        **{"nrows": 3, "ncols": len(PANELS), "height_ratios": [1, 3, 0.14], "hspace": 0.06},
        **{"left": 0.075, "right": 0.83, "wspace": 0.05},
        **{"top": top - 0.13 * height, "bottom": top - 0.93 * height},
    )
    axes = grid.subplots(sharex="col", sharey="row")
    for column, (name, title) in zip(axes.T, PANELS.items(), strict=True):
        panel = rows[rows["clustered"] == name].sort_values("sample")
        _dendrogram(column[0], panel)
        column[0].set_title(title, loc="left")
        handles = _bars(column[1], panel.sort_values("position"))
        _outcome(column[2], panel.sort_values("position"))
    axes[0, 0].set_ylim(0, rows["height"].max() * 1.02)
    axes[1, 0].set_ylabel("attribution (units of the outcome)")
    labels = [*rows["feature"].dropna().unique(), "all others", "prediction\nless baseline"]
    style = {"loc": "center left", "bbox_to_anchor": (1.01, 0.5), "borderaxespad": 0}
    axes[1, -1].legend(handles, labels, **style)
    dataset = rows["dataset"].iloc[0]
    title = f"{DATASETS.get(dataset, dataset)}: {rows['sample'].nunique()} rows"
    figure.text(0.075, top - 0.045 * height, title, fontsize="large", weight="bold")
    note = "rows in the order of the dendrogram; the strip is their outcome, dark is high"
    figure.text(0.4525, top - 0.965 * height, note, ha="center")
    return list(axes[0])


def _dendrogram(axis, rows):
    """Merges as brackets above the leaves."""
    from matplotlib.collections import LineCollection

    places = rows["position"].astype(float).tolist()
    heights = [0.0] * len(rows)
    brackets = []
    merges = rows[["merge_left", "merge_right", "height"]].dropna().to_numpy().tolist()
    for left, right, height in merges:
        a, b = int(left), int(right)
        corners = [(places[a], heights[a]), (places[a], height), (places[b], height)]
        brackets.append([*corners, (places[b], heights[b])])
        places.append((places[a] + places[b]) / 2)
        heights.append(height)
    axis.add_collection(LineCollection(brackets, colors="0.25", linewidths=0.3))
    axis.set_xlim(-0.5, len(rows) - 0.5)
    axis.axis("off")


def _bars(axis, rows):
    """Positive attributions stacked upwards, negative ones downwards; their sum."""
    from matplotlib.patches import Patch

    bars = [c for c in rows if c.startswith("bar_")]
    colors = [*_COLORS[: len(bars)], _OTHERS]
    largest = rows[bars].to_numpy().T
    _stack(axis, [*np.maximum(largest, 0), rows["rest_positive"].to_numpy()], colors)
    _stack(axis, [*np.minimum(largest, 0), rows["rest_negative"].to_numpy()], colors)
    total = rows[[*bars, "rest_positive", "rest_negative"]].sum(axis=1).to_numpy()
    (line,) = axis.plot(np.arange(len(rows)), total, color="black", lw=0.6, drawstyle="steps-mid")
    handles = [Patch(color=color) for color in colors]
    axis.grid(False, axis="x")
    axis.tick_params(bottom=False, labelbottom=False)
    return [*handles, line]


def _stack(axis, layers, colors):
    """Layers of all rows, stacked outwards from zero."""
    tops = np.cumsum(layers, axis=0)
    edges = np.arange(tops.shape[1] + 1) - 0.5
    for top, bottom, color in zip(tops, tops - layers, colors, strict=True):
        # Bars are an image within the SVG, because thousands of edges would make a large file.
        axis.stairs(top, edges, baseline=bottom, fill=True, color=color, lw=0, rasterized=True)


def _outcome(axis, rows):
    """The outcome of each row: the darker, the higher."""
    strip = rows["label"].to_numpy(dtype=float)[None]
    extent = (-0.5, len(rows) - 0.5, 0, 1)
    axis.imshow(strip, aspect="auto", cmap="Greys", extent=extent, interpolation="nearest")
    axis.set_yticks([])
    axis.grid(False)
    axis.spines[:].set(visible=True, color="0.7")
    axis.tick_params(bottom=False, labelbottom=False, left=False, labelleft=False)
