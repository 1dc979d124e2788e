"""Gather all metrics of an experiment in one tidy table, with a column that names the metric."""

from __future__ import annotations

from pathlib import Path

from reproduction import storage


def add_arguments(parser):
    """Arguments of the job."""
    parser.add_argument("--metrics", nargs="+", required=True)
    parser.add_argument("--tables", required=True, help="folder that holds METRIC.csv")
    parser.add_argument("--out", required=True)


def run(arguments):
    """Do the job: rows are copied as text, so no digit changes."""
    pairs = [(name, Path(arguments.tables, f"{name}.csv")) for name in arguments.metrics]
    rows = [{"metric": name, **row} for name, path in pairs for row in storage.read_rows(path)]
    columns = list(dict.fromkeys(column for row in rows for column in row))
    storage.write_rows(arguments.out, rows, columns)
