"""Fit the models of one batch and write them as Forests, with hash and in-bag counts."""

from __future__ import annotations

from splitcredit import models, storage
from splitcredit.convert import to_forest
from splitcredit.datasets import Dataset


def add_arguments(parser):
    """Arguments of the job."""
    parser.add_argument("--plan", required=True)
    parser.add_argument("--data", required=True)
    parser.add_argument("--out", required=True)


def run(arguments):
    """Do the job."""
    data = storage.read_bundle(arguments.data, Dataset)
    forests = {}
    for run in storage.read_json(arguments.plan):
        dataset = data[run["data_key"]]
        model = models.fit(run["model"], dataset.X, dataset.y, run["repeat"])
        forests[run["key"]] = to_forest(model, X_train=dataset.X)
        print(f"fitted {run['key']}: {forests[run['key']]}", flush=True)
    storage.write_bundle(arguments.out, forests)
