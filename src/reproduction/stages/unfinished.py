"""Write claims table and report of what a failed run has made; the report names what is missing.

The summary and the verdict of an earlier run are removed. So the next run makes all these files,
even if it makes nothing else.
"""

from __future__ import annotations

import json
from argparse import Namespace
from pathlib import Path

from reproduction import storage
from reproduction.planning import unfinished
from reproduction.planning.places import ON_PAGES
from reproduction.planning.workflow import Workflow
from reproduction.stages import claims, report


def add_arguments(parser):
    """Arguments of the job."""
    parser.add_argument("--configuration", nargs="+", required=True, help="packed")
    parser.add_argument("--cores", help="cores that Snakemake was given")


def run(arguments):
    """Do the job."""
    flow = Workflow(json.loads(storage.unpack(arguments.configuration)))
    incomplete, incomplete_sweeps = unfinished.artefacts(flow), unfinished.sweeps(flow)
    missing = {row["artefact"] for row in incomplete}
    made = [name for name in flow.required if name not in missing]
    missing = {row["sweep"] for row in incomplete_sweeps}
    sweeps = [name for name in flow.config["sweeps"] if name not in missing]
    tables = {
        "table": "results/claims.csv",
        "summary": "results/claims.md",
        "timings": "results/claims_timing.csv",
    }
    judged = {"judged": flow.judgments(False, made), "timed": flow.judgments(True, made)}
    claims.run(Namespace(**judged, **tables))
    for file in (tables["summary"], "results/verdict.txt"):
        Path(file).unlink(missing_ok=True)
    report.run(
        Namespace(
            configuration=arguments.configuration,
            claims=[tables["table"], tables["timings"]],
            figures=flow.files(ON_PAGES, made),
            tables=flow.files("csv", made),
            sweeps=flow.sweep_files("csv", sweeps),
            sweep_figures=flow.sweep_files(ON_PAGES, sweeps),
            incomplete=incomplete,
            incomplete_sweeps=incomplete_sweeps,
            results="results",
            cores=arguments.cores,
            out="results/report.html",
        )
    )
