"""Write the points of one experiment: axes, run, batch, and the files of the metrics."""

from __future__ import annotations

import json

from reproduction import storage
from reproduction.planning import plans


def add_arguments(parser):
    """Arguments of the job."""
    parser.add_argument("--experiment", required=True)
    parser.add_argument("--definition", nargs="+", required=True, help="packed, with its recipes")
    parser.add_argument("--plans", required=True, help="folder of the plans of its batches")
    parser.add_argument("--out", required=True)


def run(arguments):
    """Do the job."""
    definition = json.loads(storage.unpack(arguments.definition))
    plan = plans.make(definition, arguments.experiment, arguments.plans)
    storage.write_json(arguments.out, plan.index())
