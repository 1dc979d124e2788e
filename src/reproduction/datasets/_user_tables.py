"""Tables of the user: checks of their columns, and the data set that they become."""

import hashlib
from collections import Counter
from pathlib import Path

import numpy as np

from reproduction.datasets import Dataset

# With these a cell of a table begins that a spreadsheet takes for a formula.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def files(path: str = "", **_) -> list[Path]:
    """The file that a recipe names; ValueError if it names none."""
    if not path:
        raise ValueError("a table of your own needs a path, and a target")
    return [Path(path).expanduser()]


def content(file: Path, sha256: str | None) -> bytes:
    """The bytes of a file.

    Raises
    ------
    ValueError
        If it cannot be read or has another checksum.
    """
    try:
        raw = file.read_bytes()
    except OSError as error:
        raise ValueError(f"{file} cannot be read ({error.strerror})") from None
    actual = hashlib.sha256(raw).hexdigest()
    if sha256 not in (None, actual):
        raise ValueError(f"{file}: its SHA-256 is {actual}, not {sha256}")
    return raw


def dataset(table, name: str, target: str, features: list[str] | None, classes: bool) -> Dataset:
    """The data set of a table.

    Parameters
    ----------
    table : DataFrame
    name : str
        Of the file, for messages.
    target, features, classes
        See `csv_file.load`.

    Raises
    ------
    ValueError
        If a column does not exist, has no name or that of another, is not numeric, or has blanks,
        infinite values or integers beyond 2**53; each is named. If there is no row or no feature.
        If a name is a formula to a spreadsheet that opens the results.
    """
    _check_columns_exist(table, [target], name)
    columns = [c for c in table if c != target] if features is None else list(features)
    _check_columns_exist(table, columns, name)
    if target in columns:
        raise ValueError(f"{name}: {target} is the target, take it out of features")
    _check_names_differ(table, columns, target, name)
    _check_no_formula(columns, name)
    if not columns or not len(table):
        raise ValueError(f"{name} has no {'row' if columns else 'feature'}")
    numbers = columns if classes else [*columns, target]
    _check_numeric(table, numbers, target, name)
    _check_no_blanks(table, [*columns, target], name)
    _check_not_rounded(table, numbers, name)
    _check_finite(table, numbers, name)
    y, class_names = table[target].to_numpy(), ()
    if classes:
        labels, y = np.unique(y.astype(str), return_inverse=True)
        class_names = tuple(labels.tolist())
        _check_no_formula(class_names, name)
    return Dataset(
        X=np.ascontiguousarray(table[columns], dtype=np.float64),
        y=y.astype(np.int64 if classes else np.float64),
        feature_names=tuple(columns),
        class_names=class_names,
    )


def _check_columns_exist(table, names, file):
    unknown = [name for name in names if name not in table.columns]
    if unknown:
        raise ValueError(
            f"{file} has no column {', '.join(unknown)}; it has {', '.join(map(str, table))}"
        )


def _check_names_differ(table, columns, target, file):
    if "" in columns:
        place = list(table).index("") + 1
        raise ValueError(
            f"{file}: column {place} has no name; name it, or say by features which columns count"
        )
    chosen, there = Counter(columns), Counter(table)
    repeated = {c for c in (*columns, target) if chosen[c] > 1 or there[c] > 1}
    if repeated:
        raise ValueError(f"{file}: there twice: {', '.join(sorted(repeated))}; give one a new name")


def _check_no_formula(names, file):
    formulas = [name for name in names if name.startswith(_FORMULA) and not _is_number(name)]
    if formulas:
        raise ValueError(
            f"{file}: a spreadsheet would run {', '.join(formulas)} as a formula where a result "
            f"names it; begin the name with none of {' '.join(_FORMULA[:4])}"
        )


def _is_number(text):
    try:
        float(text)
    except ValueError:
        return False
    return True


def _check_numeric(table, names, target, file):
    not_numeric = [n for n in names if table[n].dtype.kind not in "biuf"]
    if not_numeric:
        remedy = "turn text into numbers, such as a column of 0 and 1 for each label"
        if target in not_numeric:
            remedy += f", or set classes: true if {target} names classes"
        if not_numeric != [target]:
            remedy += ", or list the other columns by features"
        raise ValueError(f"{file}: not numeric: {', '.join(not_numeric)}; {remedy}")


def _check_no_blanks(table, names, file):
    blank = {name: int(table[name].isna().sum()) for name in names}
    columns = ", ".join(f"{name} ({count})" for name, count in blank.items() if count)
    if columns:
        raise ValueError(f"{file}: blanks in {columns}; fill them or drop those rows")


def _check_not_rounded(table, names, file):
    whole = [n for n in names if table[n].dtype.kind in "iu"]
    wide = [n for n in whole if not table[n].between(-(2**53), 2**53).all()]
    if wide:
        raise ValueError(
            f"{file}: integers beyond 2**53 in {', '.join(wide)}, which would be rounded; leave "
            "them out of features"
        )


def _check_finite(table, names, file):
    # Most libraries compare in single precision, where a larger number is infinite.
    largest = np.finfo(np.float32).max
    largest_of = {n: np.abs(table[n].to_numpy(dtype=np.float64)).max() for n in names}
    infinite = [name for name, value in largest_of.items() if not value <= largest]
    if infinite:
        raise ValueError(
            f"{file}: infinite values, or numbers above {largest:.3g}, in {', '.join(infinite)}; "
            "replace them or drop those rows"
        )
