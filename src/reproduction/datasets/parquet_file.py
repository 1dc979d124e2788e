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
    """Load a Parquet table; parameters are as for `csv_file.load`.

    An index that pandas saved under a name is a column as any other, before the others, as it is
    in a CSV; one without a name numbers the rows and is left out.
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
    # Pandas hides what has a name in the index from the table.
    index = [name for name in table.index.names if name is not None]
    if taken := [name for name in index if name in table.columns]:
        raise ValueError(
            f"{file.name}: {taken[0]} is a column and the name of the index; give one a new name"
        )
    table = table.reset_index(level=index) if index else table
    return _tables.dataset(table, file.name, target, features, classes)


def check(**parameters) -> None:
    """Check, before the first job, that pyarrow is there."""
    if importlib.util.find_spec("pyarrow") is None:
        raise ValueError(
            "dataset: parquet_file needs pyarrow, which is missing: pip install pyarrow"
        )
