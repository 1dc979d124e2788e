"""Any CSV with a named outcome: the data of whoever has them."""

from __future__ import annotations

import io

from reproduction.datasets import Dataset, _user_tables
from reproduction.datasets._user_tables import files


def load(
    path: str,
    target: str,
    features: list[str] | None = None,
    classes: bool = False,
    sha256: str | None = None,
    separator: str = ",",
) -> Dataset:
    """Load a CSV.

    Parameters
    ----------
    path : str
        From the working directory, or absolute.
    target : str
        Column of the outcome.
    features : list of str, optional
        Columns of the features, in this order; default all others, which must be numeric.
    classes : bool
        Whether the outcome names classes, in any text; else it must be numeric.
    sha256 : str, optional
        Checksum that the file must have.
    separator : str

    Raises
    ------
    ValueError
        If there is no such file, it has another checksum, or a column does not exist, is not
        numeric or has blanks; each is named.
    """
    import pandas as pd

    (file,) = files(path)
    table = pd.read_csv(io.BytesIO(_user_tables.content(file, sha256)), sep=separator)
    return _user_tables.dataset(table, file.name, target, features, classes)
