"""Any Parquet table with a named outcome; needs pyarrow, which the environment does not bring."""

import importlib.util
import io

import pandas as pd

from reproduction.datasets import Dataset, _tables
from reproduction.datasets._tables import files


def load(
    path: str,
    target: str,
    features: list[str] | None = None,
    classes: bool = False,
    sha256: str | None = None,
) -> Dataset:
    """Load a Parquet table.

    An index that pandas saved under a name is a column as any other, before the others, as it is
    in a CSV; one without a name numbers the rows and is left out.

    Parameters
    ----------
    path, target, features, classes, sha256
        As for `csv_file.load`.

    Raises
    ------
    ValueError
        If pyarrow is not installed; else as for `csv_file.load`.
    """
    (file,) = files(path)
    if importlib.util.find_spec("pyarrow") is None:
        raise ValueError(f"{file}: Parquet needs pyarrow: pip install pyarrow, or save a CSV")
    raw = _tables.content(file, sha256)
    try:
        table = pd.read_parquet(io.BytesIO(raw))
    except (ValueError, OSError) as error:  # So are those of pyarrow.
        reason = " ".join(str(error).split())
        raise ValueError(f"{file.name} cannot be read as Parquet ({reason})") from None
    return _tables.dataset(_with_index(table, file.name), file.name, target, features, classes)


def check(**parameters) -> None:
    """Check, before the first job, that pyarrow is there."""
    if importlib.util.find_spec("pyarrow") is None:
        raise ValueError(
            "dataset: parquet_file needs pyarrow, which is missing: pip install pyarrow"
        )


def _with_index(table, name):
    """The table with what has a name in its index as columns: pandas hides them from the table."""
    level_names = [level for level in table.index.names if level is not None]
    taken_names = [level for level in level_names if level in table.columns]
    if taken_names:
        raise ValueError(
            f"{name}: {taken_names[0]} is a column and the name of the index; give one a new name"
        )
    return table.reset_index(level=level_names) if level_names else table
