"""Any Parquet table with a named outcome; needs pyarrow, which the environment does not bring."""

from __future__ import annotations

import importlib.util
import io

from reproduction.datasets import Dataset, _user_tables
from reproduction.datasets._user_tables import files

NEEDS = ("pyarrow",)


def load(
    path: str,
    target: str,
    features: list[str] | None = None,
    classes: bool = False,
    sha256: str | None = None,
) -> Dataset:
    """Load a Parquet table.

    Parameters
    ----------
    path, target, features, classes, sha256
        As for `csv_file.load`.

    Raises
    ------
    ValueError
        If pyarrow is not installed; else as for `csv_file.load`.
    """
    import pandas as pd

    (file,) = files(path)
    if importlib.util.find_spec("pyarrow") is None:
        raise ValueError(f"{file}: Parquet needs pyarrow: pip install pyarrow, or save a CSV")
    raw = _user_tables.content(file, sha256)
    try:
        table = pd.read_parquet(io.BytesIO(raw))
    except (ValueError, OSError) as error:  # So are those of pyarrow.
        reason = " ".join(str(error).split())
        raise ValueError(f"{file.name} cannot be read as Parquet ({reason})") from None
    return _user_tables.dataset(table, file.name, target, features, classes)
