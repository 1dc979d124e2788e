"""Appendix A: whether the stated parameters minimize the cross-validated squared error.

The whole grid (`grid_search`) takes 12 000 fits and is made only under its own name. This artefact
has two sets of parameters for each model: those that the text states, and those with the least
error in the grid. Both are fitted anew on folds of shuffled rows, by which neither was chosen.
"""

from itertools import product

import numpy as np
import pandas as pd

from reproduction.papers import around, finding
from reproduction.papers.gajewski2025._settings import DATASETS, DESCRIBED, MODELS, recipe_of

ERRORS = "gajewski2025_chosen/shuffled_error"
PARAMETERS = ["max_depth", "learning_rate", "subsample"]
SETTINGS = list(product(DATASETS, MODELS))
# Standard errors to either side of a difference.
K = 2
# The same number by two ways, off by roundings.
_ROUNDING = 1e-9


def compute(inputs) -> pd.DataFrame:
    """Mean errors of both sets of parameters, and the excess of the error of the text's.

    For ``quantity`` ``RMSE``: ``chosen``, ``text`` or ``grid``; ``value``, the mean over the folds,
    in units of the target. For ``excess``: ``value``, ``low`` and ``high``, see `excess`.
    """
    rows = named(inputs[ERRORS])
    key = ["dataset", "model", *PARAMETERS]
    means = rows.groupby(key, sort=False)["value"].agg(["mean", "size"]).reset_index()
    means = means.rename(columns={"mean": "value", "size": "n_folds"})
    for (dataset, model), rows_of_model in means.groupby(["dataset", "model"], sort=False):
        is_text = at(rows_of_model, recipe_of(dataset, model, DESCRIBED))
        means.loc[rows_of_model.index, "chosen"] = np.where(is_text, "text", "grid")
    tables = [means.assign(quantity="RMSE"), excess(rows).assign(quantity="excess")]
    table = pd.concat(tables, ignore_index=True)
    columns = ["quantity", *key, "chosen", "value", "low", "high", "n_folds"]
    return table[columns].astype({"max_depth": "Int64", "n_folds": "Int64"})


def statements(table):
    """s25: the parameters minimize the squared error."""
    errors = table[table["quantity"] == "RMSE"]
    of = errors.pivot(index=["dataset", "model"], columns="chosen", values="value")
    rows = table[table["quantity"] == "excess"]
    return findings(rows, of["text"] / of["grid"] - 1, "best of the grid, new folds")


def named(errors) -> pd.DataFrame:
    """A table of `cross_validated_error` with the columns ``dataset`` and `PARAMETERS`."""
    columns = {"data": "dataset", **{f"model.{name}": name for name in PARAMETERS}}
    return errors.rename(columns=columns)


def at(rows, recipe) -> np.ndarray:
    """Whether each row has the parameters of a recipe, bool (n_rows,)."""
    return (rows[PARAMETERS] == [recipe[p] for p in PARAMETERS]).all(axis=1).to_numpy()


def excess(rows) -> pd.DataFrame:
    """Excess of the error at the stated parameters over the least error."""
    excesses = []
    for dataset, model in SETTINGS:
        of_model = rows[(rows["dataset"] == dataset) & (rows["model"] == model)]
        is_text = at(of_model, recipe_of(dataset, model, DESCRIBED))
        folds = ["shuffle", "fold"]
        others = of_model[~is_text].pivot(index=folds, columns=PARAMETERS, values="value")
        best = others[others.mean().idxmin()]
        text_errors = of_model[is_text].set_index(folds)["value"]
        differences = (text_errors - best).to_numpy() / best.mean()
        share = 1 / len(differences) + of_model["n_held_out"].sum() / of_model["n_training"].sum()
        value, error = differences.mean(), K * np.sqrt(share * differences.var(ddof=1))
        excesses.append((dataset, model, value, *around(value, error)))
    return pd.DataFrame(excesses, columns=["dataset", "model", "value", "low", "high"])


def findings(table, expected, where):
    """s25 of each row of `excess`; `where` begins the names of the variants."""
    measured = "mean cross-validated RMSE at the stated parameters less that at the best others, "
    measured += "as a share"
    reading = (
        "what minimizes the error has none above that of other parameters, on our folds; the "
        f"interval is {K} standard errors over folds, corrected for the rows that they share"
    )
    for row in table.to_dict("records"):
        dataset, model = key = row["dataset"], row["model"]
        place = ("s25", f"{where}, {dataset}, {model}", measured, row["value"], 0)
        options = {"interval": (row["low"], row["high"]), "possible": (-1, None)}
        options["expected"] = around(expected[key], _ROUNDING)
        yield finding(*place, reading=reading, **options)
