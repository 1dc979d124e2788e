"""Load or draw the data sets of one batch, fit its models, and write them as Forests.

The runs of the batch, which the workflow has packed, are written first: later stages read which
they are. A recipe with ``folds`` is fitted once for each, without its rows, and becomes a
`CrossFitted`. A Forest holds the hash of its training data and the in-bag counts.
"""

from __future__ import annotations

from reproduction import datasets, models, storage
from reproduction.cross_fitted import CrossFitted
from splitcredit.models.formats import to_forest


def add_arguments(parser):
    """Arguments of the job."""
    parser.add_argument("--runs", nargs="+", required=True, help="packed")
    parser.add_argument("--unfitted", action="store_true", help="nothing reads the models")
    parser.add_argument("--plan", required=True, help="takes the runs")
    parser.add_argument("--data", required=True, help="takes the data sets")
    parser.add_argument("--models", required=True, help="takes the models")


def run(arguments):
    """Do the job."""
    runs = storage.unpack(arguments.runs)
    storage.write_json(arguments.plan, runs)
    recipes = {run["data_key"]: (run["data"], run["repeat"]) for run in runs}
    data = {key: datasets.load(*recipe) for key, recipe in recipes.items()}
    storage.write_bundle(arguments.data, data)
    forests = {}
    for run in [] if arguments.unfitted else runs:
        forests[run["key"]] = fitted(run["model"], data[run["data_key"]], run["repeat"])
        print(f"fitted {run['key']}: {forests[run['key']]}", flush=True)
    storage.write_bundle(arguments.models, forests)


def fitted(recipe, data, repeat):
    """The model of a run, as a Forest or a CrossFitted; ValueError if its folds make no sense."""
    if data.n_training is not None:
        if "folds" in recipe:
            raise ValueError(
                "model.folds: these rows are split for training and test already: leave it out"
            )
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
