"""Place measures by question: the rule is derived from these places and judged by them.

A *place* says which share of the other measures a measure beats, ties half: 1 is the best and 0 the
worst. On one fit, a data set, model and seed, it is the mean over the yardsticks of the question.
A measure *holds* on a fit if its place there is among the best quarter of the measures that apply,
and above that of the random order. Intervals over seeds do not enter, so that no measure holds
because its scores are noisy; and one that is picked at random holds in about a quarter of the fits.
"""

from __future__ import annotations

import pandas as pd

from reproduction.papers.trust import _cells

FIT = ["data", "model", "seed"]
# The measure that orders features at random: the floor, and no candidate.
RANDOM = "random_order"
_BEST = 0.25


def scores(inputs, smaller, about_zero) -> pd.DataFrame:
    """The values behind the matrix by seed, with a ``score`` of which a larger one is better."""
    tables = {name: table for name, table in inputs.items() if not name.endswith("/measures")}
    cells = _cells.by_seed(tables)
    return cells.assign(score=_cells.score(cells, smaller, about_zero))


def places(scores: pd.DataFrame, yardsticks, models) -> pd.DataFrame:
    """Place of every measure on every fit, over the yardsticks of one question."""
    asked = scores["yardstick"].isin(yardsticks) & scores["model"].isin(models)
    rows = scores[asked & scores["score"].notna()]
    of_all = rows.groupby("measure")["model"].transform("nunique") == rows["model"].nunique()
    rows = rows[of_all]
    among = rows.groupby([*FIT, "yardstick"])["score"]
    rows = rows.assign(place=(among.rank() - 1) / (among.transform("size") - 1).clip(lower=1))
    of_measures = rows.groupby([*FIT, "measure"])["place"].agg(["mean", "size"]).reset_index()
    n_yardsticks = rows.groupby(FIT)["yardstick"].nunique().rename("n").reset_index()
    of_measures = of_measures.merge(n_yardsticks, on=FIT)
    whole = of_measures[of_measures["size"] == of_measures["n"]]
    whole = whole.rename(columns={"mean": "place"})[[*FIT, "measure", "place"]]
    is_floor = whole["measure"] == RANDOM
    floor = whole[is_floor].set_index(FIT)["place"].rename("floor")
    among = whole["place"].mask(is_floor).groupby([whole[key] for key in FIT])
    better = among.rank(ascending=False, method="min") - 1
    is_best = better < _BEST * among.transform("count")
    floors = whole.join(floor, on=FIT)["floor"].fillna(-1.0)
    holds = is_best & (whole["place"] > floors)
    return whole.assign(holds=holds.astype(float)).reset_index(drop=True)


def by_data(placed: pd.DataFrame, column: str) -> pd.DataFrame:
    """Means of a column over the fits of each data set, by measure; NaN where it does not apply."""
    wide = placed.pivot_table(index="data", columns="measure", values=column, aggfunc="mean")
    return wide.drop(columns=RANDOM, errors="ignore")
