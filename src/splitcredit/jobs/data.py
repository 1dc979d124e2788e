"""Load or draw the data sets of one batch."""

from __future__ import annotations

import json

from splitcredit import datasets, storage


def add_arguments(parser):
    """Arguments of the job."""
    parser.add_argument("--plan", required=True)
    parser.add_argument("--places", type=json.loads, default={}, help="where files are searched")
    parser.add_argument("--out", required=True)


def run(arguments):
    """Do the job."""
    datasets.look_in(**arguments.places)
    runs = {run["data_key"]: run for run in storage.read_json(arguments.plan)}
    loaded = {key: datasets.load(run["data"], run["repeat"]) for key, run in runs.items()}
    storage.write_bundle(arguments.out, loaded)
