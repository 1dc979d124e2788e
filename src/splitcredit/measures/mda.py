"""MDA: out-of-bag permutation importance (Breiman 2001)."""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np
from numpy.typing import ArrayLike

from splitcredit.kernels.walks import mda as kernel
from splitcredit.measures._calls import checked
from splitcredit.models.by_columns import forest_by_columns
from splitcredit.models.opened import Opened
from splitcredit.models.training import checked_training_data, refuse_without_oob
from splitcredit.results import progress_bar
from splitcredit.results.attribution import Importance
from splitcredit.rows.tables import check_whole

REQUIRES = ("bootstrap",)


@checked
def mda(
    model: object,
    X: ArrayLike,
    y: ArrayLike,
    *,
    scaled: bool = False,
    random_state: Annotated[int, ">= 0"] = 0,
    features: Literal["columns", "transformed"] = "columns",
    check_additivity: bool = True,
    progress: bool | None = None,
) -> Importance:
    """Measure how accuracy drops when a feature is permuted among each tree's out-of-bag rows.

    Parameters
    ----------
    model, X, features, check_additivity, progress
        See `splitcredit.oob_attributions`.
    y : (n_train,)
        Class labels, or numbers for a regressor, whose squared error takes the place of the share
        of wrong predictions.
    scaled : bool
        Divide by the standard error over the trees, as the R package randomForest does by
        default. Features without any variation keep their raw value, 0 for unused ones.
    random_state : int
        Seed of the permutations; each tree draws with a generator of its own.

    Returns
    -------
    Importance
        Share of wrong predictions, or squared units of the target for a regressor; without unit if
        `scaled`. Values may be negative. The standard error is that over the trees: their standard
        deviation (divided by their number, not one less) over the root of their number; 0 if
        `scaled`.

    Raises
    ------
    ValueError
        If the forest is not bagged, X and y are not its training data, or no tree has an
        out-of-bag row.

    Notes
    -----
    Breiman, "Random forests", Machine Learning 45 (2001).

    Trees vote with the class that is largest in the leaf. Trees without out-of-bag rows are left
    out. A feature that a tree does not test counts 0 in that tree.

    Examples
    --------
    >>> splitcredit.mda(model, X, y).to_frame().round(3)
                 feature  value  standard_error
    0   petal width (cm)  0.306           0.046
    1  petal length (cm)  0.296           0.043
    2  sepal length (cm)  0.057           0.025
    3   sepal width (cm)  0.005           0.004
    """
    check_whole("random_state", random_state)
    opened = Opened(model, X, of_training=True, features=features).checked(check_additivity)
    parameters = {"scaled": bool(scaled), "random_state": int(random_state)}
    return permuted(opened, y, parameters, progress)


def permuted(opened, y, parameters, progress, method="mda", within=None) -> Importance:
    """Measure by `permutations`, or what `within(forest, rows, permutations)` makes of them."""
    forest, X = opened.forest, opened.rows
    rows, y = checked_training_data(forest, X, y)
    refuse_without_oob(forest)
    forest, rows = forest_by_columns(forest, opened.columns, rows)
    orders = permutations(forest.n_features, parameters["random_state"])
    if within is not None:
        orders = within(forest, rows, orders)
    remedy = "fewer trees take less"
    with progress_bar.bar(forest.n_trees, progress, "trees", remedy) as done:
        increases = kernel.loss_increases(forest, rows, y, orders, done)
    measured = increases[~np.isnan(increases).any(axis=1)]
    values, error = measured.mean(axis=0), measured.std(axis=0) / np.sqrt(len(measured))
    if parameters.get("scaled"):
        values, error = values / np.where(error > 0, error, 1.0), None
    parameters |= opened.columns.parameters if opened.columns else {}
    return opened.by_columns(Importance(values, forest.feature_names, method, parameters, error))


def permutations(n_features: int, random_state: int):
    """Make a function of a tree and n that permutes n rows for each feature."""

    def of_tree(tree, n):
        rng = np.random.default_rng([random_state, tree])
        return rng.permuted(np.tile(np.arange(n), (n_features, 1)), axis=1)

    return of_tree
