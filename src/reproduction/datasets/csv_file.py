"""Any CSV with a named outcome: the data of whoever has them."""

from __future__ import annotations

import hashlib
import io
from pathlib import Path

import numpy as np

from reproduction.datasets import Dataset


def files(path: str = "", **_) -> list[Path]:
    """The file that a recipe names."""
    if not path:
        raise ValueError("csv_file needs a path, and a target")
    return [Path(path).expanduser()]


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

    table = pd.read_csv(io.BytesIO(_content(path, sha256)), sep=separator)
    _known(table, [target], path)
    columns = list(features) if features else [name for name in table.columns if name != target]
    _known(table, columns, path)
    if target in columns:
        raise ValueError(f"{Path(path).name}: {target} is the target, take it out of features")
    _numeric(table, columns if classes else [*columns, target], path)
    _whole(table, [*columns, target], path)
    y, class_names = table[target].to_numpy(), ()
    if classes:
        known, y = np.unique(y.astype(str), return_inverse=True)
        class_names = tuple(known.tolist())
    return Dataset(
        X=np.ascontiguousarray(table[columns], dtype=np.float64),
        y=y.astype(np.int64 if classes else np.float64),
        feature_names=tuple(columns),
        class_names=class_names,
    )


def _content(path, sha256):
    (file,) = files(path)
    try:
        content = file.read_bytes()
    except OSError as error:
        raise ValueError(f"{file} cannot be read ({error.strerror})") from None
    actual = hashlib.sha256(content).hexdigest()
    if sha256 not in (None, actual):
        raise ValueError(f"{file}: its SHA-256 is {actual}, not {sha256}")
    return content


def _known(table, names, path):
    unknown = [name for name in names if name not in table.columns]
    if unknown:
        raise ValueError(
            f"{Path(path).name} has no column {', '.join(unknown)}; "
            f"it has {', '.join(map(str, table.columns))}"
        )


def _numeric(table, names, path):
    wrong = [n for n in names if table[n].dtype.kind not in "biuf"]
    if wrong:
        raise ValueError(
            f"{Path(path).name}: not numeric: {', '.join(wrong)}; turn them into numbers, leave "
            "them out of features, or set classes: true if it is the outcome"
        )


def _whole(table, names, path):
    blank = {name: int(table[name].isna().sum()) for name in names}
    listed = ", ".join(f"{name} ({count})" for name, count in blank.items() if count)
    if listed:
        raise ValueError(f"{Path(path).name}: blanks in {listed}; fill them or drop those rows")
