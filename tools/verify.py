"""Compare the results of a run with the reference run of the project, cell by cell.

    python tools/verify.py [RESULTS] [REFERENCE]

Prints how many cells differ, those of the claims first, and writes all of them to
``RESULTS/differences.csv``. The exit status is 1 if anything differs by more than rounding, or if
the run cannot be compared. On the type of processor that the reference was made on, equal sources
give equal digits; on another one the last digits of some numbers may differ. Files that depend on
the clock are not compared.
"""

from __future__ import annotations

import hashlib
import os
import re
import sys
from collections import Counter
from pathlib import Path
from typing import NamedTuple

from reproduction import storage
from reproduction.claims_summary import reduced_preset

ROOT = Path(__file__).resolve().parents[1]
RESULTS, REFERENCE = ROOT / "results", ROOT / "docs" / "reference"
CLAIMS, DIFFERENCES = "claims.csv", "differences.csv"
# Tables that are too large for the repository have only their SHA-256 in the reference.
DIGESTS = "tables.sha256"
# Columns that hold what was measured. A row is named by the columns before the first of them.
MEASURED = ("value", "printed")
PRINTED = 20
# Numbers that differ by no more are the same but for rounding: relative to the larger one, or, for
# those that are errors of rounding themselves, as such.
ROUNDING, ZERO = 1e-9, 1e-12
_NUMBER = re.compile(r"(?<![\w.])[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?(?![\w.])")


class Difference(NamedTuple):
    """A cell, row or file that differs; `own` and `reference` are the texts of the cell."""

    file: str
    row: str
    column: str
    reference: str
    own: str

    def __str__(self):
        """One line, with the relative difference of two numbers."""
        place = f"{self.file}: {self.row}: " if self.row else f"{self.file}: "
        if not self.column:
            return f"{place}{self.own}"
        line = f"{place}{self.column}: reference {self.reference!r}, own {self.own!r}"
        try:
            reference, own = float(self.reference), float(self.own)
        except ValueError:
            return line
        return f"{line}, relative difference {relative(reference, own):.1e}"

    @property
    def is_rounding(self) -> bool:
        """Whether both texts are the same but for the last digits of the numbers in them."""
        reference, own = (_NUMBER.split(text) for text in (self.reference, self.own))
        if not self.column or self.column == "verdict" or reference != own:
            return False
        numbers = (map(float, _NUMBER.findall(text)) for text in (self.reference, self.own))
        return all(
            relative(a, b) <= ROUNDING or abs(a - b) <= ZERO for a, b in zip(*numbers, strict=True)
        )


def relative(reference: float, own: float) -> float:
    """Absolute difference of two numbers over the larger of their magnitudes."""
    scale = max(abs(reference), abs(own))
    return abs(reference - own) / scale if scale else 0.0


def main(results: Path = RESULTS, reference: Path = REFERENCE) -> int:
    """Print and write the differences; returns the exit status."""
    must_be_comparable(results, reference)
    files = [CLAIMS, *sorted(p.relative_to(reference).as_posix() for p in tables(reference))]
    differences = [d for name in files for d in of_file(name, results, reference)]
    digests = of_digests(results, reference)
    differences += [difference for in_file in digests.values() for difference in in_file]
    compared = {*files, *digests}
    for name in sorted({p.relative_to(results).as_posix() for p in tables(results)} - compared):
        print(f"{name}: not compared, because the reference has no such table")
    listing = results / DIFFERENCES
    listing.unlink(missing_ok=True)
    if not differences:
        print(f"{len(compared)} files are as in the reference run, cell by cell")
        return 0
    storage.write_rows(listing, (d._asdict() for d in differences), Difference._fields)
    show(differences, listing)
    if all(difference.is_rounding for difference in differences):
        print("All of them are rounding, as another type of processor gives; the results agree")
        return 0
    return 1


def must_be_comparable(results: Path, reference: Path) -> None:
    """End with one line if run or reference has no claims, or the run is of another preset."""
    claims = results / CLAIMS
    for name in (CLAIMS, DIGESTS):
        if not (reference / name).exists():
            sys.exit(f"{reference / name} is missing: the reference is not whole; git restores it")
    if not claims.exists():
        sys.exit(f"{claims} is missing: the run is not finished. Run make reproduce first")
    try:
        reduced = reduced_preset(storage.read_rows(claims))
    except (ValueError, KeyError):  # A damaged table, which is compared like any other.
        return
    if reduced is not None:
        sys.exit(
            f"{results} holds a run of the preset {reduced}, and the reference is one of the "
            "preset full: their sizes differ, so they cannot be compared. Run make reproduce, "
            "which is the full preset, first"
        )


