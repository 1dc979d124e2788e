"""Gather all metrics of an experiment in one tidy table, and draw the figure of one of them."""

from __future__ import annotations

import json
from pathlib import Path

from reproduction import storage
from reproduction.figures import facets, save, style


def add_arguments(parser):
    """Arguments of the job."""
    parser.add_argument("--experiment", required=True)
    parser.add_argument("--tables", required=True, help="folder that holds METRIC.csv")
    parser.add_argument("--metrics", nargs="+", required=True)
    parser.add_argument("--figure", type=json.loads, required=True, help="its settings, or null")
    parser.add_argument("--table", required=True, help="a column names the metric")
    parser.add_argument("--figures", nargs="*", default=[], help="a file for each format")


def run(arguments):
    """Do the job: rows are copied as text, so no digit changes."""
    paths = {name: Path(arguments.tables, f"{name}.csv") for name in arguments.metrics}
    rows = [{"metric": name, **row} for name in paths for row in storage.read_rows(paths[name])]
    columns = list(dict.fromkeys(column for row in rows for column in row))
    storage.write_rows(arguments.table, rows, columns)
    if spec := arguments.figure:
        path = paths[spec["metric"]]
        texts = [column for column in storage.read_header(path) if column != spec["y"]]
        drawn = storage.read_table(path, texts=texts)
        with style():
            figure = facets.draw(drawn, spec, f"{arguments.experiment}: {spec['metric']}")
            for path in arguments.figures:
                save(figure, path)
