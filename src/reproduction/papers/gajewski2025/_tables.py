"""Shared by tables 2 to 6: one row a setting, of one split (published) or more (described)."""

import pandas as pd

from reproduction.papers import finding

_SETTING = ["variant", "dataset", "model"]


def over_splits(frames, keys) -> pd.DataFrame:
    """One row a setting: means over the splits, and the range of the splits.

    Parameters
    ----------
    frames : list of DataFrame
        Of experiments: ``variant``, ``data``, ``model``, the keys, ``value``; and, if there are
        any, ``lead``, ``lead_low`` and ``lead_high`` (over SHAP, with the interval of one split),
        ``standard_error`` and ``tied``. Of a variant, data set and model that several have, the
        first counts.
    keys : list of str
        Beside variant, data set and model.

    Returns
    -------
    DataFrame
        ``variant``, ``dataset``, ``model``, the keys; ``value``, the mean over the splits;
        ``low`` and ``high``, the least and the largest of one split; ``deviation`` over the splits
        and ``n_splits``; and the means of the others. The mean of intervals is wider than an
        interval of the mean.
    """
    rows = _first_of_each(frames).rename(columns={"data": "dataset"})
    means = ["lead", "lead_low", "lead_high", "standard_error", "tied"]
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


def with_lead(frame) -> pd.DataFrame:
    """Rename the interval of the lead, which metrics call low and high."""
    return frame.rename(columns={"low": "lead_low", "high": "lead_high"})


def counted(statement, variant, measured, rows, limit, kind, **options) -> dict:
    """A finding that counts the settings in which something holds, given as booleans.

    `options` are further arguments of `finding`.
    """
    measured = f"{measured}, of {len(rows)}"
    return finding(statement, variant, measured, rows.sum(), limit, kind, **options)


def share_finding(statement, variant, measured, rows, limit=0.5, **options) -> dict:
    """A finding that something holds in most settings ("usually"), given as booleans."""
    measured = f"share of {len(rows)} {measured}"
    return finding(statement, variant, measured, rows.mean(), limit, "at least", **options)
