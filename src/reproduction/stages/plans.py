"""Write the plan of one batch: its runs, which the workflow has packed."""

from __future__ import annotations

from reproduction import storage


def add_arguments(parser):
    """Arguments of the job."""
    parser.add_argument("--runs", nargs="+", required=True, help="packed")
    parser.add_argument("--out", required=True)


def run(arguments):
    """Do the job."""
    storage.write_json(arguments.out, storage.unpack(arguments.runs))
