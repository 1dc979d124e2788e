"""Parkinson's telemonitoring: 5875 x 17, target the motor UPDRS (Tsanas & Little 2009, CC BY 4.0).

doi 10.24432/C5ZS3N. Features are the time and 16 measures of the voice; 42 people, several
recordings of each.
"""

from typing import Literal

from reproduction.datasets import Dataset, _tables, from_table

TABLE = _tables.listed("parkinson")
NO_FEATURES = ["subject#", "age", "sex", "motor_UPDRS", "total_UPDRS"]


def load(target: Literal["motor_UPDRS", "total_UPDRS"] = "motor_UPDRS") -> Dataset:
    """Load the data set, for regression."""
    table = TABLE.read()
    return from_table(table.drop(columns=NO_FEATURES), table[target])
