"""Hold the printed values of one artefact against its table."""

from __future__ import annotations

import json

from splitcredit import claims, storage


def add_arguments(parser):
    """Arguments of the job."""
    parser.add_argument("--artefact", required=True, help="PAPER/ARTEFACT")
    parser.add_argument("--printed", required=True)
    parser.add_argument("--table", required=True)
    parser.add_argument("--rules", type=json.loads, default=[])
    parser.add_argument("--incomparable", nargs="?", default="")
    parser.add_argument("--out", required=True)


def run(arguments):
    """Do the job."""
    paper, artefact = arguments.artefact.split("/")
    # As text: the digits that are printed decide what equal means.
    printed, table = storage.read_rows(arguments.printed), storage.read_rows(arguments.table)
    judged = claims.judge(
        paper, artefact, printed, table, arguments.rules, arguments.incomparable or None
    )
    storage.write_json(arguments.out, judged)
