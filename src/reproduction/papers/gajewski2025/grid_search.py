"""The grid search of appendix A, and where the parameters that were used stand in it.

Optional: nothing else needs it, and it fits 12000 models.
"""

from __future__ import annotations

import pandas as pd

from reproduction.papers.gajewski2025._settings import DATASETS, DESCRIBED, MODELS, recipe_of

ERRORS = "gajewski2025_grid_search/cross_validated_error"
PARAMETERS = ["max_depth", "learning_rate", "subsample"]


def compute(inputs) -> pd.DataFrame:
    """Cross-validated errors, the best first.

    Parameters
    ----------
    inputs : dict of DataFrame
        ``gajewski2025_grid_search/cross_validated_error``.

    Returns
    -------
    DataFrame
        ``dataset``, ``model``, ``rank`` (1 is the best of its model), ``max_depth``,
        ``learning_rate``, ``subsample``; ``value``, the mean RMSE over the folds, and its
        ``deviation`` over them, in units of the target; ``chosen``: ``text`` at the parameters that
        appendix A states, ``saved`` at those of the model that the authors saved, ``text, saved``
        at both. The number of trees is that of the recipe, 40 and 1.
    """
    rows = inputs[ERRORS].rename(columns={"data": "dataset"})
    rows = rows.rename(columns={f"model.{name}": name for name in PARAMETERS})
    rows["rank"] = rows.groupby(["dataset", "model"])["value"].rank(method="first").astype(int)
    rows["chosen"] = ""
    for dataset in DATASETS:
        for model in MODELS:
            who = {
                "text": recipe_of(dataset, model, DESCRIBED),
                "saved": recipe_of(dataset, model),
            }
            of_model = (rows["dataset"] == dataset) & (rows["model"] == model)
            for name, recipe in who.items():
                at = of_model & (rows[PARAMETERS] == [recipe[p] for p in PARAMETERS]).all(axis=1)
                both = rows["chosen"].where(rows["chosen"] == "", rows["chosen"] + ", ") + name
                rows["chosen"] = rows["chosen"].mask(at, both)
    columns = ["dataset", "model", "rank", *PARAMETERS, "value", "deviation", "chosen"]
    return rows.sort_values(["model", "dataset", "rank"])[columns].reset_index(drop=True)
