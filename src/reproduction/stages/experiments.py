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
    points = storage.read_json(arguments.points)
    paths = [
        Path(arguments.directory, point["batch"], f"{point['metrics'][arguments.metric]}.csv")
        for point in points
    ]
    headers = {path: storage.read_header(path) for path in dict.fromkeys(paths)}
    headers = {path: [c for c in header if c != "run"] for path, header in headers.items()}
    for point, path in zip(points, paths, strict=True):
        _check_apart(arguments.metric, headers[path], point["axes"])
    columns = dict.fromkeys(
        column
        for point, path in zip(points, paths, strict=True)
        for column in (*point["axes"], *headers[path])
    )
    storage.write_rows(arguments.out, _rows(points, paths), list(columns))


def _check_apart(metric, columns, axes):
    """Refuse columns that would overwrite those of the sweep."""
    shared = sorted(set(columns) & set(axes))
    if shared:
        raise ValueError(
            f"metric {metric}: its column {shared[0]!r} is one of the sweep, too: give it another "
            "name"
        )


def _rows(points, paths):
    """Rows of all points in turn; a table stays in memory from its first point to its last."""
    last = {path: number for number, path in enumerate(paths)}
    tables = {}
    for number, (point, path) in enumerate(zip(points, paths, strict=True)):
        if path not in tables:
            tables[path] = _by_run(storage.read_rows(path))
        if point["run"] not in tables[path]:
            raise ValueError(f"{path} lacks rows: delete it, and the same command makes it anew")
        for row in tables[path][point["run"]]:
            yield {**point["axes"], **row}
        if last[path] == number:
            del tables[path]


def _by_run(rows):
    grouped = {}
    for row in rows:
        grouped.setdefault(row.pop("run"), []).append(row)
    return grouped
