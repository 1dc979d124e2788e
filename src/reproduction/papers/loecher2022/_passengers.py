"""Shared by figures 2 and 4: the scores of every passenger, drawn as swarms."""

import numpy as np
import pandas as pd

from reproduction.papers.loecher2022 import _titanic

ROWS = "loecher2022_titanic_rows/local_values"
# Points within one bin of a swarm are laid beside each other.
_BINS, _WIDTH = 120, 0.38


def compute(inputs, importance) -> pd.DataFrame:
    """Scores of one measure for every passenger, one forest.

    Columns: ``importance``, ``sample``, ``feature``, ``x`` (value of the feature), ``value``.
    """
    rows = inputs[ROWS]
    rows = rows[rows["importance"] == importance]
    return rows[["importance", "sample", "feature", "x", "value"]].reset_index(drop=True)


def draw(figure, axis, table) -> None:
    """A swarm a feature: place is the score, color the feature's value from low to high."""
    for level, feature in enumerate(_titanic.SHOWN):
        rows = table[table["feature"] == feature]
        ranks = rows["x"].rank(method="average")
        shade = (ranks - ranks.min()) / max(ranks.max() - ranks.min(), 1)
        heights = level + _offsets(rows["value"].to_numpy(), table["value"])
        style = {"cmap": "viridis", "s": 5, "linewidths": 0, "rasterized": True}
        points = axis.scatter(rows["value"], heights, c=shade, vmin=0, vmax=1, **style)
    _titanic.finish(axis)
    box = axis.get_position()
    bar = figure.add_axes((box.x1 + 0.015, box.y0 + 0.1, 0.012, box.height - 0.2))
    bar = figure.colorbar(points, cax=bar, ticks=[0, 1])
    bar.ax.set_yticklabels(["low", "high"])
    bar.set_label("value of the feature (rank)", labelpad=-12)
    bar.outline.set_visible(False)


def _offsets(values, all_values):
    """Heights of points that share a bin: 0, 1, -1, 2, ... steps from the middle."""
    edges = np.linspace(all_values.min(), all_values.max(), _BINS)
    bins = np.digitize(values, edges)
    counts = np.bincount(bins)
    # Rows come in the order of PassengerId, which would show in a swarm. So their order is random.
    chance = np.random.default_rng(0).permutation(len(values))
    order = chance[np.argsort(bins[chance], kind="stable")]
    number = np.arange(len(values)) - np.repeat(np.cumsum(counts) - counts, counts)
    steps = np.empty(len(values))
    steps[order] = np.where(number % 2, (number + 1) // 2, -(number // 2))
    return steps * min(0.05, 2 * _WIDTH / counts.max())
