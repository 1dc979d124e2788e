"""Shared by figures 2 to 5 and 9: forests on the Titanic passengers, over seeds.

The passengers as they are have two controls. In one, PassengerId is shuffled among them, anew for
each seed. In the other, 571 of the 714 rows, the author's number, are drawn anew for each seed.
"""

import numpy as np
import pandas as pd

from reproduction.datasets.titanic import FEATURES
from reproduction.figures import COLORS
from reproduction.papers import around, finding, of_size

SCORES = "loecher2022_titanic/scores"
AS_THEY_ARE, SHUFFLED, FEWER = "passengers", "PassengerId shuffled", "571 rows"
LINES = "lines: two standard deviations over {:.0f} forests to each side"
# Drawn from top to bottom.
SHOWN = FEATURES
ID, STRONGEST = "PassengerId", "Sex"
# Middle of the upper one of two bars, less that of both.
UPPER = -0.2
# Shares of Sex up to which an importance is "about zero", and from which on it is sizeable: limits,
# the side on which a finding holds, and why.
NEAR_ZERO = 0.03, "at most", "a bar of 3 % of the longest looks like no bar in the paper's figures"
_SIZEABLE = "a tenth of what the strongest feature gets is taken for the least that is sizeable"
SIZEABLE = 0.1, "at least", _SIZEABLE
# Standard errors of a mean over the seeds.
K = 3.0
_BARS = {
    AS_THEY_ARE: ("PassengerId as it is", COLORS["blue"]),
    SHUFFLED: ("PassengerId shuffled", "0.65"),
}


def summary(inputs, importances) -> pd.DataFrame:
    """Scores of some measures over the seeds."""
    rows = inputs[SCORES]
    rows = rows[rows["importance"].isin(importances)]
    shuffled = rows["data.shuffled"].notna() & (rows["data.shuffled"] != "")
    case = np.where(shuffled, SHUFFLED, np.where(rows["data.share"].notna(), FEWER, AS_THEY_ARE))
    rows = rows.assign(case=case)
    grouped = rows.groupby(["case", "importance", "feature"], sort=False)["value"]
    spread = {"deviation": "std", "least": "min", "most": "max", "n": "size"}
    table = grouped.agg(value="mean", **spread).reset_index()
    return table.merge(_ratios(rows), on=["case", "importance", "feature"])


def _ratios(rows):
    """Means over that of Sex, with the standard errors of such ratios of means over the seeds."""
    ratios = []
    for (case, importance), group in rows.groupby(["case", "importance"], sort=False):
        scores = group.pivot(index="repeat", columns="feature", values="value")
        sex = scores[STRONGEST]
        for feature in scores:
            ratio = scores[feature].mean() / sex.mean()
            error = (scores[feature] - ratio * sex).std() / np.sqrt(len(scores)) / abs(sex.mean())
            key = {"case": case, "importance": importance, "feature": feature}
            ratios.append({**key, "of_sex": ratio, "of_sex_error": error})
    return pd.DataFrame(ratios)


def row_of(table, importance, feature, case=AS_THEY_ARE) -> dict:
    """The row of a measure and feature."""
    rows = _rows_of(table, importance, case)
    (row,) = rows[rows["feature"] == feature].to_dict("records")
    return row


def _rows_of(table, importance, case):
    return table[(table["importance"] == importance) & (table["case"] == case)]


def all_of_sex(table, importance, case=AS_THEY_ARE) -> float:
    """Sum of the absolute means of all features, over Sex: no feature has more."""
    return float(_rows_of(table, importance, case)["of_sex"].abs().sum())


def sizeable(statement, table, names, feature=ID, case=AS_THEY_ARE, beside=False):
    """Findings that the score of a feature is a sizeable share of that of Sex, one a measure."""
    for importance, name in names.items():
        row = row_of(table, importance, feature, case)
        value, most = row["of_sex"], all_of_sex(table, importance, case)
        estimate = value, around(value, K * row["of_sex_error"])
        place = statement, _named(name, feature, case), f"{feature} over Sex, {name}", estimate
        yield chosen(*place, *SIZEABLE, beside=beside, possible=(-most, most))


def near_zero(statement, table, names, case=AS_THEY_ARE, beside=False):
    """Findings that PassengerId gets next to nothing, one a measure."""
    for importance, name in names.items():
        row = row_of(table, importance, ID, case)
        value, error = row["of_sex"], K * row["of_sex_error"]
        # Shuffled numbers tell nothing, and those of the passengers are one order of them.
        shuffled = row_of(table, importance, ID, SHUFFLED)
        spread = K * shuffled["of_sex_error"] * (1 if case == SHUFFLED else shuffled["n"] ** 0.5)
        estimate = abs(value), of_size(*around(value, error))
        place = statement, _named(name, ID, case), f"|PassengerId| over Sex, {name}", estimate
        yield chosen(*place, *NEAR_ZERO, beside=beside, expected=(0.0, spread))


def chosen(
    statement, variant, measured, estimate, limit, kind, reason, *, possible=(0.0, None), **options
) -> dict:
    """A finding about a value with its interval over the seeds, against a limit of ours."""
    value, interval = estimate
    place = statement, variant, f"{measured}; {K:.0f} standard errors over the seeds", value
    options |= {"reading": reason, "interval": interval, "possible": possible}
    return finding(*place, limit, kind, **options)


def _named(name, feature, case):
    labels = [name, *([feature] if feature != ID else []), *([case] if case != AS_THEY_ARE else [])]
    return ", ".join(labels)


def with_control(table, importance) -> list[tuple]:
    """Bars of one measure, the control beneath; for `draw_bars`."""
    return [(_rows_of(table, importance, case), *bar) for case, bar in _BARS.items()]


def draw_bars(axis, bars, of_largest=False) -> None:
    """Bars of (rows, name, color); lines are two standard deviations over seeds."""
    height = 0.8 / len(bars)
    for k, (rows, name, color) in enumerate(bars):
        rows = rows.set_index("feature").reindex(SHOWN)
        scale = rows["value"].max() if of_largest else 1.0
        places = np.arange(len(SHOWN)) + (k - (len(bars) - 1) / 2) * height
        style = {"color": color, "ecolor": "0.2", "error_kw": {"lw": 0.9}, "label": name}
        style["xerr"] = 2 * rows["deviation"] / scale
        axis.barh(places, rows["value"] / scale, height, **style)
    finish(axis)


def finish(axis) -> None:
    """Features from top to bottom, a line at zero."""
    axis.axvline(0, color="0.3", lw=0.8)
    axis.set_yticks(range(len(SHOWN)), SHOWN)
    axis.set_ylim(len(SHOWN) - 0.4, -0.6)
    axis.grid(False, axis="y")
