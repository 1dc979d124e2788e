"""Figure 9: MDI as a sum of CFC over the rows with y = 1 (Eq. 11), in-bag and out-of-bag."""

import pandas as pd

from reproduction.figures import panels
from reproduction.papers import finding
from reproduction.papers.loecher2022 import _titanic
from reproduction.papers.loecher2022._titanic import near_zero, sizeable

PANELS = {"mdi_inbag_y1": "in-bag rows", "mdi_oob_y1": "out-of-bag rows"}
# The MDI of figure 3.
MDI = "mdi_rows"
VISIBLE = 0.01
_VISIBLE = "a hundredth of the longest bar cannot be seen"


def compute(inputs) -> pd.DataFrame:
    """Scores over the seeds; see `_titanic.summary`."""
    return _titanic.summary(inputs, [*PANELS, MDI])


def draw(table):
    """In-bag left, out-of-bag right."""
    figure, axes = panels.subplots(1, 2, figsize=(9, 3.7), sharey=True, layout="none")
    figure.subplots_adjust(left=0.11, right=0.98, bottom=0.21, top=0.85, wspace=0.08)
    for axis, (name, title) in zip(axes, PANELS.items(), strict=True):
        _titanic.draw_bars(axis, _titanic.with_control(table, name))
        axis.set_title(title, loc="left")
        axis.set_xlabel("mean CFC over survivors (P(survived))")
        axis.locator_params(axis="x", nbins=5)
    axes[1].legend(loc="lower right")
    number = table.loc[table["case"] == _titanic.AS_THEY_ARE, "n"].max()
    panels.letter(axes)
    note = _titanic.LINES.format(number).capitalize() + "; mtry 2."
    figure.text(0.5, 0.015, note, ha="center", fontsize=8, color="0.35", style="italic")
    figure.suptitle("Titanic: MDI as a restricted sum of contributions (Eq. 11)", y=0.98)
    return figure


def statements(table):
    """s13: the shares; that Eq. 11 is MDI up to a factor is judged by `identities`; s20: shares."""
    # The text keeps all rows with a known age, the author's notebook 571 of them.
    for case in (_titanic.AS_THEY_ARE, _titanic.FEWER):
        key = {"case": case, "beside": case == _titanic.FEWER}
        yield from sizeable("s13", table, {"mdi_inbag_y1": "Eq. 11, in-bag"}, **key)
        yield from near_zero("s13", table, {"mdi_oob_y1": "Eq. 11, out-of-bag"}, **key)
    # MDI and Eq. 11 in-bag, each over its longest bar.
    bars = []
    for importance in (MDI, "mdi_inbag_y1"):
        values = pd.Series(
            {f: _titanic.row_of(table, importance, f)["value"] for f in _titanic.SHOWN}
        )
        bars.append(values / values.max())
    differences = (bars[0] - bars[1]).abs()
    measured = "largest difference of a bar of figure 3 and one of figure 9 "
    measured += f"({differences.idxmax()}), over the longest of each"
    # A bar over the longest is between -1 and 1.
    options = {"reading": _VISIBLE, "possible": (0.0, 2.0)}
    yield finding("s20", "in-bag", measured, differences.max(), VISIBLE, "at most", **options)
