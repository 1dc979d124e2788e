"""Appendix A and the sizes that the text states, against the models behind the printed numbers.

A parameter is *found* if a model fitted with it and the others is the authors' saved one, tree for
tree; that of red wine's single tree is read and not fitted, so only its depth is known.
"""

from __future__ import annotations

import pandas as pd

from reproduction import datasets, storage
from reproduction import recorded as recorded_models
from reproduction.metrics.agreement import depths
from reproduction.papers.gajewski2025._settings import DATASETS, MODELS, PUBLISHED, recipe_of
from reproduction.papers.gajewski2025.curves import ERRORS
from reproduction.papers.gajewski2025.models import INPUTS

# Our names of the parameters, and those in print.
NAMES = {
    "learning_rate": "eta",
    "subsample": "subsample",
    "max_depth": "max_depth",
    "n_estimators": "n_trees",
}
# The text of no number, which differs from every printed number.
NOT_FOUND = "nan"
_COLUMNS = ["variant", "dataset", "model", "quantity", "value"]


def compute(inputs, recipes, recorded) -> pd.DataFrame:
    """Parameters and sizes that the text states, as they are behind the printed numbers.

    Parameters
    ----------
    inputs : dict of DataFrame
        ``gajewski2025_single/model_card``, ``gajewski2025_bigger/model_card``, and
        ``gajewski2025_sampling/sampling_error``.
    recipes : dict of str to dict
        Data recipes.
    recorded : path
        ``authors_models.csv``: what identifies the models that the authors saved.

    Returns
    -------
    DataFrame
        ``variant`` (published), ``dataset``, ``model``, ``quantity``, ``value``: of the models
        ``eta``, ``subsample``, ``max_depth`` and ``n_trees``, ``nan`` if they were not found; of
        the data ``n_rows``, training and test together, ``n_features``, and ``n_pairs``, the pairs
        of a row and a set that errors are means over.
    """
    hashes = {
        (row["dataset"], row["model"]): row["value"]
        for row in storage.read_rows(recorded)
        if row["quantity"] == "dump_sha256"
    }
    cards = pd.concat([inputs[name] for name in INPUTS], ignore_index=True)
    cards = cards[(cards["variant"] == PUBLISHED) & (cards["quantity"] == "dump_sha256")]
    cards = cards.set_index(["data", "model"])["value"]
    rows = []
    for dataset in DATASETS:
        for model in MODELS:
            is_saved_model = cards[dataset, model] == hashes.get((dataset, model))
            for name, value in _parameters(dataset, model, is_saved_model).items():
                rows.append((PUBLISHED, dataset, model, name, value))
        rows += [(PUBLISHED, dataset, "", *size) for size in _sizes(recipes[dataset])]
        errors = inputs[ERRORS]
        rows_of_dataset = errors[(errors["variant"] == PUBLISHED) & (errors["data"] == dataset)]
        (n_pairs,) = rows_of_dataset["n_pairs"].unique()
        rows.append((PUBLISHED, dataset, "", "n_pairs", str(n_pairs)))
    return pd.DataFrame(rows, columns=_COLUMNS)


def _parameters(dataset, model, is_saved_model):
    recipe = recipe_of(dataset, model)
    if recipe.get("recorded"):
        parameters = {"max_depth": depths(recorded_models.forest(recipe["recorded"])).max()}
    else:
        parameters = recipe if is_saved_model else {}
    return {printed: str(parameters.get(name, NOT_FOUND)) for name, printed in NAMES.items()}


def _sizes(recipe):
    data = datasets.load(recipe)
    yield "n_rows", str(len(data.X))
    yield "n_features", str(data.X.shape[1])
