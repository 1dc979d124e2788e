"""The models: whether ours are those that the authors saved, tree for tree.

The paper prints none of this, so nothing is judged here. The parameters that the text states
(variant described, on splits of our own) give other models.
"""

import pandas as pd

from reproduction import storage
from reproduction.papers.gajewski2025._settings import PUBLISHED

INPUTS = ("gajewski2025_single/model_card", "gajewski2025_bigger/model_card")
_SETTING = ["variant", "dataset", "model", "quantity"]


def compute(inputs, recorded=None) -> pd.DataFrame:
    """Quantities that describe the models.

    ``value``: a number (the mean over the splits) or text (missing if the splits differ); ``low``
    and ``high`` over the splits; ``authors``, that of the saved model, beside published alone.
    """
    rows = pd.concat([inputs[name] for name in INPUTS], ignore_index=True)
    rows = rows.rename(columns={"data": "dataset"})
    table = [
        dict(zip(_SETTING, key, strict=True)) | _over_splits(cards["value"])
        for key, cards in rows.groupby(_SETTING, sort=False)
    ]
    saved = storage.read_rows(recorded) if recorded else []
    saved = {(PUBLISHED, r["dataset"], r["model"], r["quantity"]): r["value"] for r in saved}
    for row in table:
        row["authors"] = saved.get(tuple(row[name] for name in _SETTING), "")
    columns = [*_SETTING, "value", "low", "high", "n_splits", "authors"]
    return pd.DataFrame(table, columns=columns)


def _over_splits(values):
    if len(values) == 1:
        return {"value": values.iloc[0], "n_splits": 1}
    numbers = pd.to_numeric(values, errors="coerce")
    if numbers.isna().any():
        return {"value": values.iloc[0] if values.nunique() == 1 else None, "n_splits": len(values)}
    spread = {"low": numbers.min(), "high": numbers.max(), "n_splits": len(values)}
    mean = numbers.mean()
    return {"value": int(mean) if mean == int(mean) else mean, **spread}
