"""Gather all metrics of an experiment in one tidy table, and draw the figure of one of them."""

from __future__ import annotations

import json
import tempfile

from reproduction import storage
from reproduction.figures import facets, save, style
from reproduction.stages import _gathered


def add_arguments(parser):
    """Arguments of the job."""
    parser.add_argument("--experiment", required=True)
    parser.add_argument("--gathered", nargs="+", required=True, help="packed: the experiment")
    parser.add_argument("--figure", type=json.loads, required=True, help="its settings, or null")
    parser.add_argument("--table", required=True, help="a column names the metric")
    parser.add_argument("--figures", nargs="*", default=[], help="a file for each format")


def run(arguments):
    """Do the job: rows are copied as text, so no digit changes."""
    with tempfile.TemporaryDirectory() as folder:
        _make(arguments, {p.stem: p for p in _gathered.write_tables(arguments.gathered, folder)})


def _make(arguments, paths):
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
