"""Draw one artefact from its table, in every format."""

from __future__ import annotations

from reproduction import papers, storage
from reproduction.figures import save, style


def add_arguments(parser):
    """Arguments of the job."""
    parser.add_argument("--artefact", required=True, help="PAPER/ARTEFACT")
    parser.add_argument("--table", required=True)
    parser.add_argument("--out", nargs="+", required=True, help="a file for each format")


def run(arguments):
    """Do the job."""
    table = storage.read_table(arguments.table)
    with style():
        figure = papers.artefact(arguments.artefact).draw(table)
        for path in arguments.out:
            save(figure, path)
