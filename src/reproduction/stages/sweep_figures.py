"""Draw the figure of an experiment from the table of one metric, in every format."""

from __future__ import annotations

import json
from pathlib import Path

from reproduction import storage
from reproduction.figures import facets, save, style


def add_arguments(parser):
    """Arguments of the job."""
    parser.add_argument("--experiment", required=True)
    parser.add_argument("--tables", required=True, help="folder that holds METRIC.csv")
    parser.add_argument("--figure", type=json.loads, required=True, help="its settings")
    parser.add_argument("--out", nargs="+", required=True, help="a file for each format")


def run(arguments):
    """Do the job."""
    spec = arguments.figure
    table = Path(arguments.tables, f"{spec['metric']}.csv")
    rows = storage.read_table(table, texts=spec["texts"])
    with style():
        figure = facets.draw(rows, spec, f"{arguments.experiment}: {spec['metric']}")
        for path in arguments.out:
            save(figure, path)
