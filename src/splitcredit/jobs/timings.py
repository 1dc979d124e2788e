"""Gather the judgements that depend on the clock, of artefacts and of benchmarks, in one table."""

from __future__ import annotations

from pathlib import Path

from splitcredit import claims, storage


def add_arguments(parser):
    """Arguments of the job."""
    parser.add_argument("--out", required=True, help="beside it timing/claims holds them, JSON")


def run(arguments):
    """Do the job."""
    gather(Path(arguments.out).parent / "timing" / "claims", arguments.out)


def gather(directory, out) -> None:
    """Write all judgements below the directory, in the order of their names."""
    files = sorted(Path(directory).rglob("*.json"))
    rows = [row for path in files for row in storage.read_json(path)]
    storage.write_rows(out, rows, claims.COLUMNS)
