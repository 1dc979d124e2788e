"""The grid search of appendix A, and where the parameters that were used stand in it.

Optional: it fits 12 000 models. `chosen_parameters` compares its best parameters with the text.
"""

import pandas as pd

from reproduction.papers.gajewski2025 import chosen_parameters as folds
from reproduction.papers.gajewski2025._settings import DESCRIBED, PUBLISHED, recipe_of
from reproduction.papers.gajewski2025.chosen_parameters import PARAMETERS, SETTINGS

ERRORS = "gajewski2025_grid_search/cross_validated_error"


def compute(inputs) -> pd.DataFrame:
    """Cross-validated errors, the best first.

    ``rank`` 1 is the best of its model; ``value``, the mean RMSE over the folds, and its
    ``deviation`` over them, in units of the target; ``chosen``: ``text`` at the parameters that
    appendix A states, ``saved`` at those of the model that the authors saved, ``text, saved`` at
    both. At those of the text ``excess``, ``low`` and ``high``, see `chosen_parameters.excess`.
    """
    fits = folds.named(inputs[ERRORS])
    grouped = fits.groupby(["dataset", "model", *PARAMETERS], sort=False)["value"]
    rows = grouped.agg(value="mean", deviation="std").reset_index()
    rows["rank"] = rows.groupby(["dataset", "model"])["value"].rank(method="first").astype(int)
    rows["chosen"] = ""
    excess = folds.excess(fits).set_index(["dataset", "model"])
    for dataset, model in SETTINGS:
        of_model = (rows["dataset"] == dataset) & (rows["model"] == model)
        for name, variant in (("text", DESCRIBED), ("saved", PUBLISHED)):
            is_recipe = of_model & folds.at(rows, recipe_of(dataset, model, variant))
            labels = rows["chosen"].where(rows["chosen"] == "", rows["chosen"] + ", ") + name
            rows["chosen"] = rows["chosen"].mask(is_recipe, labels)
            if name == "text":
                of_text = excess.loc[(dataset, model), ["value", "low", "high"]].tolist()
                rows.loc[is_recipe, ["excess", "low", "high"]] = of_text
    columns = ["dataset", "model", "rank", *PARAMETERS, "value", "deviation", "chosen"]
    columns += ["excess", "low", "high"]
    return rows.sort_values(["model", "dataset", "rank"])[columns].reset_index(drop=True)


def statements(table):
    """s25: the parameters minimize the squared error, in the whole grid and on its own folds."""
    of_text = table["chosen"].str.contains("text")
    keys = ["dataset", "model"]
    least = table[~of_text].groupby(keys)["value"].min()
    excess = table[of_text].set_index(keys)["value"] / least - 1
    rows = table[of_text].assign(value=table["excess"])
    return folds.findings(rows, excess, "whole grid, folds in order")
