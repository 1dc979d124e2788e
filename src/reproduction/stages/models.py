"""Fit the models of one batch and write them as Forests, with hash and in-bag counts.

A recipe with ``folds`` is fitted once for each, without its rows, and becomes a `CrossFitted`.
"""

from __future__ import annotations

from reproduction import models, storage, usage
from reproduction.cross_fitted import CrossFitted
from reproduction.datasets import Dataset
from splitcredit.convert import to_forest


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
        with usage.measured(run["key"]):
            forests[run["key"]] = _fitted(run["model"], dataset, run["repeat"])
        print(f"fitted {run['key']}: {forests[run['key']]}", flush=True)
    storage.write_bundle(arguments.out, forests)


def _fitted(recipe, data, repeat):
    if data.n_training is not None:
        if "folds" in recipe:
            raise ValueError("folds: these rows are split for training and test already")
        data = data.training
    fold = models.folds(recipe, len(data.X), repeat)
    if fold is None:
        return to_forest(models.fit(recipe, data.X, data.y, repeat), X_train=data.X)
    training_sets = [data.take(fold != f) for f in range(recipe["folds"])]
    fits = (models.fit(recipe, training.X, training.y, repeat) for training in training_sets)
    forests = [
        to_forest(model, X_train=training.X)
        for model, training in zip(fits, training_sets, strict=True)
    ]
    return CrossFitted(tuple(forests), fold)
