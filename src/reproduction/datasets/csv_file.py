"""Any CSV with a named outcome, such as a table of the user."""

import csv
import io
import re
import warnings
from pathlib import Path

import pandas as pd

from reproduction.datasets import Dataset, _tables
from reproduction.datasets._tables import files


def load(
    path: str,
    target: str,
    features: list[str] | None = None,
    classes: bool = False,
    sha256: str | None = None,
    separator: str = ",",
) -> Dataset:
    """Load a CSV; ValueError names the file or column that cannot be used, and the remedy.

    Parameters
    ----------
    path : str
        From the working directory, or absolute. Text in UTF-8; its first line names the columns.
    target : str
        Column of the outcome.
    features : list of str, optional
        Columns of the features, in this order; default all others, which must be numeric.
    classes : bool
        Whether the outcome names classes, in any text but those that count as blanks, such as NA,
        None and nan; else it must be numeric.
    sha256 : str, optional
        Checksum that the file must have.
    separator : str
    """
    (file,) = files(path)
    labels = target if classes else None
    table = _read(_tables.content(file, sha256), file.name, separator, labels)
    return _tables.dataset(table, file.name, target, features, classes)


def check(path=None, target=None, features=None, separator=",", **others) -> None:
    """Check, before the first job, that the first line of a CSV has the target and the features."""
    # A line that cannot be read, or has one name only as with another separator, is left to `load`.
    try:
        with open(Path(path).expanduser(), encoding="utf-8-sig", newline="") as file:
            names = next(csv.reader(file, delimiter=separator), [])
    except (OSError, RuntimeError, TypeError, ValueError, csv.Error):
        return
    for parameter, given in (("target", [target]), ("features", features)):
        unknown = [name for name in given or [] if name is not None and name not in names]
        if unknown and len(names) > 1:
            raise ValueError(
                f"{parameter}: {path} has no column {', '.join(unknown)}; it has {', '.join(names)}"
            )


def _read(raw, name, separator, labels):
    """The table of a CSV, each column with its name in the first line; `labels` are text."""

    def read(**options):
        # The other engine knows separators of several characters.
        engine = "c" if len(separator) == 1 else "python"
        return pd.read_csv(io.BytesIO(raw), sep=separator, engine=engine, **options)

    try:
        with warnings.catch_warnings():
            # pandas would take the first cell of rows that are longer than the first line for a
            # name of the row, or with this option drop the last one with a warning.
            warnings.simplefilter("error", pd.errors.ParserWarning)
            # It would also make up names in place of missing or repeated ones.
            first = read(header=None, nrows=1, dtype=str, keep_default_na=False)
            names = first.iloc[0].tolist()
            if not (problem := _problem_of_separator(names, separator)):
                # As numbers, the labels 01 and 1 would be the same.
                table = read(index_col=False, dtype={labels: str} if labels else None)
    except pd.errors.ParserWarning:
        problem = ": rows have more cells than the first line has names; name every column"
    except pd.errors.EmptyDataError:
        problem = " is empty: its first line must name the columns"
    # Text that is not UTF-8 is a ValueError, too, and so is text that the parsers refuse.
    except (ValueError, TypeError, csv.Error, re.error) as error:
        reason = " ".join(str(error).split())
        remedy = f"save it as UTF-8 text with the separator {separator!r}, or name another one"
        problem = f" cannot be read as CSV ({reason}); {remedy}"
    if problem:
        raise ValueError(f"{name}{problem}")
    table.columns = names
    return table


def _problem_of_separator(names, separator):
    """Return the problem if the only name holds another separator: a table has two columns."""
    other = next((c for c in ";\t|," if c in names[0]), None) if len(names) == 1 else None
    if other is None:
        return ""
    remedy = f'set separator: "{other.encode("unicode_escape").decode()}"'
    return f": the first line has {other!r} between the names and no {separator!r}; {remedy}"
