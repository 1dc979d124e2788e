"""Gather all judgments into the claims table, with a summary; those of times into their own."""

from __future__ import annotations

from reproduction import claims, claims_summary, storage

# The counts stay the same on every machine; report and verdict.txt add one kind to them.
WITHOUT_TIMES = """
Claims about run time, which the clock alone decides, are not counted here. `claims_timing.csv`
has their checks, `report.html` and `verdict.txt` count them apart, and count all else as above.
"""


def add_arguments(parser):
    """Arguments of the job."""
    parser.add_argument("--judged", nargs="*", default=[])
    parser.add_argument("--timed", nargs="*", default=[], help="judgments that depend on the clock")
    parser.add_argument("--table", required=True)
    parser.add_argument("--summary", required=True)
    parser.add_argument("--timings", required=True, help="the table of those of times")


def run(arguments):
    """Do the job."""
    rows, of_times = rows_of(arguments.judged), rows_of(arguments.timed)
    storage.write_rows(arguments.table, rows, claims.COLUMNS)
    storage.write_text(arguments.summary, claims_summary.summary(rows) + WITHOUT_TIMES)
    storage.write_rows(arguments.timings, of_times, claims.COLUMNS)


def rows_of(paths) -> list[dict]:
    """Rows of these judgments."""
    return [row for path in paths for row in storage.read_json(path)]
