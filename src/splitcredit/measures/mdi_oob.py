"""MDI-oob: MDI as a sum of Saabas' contributions, over the out-of-bag rows of each tree."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from splitcredit.kernels.walks import oob
from splitcredit.measures._calls import checked
from splitcredit.models.opened import Opened
from splitcredit.models.prediction import chosen_outputs
from splitcredit.models.training import ROWS, refuse_without_oob, sums_of_nodes
from splitcredit.results.attribution import Importance
from splitcredit.rows.tables import check_choice

REQUIRES = ("bootstrap",)

DIVISORS = ("rows", "targets")


@checked
def mdi_oob(
    model: object,
    X: ArrayLike,
    y: ArrayLike,
    *,
    rows: Literal["inbag", "oob"] = "oob",
    output: str | int = "all",
    divide_by: Literal["rows", "targets"] = "rows",
    features: Literal["columns", "transformed"] = "columns",
    check_additivity: bool = True,
) -> Importance:
    """Average sum_i f_{T,k}(x_i) y_i / n over trees T and their in-bag or out-of-bag rows i.

    f_{T,k} is what Saabas' method credits to feature k in tree T, called CFC in loecher2022; its
    node means are those of the in-bag rows. y is one-hot for a classifier.

    Parameters
    ----------
    model, X, features, check_additivity
        See `splitcredit.oob_attributions`.
    y : (n_train,)
    rows : {"oob", "inbag"}
        ``"oob"`` is MDI-oob of Li et al. (2019); ``"inbag"``, each row as often as it was drawn,
        is MDI: Gini's for all classes, the variance's for one output.
    output : "all", or the name or index of one output
        Products are added over the outputs. A single class is loecher2022, Eq. 22 and 23.
    divide_by : {"rows", "targets"}
        What n is: the number of the rows (Eq. 10), or the sum of their y (Eq. 11), which for a
        class is the number of the rows in it. The second has another factor in every tree. So it
        is not equal to MDI, as printed, but proportional to it in the limit of many rows.

    Returns
    -------
    Importance
        In units of the Gini impurity for a classifier and of squared targets for a regressor.
        Out-of-bag values may be negative. A tree without such rows, or without such rows of the
        class, adds 0.

    Raises
    ------
    ValueError
        If the forest is not bagged, X and y are not its training data, or no tree has the
        out-of-bag rows that `rows` asks for.

    Notes
    -----
    Li, Wang, Basu, Kumbier and Yu, "A debiased MDI feature importance measure for random forests",
    NeurIPS 2019; loecher2022, Eq. 10 and 11.

    Examples
    --------
    >>> splitcredit.mdi_oob(model, X, y).values.round(2)
    array([0.08, 0.01, 0.26, 0.27])
    >>> splitcredit.mdi_oob(model, X, y, rows="inbag").values.round(2)  # MDI itself
    array([0.08, 0.02, 0.28, 0.27])
    """
    opened = Opened(model, X, of_training=True, features=features).checked(check_additivity)
    forest, X = opened.forest, opened.rows
    check_choice("rows", rows, ROWS)
    check_choice("divide_by", divide_by, DIVISORS)
    outputs = chosen_outputs(forest, output)
    sums = sums_of_nodes(forest, X, y)
    if rows == "oob":
        refuse_without_oob(forest)
    kind = ROWS.index(rows)
    products = oob.contributions_times_targets(forest, sums, kind)
    n = _divisors(forest, sums, kind, divide_by)[:, None, :]
    shares = np.divide(products, n, out=np.zeros_like(products), where=n != 0)
    values = shares[:, :, outputs].sum(axis=2).mean(axis=0)
    output = output if isinstance(output, str) else int(output)
    parameters = {"rows": rows, "output": output, "divide_by": divide_by}
    return opened.by_columns(Importance(values, forest.feature_names, "mdi_oob", parameters))


def _divisors(forest, sums, kind, divide_by):
    """Return the number n of every tree and output, (n_trees, n_outputs)."""
    roots = forest.tree_offsets[:-1]
    rows, targets = sums.rows[kind][roots], sums.targets[kind][roots]
    if divide_by == "rows":
        return np.repeat(rows[:, None], forest.n_outputs, axis=1)
    return targets + rows[:, None] * sums.center
