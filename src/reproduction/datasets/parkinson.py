"""Parkinson's telemonitoring: 5875 x 17, target the motor UPDRS (Tsanas & Little 2009, CC BY 4.0).

doi 10.24432/C5ZS3N. Features are the time and 16 measures of the voice; 42 people, several
recordings of each.
"""

from typing import Literal

from reproduction.datasets import Dataset, from_table
from reproduction.datasets._tables import Table

TABLE = Table(
    "parkinson",
    sha256="cacdc7007846c68ca852cb3dbb43b1f68b7a9edefa2336f965f6610551cd30e6",
    shape=(5875, 22),
)
NO_FEATURES = ("subject#", "age", "sex", "motor_UPDRS", "total_UPDRS")


def load(target: Literal["motor_UPDRS", "total_UPDRS"] = "motor_UPDRS") -> Dataset:
    """Load the data set, for regression."""
    table = TABLE.read()
    features = table.drop(columns=list(NO_FEATURES))
    return from_table(features, table[target])
