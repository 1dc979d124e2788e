"""Compute one measure for every model of one batch, over the rows it was fitted on.

Where the model is cross-fitted, each row is explained by the forest that did not see it.
"""

from __future__ import annotations

import inspect
import json

from splitcredit import cross_fitted, storage
from splitcredit.cross_fitted import CrossFitted
from splitcredit.datasets import Dataset
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
        model = storage.read_bundle(arguments.models, cross_fitted, {key})[key]
        computed[key] = _explained(compute, model, data[run["data_key"]], recipe)
        print(f"explained {key}: {computed[key]}", flush=True)
    storage.write_bundle(arguments.out, computed)


def _explained(compute, model, data, recipe):
    if not isinstance(model, CrossFitted):
        return compute(model, **_given(compute, data, data), **recipe)

    def of_fold(forest, held_out, fitted_on):
        given = _given(compute, data.take(held_out), data.take(fitted_on))
        return compute(forest, **given, **recipe)

    return model.explain(of_fold)


def _given(compute, data, fitted_on):
    """The rows to explain and those the model was fitted on, for what the measure asks."""
    known = {"X": data.X, "y": data.y, "background": fitted_on.X}
    return {k: v for k, v in known.items() if k in inspect.signature(compute).parameters}
