"""UFI: unbiased feature importance by out-of-bag rows (Zhou and Hooker 2019)."""

from __future__ import annotations

from typing import Literal

from numpy.typing import ArrayLike

from splitcredit.measures import penalized_gini
from splitcredit.measures._calls import checked
from splitcredit.models.opened import Opened
from splitcredit.results.attribution import Importance

REQUIRES = ("bootstrap",)


@checked
def ufi(
    model: object,
    X: ArrayLike,
    y: ArrayLike,
    *,
    features: Literal["columns", "transformed"] = "columns",
    check_additivity: bool = True,
) -> Importance:
    """Measure the unbiased split improvement of every feature, mean over the trees.

    Parameters
    ----------
    model, X, features, check_additivity
        See `splitcredit.oob_attributions`.
    y : (n_train,)

    Returns
    -------
    Importance
        Values may be negative; they are per row, in units of the Gini impurity for a classifier
        and of squared targets for a regressor.

    Raises
    ------
    ValueError
        If the forest is not bagged, X and y are not its training data, or no tree has an
        out-of-bag row.

    Notes
    -----
    Zhou and Hooker, "Unbiased measurement of feature importance in tree-based methods", 2019.

    For a classifier this is PG(0.5, 1) with in-bag weights, 1 - sum_d p_in,d p_oob,d in a node
    (loecher2022, Eq. 14 to 17). For a regressor the authors add up the in-bag variance and the
    out-of-bag squared error about the in-bag mean without the half, so it is twice that. A split
    with a child without out-of-bag rows adds nothing.

    Examples
    --------
    >>> splitcredit.ufi(model, X, y).values.round(2)
    array([0.07, 0.  , 0.26, 0.25])
    """
    opened = Opened(model, X, of_training=True, features=features).checked(check_additivity)
    forest = opened.forest
    score = penalized_gini.importances(forest, opened.rows, y, ["ufi"])["ufi"]
    factor = 2.0 if forest.n_outputs == 1 else 1.0
    return opened.by_columns(Importance(factor * score.values, forest.feature_names, "ufi"))
