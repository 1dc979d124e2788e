"""Figure 5: local importances of all ten displays and of one digit of each class."""

from __future__ import annotations

import pandas as pd

from reproduction.papers.sutera2021 import _local

# The first ten rows of the digits data are the digits 0 to 9.
SAMPLES = {"led": list(range(10)), "digits": list(range(10))}


def compute(inputs) -> pd.DataFrame:
    """Scores of the twenty samples; see `_local.compute`."""
    return _local.compute(inputs, SAMPLES)


def draw(table):
    """Displays left, digits right; segments that are on have a dark edge."""
    from matplotlib import pyplot as plt

    figure = plt.figure(figsize=(17, 11))
    for part, dataset in zip(figure.subfigures(1, 2), SAMPLES, strict=True):
        _local.draw_block(part, table, dataset, SAMPLES[dataset])
    return figure
