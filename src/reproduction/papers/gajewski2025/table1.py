"""Table 1: iterations that take as long as the exact algorithm, and their errors.

How many iterations take as long depends on machine and program, so here stand our errors at the
printed numbers of iterations. Our own numbers are in `timings`.
"""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd

from reproduction.papers import finding
from reproduction.papers.gajewski2025._settings import METHODS, PRINTED_METHODS, printed_iterations
from reproduction.papers.gajewski2025._tables import counted
from reproduction.papers.gajewski2025.curves import ERRORS

# Introduction: about so much at equal time. Basis: rounding, half a unit of the last digit.
STATED = {
    ("single", "mc"): (0.13, 0.005),
    ("single", "qmc"): (0.05, 0.005),
    ("bigger", "mc"): (0.01, 0.005),
    ("bigger", "qmc"): (0.002, 0.0005),
}


def compute(inputs) -> pd.DataFrame:
    """Errors at the printed numbers of iterations.

    Parameters
    ----------
    inputs : dict of DataFrame
        ``gajewski2025_sampling/sampling_error``.

    Returns
    -------
    DataFrame
        ``variant``, ``dataset``, ``model``, ``sigma``, ``quantity``; ``value``: the NMAE for
        ``mc_nmae`` and ``qmc_nmae``, missing if it was not computed at that number, and always for
        ``mc_iterations`` and ``qmc_iterations``; ``printed_iterations``; ``standard_error`` of the
        difference from print, whose pairs and noise are other draws of the same kind.
    """
    errors = inputs[ERRORS].rename(columns={"data": "dataset"})
    key = ["variant", "dataset", "model", "sigma", "method", "iterations"]
    variants = errors["variant"].unique()
    errors = errors.set_index(key)[["value", "standard_error"]]
    rows = []
    for variant, (setting, count) in product(variants, printed_iterations().items()):
        at = (variant, *setting, count)
        value, error = errors.loc[at] if at in errors.index else (np.nan, np.nan)
        row = dict(zip(key, at, strict=True)) | {"printed_iterations": count}
        printed = PRINTED_METHODS[row["method"]]
        rows.append({**row, "quantity": f"{printed}_iterations"})
        row |= {"value": value, "standard_error": np.sqrt(2) * error}
        rows.append({**row, "quantity": f"{printed}_nmae"})
    columns = ["variant", "dataset", "model", "sigma", "quantity", "value", "printed_iterations"]
    return pd.DataFrame(rows, columns=[*columns, "standard_error"])


def statements(table) -> list[dict]:
    """s05: typical errors; s06: bigger models have smaller ones; s07: so have wider noises."""
    rows = table[table["quantity"].str.endswith("_nmae")]
    rows = rows.assign(method=rows["quantity"].str.removesuffix("_nmae"))
    findings = []
    for variant, rows_of_variant in rows.groupby("variant", sort=False):
        findings += _findings(variant, rows_of_variant)
    return findings


def _findings(variant, rows):
    for (model, method), (stated, half) in STATED.items():
        rows_of_model = rows[(rows["model"] == model) & (rows["method"] == method)]
        measured = f"|median NMAE at the printed iterations - {stated}|"
        off = abs(rows_of_model["value"].median() - stated)
        yield finding("s05", f"{variant}, {model}, {method}", measured, off, half, "at most")
    wide = rows.pivot(index=["dataset", "sigma", "method"], columns="model", values="value")
    measured = "settings in which the bigger model's NMAE is not the smaller one"
    yield counted("s06", variant, measured, ~(wide["bigger"] < wide["single"]), 0, "at most")
    mc = rows[rows["method"] == "mc"]
    for model, rows_of_model in mc.groupby("model", sort=False):
        steps = np.diff(
            rows_of_model.pivot(index="dataset", columns="sigma", values="value"), axis=1
        )
        measured = f"steps of sigma at which {METHODS['mc']}'s NMAE does not fall"
        yield counted("s07", f"{variant}, {model}", measured, ~(steps.ravel() < 0), 0, "at most")
