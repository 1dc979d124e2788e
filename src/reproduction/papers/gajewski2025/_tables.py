"""Shared by tables 2 to 6: one row a setting, of one split (published) or more (described).

A larger error of tables 4 and 5 is better: the ranking names features that matter more.
"""

import numpy as np
import pandas as pd

from reproduction.papers import finding, printed
from reproduction.papers.gajewski2025._settings import GREEDY, PUBLISHED, SHAP

_SETTING = ["variant", "dataset", "model"]
# The same number by two ways, off by roundings.
ROUNDING = 1e-9


def over_splits(frames, keys) -> pd.DataFrame:
    """One row a setting: means over the splits, and the range of the splits.

    Columns: ``variant``, ``dataset``, ``model`` and `keys`; ``value``, ``low``, ``high``,
    ``deviation``, ``n_splits``; if metrics give it, ``lead`` over SHAP, with the mean 95 % interval
    of a split, which they call low and high, as ``lead_low`` and ``lead_high``.
    """
    names = {"data": "dataset", "low": "lead_low", "high": "lead_high"}
    rows = _first_of_each(frames).rename(columns=names)
    means = ["lead", "lead_low", "lead_high", "standard_error", "row_deviation", "tied"]
    grouped = rows.groupby([*_SETTING, *keys], sort=False)
    columns = {"value": ("value", "mean"), "low": ("value", "min"), "high": ("value", "max")}
    columns |= {"deviation": ("value", "std"), "n_splits": ("value", "size")}
    columns |= {name: (name, "mean") for name in means if name in rows}
    return grouped.agg(**columns).reset_index()


def _first_of_each(frames):
    """Rows of all frames; of a setting that several have, those of the first."""
    setting, first_rows, settings_so_far = ["variant", "data", "model"], [], set()
    for frame in frames:
        settings = frame[setting].apply(tuple, axis=1)
        first_rows.append(frame[~settings.isin(settings_so_far)])
        settings_so_far |= set(settings)
    return pd.concat(first_rows, ignore_index=True)


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


def counted(statement, variant, measured, rows, limit, kind, **options) -> dict:
    """A finding that counts the settings in which something holds, given as booleans."""
    measured = f"{measured}, of {len(rows)}"
    return finding(statement, variant, measured, rows.sum(), limit, kind, **options)


def share_finding(statement, variant, measured, rows, limit=0.5, **options) -> dict:
    """A finding that something holds in most settings ("usually"), given as booleans."""
    measured = f"share of {len(rows)} {measured}"
    return finding(statement, variant, measured, rows.mean(), limit, "at least", **options)
