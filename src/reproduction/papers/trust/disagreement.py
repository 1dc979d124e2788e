"""Disagreement: how similar the rankings of two measures are, by data set."""

import itertools

import pandas as pd

from reproduction.papers.trust import _places


def compute(inputs) -> pd.DataFrame:
    """Rank correlation of every pair of measures on the same forests.

    Columns: ``first`` and ``second``, measures; ``value``, Spearman's correlation of their scores,
    the mean over seeds and data sets; ``least`` and ``least_data``, its mean over the seeds on the
    data set where it is smallest. The pairs that agree least come first.
    """
    (table,) = inputs.values()
    table = table[table["importance"] != _places.RANDOM]
    wide = table.pivot(index=["data", "repeat", "feature"], columns="importance", values="value")
    ranks = wide.groupby(["data", "repeat"]).rank()
    of_forests = ranks.groupby(["data", "repeat"]).corr()
    # A measure that scores all features alike has no order that another could agree with.
    of_data = of_forests.fillna(0.0).groupby(["data", "importance"]).mean()
    rows = []
    for first, second in itertools.combinations(wide.columns, 2):
        by_data = of_data[second].xs(first, level="importance")
        row = {"first": first, "second": second, "value": by_data.mean()}
        least = {"least": by_data.min(), "least_data": by_data.idxmin().removeprefix("trust_")}
        rows.append(row | least)
    return pd.DataFrame(rows).sort_values("value", kind="stable", ignore_index=True)
