"""Figure 2: conditional feature contributions (CFC) of every passenger of the Titanic."""

import pandas as pd

from reproduction.figures import panels
from reproduction.papers import finding
from reproduction.papers.loecher2022 import _passengers
from reproduction.papers.loecher2022._titanic import LEAST_SIZEABLE, STRONGEST

MANY_VALUES, FEW_VALUES = ("Age", "PassengerId"), ("Sex", "Pclass")
_LARGE = "a tenth of the deviation of the strongest feature is taken for the least that is large"
_WIDE = "large is what spans no less than the features that matter more"


def compute(inputs) -> pd.DataFrame:
    """Contributions of all passengers; see `_passengers.compute`."""
    return _passengers.compute(inputs, "cfc")


def draw(table):
    """One swarm a feature, colored by the feature's value."""
    figure, axis = panels.subplots(figsize=(7.5, 4), layout="none")
    figure.subplots_adjust(left=0.16, right=0.9, bottom=0.14, top=0.9)
    _passengers.draw(figure, axis, table)
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
    of_sex, of_few_values = deviation[STRONGEST], extent[list(FEW_VALUES)].max()
    for feature in MANY_VALUES:
        for name, values, limit, most, reason in (
            ("standard deviation", deviation / of_sex, LEAST_SIZEABLE, 1.001 / of_sex, _LARGE),
            ("range", extent / of_few_values, 1.0, 2 / of_few_values, _WIDE),
        ):
            against = STRONGEST if name != "range" else "the larger one of Sex and Pclass"
            measured = f"{name} of the contributions of {feature} over that of {against}"
            options = {"basis": "our reading", "reason": reason, "possible": (0.0, most)}
            variant = f"{feature}, {name}"
            value = values[feature]
            yield finding("s18", variant, measured, value, limit, "at least", **options)
