"""Figure 2: conditional feature contributions (CFC) of every passenger of the Titanic."""

from __future__ import annotations

import pandas as pd

from reproduction.papers.loecher2022 import _passengers


def compute(inputs) -> pd.DataFrame:
    """Contributions of all passengers; see `_passengers.compute`."""
    return _passengers.compute(inputs, "cfc")


def draw(table):
    """One swarm a feature, colored by the feature's value."""
    from matplotlib import pyplot as plt

    figure, axis = plt.subplots(figsize=(7.5, 4), layout="none")
    figure.subplots_adjust(left=0.16, right=0.9, bottom=0.14, top=0.9)
    _passengers.draw(figure, axis, table)
    axis.set_xlabel("contribution (CFC) to P(survived)")
    axis.set_title(f"Titanic: contributions of {table['sample'].nunique()} passengers", loc="left")
    return figure
