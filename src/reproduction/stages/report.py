"""Write the report of a run: one HTML file with figures, verdicts and how they were made."""

from __future__ import annotations

import json
from pathlib import Path

from reproduction import storage
from reproduction.report import manifest, page, sweeps


def add_arguments(parser):
    """Arguments of the job."""
    # What a failed run has not made, see `unfinished`.
    parser.set_defaults(incomplete=[], incomplete_sweeps=[])
    parser.add_argument("--configuration", nargs="+", required=True, help="packed")
    parser.add_argument("--claims", nargs="*", default=[], help="claims tables")
    parser.add_argument("--figures", nargs="*", default=[], help="figures, SVG and PNG")
    parser.add_argument("--tables", nargs="*", default=[], help="tables of the artefacts")
    parser.add_argument("--sweeps", nargs="*", default=[], help="tables of sweeps")
    parser.add_argument("--sweep_figures", nargs="*", default=[], help="their figures")
    parser.add_argument("--results", default="results", help="folder of the run, for its timings")
    parser.add_argument("--cores", help="cores that Snakemake was given")
    parser.add_argument("--out", required=True)


def run(arguments):
    """Do the job."""
    configuration = json.loads(storage.unpack(arguments.configuration))
    unfinished = {row["artefact"] for row in arguments.incomplete}
    # A table of an earlier run may hold rows of an artefact that this one did not finish.
    rows = [
        row
        for path in arguments.claims
        for row in storage.read_rows(path)
        if f"{row['paper']}/{row['artefact']}" not in unfinished
    ]
    incomplete, incomplete_sweeps = (
        [{key: manifest.without_places(text) for key, text in row.items()} for row in part]
        for part in (arguments.incomplete, arguments.incomplete_sweeps)
    )
    bench = Path(arguments.results) / "timing" / "bench.csv"
    cores = None if arguments.cores in (None, "None") else arguments.cores
    report = page.render(
        rows,
        configuration,
        arguments.figures,
        arguments.tables,
        manifest=manifest.of_run(configuration, cores),
        versions=manifest.versions(),
        seconds=manifest.seconds_by_rule(arguments.results),
        bench=storage.read_rows(bench) if bench.is_file() else (),
        incomplete=incomplete,
        incomplete_sweeps=incomplete_sweeps,
        sweeps=sweeps.sections(configuration, arguments.sweeps, arguments.sweep_figures),
    )
    storage.write_text(arguments.out, report)
