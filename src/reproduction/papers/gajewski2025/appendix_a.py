"""Appendix A and the sizes that the text states, against the models behind the printed numbers.

A parameter is *found* if a model fitted with it and the others is the authors' saved one, tree for
tree; that of red wine's single tree is read and not fitted, so only its depth is known.
"""

import numpy as np
import pandas as pd

from reproduction import datasets, models, storage
from reproduction import recorded as recorded_models
from reproduction.datasets import california_housing
from reproduction.metrics.trees import tree_depths
from reproduction.papers.gajewski2025 import _other_routes
from reproduction.papers.gajewski2025._settings import DATASETS, MODELS, PUBLISHED, recipe_of
from reproduction.papers.gajewski2025.curves import ERRORS
from reproduction.papers.gajewski2025.models import INPUTS
from splitcredit.models.formats import to_forest

# Our names of the parameters, and those in print.
NAMES = {
    "learning_rate": "eta",
    "subsample": "subsample",
    "max_depth": "max_depth",
    "n_estimators": "n_trees",
}
# The text of no number, which differs from every printed number.
NOT_FOUND = "nan"
_COLUMNS = ["variant", "dataset", "model", "quantity", "value", "expected_low", "expected_high"]
# Pairs of a row and a set that the text states.
PAIRS = 20000


def compute(inputs, recipes, recorded) -> pd.DataFrame:
    """Parameters and sizes that the text states, as they are behind the printed numbers.

    ``quantity``: of the models ``eta``, ``subsample``, ``max_depth`` and ``n_trees``, ``nan`` if
    they were not found; of the data ``n_rows``, training and test together, ``n_features``, and
    ``n_pairs``, the pairs of a row and a set that errors are means over. ``expected_low`` and
    ``expected_high``: where the same number lies by another route, see `_expected`.
    """
    saved: dict = {}
    for row in storage.read_rows(recorded):
        saved.setdefault((row["dataset"], row["model"]), {})[row["quantity"]] = row["value"]
    cards = pd.concat([inputs[name] for name in INPUTS], ignore_index=True)
    cards = cards[(cards["variant"] == PUBLISHED) & (cards["quantity"] == "dump_sha256")]
    cards = cards.set_index(["data", "model"])["value"]
    rows = []
    for dataset in DATASETS:
        for model in MODELS:
            hash_of_saved = saved.get((dataset, model), {}).get("dump_sha256")
            is_saved_model = cards[dataset, model] == hash_of_saved
            for name, value in _parameters(dataset, model, is_saved_model).items():
                rows.append((PUBLISHED, dataset, model, name, value))
        errors = inputs[ERRORS]
        rows_of_dataset = errors[(errors["variant"] == PUBLISHED) & (errors["data"] == dataset)]
        (n_pairs,) = rows_of_dataset["n_pairs"].unique()
        n_rows, n_features = datasets.load(recipes[dataset]).X.shape
        sizes = {"n_rows": n_rows, "n_features": n_features, "n_pairs": n_pairs}
        rows += [(PUBLISHED, dataset, "", name, str(size)) for name, size in sizes.items()]
    table = pd.DataFrame(rows, columns=_COLUMNS[:5])
    expected = {}
    for dataset, recipe in recipes.items():
        n_trees = saved[dataset, "bigger"]["n_trees"]
        expected |= dict(_expected(dataset, recipe, float(n_trees)))
    keys = table[["dataset", "model", "quantity"]].itertuples(index=False, name=None)
    ends = [expected.get(key, (np.nan, np.nan)) for key in keys]
    return table.assign(**dict(zip(_COLUMNS[5:], np.transpose(ends), strict=True)))


def _expected(dataset, recipe, n_trees):
    """Ranges of numbers that differ from print, by other routes than the numbers themselves."""
    # The number of trees was read of the saved model; eta and subsample follow from the trees, and
    # the depth of a full tree from its leaves; pairs from the features, and rows from the raw data.
    data = datasets.load({**recipe, "split": "authors"})
    d, training = data.X.shape[1], data.training
    forest = to_forest(models.fit(recipe_of(dataset, "bigger"), training.X, training.y))
    yield (dataset, "bigger", "n_trees"), (n_trees, n_trees)
    parameters = _other_routes.parameters(forest, forest.prepare(training.X), training.y)
    for name, ends in parameters.items():
        yield (dataset, "bigger", name), ends
    recorded_tree = recipe_of(dataset, "single").get("recorded")
    if recorded_tree:
        leaves = (recorded_models.forest(recorded_tree).n_nodes + 1) // 2
        yield (dataset, "single", "max_depth"), (np.log2(leaves),) * 2
    yield (dataset, "", "n_pairs"), (d * (PAIRS // d),) * 2
    if dataset == "california_housing":
        n_rows = california_housing.TABLE.read()["total_bedrooms"].notna().sum()
        yield (dataset, "", "n_rows"), (n_rows,) * 2


def _parameters(dataset, model, is_saved_model):
    recipe = recipe_of(dataset, model)
    if recipe.get("recorded"):
        parameters = {"max_depth": tree_depths(recorded_models.forest(recipe["recorded"])).max()}
    else:
        parameters = recipe if is_saved_model else {}
    return {printed: str(parameters.get(name, NOT_FOUND)) for name, printed in NAMES.items()}
