"""Make one artefact of a paper: its table, its figure from the table, and the judgment of it."""

from __future__ import annotations

import json
import shutil
from argparse import Namespace
from pathlib import Path

import yaml

from reproduction import papers, storage
from reproduction.figures import save, style
from reproduction.planning.places import PAPERS
from reproduction.stages import judgments


def add_arguments(parser):
    """Arguments of the job: those of the judgment, and what table and figure need."""
    judgments.add_arguments(parser)
    parser.add_argument("--names", nargs="*", default=[], help="of the inputs: EXPERIMENT/METRIC")
    parser.add_argument("--experiments", nargs="?", default=".", help="folder of their tables")
    parser.add_argument("--parameters", type=json.loads, default={})
    parser.add_argument("--kept", type=Path, required=True, help="the table, until all is made")
    parser.add_argument("--figures", nargs="*", default=[], help="a file for each format")


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
    evidence = evidence_for(arguments.artefact, arguments.decided)
    judgments.run(Namespace(**vars(arguments) | evidence))
    shutil.rmtree(arguments.kept.parent)  # with tables of earlier keys


def evidence_for(name: str, decided=()) -> dict:
    """Arguments of the judgment of an artefact that the folder ``claims`` of its paper has.

    Parameters
    ----------
    name : str
        PAPER/ARTEFACT.
    decided : sequence of str
        Statements that it decides.
    """
    paper, _, artefact = name.partition("/")
    folder = PAPERS / paper / "claims"
    printed, rules_file = folder / f"{artefact}.csv", folder / "rules.yaml"
    rules = yaml.safe_load(rules_file.read_text(encoding="utf-8")) if rules_file.exists() else {}
    of_statements = rules.get("statements", {})
    return {
        "printed": printed if printed.exists() else None,
        "rules": rules.get(artefact, []),
        "statements": folder / "statements.csv",
        "evidence": {s: of_statements[s] for s in decided if s in of_statements},
    }


def table(arguments: Namespace) -> None:
    """Compute the table, unless a job of the same key that failed later has kept it.

    Snakemake deletes all outputs of a job that fails.
    """
    if not arguments.kept.exists():
        files = {name: Path(arguments.experiments, f"{name}.csv") for name in arguments.names}
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
