"""Figure 4: SHAP values of the Titanic data, mean absolute values and every passenger."""

from __future__ import annotations

import pandas as pd

from reproduction.figures import panels
from reproduction.papers.loecher2022 import _passengers, _titanic
from reproduction.papers.loecher2022._titanic import AS_THEY_ARE, LINES, SHUFFLED, sizeable


def compute(inputs) -> pd.DataFrame:
    """Means over the seeds (``part`` "mean") and values of all passengers (``part`` "passenger").

    See `_titanic.summary` and `_passengers.compute`.
    """
    means = _titanic.summary(inputs, ["shap"]).assign(part="mean")
    passengers = _passengers.compute(inputs, "shap").assign(part="passenger")
    return pd.concat([means, passengers], ignore_index=True).astype({"sample": "Int64"})


def draw(table):
    """Bars left, swarms right."""
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(
        1, 2, figsize=(10.5, 4), width_ratios=[1, 1.5], sharey=True, layout="none"
    )
    figure.subplots_adjust(left=0.1, right=0.92, bottom=0.17, top=0.9, wspace=0.06)
    _titanic.draw_bars(axes[0], table[table["part"] == "mean"], "shap")
    axes[0].set_xlabel("mean |SHAP| (P(survived))")
    number = table.loc[table["case"] == AS_THEY_ARE, "n"].max()
    axes[0].set_title(f"Titanic: means of {number:.0f} forests, mtry 2", loc="left")
    axes[0].legend(loc="lower right")
    _passengers.draw(figure, axes[1], table[table["part"] == "passenger"])
    axes[1].set_xlabel("SHAP value (P(survived))")
    axes[1].set_title("Titanic: every passenger, first forest", loc="left")
    panels.letter(axes)
    note = LINES.format(number).capitalize() + "."
    figure.text(0.1, 0.012, note, fontsize=8, color="0.35", style="italic")
    return figure


def statements(table) -> list[dict]:
    """s03: PassengerId is not near zero, and a shuffled one gets as much."""
    means = table[table["part"] == "mean"]
    return sizeable("s03", means, {"shap": "SHAP"}, case=SHUFFLED)
