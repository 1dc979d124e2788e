"""Compute one measure for every model of one batch, over the rows it was fitted on."""

from __future__ import annotations

import json

from splitcredit import storage
from splitcredit.datasets import Dataset
from splitcredit.forest import Forest
from splitcredit.importances import measure


def add_arguments(parser):
    """Arguments of the job."""
    parser.add_argument("--plan", required=True)
    parser.add_argument("--models", required=True)
    parser.add_argument("--data", required=True)
    parser.add_argument("--recipe", type=json.loads, required=True)
    parser.add_argument("--out", required=True)


def run(arguments):
    """Do the job."""
    recipe = dict(arguments.recipe)
    explain = measure(recipe.pop("measure"))
    data = storage.read_bundle(arguments.data, Dataset)
    attributions = {}
    for run in storage.read_json(arguments.plan):
        key = run["key"]
        forest = storage.read_bundle(arguments.models, Forest, {key})[key]
        attributions[key] = explain(forest, data[run["data_key"]].X, **recipe)
        print(f"explained {key}: {attributions[key]}", flush=True)
    storage.write_bundle(arguments.out, attributions)
