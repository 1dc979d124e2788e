"""Gather one metric of an experiment into one tidy table, the swept parameters as columns."""

from __future__ import annotations

from pathlib import Path

from reproduction import storage


def add_arguments(parser):
    """Arguments of the job."""
    parser.add_argument("--points", required=True)
    parser.add_argument("--metric", required=True)
    parser.add_argument("--directory", required=True, help="holds BATCH/FILE.csv")
    parser.add_argument("--out", required=True)


def run(arguments):
    """Do the job: rows are copied as text, so no digit changes."""
    tables, collected = {}, []
    for point in storage.read_json(arguments.points):
        file = point["metrics"][arguments.metric]
        path = Path(arguments.directory, point["batch"], f"{file}.csv")
        if path not in tables:
            tables[path] = _by_run(storage.read_rows(path))
        collected += [{**point["axes"], **row} for row in tables[path][point["run"]]]
    columns = list(dict.fromkeys(column for row in collected for column in row))
    storage.write_rows(arguments.out, collected, columns)


def _by_run(rows):
    grouped = {}
    for row in rows:
        grouped.setdefault(row.pop("run"), []).append(row)
    return grouped
