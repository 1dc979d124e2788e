"""Compute every metric of one batch, a table each, for all its models, from their importances."""

from __future__ import annotations

import contextlib
import inspect
import json
from functools import cache
from pathlib import Path

import pandas as pd

from reproduction import cross_fitted, models, seeds, storage
from reproduction.datasets import Dataset
from reproduction.metrics import keys, metric, module_of
from splitcredit.results import attribution


def add_arguments(parser):
    """Arguments of the job."""
    parser.add_argument("--plan", required=True)
    parser.add_argument("--data", required=True)
    parser.add_argument("--models", nargs="?", help="only for metrics that take the forest")
    parser.add_argument("--importances", nargs="?", help="folder, if there are any")
    parser.add_argument(
        "--recipes",
        nargs="+",
        required=True,
        help="packed: by name of the file, the recipe, and the files of the importances by name",
    )
    parser.add_argument("--out", required=True, help="folder")


def run(arguments):
    """Do the job."""
    runs = storage.read_json(arguments.plan)
    data = storage.read_bundle(arguments.data, Dataset)
    with contextlib.ExitStack() as stack:

        @cache
        def bundle(path, kind):
            return stack.enter_context(storage.open_bundle(path, kind))

        forests = bundle(arguments.models, cross_fitted) if arguments.models else None
        for name, (recipe, files) in json.loads(storage.unpack(arguments.recipes)).items():
            print(f"metric {name}", flush=True)
            importances = {
                key: bundle(f"{arguments.importances}/{file}.npz", attribution)
                for key, file in files.items()
            }
            frames = [
                _frame(recipe, run, data[run["data_key"]], importances, forests) for run in runs
            ]
            table = pd.concat(frames, ignore_index=True)
            storage.write_table(Path(arguments.out, f"{name}.csv"), table)


def _frame(recipe, run, data, importances, forests):
    """The metric of one run."""
    compute = metric(recipe["metric"])
    options = {k: v for k, v in recipe.items() if k != "metric"}
    accepted = inspect.signature(compute).parameters
    _check_rows(recipe["metric"], accepted, options, data)
    for name, value in _available(recipe, data, forests, run):
        if name in accepted:
            options[name] = value()
    attributions = {name: bundle(run["key"]) for name, bundle in importances.items()}
    frame = compute(attributions, **options)
    _check_is_table(recipe["metric"], frame, run["key"])
    frame.insert(0, "run", run["key"])
    return frame


def _check_rows(name, accepted, options, data):
    """Refuse parameters that the rows do not have."""
    check = getattr(module_of(name), "check", None)
    if check:
        names = list(inspect.signature(check).parameters)[1:]
        reason = check(lambda: data, **{n: options.get(n, accepted[n].default) for n in names})
        if reason:
            raise ValueError(f"metric.{name}.{reason}")


def _check_is_table(name, frame, key):
    """Refuse what later stages could make nothing of, and would blame on themselves."""
    if not isinstance(frame, pd.DataFrame):
        raise TypeError(
            f"compute of the metric {name!r} returned a {type(frame).__name__} for {key}: return a "
            "DataFrame"
        )
    lacking = [column for column in keys(name) if column not in frame]
    if lacking:
        raise ValueError(
            f"the table of the metric {name!r} has no column {', '.join(lacking)}, which its KEYS "
            f"name; it has {', '.join(map(str, frame))}"
        )
    if not len(frame):
        raise ValueError(f"the table of the metric {name!r} has no row for {key}")


def _available(metric_recipe, data, forests, run):
    """Arguments that a metric may take, by name, as functions that get them."""
    key, recipe, repeat = run["key"], run["model"], run["repeat"]
    yield "data", lambda: data.explained
    yield "training", lambda: data.training
    yield "random_state", lambda: seeds.derive(metric_recipe, repeat, "metric")
    yield "forest", lambda: forests(key)
    yield "estimator", lambda: models.unfitted(recipe, repeat)
    yield "refit", lambda: lambda X, y: models.fit(recipe, X, y, repeat)
