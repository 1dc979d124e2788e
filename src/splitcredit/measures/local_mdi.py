"""Local MDI: the impurity decreases on the path of each row (sutera2021, Definition 1)."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from splitcredit.kernels.walks import mdi
from splitcredit.measures._attributed import explained
from splitcredit.measures._calls import checked
from splitcredit.models.forest_checks import check_impurity
from splitcredit.results.attribution import Attribution

REQUIRES = ("impurity",)


@checked
def local_mdi(
    model: object,
    X: ArrayLike,
    *,
    dtype: str | type = "float64",
    features: Literal["columns", "transformed"] = "columns",
    check_additivity: bool = True,
    progress: bool | None = None,
) -> Attribution:
    """Attribute impurity decreases to every feature for every row, Eq. 8 of sutera2021.

    Parameters
    ----------
    model : fitted model, Forest or path
        With impurities: entropy, Gini, variance, or any other.
    X, dtype, features, check_additivity, progress
        See `splitcredit.tree_shap`.

    Returns
    -------
    Attribution
        One output, named after the criterion. Values may be negative. They are in units of the
        impurity (bits for entropy) and sum over features to the mean decrease from root to leaf;
        over the rows the trees were grown on, without bagging, they average to global MDI (Eq. 9).

    Raises
    ------
    ValueError
        If the forest has no impurities, or X does not fit it.

    Examples
    --------
    >>> splitcredit.local_mdi(model, X[:1]).values[0, :, 0].round(2)  # Gini impurity
    array([0.11, 0.02, 0.18, 0.35])
    """
    parameters = {"features": features}
    return explained("local_mdi", model, X, parameters, dtype, check_additivity, progress)


def attribute(forest, X) -> Attribution:
    """Attribute some rows, as the trees see them."""
    refuse(forest, forest)
    values = mdi.local_mdi(forest, forest.prepare(X))
    return Attribution(
        values=values[:, :, None],
        baseline=np.zeros(1),
        feature_names=forest.feature_names,
        output_names=(forest.criterion or "impurity",),
        method="local_mdi",
    )


def refuse(model, forest) -> None:
    """Raise a ValueError if nodes have no impurity."""
    check_impurity(forest, "local MDI")
