"""Compute one metric for every model of one batch, from its importances."""

from __future__ import annotations

import json

import pandas as pd

from splitcredit import attribution, storage
from splitcredit.metrics import metric


def add_arguments(parser):
    """Arguments of the job."""
    parser.add_argument("--plan", required=True)
    parser.add_argument("--names", nargs="+", required=True, help="of the importances, in order")
    parser.add_argument("--importances", nargs="+", required=True, help="their files")
    parser.add_argument("--recipe", type=json.loads, required=True)
    parser.add_argument("--out", required=True)


def run(arguments):
    """Do the job."""
    recipe = dict(arguments.recipe)
    compute = metric(recipe.pop("metric"))
    files = dict(zip(arguments.names, arguments.importances, strict=True))
    bundles = {name: storage.read_bundle(path, attribution) for name, path in files.items()}
    frames = []
    for run in storage.read_json(arguments.plan):
        attributions = {name: bundle[run["key"]] for name, bundle in bundles.items()}
        frame = compute(attributions, **recipe)
        frame.insert(0, "run", run["key"])
        frames.append(frame)
    storage.write_table(arguments.out, pd.concat(frames, ignore_index=True))
