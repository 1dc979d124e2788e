"""Compute one measure for every model of one batch, over the rows it was fitted on, or the test.

Where the model is cross-fitted, each row is explained by the forest that did not see it. A measure
that fits a model of its own is given the unfitted estimator in the place of the forest.
"""

from __future__ import annotations

import inspect
import json

from reproduction import cross_fitted, models, recorded, seeds, storage
from reproduction.cross_fitted import CrossFitted
from reproduction.datasets import Dataset
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
    compute = function_of(recipe.pop("importance"))
    data = storage.read_bundle(arguments.data, Dataset)
    computed = {}
    for run in storage.read_json(arguments.plan):
        key, rows = run["key"], data[run["data_key"]]
        given = recipe | _seed(compute, arguments.recipe, run["repeat"]) | _ties(recipe, rows)
        if "estimator" in _parameters(compute):
            estimator = models.unfitted(run["model"], run["repeat"])
            found = compute(estimator, rows.training.X, rows.training.y, **given)
        else:
            model = storage.read_bundle(arguments.models, cross_fitted, {key})[key]
            found = _explained(compute, model, rows, given)
        computed[key] = found
        print(f"explained {key}: {found}", flush=True)
    storage.write_bundle(arguments.out, computed)


def _parameters(compute):
    return inspect.signature(compute).parameters


def _seed(compute, recipe, repeat):
    """A seed, for measures that draw."""
    asks = "random_state" in _parameters(compute)
    return {"random_state": seeds.derive(recipe, repeat, "importance")} if asks else {}


def _ties(recipe, data):
    """The order of ties, if the recipe names a recorded one."""
    ties = recipe.get("ties")
    return {"ties": recorded.tie_order(ties, data.feature_names)} if isinstance(ties, str) else {}


def _explained(compute, model, data, recipe):
    if not isinstance(model, CrossFitted):
        return compute(model, **_rows(compute, data.explained, data.training), **recipe)

    def of_fold(forest, held_out, fitted_on):
        rows = _rows(compute, data.take(held_out), data.take(fitted_on))
        return compute(forest, **rows, **recipe)

    return model.explain(of_fold)


def _rows(compute, data, fitted_on):
    """The rows to explain and those the model was fitted on, for what the measure asks."""
    known = {"X": data.X, "y": data.y, "background": fitted_on.X}
    return {k: v for k, v in known.items() if k in _parameters(compute)}
