"""Figure 3: local importances of two displays and two digits, for three values of K."""

from __future__ import annotations

import pandas as pd

from reproduction.papers.sutera2021 import _local

# The paper names no samples; its notebook shows the display of 9 and the first digit.
SAMPLES = {"led": [4, 9], "digits": [0, 9]}


def compute(inputs) -> pd.DataFrame:
    """Scores of the four samples; see `_local.compute`."""
    return _local.compute(inputs, SAMPLES)


def draw(table):
    """Displays left, digits right; segments that are on have a dark edge."""
    from matplotlib import pyplot as plt

    figure = plt.figure(figsize=(7, 11))
    for part, dataset in zip(figure.subfigures(1, 2), SAMPLES, strict=True):
        _local.draw_block(part, table, dataset, SAMPLES[dataset])
    return figure
