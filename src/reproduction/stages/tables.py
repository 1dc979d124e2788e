"""Compute the table of one artefact of a paper."""

from __future__ import annotations

import json

from reproduction import papers, storage


def add_arguments(parser):
    """Arguments of the job."""
    parser.add_argument("--artefact", required=True, help="PAPER/ARTEFACT")
    parser.add_argument("--names", nargs="*", default=[], help="of the inputs, in order")
    parser.add_argument("--inputs", nargs="*", default=[], help="their files")
    parser.add_argument("--parameters", type=json.loads, default={})
    parser.add_argument("--out", required=True)


class _Inputs(dict):
    """The tables that an artefact declares, by name; one that it does not declare says so."""

    def __init__(self, artefact, tables):
        super().__init__(tables)
        self.artefact = artefact

    def __missing__(self, name):
        names = ", ".join(self) or "none"
        raise ValueError(
            f"artefacts.{self.artefact}.inputs: its table is made from {name!r}, which is not "
            f"among them: add it; there are {names}"
        )


def run(arguments):
    """Do the job."""
    files = zip(arguments.names, arguments.inputs, strict=True)
    tables = {name: storage.read_table(path) for name, path in files}
    inputs = _Inputs(arguments.artefact, tables)
    table = papers.artefact(arguments.artefact).compute(inputs, **arguments.parameters)
    storage.write_table(arguments.out, table)
