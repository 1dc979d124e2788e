"""Table 2: share of the rows whose k most important features are the same by greedy PG2 and SHAP.

In single trees many features gain nothing and tie, and in single precision, in which the printed
rankings were made, many more. Variant published has that precision for single trees, saved_models
are the same trees in double precision; of ties the lowest index comes first, or the order that the
authors' rankings show. The bigger models are ranked in double precision in all variants.
"""

import numpy as np
import pandas as pd

from reproduction.papers import finding
from reproduction.papers.gajewski2025._settings import GREEDY, PUBLISHED, SAVED, SHARE
from reproduction.papers.gajewski2025._tables import over_splits, share_finding

INPUTS = ("gajewski2025_single/topk_agreement", "gajewski2025_bigger/topk_agreement")
CHANGES = "gajewski2025_arithmetic/ranking_changes"
# "less than 76% of the time".
TOP_FEATURE = 0.76
USUALLY = '"usually": in more than half of the cases'
DIFFER = '"generally differ": in less than half of the rows, on average, they are the same'
CLEARER = '"clearer": by one row in twenty at least'


def compute(inputs) -> pd.DataFrame:
    """Shares of rows, over the splits, see `_tables.over_splits`.

    ``tied`` is the share of the rows in which another feature would have done as well in place k.
    ``precision_low`` and ``precision_high``, for saved_models of single trees: the published share
    less and more the share of the rows whose first k features single precision changes, both by
    index. If precision is all that differs, the share in double precision lies between them.
    """
    sigmas = {ranking: sigma for sigma, ranking in GREEDY.items()}
    frames = []
    for name in INPUTS:
        rows = inputs[name][inputs[name]["ranking"].isin(sigmas)]
        frames.append(rows.assign(sigma=rows["ranking"].map(sigmas)))
    table = over_splits(frames, ["sigma", "k"])
    return table.merge(_by_precision(table, inputs[CHANGES]), on=_KEYS, how="left")


_KEYS = ["variant", "dataset", "model", "sigma", "k"]


def _by_precision(table, changes):
    """Range of the shares of saved single trees: the published ones and what precision changes."""
    is_single = changes["ranking"].str.startswith("greedy_single_")
    is_single &= (changes["variant"] == "single") & (changes["quantity"] == "set")
    changed = changes[is_single].rename(columns={"data": "dataset", "value": "changed"})
    changed = changed.assign(sigma=changed["ranking"].str.split("sigma").str[1].astype(float))
    changed = changed[[*_KEYS[1:], "changed"]]
    rows = table[table["variant"] == PUBLISHED].merge(changed, on=_KEYS[1:])
    low = np.maximum(rows["value"] - rows["changed"], 0)
    high = np.minimum(rows["value"] + rows["changed"], 1)
    return rows[_KEYS].assign(variant=SAVED, precision_low=low, precision_high=high)


def statements(table):
    """s08: how the shares change; s09: the single trees' top feature; s17: the two differ."""
    for variant, rows in table.groupby("variant", sort=False):
        by_model = rows.pivot(index=["dataset", "sigma", "k"], columns="model", values="value")
        is_lower = (by_model["bigger"] < by_model["single"]).to_numpy()
        for varied, measured, holds in (
            ("k", "steps of k at which the share falls", _steps(rows, "k") < 0),
            ("sigma", "steps of sigma at which the share rises", _steps(rows, "sigma") > 0),
            ("model", "settings in which it is lower for the bigger model", is_lower),
        ):
            yield share_finding("s08", f"{variant}, {varied}", measured, holds, reading=USUALLY)
        top = rows[(rows["model"] == "single") & (rows["k"] == 1)]["value"].max()
        place = ("s09", variant, "largest share of rows with the same top feature, single trees")
        yield finding(*place, top, TOP_FEATURE, basis="printed", possible=SHARE)
        yield from _deviation(variant, rows)


def _deviation(variant, rows):
    """s17: most first features differ, and the more the smaller the noise, for each model."""
    top = rows[rows["k"] == 1].pivot(index=["dataset", "model"], columns="sigma", values="value")
    measured = "mean share of rows with the same top feature, over data sets, models and sigma"
    place = ("s17", f"{variant}, differ", measured)
    yield finding(*place, top.to_numpy().mean(), 0.5, reading=DIFFER, possible=SHARE)
    wider = top[max(top.columns)] - top[min(top.columns)]
    measured = "smallest rise of that share from sigma 0.1 to 1, over data sets and models"
    options = {"reading": CLEARER, "possible": (-1, 1)}
    options["expected"] = _rises_by_precision(rows) if variant == SAVED else None
    yield finding("s17", f"{variant}, noise", measured, wider.min(), 0.05, "at least", **options)


def _rises_by_precision(rows):
    """Least and largest smallest rise of the share of the top feature that precision allows."""
    top = rows[(rows["k"] == 1) & rows["precision_low"].notna()]
    if top.empty:
        return None
    least, most = (
        top.pivot(index="dataset", columns="sigma", values=f"precision_{end}")
        for end in ("low", "high")
    )
    wide, narrow = max(least.columns), min(least.columns)
    return (least[wide] - most[narrow]).min(), (most[wide] - least[narrow]).min()


def _steps(rows, along):
    """Differences of the values of a setting from each value of `along` to the next."""
    other_keys = [name for name in ("dataset", "model", "sigma", "k") if name != along]
    values = rows.pivot(index=other_keys, columns=along, values="value").sort_index(axis=1)
    return np.diff(values.to_numpy(), axis=1).ravel()
