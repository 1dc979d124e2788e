"""Gather every metric of an experiment into one tidy table, the swept parameters as columns."""

from __future__ import annotations

import json
from pathlib import Path

from reproduction import storage
from reproduction.planning import plans


def write_tables(packed: list[str], folder, names=None) -> list[Path]:
    """Write the tables of experiments as ``EXPERIMENT/METRIC.csv``; those of some names, or all.

    Rows are copied as text, so no digit changes. `packed` is what `Workflow.gathered` gives.
    """
    written = []
    for experiment, parts in storage.unpack(packed).items():
        # As text, which keeps the order of the axes: it is that of the points.
        definition = json.loads(parts["definition"])
        files = [f"results/plans/{experiment}/{batch}.json" for batch in parts["batches"]]
        plan = plans.read(definition, experiment, files)
        for metric in definition["experiments"][experiment]["metrics"]:
            if names is None or f"{experiment}/{metric}" in names:
                tables = [
                    Path("results/metrics", experiment, plan.batch_of[p.run.key])
                    / f"{p.metrics[metric][0]}.csv"
                    for p in plan.points
                ]
                written.append(Path(folder, experiment, f"{metric}.csv"))
                write(written[-1], metric, plan.points, tables)
    return written


def write(path, metric, points, tables):
    """Write the table of one metric.

    Parameters
    ----------
    path : path
    metric : str
    points : list of reproduction.planning.sweep.Point
    tables : list of path
        Of each point.
    """
    headers = {table: storage.read_header(table) for table in dict.fromkeys(tables)}
    headers = {table: [c for c in header if c != "run"] for table, header in headers.items()}
    for point, table in zip(points, tables, strict=True):
        _check_apart(metric, headers[table], point.axes)
    columns = dict.fromkeys(
        column
        for point, table in zip(points, tables, strict=True)
        for column in (*sorted(point.axes), *headers[table])
    )
    storage.write_rows(path, _rows(points, tables), list(columns))


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
        if point.run.key not in tables[path]:
            raise ValueError(f"{path} lacks rows: delete it, and the same command makes it anew")
        for row in tables[path][point.run.key]:
            yield {**point.axes, **row}
        if last[path] == number:
            del tables[path]


def _by_run(rows):
    grouped = {}
    for row in rows:
        grouped.setdefault(row.pop("run"), []).append(row)
    return grouped
