"""Alzheimer's disease and proteins of the cerebrospinal fluid: 333 people, 129 numeric columns.

Craig-Schapiro et al. 2011, doi 10.1371/journal.pone.0018850, as in the R package modeldata (MIT).
A real stand-in for the 518 participants of lundberg2017, whose data are under access control: other
people, other features (proteins, not gene modules) and another outcome (impaired or not).
"""

from typing import Literal

import numpy as np

from reproduction.datasets import Dataset, from_table
from reproduction.datasets._tables import Table, sample
from reproduction.parameters import Seed, Share

TABLE = Table(
    "ad_data",
    sha256="dcb16742be3fe6aa9a8967c02a6ecad72ed885c2ed55b98e88b5e9db1a91e84b",
    shape=(333, 131),
)
CLASSES = ("Control", "Impaired")
# Measured at the same visit as tau, or not proteins.
NOT_FOR_TAU = ("tau", "p_tau", "Ab_42", "age", "male")


def load(
    target: Literal["Class", "tau"] = "Class", share: Share = 1.0, random_state: Seed = 0
) -> Dataset:
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
    table = sample(TABLE.read(), share, np.random.default_rng(random_state))
    numeric = table.drop(columns=["Genotype", "Class"])
    if target == "Class":
        return from_table(numeric, table["Class"].map(CLASSES.index), CLASSES)
    return from_table(numeric.drop(columns=list(NOT_FOR_TAU)), numeric["tau"])
