"""Make one artefact of a paper: its table, its figure from the table, and the judgment of it."""

from __future__ import annotations

import json
import shutil
import tempfile
from argparse import Namespace
from functools import cache
from pathlib import Path

import yaml

from reproduction import claims, papers, storage
from reproduction.figures import save, style
from reproduction.planning.places import PAPERS
from reproduction.stages import _gathered


def add_arguments(parser):
    """Arguments of the job."""
    parser.add_argument("--artefact", required=True, help="PAPER/ARTEFACT")
    parser.add_argument("--names", nargs="*", default=[], help="of the inputs: EXPERIMENT/METRIC")
    parser.add_argument("--gathered", nargs="*", default=[], help="packed: their experiments")
    parser.add_argument("--parameters", type=json.loads, default={})
    parser.add_argument("--table", required=True)
    parser.add_argument("--kept", type=Path, required=True, help="the table, until all is made")
    parser.add_argument("--figures", nargs="*", default=[], help="a file for each format")
    parser.add_argument("--decided", nargs="*", default=[], help="ids of statements it decides")
    parser.add_argument("--incomparable", default="", help="why nothing is compared")
    parser.add_argument("--stand_in", action="store_true", help="the data are not the paper's")
    parser.add_argument("--timed", action="store_true", help="its values are times")
    parser.add_argument("--out", required=True, help="the judgment")


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
    table(arguments)
    if arguments.figures:
        figure(arguments)
    judgment(arguments)
    shutil.rmtree(arguments.kept.parent)  # with tables of earlier keys


def table(arguments: Namespace) -> None:
    """Compute the table, unless a job of the same key that failed later has kept it.

    Snakemake deletes all outputs of a job that fails.
    """
    if not arguments.kept.exists():
        with tempfile.TemporaryDirectory() as folder:
            if arguments.names:
                _gathered.write_tables(arguments.gathered, folder, arguments.names)
            files = {name: Path(folder, f"{name}.csv") for name in arguments.names}
            tables = {name: storage.read_table(file) for name, file in files.items()}
        inputs = _Inputs(arguments.artefact, tables)
        rows = papers.artefact(arguments.artefact).compute(inputs, **arguments.parameters)
        storage.write_table(arguments.kept, rows)
    with storage.atomic(arguments.table) as temporary:
        shutil.copyfile(arguments.kept, temporary)


def figure(arguments: Namespace) -> None:
    """Draw the figure from the table, as it was written."""
    rows = storage.read_table(arguments.table)
    with style():
        drawn = papers.artefact(arguments.artefact).draw(rows)
        for path in arguments.figures:
            save(drawn, path)


def judgment(arguments: Namespace) -> None:
    """Compare the printed values and statements of the paper with the table."""
    name = arguments.artefact.split("/")
    how = arguments.incomparable, claims.STAND_IN if arguments.stand_in else claims.PAPERS_DATA
    judged, rules = [], rules_of(name[0])
    if printed := printed_values(arguments.artefact):
        # Values are read as text, because the printed digits decide what equal means.
        rows = storage.read_rows(arguments.table)
        judged += claims.judge(*name, printed, rows, rules.get(name[1], []), *how)
    if arguments.decided:
        statements, evidence = statements_of(name[0]), rules.get("statements", {})
        judged += claims.judge_statements(*name, _findings(arguments), statements, evidence, *how)
    storage.write_json(arguments.out, claims.by_the_clock(judged) if arguments.timed else judged)


@cache
def rules_of(paper: str) -> dict:
    """How values are judged, by artefact, and by ``statements`` the tests and causes of these."""
    file = PAPERS / paper / "claims" / "rules.yaml"
    return yaml.safe_load(file.read_text(encoding="utf-8")) if file.exists() else {}


def printed_values(name: str) -> list[dict]:
    """Return the printed values of an artefact, as rows; none if the paper has none."""
    paper, _, artefact = name.partition("/")
    file = PAPERS / paper / "claims" / f"{artefact}.csv"
    return storage.read_rows(file) if file.exists() else []


def statements_of(paper: str) -> dict[str, str]:
    """Return the statements of a paper, by id."""
    rows = storage.read_rows(PAPERS / paper / "claims" / "statements.csv")
    return {row["id"]: row["statement"] for row in rows}


def _findings(arguments):
    """The findings of the artefact, for each statement that it decides."""
    rows = storage.read_table(arguments.table)
    findings = list(papers.artefact(arguments.artefact).statements(rows))
    measured, decided = {f["statement"] for f in findings}, set(arguments.decided)
    if measured != decided:
        raise ValueError(f"{arguments.artefact} decides {sorted(measured)}, not {sorted(decided)}")
    return findings
