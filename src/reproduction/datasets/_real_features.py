"""Features of real tables without their outcomes, for outcomes that are simulated from them.

The tables are ``data/trust/NAME.csv.gz``. ``data/README.md`` says how they were chosen and made;
``data/trust/tables.csv`` has the source, license, checksum and correlations of each.
"""

import pandas as pd

from reproduction import storage
from reproduction.datasets import _tables

LISTED = {row["name"]: row for row in storage.read_rows(_tables.FOLDER / "trust" / "tables.csv")}


def names(of: str) -> list[str]:
    """List the tables of a set, which is ``"study"`` or ``"test"``."""
    if not (found := [name for name, row in LISTED.items() if row["set"] == of]):
        raise ValueError(f"unknown set of tables {of!r}: expected study or test")
    return found


def table(name: str) -> _tables.Table:
    """Return one table of features, with its path; a ValueError lists the tables."""
    if name not in LISTED:
        raise ValueError(f"unknown table {name!r}: available are {', '.join(LISTED)}")
    row = LISTED[name]
    return _tables.Table(f"trust/{name}", row["sha256"], (int(row["rows"]), int(row["features"])))


def real_features(name: str) -> pd.DataFrame:
    """Read all rows and features of one table, as float64; categories are integers."""
    return table(name).read().astype(float)
