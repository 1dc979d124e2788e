"""Read tables: the project's files ``data/NAME.csv.gz``, and a user's own.

``data/README.md`` says where each of the project comes from, its license, and how it was made;
``tables.csv`` has its checksum and shape.
"""

import gzip
import hashlib
import io
import zlib
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from reproduction import storage
from reproduction.datasets import Dataset

FOLDER = Path(__file__).resolve().parents[3] / "data"
_LISTED = {row["name"]: row for row in storage.read_rows(Path(__file__).with_name("tables.csv"))}
# With these a cell of a table begins that a spreadsheet takes for a formula.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


@dataclass(frozen=True)
class Table:
    """One table: its name, the SHA-256 of its text, and its numbers of rows and columns."""

    name: str
    sha256: str
    shape: tuple[int, int]

    @property
    def path(self) -> Path:
        """The file."""
        return FOLDER / f"{self.name}.csv.gz"

    def read(self) -> pd.DataFrame:
        """Rows in the order of the original; ValueError if the file is damaged or another table."""
        try:
            content = gzip.decompress(self.path.read_bytes())
        except (OSError, EOFError, zlib.error) as error:
            raise self._damaged(f"cannot be read ({error})") from None
        if (actual := hashlib.sha256(content).hexdigest()) != self.sha256:
            raise self._damaged(f"has the SHA-256 {actual}, not {self.sha256}")
        table = pd.read_csv(io.BytesIO(content))
        if table.shape != self.shape:
            raise self._damaged(f"has the shape {table.shape}, not {self.shape}")
        return table

    def _damaged(self, problem):
        return ValueError(f"table {self.path} {problem}: restore the file from the project")


def listed(name: str) -> Table:
    """A table of the project, as ``tables.csv`` lists it."""
    row = _LISTED[name]
    return Table(name, row["sha256"], (int(row["rows"]), int(row["columns"])))


def sample(table, share: float, random):
    """A share of the rows of a table, drawn without replacement and kept in order."""
    if share == 1:
        return table
    rows = random.choice(len(table), size=max(1, round(share * len(table))), replace=False)
    return table.iloc[sorted(rows)]


def files(path: str = "", **_) -> list[Path]:
    """The file that a recipe names; ValueError if it names none."""
    if not path:
        raise ValueError("a table of your own needs a path, and a target")
    return [Path(path).expanduser()]


def content(file: Path, sha256: str | None) -> bytes:
    """The bytes of a file; ValueError if it cannot be read or has another checksum."""
    try:
        raw = file.read_bytes()
    except OSError as error:
        raise ValueError(f"{file} cannot be read ({error.strerror})") from None
    actual = hashlib.sha256(raw).hexdigest()
    if sha256 not in (None, actual):
        raise ValueError(f"{file}: its SHA-256 is {actual}, not {sha256}")
    return raw


def dataset(table, name: str, target: str, features: list[str] | None, classes: bool) -> Dataset:
    """Make the data set of a user's table; a ValueError names the columns and the problem."""
    columns = [c for c in table if c != target] if features is None else list(features)
    for problem in _problems(table, columns, target, classes):
        raise ValueError(f"{name}{problem}")
    y, class_names = table[target].to_numpy(), ()
    if classes:
        labels, y = np.unique(y.astype(str), return_inverse=True)
        class_names = tuple(labels.tolist())
    return Dataset(
        X=np.ascontiguousarray(table[columns], dtype=np.float64),
        y=y.astype(np.int64 if classes else np.float64),
        feature_names=tuple(columns),
        class_names=class_names,
    )


def _problems(table, columns, target, classes):
    """List problems of a user's table with remedies, the most basic one first."""
    if unknown := [name for name in (target, *columns) if name not in table.columns]:
        yield f" has no column {', '.join(unknown)}; it has {', '.join(map(str, table))}"
    if target in columns:
        yield f": {target} is the target, take it out of features"
    if "" in columns:
        place = list(table).index("") + 1
        yield f": column {place} has no name; name it, or say by features which columns count"
    chosen, there = Counter(columns), Counter(table)
    if repeated := {c for c in (*columns, target) if chosen[c] > 1 or there[c] > 1}:
        yield f": there twice: {', '.join(sorted(repeated))}; give one a new name"
    yield from _formulas(columns)
    if not columns or not len(table):
        yield f" has no {'row' if columns else 'feature'}"
    numbers = columns if classes else [*columns, target]
    if not_numeric := [n for n in numbers if table[n].dtype.kind not in "biuf"]:
        remedy = "turn text into numbers, such as a column of 0 and 1 for each label"
        if target in not_numeric:
            remedy += f", or set classes: true if {target} names classes"
        if not_numeric != [target]:
            remedy += ", or list the other columns by features"
        yield f": not numeric: {', '.join(not_numeric)}; {remedy}"
    blank = {name: int(table[name].isna().sum()) for name in (*columns, target)}
    if blanks := ", ".join(f"{name} ({count})" for name, count in blank.items() if count):
        yield f": blanks in {blanks}; fill them or drop those rows"
    whole = [n for n in numbers if table[n].dtype.kind in "iu"]
    if wide := ", ".join(n for n in whole if not table[n].between(-(2**53), 2**53).all()):
        remedy = "which would be rounded; leave them out of features"
        yield f": integers beyond 2**53 in {wide}, {remedy}"
    # Most libraries compare in single precision, where a larger number is infinite.
    largest = np.finfo(np.float32).max
    largest_of = {n: np.abs(table[n].to_numpy(dtype=np.float64)).max() for n in numbers}
    if infinite := ", ".join(n for n, value in largest_of.items() if not value <= largest):
        beyond = f"infinite values, or numbers above {largest:.3g}, in {infinite}"
        yield f": {beyond}; replace them or drop those rows"
    if classes:
        yield from _formulas(np.unique(table[target].to_numpy().astype(str)).tolist())


def _formulas(names):
    formulas = [name for name in names if name.startswith(_FORMULA) and not _is_number(name)]
    if formulas:
        yield (
            f": a spreadsheet would run {', '.join(formulas)} as a formula where a result names "
            f"it; begin the name with none of {' '.join(_FORMULA[:4])}"
        )


def _is_number(text):
    try:
        float(text)
    except ValueError:
        return False
    return True
