"""Table 1: iterations that take as long as the exact algorithm, and their errors.

How many iterations take as long depends on machine and program. So this table has our errors at the
printed numbers of iterations, which the authors' clock gave. `equal_time` has those of our clock.
"""

from itertools import product

import numpy as np
import pandas as pd

from reproduction.papers.gajewski2025 import equal_time
from reproduction.papers.gajewski2025._settings import PRINTED_METHODS, printed_iterations
from reproduction.papers.gajewski2025.curves import ERRORS

# Pairs of a row and a set that the paper draws; the error of the printed values depends on them.
PRINTED_PAIRS = 20000


def compute(inputs) -> pd.DataFrame:
    """Errors at the printed numbers of iterations.

    ``value``: the NMAE for ``mc_nmae`` and ``qmc_nmae``, missing if it was not computed at that
    number, and always for ``mc_iterations`` and ``qmc_iterations``; ``own_error``, the standard
    error of ours; ``standard_error``, that of the difference from print, whose 20 000 pairs and
    noise are other draws of the same kind; ``curve_low`` and ``curve_high``, between which the
    error at the nearest other number of iterations has it by its power, within 3 standard errors.
    """
    errors = inputs[ERRORS].rename(columns={"data": "dataset"})
    key = ["variant", "dataset", "model", "sigma", "method", "iterations"]
    variants = errors["variant"].unique()
    errors = errors.set_index(key)[["value", "standard_error", "n_pairs"]].sort_index()
    rows = []
    for variant, (setting, count) in product(variants, printed_iterations().items()):
        setting_key = (variant, *setting, count)
        value, error, n_pairs = (
            errors.loc[setting_key] if setting_key in errors.index else (np.nan,) * 3
        )
        row = dict(zip(key, setting_key, strict=True)) | {"printed_iterations": count}
        printed = PRINTED_METHODS[row["method"]]
        rows.append({**row, "quantity": f"{printed}_iterations"})
        of_difference = error * np.sqrt(1 + n_pairs / PRINTED_PAIRS)
        row |= {"value": value, "own_error": error, "standard_error": of_difference}
        row |= _from_curve(errors.loc[(variant, *setting)], setting[-1], count)
        rows.append({**row, "quantity": f"{printed}_nmae"})
    columns = ["variant", "dataset", "model", "sigma", "quantity", "value", "printed_iterations"]
    columns += ["own_error", "standard_error", "curve_low", "curve_high"]
    return pd.DataFrame(rows, columns=columns)


def _from_curve(curve, method, count):
    """Range of the error at a number of iterations, from that at the nearest other one."""
    curve = curve.drop(index=count, errors="ignore")
    nearest = min(curve.index, key=lambda other: abs(np.log(other / count)), default=None)
    if nearest is None:
        return {}
    value, error = curve.loc[nearest, ["value", "standard_error"]]
    low, high = equal_time.predicted(method, value, nearest, count)
    # As large a part of the error at the other number of iterations counts for that at this one.
    slack = equal_time.K * np.sqrt(2) * error / value
    return {"curve_low": low * (1 - slack), "curve_high": high * (1 + slack)}


def statements(table):
    """s05 to s07, s31, s32 at the printed numbers of iterations, that is by the authors' clock."""
    methods = {f"{printed}_nmae": method for method, printed in PRINTED_METHODS.items()}
    rows = table.assign(method=table["quantity"].map(methods)).dropna(subset="method")
    error = equal_time.K * rows["own_error"]
    rows = rows.assign(low=rows["value"] - error, high=rows["value"] + error)
    words = f"the interval is {equal_time.K} standard errors of each NMAE, over streams of noise"
    for variant, of_variant in rows.groupby("variant", sort=False):
        yield from equal_time.findings(of_variant, f"{variant}, printed iterations", words)
