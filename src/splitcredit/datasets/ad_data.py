"""Alzheimer's disease and proteins of the cerebrospinal fluid: 333 people, 129 numeric columns.

Craig-Schapiro et al. 2011, doi 10.1371/journal.pone.0018850, as in the R package modeldata (MIT).
A real stand-in where a paper's cohort is under access control. The package index has it only as a
pickle, which is not read: the directories are the only route.
"""

from __future__ import annotations

import numpy as np

from splitcredit.datasets import Dataset, _routes

ORIGINAL = _routes.Original(
    _routes.Form("ad_data.csv", "8bba79759f074048edea2d40ca00746b301b1356286d2c96f73cca5f03d2fd10")
)
CLASSES = ("Control", "Impaired")
# Measured at the same visit as tau, or not proteins.
NOT_FOR_TAU = ("tau", "p_tau", "Ab_42", "age", "male")
TARGETS = ("Class", "tau")


def load(target: str = "Class", share: float = 1.0, random_state: int = 0) -> Dataset:
    """Load the data set, or a sample of its rows.

    Parameters
    ----------
    target : {"Class", "tau"}
        ``Class``: 0 control, 1 impaired, from all 129 numeric columns. ``tau``: the protein tau,
        from the 124 columns that are left without tau, p_tau, Ab_42, age and male.
    share : float in (0, 1]
        Share of the rows, drawn without replacement and kept in order.
    random_state : int
        Seed of the draw; not used if `share` is 1.
    """
    if target not in TARGETS:
        raise ValueError(f"ad_data has no target {target!r}: expected one of {', '.join(TARGETS)}")
    _routes.check_share(share)
    table, source = _routes.read_table(ORIGINAL, (*NOT_FOR_TAU, "Genotype", "Class"), rows=333)
    table = _routes.sample(table, share, np.random.default_rng(random_state))
    numeric = table.drop(columns=["Genotype", "Class"])
    if target == "Class":
        y, class_names = table["Class"].map(CLASSES.index).to_numpy(np.int64), CLASSES
    else:
        y, class_names = numeric["tau"].to_numpy(np.float64), ()
        numeric = numeric.drop(columns=list(NOT_FOR_TAU))
    return Dataset(
        X=np.ascontiguousarray(numeric, dtype=np.float64),
        y=y,
        feature_names=tuple(numeric.columns),
        class_names=class_names,
        source={**source, "target": target},
    )
