"""Local MDI: the impurity decreases on the path of each row (sutera2021, Definition 1)."""

from __future__ import annotations

import numpy as np

from splitcredit._forest_checks import check_impurity
from splitcredit.attribution import Attribution
from splitcredit.formats import forest_and_rows

REQUIRES = ("impurity",)


def explain(forest, X) -> Attribution:
    """Local MDI of every feature for every row, Eq. 8 of sutera2021.

    Parameters
    ----------
    forest : Forest or fitted model
        With impurities: entropy, Gini, variance, or any other.
    X : array-like or DataFrame (n_samples, n_features)

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
    >>> from splitcredit.importances import local_mdi
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = RandomForestClassifier(20, random_state=0).fit(X, y)
    >>> local_mdi.explain(model, X[:1]).values[0, :, 0].round(2)  # in units of the Gini impurity
    array([0.11, 0.02, 0.18, 0.35])
    """
    from splitcredit.kernels.walks import mdi

    forest, X = forest_and_rows(forest, X)
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
