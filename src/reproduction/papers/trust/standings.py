"""Standings: the mean place of every measure by question, with the chosen ones marked."""

from __future__ import annotations

import pandas as pd

from reproduction.papers.trust import _places, rule
from reproduction.parameters import Seed

# Ends of the scale of colors: no measure beats more of the others, or fewer, by much.
ENDS = (0.25, 0.75)
# Yardsticks of which a mean over data sets means something.
UNITLESS = {"auc", "bias"}
ASKED = {
    "information": "what has\ninfor-\nmation",
    "faithfulness": "what the\nmodel\nuses",
    "retraining": "what a\nnew fit\nneeds",
    "stability": "what a\nnew fit\nrepeats",
}
# What `splitcredit.importance` and `compare` call measures that have another name here.
NAMES = {"sage_test": "sage", "greedy": "pg2_greedy"}


def compute(
    inputs,
    questions: dict,
    properties: dict,
    smaller: list[str],
    about_zero: list[str],
    split: Seed = 0,
) -> pd.DataFrame:
    """Mean place and share of fits on which a measure holds, by question and property of the model.

    Columns: ``question``; ``property``; ``measure``; ``value``, its mean place over all data sets
    on which it applies; ``holds``, on the held-out half; ``n_data_sets``, on which it applies;
    ``recommended``, 1 for the one that the first half chooses, else 0; and the mean value by
    `UNITLESS` yardsticks of the question.
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
            values = scores[scores["model"].isin(models)].groupby(["yardstick", "measure"])["value"]
            for yardstick in sorted(UNITLESS & set(yardsticks)):
                columns |= {yardstick: values.mean()[yardstick].reindex(place.columns).to_numpy()}
            tables.append(pd.DataFrame(columns))
    return pd.concat(tables, ignore_index=True)


def draw(table):
    """A heat map: measures down, questions across, for bagged and for boosted models."""
    from matplotlib import pyplot as plt
    from matplotlib.patches import Rectangle

    table = table[table["property"] != "any"]
    order = table.groupby("measure")["value"].mean().sort_values(ascending=False).index
    questions = list(table["question"].unique())
    figure, axes = plt.subplots(1, 2, figsize=(8.4, 0.26 * len(order) + 1.5), sharey=True)
    for axis, kind in zip(axes, ("bagged", "boosted"), strict=True):
        cells = table[table["property"] == kind]
        place = cells.pivot(index="measure", columns="question", values="value")
        place = place.reindex(index=order, columns=questions)
        image = axis.imshow(place, aspect="auto", cmap="RdBu", vmin=ENDS[0], vmax=ENDS[1])
        for row in cells[cells["recommended"] == 1].itertuples():
            x, y = questions.index(row.question), order.get_loc(row.measure)
            frame = {"fill": False, "edgecolor": "black", "linewidth": 2.2}
            axis.add_patch(Rectangle((x - 0.5, y - 0.5), 1, 1, clip_on=False, zorder=3, **frame))
            share = f"{100 * row.holds:.0f} %"
            ink = "white" if row.value > 0.66 else "black"
            axis.text(x, y, share, ha="center", va="center", color=ink, weight="bold")
        axis.set_title(f"{kind} models", pad=8, weight="bold")
        axis.set_facecolor("0.95")
        picked = 100 * cells.groupby("question")["holds"].mean()
        texts = [f"{ASKED[question]}\n({picked[question]:.0f} %)" for question in questions]
        axis.set_xticks(range(len(questions)), texts)
        axis.tick_params(length=0, labelbottom=False, labeltop=True)
        axis.grid(False)
        axis.spines[:].set_visible(False)
    axes[0].set_yticks(range(len(order)), [NAMES.get(name, name) for name in order])
    for name, label in zip(order, axes[0].get_yticklabels(), strict=True):
        if table.loc[table["measure"] == name, "recommended"].any():
            label.set_weight("bold")
    bar = figure.colorbar(image, ax=axes, shrink=0.5, ticks=[ENDS[0], 0.5, ENDS[1]])
    bar.ax.set_yticklabels([f"beats {100 * end:.0f} %\nof the others" for end in bar.get_ticks()])
    figure.suptitle(
        "In a frame: chosen by half of the data, and how often in the best quarter on the other\n"
        "(in brackets: a measure picked at random)"
    )
    return figure
