"""Compute one measure for every model of one batch, over the rows it was fitted on."""

from __future__ import annotations

import inspect
import json

from splitcredit import storage
from splitcredit.datasets import Dataset
from splitcredit.forest import Forest
from splitcredit.importances import function_of


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
    compute = function_of(recipe.pop("measure"))
    data = storage.read_bundle(arguments.data, Dataset)
    computed = {}
    for run in storage.read_json(arguments.plan):
        key = run["key"]
        forest = storage.read_bundle(arguments.models, Forest, {key})[key]
        computed[key] = compute(forest, **_given(compute, data[run["data_key"]]), **recipe)
        print(f"explained {key}: {computed[key]}", flush=True)
    storage.write_bundle(arguments.out, computed)


def _given(compute, data):
    """The rows, for what the measure asks: those the model was fitted on."""
    known = {"X": data.X, "y": data.y, "background": data.X}
    return {k: v for k, v in known.items() if k in inspect.signature(compute).parameters}
