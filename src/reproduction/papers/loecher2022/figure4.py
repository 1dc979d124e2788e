"""Figure 4: SHAP values of the Titanic data, mean absolute values and every passenger.

The table also has how SHAP values and contributions (CFC) of the passengers go together.
"""

import pandas as pd

from reproduction.figures import panels
from reproduction.papers import finding
from reproduction.papers.loecher2022 import _titanic
from reproduction.papers.loecher2022._titanic import AS_THEY_ARE, LINES, SHUFFLED, sizeable
from reproduction.papers.loecher2022.figure2 import scores_of, swarms

VERY_HIGH = 0.9
VERY_HIGH_REASON = "correlations of 0.9 to 1 are commonly called very high"


def compute(inputs) -> pd.DataFrame:
    """Means over the seeds (``part`` "mean") and values of all passengers (``part`` "passenger").

    See `_titanic.summary` and `figure2.scores_of`. The ``part`` "correlation" has that of SHAP
    and CFC over the passengers of the one forest, for each feature.
    """
    means = _titanic.summary(inputs, ["shap"]).assign(part="mean")
    passengers = scores_of(inputs, "shap").assign(part="passenger")
    table = pd.concat([means, passengers, _correlations(inputs)], ignore_index=True)
    return table.astype({"sample": "Int64"})


def _correlations(inputs):
    shap, cfc = (
        scores_of(inputs, name).pivot(index="sample", columns="feature", values="value")
        for name in ("shap", "cfc")
    )
    correlations = shap.corrwith(cfc).rename("value").reset_index()
    return correlations.assign(part="correlation", importance="shap")


def draw(table):
    """Bars left, swarms right."""
    figure, axes = panels.subplots(
        1, 2, figsize=(10.5, 4), width_ratios=[1, 1.5], sharey=True, layout="none"
    )
    figure.subplots_adjust(left=0.1, right=0.92, bottom=0.17, top=0.9, wspace=0.06)
    means = table[table["part"] == "mean"]
    _titanic.draw_bars(axes[0], _titanic.with_control(means, "shap"))
    axes[0].set_xlabel("mean |SHAP| (P(survived))")
    number = table.loc[table["case"] == AS_THEY_ARE, "n"].max()
    axes[0].set_title(f"Titanic: means of {number:.0f} forests, mtry 2", loc="left")
    axes[0].legend(loc="lower right")
    swarms(figure, axes[1], table[table["part"] == "passenger"])
    axes[1].set_xlabel("SHAP value (P(survived))")
    axes[1].set_title("Titanic: every passenger, first forest", loc="left")
    panels.letter(axes)
    note = LINES.format(number).capitalize() + "."
    figure.text(0.1, 0.012, note, fontsize=8, color="0.35", style="italic")
    return figure


def statements(table):
    """s03: PassengerId is not near zero, and a shuffled one gets as much; s31: SHAP and CFC."""
    means = table[table["part"] == "mean"]
    yield from sizeable("s03", means, {"shap": "SHAP"}, case=SHUFFLED)
    least = table.loc[table["part"] == "correlation", "value"].min()
    measured = "smallest correlation of SHAP and CFC of a feature over the passengers"
    options = {"reading": VERY_HIGH_REASON, "possible": (-1.0, 1.0)}
    yield finding("s31", "rows, Titanic", measured, least, VERY_HIGH, "at least", **options)
