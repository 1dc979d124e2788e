"""Hold what one artefact prints and states against its table."""

from __future__ import annotations

import json

from reproduction import claims, papers, storage


def add_arguments(parser):
    """Arguments of the job."""
    parser.add_argument("--artefact", required=True, help="PAPER/ARTEFACT")
    parser.add_argument("--table", required=True)
    parser.add_argument("--printed", nargs="?", help="its printed values")
    parser.add_argument("--rules", type=json.loads, default=[], help="how they are judged")
    parser.add_argument("--statements", nargs="?", help="what the paper states")
    parser.add_argument("--evidence", type=json.loads, default={}, help="tests and causes, by id")
    parser.add_argument("--decided", nargs="*", default=[], help="ids decided by this artefact")
    parser.add_argument("--incomparable", nargs="?", default="")
    parser.add_argument("--stand_in", action="store_true", help="the data are not the paper's")
    parser.add_argument("--out", required=True)


def run(arguments):
    """Do the job."""
    name = arguments.artefact.split("/")
    data = claims.STAND_IN if arguments.stand_in else claims.PAPERS_DATA
    judged = []
    if arguments.printed:
        # Values are read as text, because the printed digits decide what equal means.
        printed = storage.read_rows(arguments.printed)
        table = storage.read_rows(arguments.table)
        judged += claims.judge(*name, printed, table, arguments.rules, arguments.incomparable, data)
    if arguments.decided:
        rows = storage.read_rows(arguments.statements)
        statements = {row["id"]: row["statement"] for row in rows}
        findings = _findings(arguments)
        judged += claims.judge_statements(
            *name, findings, statements, arguments.evidence, arguments.incomparable, data
        )
    storage.write_json(arguments.out, judged)


def _findings(arguments):
    """The findings of the artefact, for each statement that it decides."""
    table = storage.read_table(arguments.table)
    findings = list(papers.artefact(arguments.artefact).statements(table))
    measured, decided = {f["statement"] for f in findings}, set(arguments.decided)
    if measured != decided:
        raise ValueError(f"{arguments.artefact} decides {sorted(measured)}, not {sorted(decided)}")
    return findings
