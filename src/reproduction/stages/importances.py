"""Compute every measure of one batch, a file each, over the rows of the models, or the test.

A measure of the bag of each tree takes the training rows, whatever rows are explained. Where the
model is cross-fitted, each row is explained by the forest that did not see it. A measure
that fits a model of its own is given the unfitted estimator in the place of the forest. One of
another package needs the model in the form of the library that grew it: it is fitted anew, which
gives the same trees. With ``n_rows`` in the recipe, only the first ``n_rows`` rows are explained.
"""

from __future__ import annotations

import inspect
from contextlib import nullcontext
from pathlib import Path

from reproduction import cross_fitted, models, recorded, seeds, storage
from reproduction.cross_fitted import CrossFitted
from reproduction.datasets import Dataset
from reproduction.peers import available, function_of, requires
from splitcredit.models.formats import to_forest


def add_arguments(parser):
    """Arguments of the job."""
    parser.add_argument("--plan", required=True)
    parser.add_argument("--models", required=True)
    parser.add_argument("--data", required=True)
    parser.add_argument("--recipes", nargs="+", required=True, help="packed, by name of the file")
    parser.add_argument("--out", required=True, help="folder")


def run(arguments):
    """Do the job."""
    runs = storage.read_json(arguments.plan)
    data = storage.read_bundle(arguments.data, Dataset)
    for name, recipe in storage.unpack(arguments.recipes).items():
        print(f"importance {name}", flush=True)
        computed = _computed(recipe, runs, data, arguments.models)
        storage.write_bundle(Path(arguments.out, f"{name}.npz"), computed)


def _computed(recipe, runs, data, models_file):
    """One measure of every run of a batch."""
    given = dict(recipe)
    name, n_rows, computed = given.pop("importance"), given.pop("n_rows", None), {}
    compute, of_model = function_of(name), requires(name)
    unfitted = "refit" in of_model
    bundle = nullcontext() if unfitted else storage.open_bundle(models_file, cross_fitted)
    with bundle as saved:
        for run in runs:
            key, rows = run["key"], data[run["data_key"]]
            options = given | _seed(compute, recipe, run["repeat"]) | _ties(given, rows)
            if unfitted:
                estimator = models.unfitted(run["model"], run["repeat"])
                explained = compute(estimator, rows.training.X, rows.training.y, **options)
            else:
                model = saved(key)
                explained_model = model
                if name in available() and "model" in _parameters(compute):
                    options["model"] = _fitted_anew(run, rows.training, model)
                elif {"score", "gains"} & {*of_model}:
                    # A forest has the score of its kind alone, and no other by name.
                    is_enough = given.get("scoring") is None
                    if not is_enough or getattr(model, "aggregate", "") != "mean":
                        explained_model = _fitted_anew(run, rows.training, model)
                explained = _explained(compute, explained_model, rows, options, n_rows)
            computed[key] = explained
            print(f"explained {key}: {explained}", flush=True)
    return computed


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


def _fitted_anew(run, data, saved):
    """The model of a run, as its library has it; ValueError if its trees are not the saved ones."""
    if isinstance(saved, CrossFitted):
        raise ValueError("other packages explain one model, and this one has `folds`: leave it out")
    model = models.fit(run["model"], data.X, data.y, run["repeat"])
    fitted = to_forest(model, X_train=data.X).to_arrays()
    expected = saved.to_arrays()
    if fitted.keys() != expected.keys() or any(
        fitted[name].tobytes() != expected[name].tobytes() for name in expected
    ):
        raise ValueError(f"{run['key']}: the model fitted anew is not the one that was saved")
    return model


def _explained(compute, model, data, recipe, n_rows):
    if not isinstance(model, CrossFitted):
        of_bags = "bootstrap" in getattr(inspect.getmodule(compute), "REQUIRES", ())
        explained = data.training if of_bags else data.explained.take(slice(n_rows))
        first = "forest" if "forest" in _parameters(compute) else "model"
        of_model = {} if first in recipe else {first: model}
        return compute(**of_model, **_rows(compute, explained, data.training), **recipe)
    if n_rows is not None:
        raise ValueError("n_rows: each row is explained by a model of its own `folds`; explain all")

    def of_fold(forest, held_out, fitted_on):
        rows = _rows(compute, data.take(held_out), data.take(fitted_on))
        return compute(forest, **rows, **recipe)

    return model.explain(of_fold)


def _rows(compute, data, fitted_on):
    """The rows to explain and those that the model was fitted on, if the measure takes them."""
    rows = {"X": data.X, "y": data.y, "background": fitted_on.X}
    return {k: v for k, v in rows.items() if k in _parameters(compute)}
