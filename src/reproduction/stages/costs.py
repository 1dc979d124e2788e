"""Fit the cost model to the logs of a run, and to what was observed in runs of other presets."""

from __future__ import annotations

from pathlib import Path

from reproduction import cost_model, storage
from reproduction.planning import costs, jobs
from reproduction.planning.workflow import Workflow


def add_arguments(parser):
    """Arguments of the job."""
    parser.add_argument("--configuration", nargs="+", required=True, help="packed")
    parser.add_argument("--observations", required=True, help="of this run; its folder has others")
    parser.add_argument("--out", required=True)


def run(arguments):
    """Do the job."""
    planned = jobs.of_workflow(Workflow(storage.unpack(arguments.configuration)))
    storage.write_json(arguments.observations, cost_model.observations(planned))
    files = sorted(Path(arguments.observations).parent.glob("*.json"))
    measured = [row for file in files for row in storage.read_json(file)]
    print(f"fitted to {len(measured)} jobs of {', '.join(file.stem for file in files)}")
    storage.write_rows(arguments.out, cost_model.fit(measured), costs.COLUMNS)