def tables(folder: Path) -> list[Path]:
    """The tables of the papers that do not depend on the clock."""
    return list(folder.glob("tables/*/*.csv"))


def of_file(name: str, results: Path, reference: Path) -> list[Difference]:
    """All differences of one table; the verdicts of a claim come before its other columns."""
    if not (results / name).exists():
        return [Difference(name, "", "", "", "missing: this run did not make it")]
    try:
        ours = storage.read_rows(results / name)
    except ValueError:
        words = "damaged: delete it, and make reproduce makes it anew"
        return [Difference(name, "", "", "", words)]
    columns = [storage.read_header(folder / name) for folder in (reference, results)]
    if columns[0] != columns[1]:
        columns_changed = " ".join(sorted(set(columns[0]) ^ set(columns[1]))) or "their order"
        return [Difference(name, "", "", "", f"the columns differ: {columns_changed}")]
    expected = storage.read_rows(reference / name)
    keys = key_columns(columns[0], expected)
    expected, ours = by_key(expected, keys), by_key(ours, keys)
    differences = [
        Difference(name, key, column, row[column], ours[key][column])
        for key, row in expected.items()
        if key in ours
        for column in row
        if row[column] != ours[key][column]
    ]
    differences.sort(key=lambda difference: difference.column != "verdict")
    for rows, present, words in (
        (expected, ours, "this row is missing"),
        (ours, expected, "the reference has no such row"),
    ):
        differences += [Difference(name, key, "", "", words) for key in rows if key not in present]
    if not differences and list(expected) != list(ours):
        differences.append(Difference(name, "", "", "", "the rows are in another order"))
    return differences


def key_columns(columns: list[str], rows: list[dict[str, str]]) -> list[str]:
    """The first columns, as few as tell all rows apart, and none that was measured."""
    limit = min((columns.index(name) for name in MEASURED if name in columns), default=len(columns))
    for n in range(1, limit):
        if len({tuple(row[name] for name in columns[:n]) for row in rows}) == len(rows):
            return columns[:n]
    return columns[:limit]


def by_key(rows: list[dict[str, str]], columns: list[str]) -> dict[str, dict[str, str]]:
    """Rows of a table by the text of their key; rows of equal keys are numbered."""
    counts, keyed = Counter(), {}
    for row in rows:
        key = ", ".join(f"{name}={row[name]}" for name in columns if row[name])
        counts[key] += 1
        keyed[f"{key} (row {counts[key]} of these)" if counts[key] > 1 else key] = row
    return keyed


def of_digests(results: Path, reference: Path) -> dict[str, list[Difference]]:
    """Differences of each table of which the reference holds only the SHA-256."""
    lines = (reference / DIGESTS).read_text(encoding="utf-8", errors="replace").splitlines()
    differences = {}
    for line in lines:
        digest, _, name = line.partition("  ")
        if not re.fullmatch("[0-9a-f]{64}", digest) or not name:
            sys.exit(f"{reference / DIGESTS} is damaged: git restores it")
        path, words = results / name, ""
        if not path.exists():
            words = "missing: this run did not make it"
        elif hashlib.sha256(path.read_bytes()).hexdigest() != digest:
            words = "its SHA-256 is another; the reference holds no cells of this table"
        differences[name] = [Difference(name, "", "", "", words)] if words else []
    return differences


def show(differences: list[Difference], listing: Path) -> None:
    """Print the first differences of each file, and totals."""
    by_file: dict[str, list[Difference]] = {}
    for difference in differences:
        by_file.setdefault(difference.file, []).append(difference)
    for name, in_file in by_file.items():
        print(*in_file[:PRINTED], sep="\n")
        if len(in_file) > PRINTED:
            print(f"{name}: and {len(in_file) - PRINTED} more")
    n_missing = sum(difference.own.startswith("missing") for difference in differences)
    if n_missing:
        print(
            f"\nThe run is not finished: {n_missing} tables are missing. The report says why; "
            "make reproduce makes what is left"
        )
    verdicts = sum(difference.column == "verdict" for difference in differences)
    print(
        f"\nfiles that differ: {len(by_file)}; cells, rows and files: {len(differences)}, verdicts "
        f"among them: {verdicts}. All of them are in {os.path.relpath(listing)}"
    )


if __name__ == "__main__":
    sys.exit(main(*map(Path, sys.argv[1:])))
