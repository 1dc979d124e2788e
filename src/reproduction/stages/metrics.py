"""Compute one metric for every model of one batch, from its importances."""

from __future__ import annotations

import contextlib
import inspect
import json

import pandas as pd

from reproduction import cross_fitted, models, seeds, storage, usage
from reproduction.datasets import Dataset
from reproduction.metrics import keys, metric
from splitcredit import attribution


def add_arguments(parser):
    """Arguments of the job."""
    parser.add_argument("--plan", required=True)
    parser.add_argument("--data", required=True)
    parser.add_argument(
        "--models", nargs="*", default=[], help="only for metrics that take the forest"
    )
    parser.add_argument("--names", nargs="*", default=[], help="of the importances, in order")
    parser.add_argument("--importances", nargs="*", default=[], help="their files")
    parser.add_argument("--recipe", type=json.loads, required=True)
    parser.add_argument("--out", required=True)


def run(arguments):
    """Do the job."""
    compute = metric(arguments.recipe["metric"])
    data = storage.read_bundle(arguments.data, Dataset)
    files = dict(zip(arguments.names, arguments.importances, strict=True))
    bundles = {name: storage.read_bundle(path, attribution) for name, path in files.items()}
    with contextlib.ExitStack() as stack:
        opened = [storage.open_bundle(path, cross_fitted) for path in arguments.models]
        forests = [stack.enter_context(bundle) for bundle in opened]
        frames = _frames(arguments, compute, data, bundles, forests)
    storage.write_table(arguments.out, pd.concat(frames, ignore_index=True))


def _frames(arguments, compute, data, bundles, forests):
    """The metric of each run."""
    frames = []
    for run in storage.read_json(arguments.plan):
        attributions = {name: bundle[run["key"]] for name, bundle in bundles.items()}
        options = {k: v for k, v in arguments.recipe.items() if k != "metric"}
        accepted = inspect.signature(compute).parameters
        with usage.measured(run["key"]):
            for name, value in _available(arguments, data[run["data_key"]], forests, run):
                if name in accepted:
                    options[name] = value()
            frame = compute(attributions, **options)
        _check_is_table(arguments.recipe["metric"], frame, run["key"])
        frame.insert(0, "run", run["key"])
        frames.append(frame)
    return frames


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


def _available(arguments, data, forests, run):
    """Arguments that a metric may take, by name, as functions that get them."""
    key, recipe, repeat = run["key"], run["model"], run["repeat"]
    yield "data", lambda: data.explained
    yield "training", lambda: data.training
    yield "random_state", lambda: seeds.derive(arguments.recipe, repeat, "metric")
    yield "forest", lambda: forests[0](key)
    yield "estimator", lambda: models.unfitted(recipe, repeat)
    yield "refit", lambda: lambda X, y: models.fit(recipe, X, y, repeat)
