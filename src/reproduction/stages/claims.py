"""Gather all judgments into the claims table, and write its summary."""

from __future__ import annotations

from reproduction import claims, claims_summary, storage

# The counts stay the same on every machine; the report has those of all judgments.
WITHOUT_TIMES = """
What depends on the clock is not counted here. `claims_timing.csv` has these values and statements,
and the report counts all. A statement that both files decide may have another outcome there.
"""


def add_arguments(parser):
    """Arguments of the job."""
    parser.add_argument("--judged", nargs="*", default=[])
    parser.add_argument("--table", required=True)
    parser.add_argument("--summary", required=True)


def run(arguments):
    """Do the job."""
    rows = [row for path in arguments.judged for row in storage.read_json(path)]
    storage.write_rows(arguments.table, rows, claims.COLUMNS)
    storage.write_text(arguments.summary, claims_summary.summary(rows) + WITHOUT_TIMES)
