"""The models: whether ours are those that the authors saved, tree for tree.

None of it stands in the paper. The cells that this is held against describe the authors' saved
models; the parameters that the text states (variant described, on splits of our own) give others.
"""

from __future__ import annotations

import pandas as pd

INPUTS = ("gajewski2025_single/model_card", "gajewski2025_bigger/model_card")
_SETTING = ["variant", "dataset", "model", "quantity"]


def compute(inputs) -> pd.DataFrame:
    """What the models are.

    Parameters
    ----------
    inputs : dict of DataFrame
        ``gajewski2025_single/model_card``, ``gajewski2025_bigger/model_card``.

    Returns
    -------
    DataFrame
        ``variant``, ``dataset``, ``model``, ``quantity``; ``value``: a number (the mean over the
        splits) or text (missing if the splits differ); ``low`` and ``high`` over the splits;
        ``n_splits``.
    """
    rows = pd.concat([inputs[name] for name in INPUTS], ignore_index=True)
    rows = rows.rename(columns={"data": "dataset"})
    table = [
        dict(zip(_SETTING, key, strict=True)) | _over_splits(cards["value"])
        for key, cards in rows.groupby(_SETTING, sort=False)
    ]
    return pd.DataFrame(table, columns=[*_SETTING, "value", "low", "high", "n_splits"])


def _over_splits(values):
    if len(values) == 1:
        return {"value": values.iloc[0], "n_splits": 1}
    numbers = pd.to_numeric(values, errors="coerce")
    if numbers.isna().any():
        return {"value": values.iloc[0] if values.nunique() == 1 else None, "n_splits": len(values)}
    spread = {"low": numbers.min(), "high": numbers.max(), "n_splits": len(values)}
    mean = numbers.mean()
    return {"value": int(mean) if mean == int(mean) else mean, **spread}
