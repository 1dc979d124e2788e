"""Figure 2: conditional feature contributions (CFC) of every passenger of the Titanic."""

import numpy as np
import pandas as pd

from reproduction.figures import panels
from reproduction.papers import finding
from reproduction.papers.loecher2022 import _titanic
from reproduction.papers.loecher2022._titanic import SIZEABLE, STRONGEST

ROWS = "loecher2022_titanic_rows/local_values"
# Points within one bin of a swarm are laid beside each other.
_BINS, _WIDTH = 120, 0.38
MANY_VALUES, FEW_VALUES = ("Age", "PassengerId"), ("Sex", "Pclass")
_LARGE = "a tenth of the deviation of the strongest feature is taken for the least that is large"
_WIDE = "large is what spans no less than the features that matter more"


def compute(inputs) -> pd.DataFrame:
    """Contributions of all passengers; see `scores_of`."""
    return scores_of(inputs, "cfc")


def scores_of(inputs, importance) -> pd.DataFrame:
    """Scores of one measure for every passenger, of one forest; ``x`` is the feature's value."""
    rows = inputs[ROWS]
    rows = rows[rows["importance"] == importance]
    return rows[["importance", "sample", "feature", "x", "value"]].reset_index(drop=True)


def swarms(figure, axis, table) -> None:
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


def draw(table):
    """One swarm a feature, colored by the feature's value."""
    figure, axis = panels.subplots(figsize=(7.5, 4), layout="none")
    figure.subplots_adjust(left=0.16, right=0.9, bottom=0.14, top=0.9)
    swarms(figure, axis, table)
    axis.set_xlabel("contribution (CFC) to P(survived)")
    number = table["sample"].nunique()
    title = f"Titanic: contributions of {number} passengers; first of 20 forests, mtry 2"
    axis.set_title(title, loc="left")
    return figure


def statements(table):
    """s18: the contributions of features with many values vary much."""
    by_feature = table.groupby("feature")["value"]
    deviation, extent = by_feature.std(), by_feature.max() - by_feature.min()
    # Contributions to a probability are between -1 and 1.
    of_sex, of_few = deviation[STRONGEST], extent[list(FEW_VALUES)].max()
    deviations, extents = deviation / of_sex, extent / of_few
    for feature in MANY_VALUES:
        for name, against, values, limit, most, reason in (
            ("standard deviation", STRONGEST, deviations, SIZEABLE[0], 1.001 / of_sex, _LARGE),
            ("range", "the larger one of Sex and Pclass", extents, 1.0, 2 / of_few, _WIDE),
        ):
            measured = f"{name} of the contributions of {feature} over that of {against}"
            options = {"reading": reason, "possible": (0.0, most)}
            place = "s18", f"{feature}, {name}", measured, values[feature]
            yield finding(*place, limit, "at least", **options)
