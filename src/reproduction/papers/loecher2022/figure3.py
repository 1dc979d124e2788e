"""Figure 3: permutation importance (MDA), MDI and CFC on the Titanic data.

scikit-learn and R grow different trees here. R makes a node a leaf when none of the mtry features
that it drew can split it; scikit-learn goes on drawing until one can. With mtry 2 of 4 features,
two of which have two and three values, R's trees are much smaller, and the order by MDI is another:
in R Sex is first, in scikit-learn PassengerId. The diamonds are R's. The text does not say which
program made the figure.
"""

import numpy as np
import pandas as pd

from reproduction import storage
from reproduction.figures import COLORS, panels
from reproduction.papers import around, finding
from reproduction.papers.loecher2022 import _titanic
from reproduction.papers.loecher2022._titanic import near_zero, sizeable

PANELS = {
    "mda": ("MDA (permutation)", "loss of out-of-bag accuracy"),
    "mdi_rows": ("MDI", "fall of impurity (rows x Gini)"),
    "cfc": ("CFC (Saabas)", "mean |contribution| to P(survived)"),
}
BIASED = {"mdi_rows": "MDI", "cfc": "CFC"}
UNBIASED = {"mda": "MDA"}
# These are not in the paper's figure, which shows no other debiased measure.
DEBIASED = {"pg_051_inbag": "PG(0.5, 1)", "air": "AIR", "pg_hat_10": "PGhat(1, 0)"}
R = "R, randomForest"
_DIAMONDS = "MDI of R's randomForest (B only)"


def compute(inputs, recorded=None) -> pd.DataFrame:
    """Scores over the seeds; see `_titanic.summary`."""
    table = _titanic.summary(inputs, [*PANELS, *DEBIASED, "pg_12"])
    if recorded:
        r_scores = pd.DataFrame(storage.read_rows(recorded)).query("case == 'Titanic'")
        r_scores = r_scores[["importance", "feature", "value"]].astype({"value": float})
        table = pd.concat([table, r_scores.assign(case=R)], ignore_index=True)
    return table


def draw(table):
    """MDA, MDI and CFC; gray is the control."""
    figure, axes = panels.subplots(1, 3, figsize=(10.4, 3.6), sharey=True)
    for axis, (name, (title, unit)) in zip(axes, PANELS.items(), strict=True):
        _titanic.draw_bars(axis, _titanic.with_control(table, name))
        _draw_r(axis, table, name)
        axis.locator_params(axis="x", nbins=6)
        axis.set(title=title, xlabel=unit)
    panels.letter(axes)
    # R's diamonds stand on the bars, and so after them.
    of_label = dict(zip(*axes[1].get_legend_handles_labels()[::-1], strict=True))
    labels = sorted(of_label, key=lambda label: label == _DIAMONDS)
    handles = [of_label[label] for label in labels]
    legend = figure.legend(handles, labels, loc="outside lower center", ncols=3)
    number = table.loc[table["case"] == _titanic.AS_THEY_ARE, "n"].max()
    legend.set_title(f"bars: means; {_titanic.LINES.format(number)}; mtry 2")
    figure.suptitle("Titanic: of these three, only MDA gives PassengerId nothing")
    return figure


def _draw_r(axis, table, importance):
    """R's means, on the bars of the passengers as they are: these were its data."""
    rows = table[(table["importance"] == importance) & (table["case"] == R)]
    rows = rows.set_index("feature").reindex(_titanic.SHOWN).dropna(subset=["value"])
    if len(rows):
        places = [_titanic.SHOWN.index(f) + _titanic.UPPER for f in rows.index]
        style = {"marker": "D", "ls": "", "ms": 5, "color": COLORS["vermilion"], "mec": "white"}
        axis.plot(rows["value"], places, label=_DIAMONDS, **style)


def statements(table):
    """s01 with PassengerId as it is, s02 with it shuffled; s21: CFC is less prone than MDI."""
    yield from sizeable("s01", table, BIASED)
    yield from sizeable("s01", table, BIASED, feature="Age")
    yield from near_zero("s01", table, UNBIASED)
    yield from near_zero("s01", table, DEBIASED, beside=True)
    # The text keeps all rows with a known age, the author's notebook 571 of them.
    yield from sizeable("s01", table, BIASED, case=_titanic.FEWER, beside=True)
    yield from near_zero("s01", table, UNBIASED, case=_titanic.FEWER, beside=True)
    for name in BIASED:
        names = {"mda": "MDA", **BIASED}
        yield _less("s01", table, names, "mda", name, "Age", beside=True)
    yield from sizeable("s02", table, BIASED, case=_titanic.SHUFFLED)
    # The paper's sentence is on the biased measures.
    yield from near_zero("s02", table, UNBIASED, case=_titanic.SHUFFLED, beside=True)
    yield from near_zero("s02", table, DEBIASED, case=_titanic.SHUFFLED, beside=True)
    for case in (_titanic.AS_THEY_ARE, _titanic.SHUFFLED):
        yield _less("s21", table, BIASED, "cfc", "mdi_rows", _titanic.ID, case)


def _less(
    statement, table, names, smaller, larger, feature, case=_titanic.AS_THEY_ARE, beside=False
):
    """A finding that the score of a feature over that of Sex is smaller by one of two measures."""
    rows = [_titanic.row_of(table, name, feature, case) for name in (larger, smaller)]
    value = rows[0]["of_sex"] - rows[1]["of_sex"]
    width = _titanic.K * np.hypot(*(row["of_sex_error"] for row in rows))
    measured = f"{feature} over Sex: {names[larger]} less {names[smaller]}; "
    measured += f"{_titanic.K:.0f} standard errors over the seeds"
    variant = f"{names[smaller]} below {names[larger]}, {feature}"
    variant += "" if case == _titanic.AS_THEY_ARE else f", {case}"
    most = sum(_titanic.all_of_sex(table, name, case) for name in (larger, smaller))
    options = {"interval": around(value, width), "possible": (-most, most), "beside": beside}
    place = (statement, variant, measured, value, 0.0, "at least")
    return finding(*place, basis="monte-carlo", **options)
