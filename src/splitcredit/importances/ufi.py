"""UFI: unbiased feature importance by out-of-bag rows (Zhou and Hooker 2019)."""

from __future__ import annotations

from splitcredit.attribution import Importance
from splitcredit.formats import forest_and_training_rows
from splitcredit.importances import penalized_gini

REQUIRES = ("bootstrap",)


def importance(forest, X, y) -> Importance:
    """Unbiased split improvement of every feature, mean over the trees.

    Parameters
    ----------
    forest : Forest or fitted model
        Bagged.
    X : array-like or DataFrame (n_train, n_features)
        The training rows, in their order.
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
    >>> from splitcredit.importances import ufi
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = RandomForestClassifier(20, random_state=0).fit(X, y)
    >>> ufi.importance(model, X, y).values.round(2)
    array([0.07, 0.  , 0.26, 0.25])
    """
    forest, X = forest_and_training_rows(forest, X)
    score = penalized_gini.importance(forest, X, y, preset="ufi")
    factor = 2.0 if forest.n_outputs == 1 else 1.0
    return Importance(factor * score.values, forest.feature_names, "ufi")
