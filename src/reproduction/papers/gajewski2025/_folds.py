"""Errors of the grid's parameters on the same folds, and whether the stated ones are the least."""

import numpy as np
import pandas as pd

from reproduction.papers import around, finding
from reproduction.papers.gajewski2025._settings import DATASETS, DESCRIBED, MODELS, recipe_of

PARAMETERS = ["max_depth", "learning_rate", "subsample"]
# Standard errors to either side of a difference.
K = 2


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
    for dataset in DATASETS:
        for model in MODELS:
            rows_of_model = rows[(rows["dataset"] == dataset) & (rows["model"] == model)]
            is_text = at(rows_of_model, recipe_of(dataset, model, DESCRIBED))
            other_errors = rows_of_model[~is_text].pivot(
                index=["shuffle", "fold"], columns=PARAMETERS, values="value"
            )
            best = other_errors.mean().idxmin()
            text_errors = rows_of_model[is_text].set_index(["shuffle", "fold"])["value"]
            differences = (text_errors - other_errors[best]).to_numpy() / other_errors[best].mean()
            share = (
                1 / len(differences)
                + rows_of_model["n_held_out"].sum() / rows_of_model["n_training"].sum()
            )
            value, error = differences.mean(), K * np.sqrt(share * differences.var(ddof=1))
            excesses.append((dataset, model, value, *around(value, error)))
    return pd.DataFrame(excesses, columns=["dataset", "model", "value", "low", "high"])


def findings(table, expected, where) -> list[dict]:
    """s25 of each row of `excess`; `where` begins the names of the variants.

    `expected` has the excess by data set and model as the mean errors give it.
    """
    reason = (
        "what minimizes the error has none above that of other parameters, on our folds; the "
        f"interval is {K} standard errors over folds, corrected for the rows that they share"
    )
    return [
        finding(
            "s25",
            f"{where}, {row['dataset']}, {row['model']}",
            "mean cross-validated RMSE at the stated parameters less that at the best others, as a "
            "share",
            row["value"],
            0,
            basis="our reading",
            reason=reason,
            interval=(row["low"], row["high"]),
            possible=(-1, None),
            expected=around(expected[row["dataset"], row["model"]], _ROUNDING),
        )
        for row in table.to_dict("records")
    ]


# The same number by two ways, off by roundings.
_ROUNDING = 1e-9
