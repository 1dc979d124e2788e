"""Figure 9: MDI as a sum of CFC over the rows with y = 1 (Eq. 11), in-bag and out-of-bag."""

from __future__ import annotations

import pandas as pd

from reproduction.papers.loecher2022 import _titanic
from reproduction.papers.loecher2022._titanic import near_zero, sizeable

PANELS = {"mdi_inbag_y1": "in-bag rows", "mdi_oob_y1": "out-of-bag rows"}


def compute(inputs) -> pd.DataFrame:
    """Scores over the seeds; see `_titanic.summary`."""
    return _titanic.summary(inputs, list(PANELS))


def draw(table):
    """In-bag left, out-of-bag right."""
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(9, 3.4), sharey=True, layout="none")
    figure.subplots_adjust(left=0.11, right=0.98, bottom=0.16, top=0.84, wspace=0.08)
    for axis, (name, title) in zip(axes, PANELS.items(), strict=True):
        _titanic.draw_bars(axis, table, name)
        axis.set_title(title, loc="left")
        axis.set_xlabel("mean CFC over survivors (P(survived))")
    axes[1].legend(loc="lower right")
    figure.suptitle("Titanic: MDI as a restricted sum of contributions (Eq. 11)", y=0.98)
    return figure


def statements(table) -> list[dict]:
    """s13: the shares; that Eq. 11 is MDI up to a factor is judged by `identities`."""
    findings = sizeable("s13", table, {"mdi_inbag_y1": "Eq. 11, in-bag"})
    return findings + near_zero("s13", table, {"mdi_oob_y1": "Eq. 11, out-of-bag"})
