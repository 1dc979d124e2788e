"""Write the plan of one experiment: its points, and the runs of each batch."""

from __future__ import annotations

import json

from reproduction.planning import plans


def add_arguments(parser):
    """Arguments of the job."""
    parser.add_argument("--experiment", required=True)
    parser.add_argument("--definition", type=json.loads, required=True, help="with its recipes")
    parser.add_argument("--out", required=True)


def run(arguments):
    """Do the job."""
    plans.write(arguments.definition, arguments.experiment, arguments.out)
