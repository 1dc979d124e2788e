"""Shared by tables 2 to 6: one row a setting, of one split (published) or more (described).

A larger error of tables 4 and 5 is better: the ranking names features that matter more.
"""

import numpy as np
import pandas as pd

from reproduction.papers import finding, printed
from reproduction.papers.gajewski2025._settings import GREEDY, PUBLISHED, SHAP, SHARE, counts

_SETTING = ["variant", "dataset", "model"]
# Of the values of the splits.
COLUMNS = {"value": "mean", "low": "min", "high": "max", "deviation": "std", "n_splits": "size"}
# If metrics give them; the lead over SHAP has the mean 95 % interval of a split, which they call
# low and high.
_MEANS = ("lead", "lead_low", "lead_high", "standard_error", "row_deviation", "tied")
# The same number by two ways, off by roundings.
ROUNDING = 1e-9


def over_splits(frames, keys) -> pd.DataFrame:
    """One row a setting: the mean over the splits, and their range; see `COLUMNS`.

    Of a setting that several frames have, the rows of the first count.
    """
    setting, first_rows, settings_so_far = ["variant", "data", "model"], [], set()
    for frame in frames:
        settings = frame[setting].apply(tuple, axis=1)
        first_rows.append(frame[~settings.isin(settings_so_far)])
        settings_so_far |= set(settings)
    names = {"data": "dataset", "low": "lead_low", "high": "lead_high"}
    rows = pd.concat(first_rows, ignore_index=True).rename(columns=names)
    columns = {name: ("value", reduction) for name, reduction in COLUMNS.items()}
    columns |= {name: (name, "mean") for name in _MEANS if name in rows}
    return rows.groupby([*_SETTING, *keys], sort=False).agg(**columns).reset_index()


def with_ranges(table, names, of_cause) -> pd.DataFrame:
    """Add the range of a value that both print, by a cause, and the lead give."""
    cells = [cell for name in names for cell in printed("gajewski2025", name)]
    keys = list(cells[0][0])
    texts = {tuple(cell[key] for key in keys): float(text) for cell, text in cells}
    low, high = of_cause(table[keys].astype(str).apply(tuple, axis=1).map(texts))
    setting = [table[key] for key in ("variant", *keys) if key != "ranking"]
    of_shap, is_shap = table["value"] - table["lead"], table["ranking"] == SHAP
    by_shap, by_other = (
        of_shap.where(table["ranking"] == name).groupby(setting).transform("max")
        for name in (SHAP, GREEDY[0.1])
    )
    by_lead = by_other.where(is_shap, by_shap) + table["lead"]
    ends = {
        "cause_low": np.maximum(low, by_lead * (1 - ROUNDING)),
        "cause_high": np.minimum(high, by_lead * (1 + ROUNDING)),
    }
    is_other = table["variant"] != PUBLISHED
    return table.assign(**{name: values.where(is_other) for name, values in ends.items()})


def counted(statement, variant, measured, rows, limit, kind="at least", **options) -> dict:
    """A finding that counts the settings in which something holds, given as booleans."""
    measured, options["possible"] = f"{measured}, of {len(rows)}", counts(len(rows))
    return finding(statement, variant, measured, rows.sum(), limit, kind, **options)


def share_finding(statement, variant, measured, rows, **options) -> dict:
    """A finding that something holds in most settings ("usually"), given as booleans."""
    measured, options["possible"] = f"share of {len(rows)} {measured}", SHARE
    return finding(statement, variant, measured, rows.mean(), 0.5, "at least", **options)
