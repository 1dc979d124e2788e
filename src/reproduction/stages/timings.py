"""Gather the judgments that depend on the clock in one table."""

from __future__ import annotations

from reproduction import claims, storage


def add_arguments(parser):
    """Arguments of the job."""
    parser.add_argument("--judged", nargs="*", default=[], help="judgments, JSON")
    parser.add_argument("--out", required=True)


def run(arguments):
    """Do the job."""
    rows = [row for path in arguments.judged for row in storage.read_json(path)]
    storage.write_rows(arguments.out, rows, claims.COLUMNS)
