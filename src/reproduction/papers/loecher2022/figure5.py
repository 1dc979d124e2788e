"""Figure 5: SHAP values of in-bag and out-of-bag rows, raw and weighted by y, on the Titanic data.

Each tree explains only its in-bag rows, or only its out-of-bag rows. That alone is no remedy.
Weighted by y, the out-of-bag sum leaves nothing to PassengerId.
"""

import pandas as pd

from reproduction.figures import COLORS, panels
from reproduction.papers.loecher2022 import _titanic
from reproduction.papers.loecher2022._titanic import AS_THEY_ARE, FEWER, LINES, near_zero, sizeable

# Panel -> measure -> name.
PANELS = {
    "raw: mean |SHAP|": {"shap_inbag": "in-bag", "shap_oob": "out-of-bag"},
    "weighted: mean of y SHAP": {"shap_inbag_y": "in-bag", "shap_oob_y": "out-of-bag"},
}
COLOR = {"in-bag": COLORS["orange"], "out-of-bag": COLORS["blue"]}
NO_REMEDY = {"shap_inbag": "SHAP, in-bag", "shap_oob": "SHAP, out-of-bag"}


def compute(inputs) -> pd.DataFrame:
    """Scores over the seeds; see `_titanic.summary`."""
    weighted_and_raw = [name for panel in PANELS.values() for name in panel]
    return _titanic.summary(inputs, ["shap", *weighted_and_raw])


def draw(table):
    """Raw left, weighted right; each measure over its largest mean, as in the paper."""
    figure, axes = panels.subplots(1, 2, figsize=(9, 3.7), sharey=True, layout="none")
    figure.subplots_adjust(left=0.11, right=0.98, bottom=0.21, top=0.85, wspace=0.08)
    table = table[table["case"] == AS_THEY_ARE]
    for axis, (title, measures) in zip(axes, PANELS.items(), strict=True):
        bars = [
            (table[table["importance"] == m], name, COLOR[name]) for m, name in measures.items()
        ]
        _titanic.draw_bars(axis, bars, of_largest=True)
        axis.set_title(title, loc="left")
        axis.set_xlabel("share of the largest score")
    axes[0].legend(loc="lower right")
    panels.letter(axes)
    note = LINES.format(table["n"].max()).capitalize() + "; mtry 2."
    figure.text(0.5, 0.015, note, ha="center", fontsize=8, color="0.35", style="italic")
    figure.suptitle("Titanic: SHAP by bag", y=0.98)
    return figure


def statements(table):
    """s03: to separate the rows is no remedy; s04: to weight by y is one, out-of-bag only."""
    # The text keeps all rows with a known age, the author's notebook 571 of them.
    for case in (AS_THEY_ARE, FEWER):
        key = {"case": case, "beside": case == FEWER}
        yield from sizeable("s03", table, {"shap": "SHAP", **NO_REMEDY}, **key)
        yield from near_zero("s04", table, {"shap_oob_y": "y SHAP, out-of-bag"}, **key)
        yield from sizeable("s04", table, {"shap_inbag_y": "y SHAP, in-bag, as before"}, **key)
