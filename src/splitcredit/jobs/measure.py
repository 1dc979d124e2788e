"""Compute one metric for every model of one batch, from its importances."""

from __future__ import annotations

import inspect
import json

import pandas as pd

from splitcredit import attribution, seeds, storage
from splitcredit.datasets import Dataset
from splitcredit.metrics import metric


def add_arguments(parser):
    """Arguments of the job."""
    parser.add_argument("--plan", required=True)
    parser.add_argument("--data", required=True)
    parser.add_argument("--names", nargs="+", required=True, help="of the importances, in order")
    parser.add_argument("--importances", nargs="+", required=True, help="their files")
    parser.add_argument("--recipe", type=json.loads, required=True)
    parser.add_argument("--out", required=True)


def run(arguments):
    """Do the job."""
    compute = metric(arguments.recipe["metric"])
    data = storage.read_bundle(arguments.data, Dataset)
    files = dict(zip(arguments.names, arguments.importances, strict=True))
    bundles = {name: storage.read_bundle(path, attribution) for name, path in files.items()}
    frames = []
    for run in storage.read_json(arguments.plan):
        attributions = {name: bundle[run["key"]] for name, bundle in bundles.items()}
        given = _given(compute, data[run["data_key"]], arguments.recipe, run["repeat"])
        frame = compute(attributions, **given)
        frame.insert(0, "run", run["key"])
        frames.append(frame)
    storage.write_table(arguments.out, pd.concat(frames, ignore_index=True))


def _given(compute, data, recipe, repeat):
    """Parameters of the metric, and the rows and a seed if it asks for them."""
    known = {"data": data, "random_state": seeds.derive(recipe, repeat, "metric")}
    asked = {k: v for k, v in known.items() if k in inspect.signature(compute).parameters}
    return {k: v for k, v in recipe.items() if k != "metric"} | asked
