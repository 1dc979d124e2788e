"""Standings: the mean place of every measure by question, with the recommended ones marked."""

from __future__ import annotations

import numpy as np
import pandas as pd

from reproduction.figures import COLORS
from reproduction.papers.trust import _places, rule
from reproduction.parameters import Seed


def compute(
    inputs,
    questions: dict,
    properties: dict,
    smaller: list[str],
    about_zero: list[str],
    split: Seed = 0,
) -> pd.DataFrame:
    """Mean place and share of fits on which a measure holds, by question and property of the model.

    Parameters
    ----------
    questions, properties, smaller, about_zero, split
        As of `rule.compute`.

    Returns
    -------
    DataFrame
        ``question``; ``property``; ``measure``; ``value``, its mean place over all data sets on
        which it applies; ``holds``, on the held-out half; ``n_data_sets``, on which it applies;
        ``recommended``, 1 for the one that the rule names, else 0.
    """
    scores = _places.scores(inputs, smaller, about_zero)
    tables = []
    for question, yardsticks in questions.items():
        for name, models in properties.items():
            placed = _places.places(scores, yardsticks, models)
            place, holds = (_places.by_data(placed, column) for column in ("place", "holds"))
            if len(place) < 2:
                continue
            first, rest = rule.halves(place.index, split)
            measure = rule.judge(place, holds, first)["measure"]
            columns = {"question": question, "property": name, "measure": place.columns}
            columns |= {"value": place.mean().to_numpy()}
            columns |= {"holds": holds.loc[rest].fillna(0.0).mean().to_numpy()}
            columns |= {"n_data_sets": place.notna().sum().to_numpy()}
            columns |= {"recommended": (place.columns == measure).astype(int)}
            tables.append(pd.DataFrame(columns))
    return pd.concat(tables, ignore_index=True)


def draw(table):
    """A heat map: measures down, questions across, for bagged and for boosted models."""
    from matplotlib import pyplot as plt
    from matplotlib.patches import Rectangle

    order = table.groupby("measure")["value"].mean().sort_values(ascending=False).index
    columns = [
        (name, question)
        for name in ("bagged", "boosted")
        for question in table.loc[table["property"] == name, "question"].unique()
    ]
    cells = table.set_index(["measure", "property", "question"])
    value = np.array(
        [[cells["value"].get((m, *column), np.nan) for column in columns] for m in order]
    )
    figure, axis = plt.subplots(figsize=(0.95 * len(columns) + 2.6, 0.27 * len(order) + 1.4))
    image = axis.imshow(value, aspect="auto", cmap="viridis", vmin=0, vmax=1)
    for (row, column), place in np.ndenumerate(value):
        key = (order[row], *columns[column])
        if np.isnan(place) or not cells.loc[key, "recommended"]:
            continue
        corner = (column - 0.5, row - 0.5)
        box = Rectangle(corner, 1, 1, fill=False, edgecolor=COLORS["vermilion"], linewidth=2.5)
        axis.add_patch(box)
        share = f"{100 * cells.loc[key, 'holds']:.0f} %"
        ink = "black" if place > 0.55 else "white"
        axis.text(column, row, share, ha="center", va="center", color=ink, weight="bold")
    axis.set_yticks(range(len(order)), order)
    axis.set_xticks(range(len(columns)), [question for _, question in columns], rotation=25)
    axis.tick_params(length=0, bottom=False, labelbottom=False, top=False, labeltop=True)
    axis.grid(False)
    for name in ("bagged", "boosted"):
        at = [i for i, column in enumerate(columns) if column[0] == name]
        if at and at[0]:
            axis.axvline(at[0] - 0.5, color="white", linewidth=6)
        axis.annotate(name, (np.mean(at), -0.02), (np.mean(at), len(order) - 0.2), ha="center")
    bar = figure.colorbar(image, ax=axis, shrink=0.6, ticks=[0, 0.5, 1])
    bar.ax.set_yticklabels(["worst of all", "middle", "best of all"])
    return figure
