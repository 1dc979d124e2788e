"""Gather all judgments into the claims table, and write its summary."""

from __future__ import annotations

from reproduction import claims, claims_summary, storage


def add_arguments(parser):
    """Arguments of the job."""
    parser.add_argument("--judged", nargs="*", default=[])
    parser.add_argument("--table", required=True)
    parser.add_argument("--summary", required=True)


def run(arguments):
    """Do the job."""
    rows = [row for path in arguments.judged for row in storage.read_json(path)]
    storage.write_rows(arguments.table, rows, claims.COLUMNS)
    storage.write_text(arguments.summary, claims_summary.summary(rows))
