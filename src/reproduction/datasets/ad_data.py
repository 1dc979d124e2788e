"""Alzheimer's disease and proteins of the cerebrospinal fluid: 333 people, 129 numeric columns.

Craig-Schapiro et al. 2011, doi 10.1371/journal.pone.0018850, as in the R package modeldata (MIT).
A real stand-in for the 518 participants of lundberg2017, whose data are under access control: other
people, other features (proteins, not gene modules) and another outcome (impaired or not).
"""

from typing import Literal

import numpy as np

from reproduction.datasets import Dataset, _tables, from_table
from reproduction.parameters import Seed, Share

TABLE = _tables.listed("ad_data")
CLASSES = ("Control", "Impaired")
# Measured at the same visit as tau, or not proteins.
NOT_FOR_TAU = ["tau", "p_tau", "Ab_42", "age", "male"]


def load(
    target: Literal["Class", "tau"] = "Class", share: Share = 1.0, random_state: Seed = 0
) -> Dataset:
    """Load the data set, or a share of its rows, drawn without replacement and kept in order.

    `target` ``"Class"``: 0 control, 1 impaired, from all 129 numeric columns. ``"tau"``: the
    protein tau, from the 124 columns that are left without tau, p_tau, Ab_42, age and male.
    """
    table = _tables.sample(TABLE.read(), share, np.random.default_rng(random_state))
    numeric = table.drop(columns=["Genotype", "Class"])
    if target == "Class":
        return from_table(numeric, table["Class"].map(CLASSES.index), CLASSES)
    return from_table(numeric.drop(columns=NOT_FOR_TAU), numeric["tau"])
