"""Appendix A: whether the stated parameters minimize the cross-validated squared error.

The whole grid (`grid_search`) takes 12 000 fits and is made only under its own name. This artefact
has two sets of parameters for each model: those that the text states, and those with the least
error in the grid. Both are fitted anew on folds of shuffled rows, by which neither was chosen.
"""

import numpy as np
import pandas as pd

from reproduction.papers.gajewski2025 import _folds
from reproduction.papers.gajewski2025._settings import DESCRIBED, recipe_of

ERRORS = "gajewski2025_chosen/shuffled_error"


def compute(inputs) -> pd.DataFrame:
    """Mean errors of both sets of parameters, and the excess of the error of the text's.

    Columns: ``quantity``, ``dataset``, ``model``. For ``RMSE``: ``chosen``, ``text`` or ``grid``;
    the parameters; ``value``, the mean over the folds, in units of the target, and ``n_folds``. For
    ``excess``: ``value``, ``low`` and ``high``, see `_folds.excess`.
    """
    rows = _folds.named(inputs[ERRORS])
    key = ["dataset", "model", *_folds.PARAMETERS]
    means = rows.groupby(key, sort=False)["value"].agg(["mean", "size"]).reset_index()
    means = means.rename(columns={"mean": "value", "size": "n_folds"})
    for (dataset, model), rows_of_model in means.groupby(["dataset", "model"], sort=False):
        is_text = _folds.at(rows_of_model, recipe_of(dataset, model, DESCRIBED))
        means.loc[rows_of_model.index, "chosen"] = np.where(is_text, "text", "grid")
    excess = _folds.excess(rows).assign(quantity="excess")
    table = pd.concat([means.assign(quantity="RMSE"), excess], ignore_index=True)
    columns = ["quantity", *key, "chosen", "value", "low", "high", "n_folds"]
    return table[columns].astype({"max_depth": "Int64", "n_folds": "Int64"})


def statements(table):
    """s25: the parameters minimize the squared error."""
    errors = table[table["quantity"] == "RMSE"]
    of = errors.pivot(index=["dataset", "model"], columns="chosen", values="value")
    excess = table[table["quantity"] == "excess"]
    return _folds.findings(excess, of["text"] / of["grid"] - 1, "best of the grid, new folds")
