"""Write the points of one experiment: axes, run, batch, and the files of the metrics."""

from __future__ import annotations

import json

from reproduction import storage
from reproduction.planning import plans


def add_arguments(parser):
    """Arguments of the job."""
    parser.add_argument("--experiment", required=True)
    parser.add_argument("--definition", type=json.loads, required=True, help="with its recipes")
    parser.add_argument("--plans", required=True, help="folder of the plans of its batches")
    parser.add_argument("--out", required=True)


def run(arguments):
    """Do the job."""
    plan = plans.make(arguments.definition, arguments.experiment, arguments.plans)
    storage.write_json(arguments.out, plan.index())
