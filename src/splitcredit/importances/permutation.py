"""Permutation: what the score on given rows loses if a feature is permuted (scikit-learn)."""

from __future__ import annotations

from typing import Annotated

import numpy as np

from splitcredit import _progress
from splitcredit._names import names_of_columns
from splitcredit._tables import check_whole
from splitcredit.attribution import Importance
from splitcredit.convert import to_forest
from splitcredit.importances._training import refuse_targets_of_several, targets_of

REQUIRES = ("score",)


def importance(
    model,
    X,
    y,
    n_repeats: Annotated[int, ">= 1"] = 5,
    scoring: str | None = None,
    random_state: Annotated[int, ">= 0"] = 0,
    progress: bool | None = None,
) -> Importance:
    """Scikit-learn's ``permutation_importance``, to compare with.

    Parameters
    ----------
    model : fitted estimator, or Forest that averages trees
        An estimator itself predicts, so pipelines are taken, and models that cannot be converted.
        The features are the columns of X.
    X : array-like or DataFrame (n_samples, n_features)
        Rows that the model was not fitted on, to tell features from noise.
    y : (n_samples,)
    n_repeats : int
        Permutations of each feature.
    scoring : str, optional
        Name of a score of scikit-learn; by default that of the model.
    random_state : int
        Seed of the permutations.
    progress : bool, optional
        Whether a bar is shown; by default after two seconds, in a terminal or a notebook.

    Returns
    -------
    Importance
        In units of the score: the accuracy of classifiers, and the share of explained variance of
        regressors. Values may be negative. The standard error is that over the permutations.

    Raises
    ------
    TypeError
        If the model cannot be scored, such as a Booster.

    Notes
    -----
    Breiman, "Random forests", Machine Learning 45 (2001). ``"mda"`` does the same with the
    out-of-bag rows of each tree.

    Examples
    --------
    >>> from splitcredit.importances import permutation
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = KNeighborsClassifier().fit(X[::2], y[::2])
    >>> permutation.importance(model, X[1::2], y[1::2]).values.round(1)
    array([0. , 0. , 0.6, 0.1])
    """
    from sklearn.inspection import permutation_importance
    from sklearn.metrics import check_scoring

    check_whole("random_state", random_state)
    if scoring is None and not hasattr(model, "score"):
        forest = to_forest(model)
        refuse(model, forest)
        model, y = _Averaged(forest), targets_of(forest, y, np.shape(X)[0])
    score = check_scoring(model, scoring)
    total = 1 + n_repeats * np.shape(X)[1]
    with _progress.bar(total, progress, "scores", "fewer rows or repeats take less") as done:

        def counted(model, X, y):
            value = score(model, X, y)
            done(1)
            return value

        options = {"scoring": counted, "n_repeats": n_repeats, "random_state": random_state}
        try:
            result = permutation_importance(model, X, y, **options)
        except (TypeError, ValueError) as refused:
            raise ValueError(f"X, y or scoring does not fit the model: {refused}") from refused
    names = names_of_columns(X) or (f"x{j}" for j in range(np.shape(X)[1]))
    parameters = {"n_repeats": n_repeats, "scoring": scoring, "random_state": random_state}
    error = result.importances_std / np.sqrt(n_repeats)
    return Importance(result.importances_mean, tuple(names), "permutation", parameters, error)


def refuse(model, forest) -> None:
    """Raise an error if neither the model has a score nor a mean of its trees is its prediction."""
    if hasattr(model, "score"):
        return
    if forest.aggregate != "mean":
        raise TypeError(
            f"method 'permutation' asks the model for its score, and a {type(model).__name__} "
            "has none: pass the fitted estimator"
        )
    refuse_targets_of_several(forest)


class _Averaged:
    """A forest that averages trees, with the score that scikit-learn gives such a model."""

    def __init__(self, forest):
        self.forest = forest

    def fit(self, X, y):
        """Nothing is left to fit; scikit-learn asks for the method."""
        return self

    def score(self, X, y):
        """Accuracy of classes, or share of explained variance of values."""
        prediction = self.forest.predict(X)
        if self.forest.n_outputs > 1:
            return np.mean(prediction.argmax(axis=1) == y)
        return 1 - np.mean((prediction[:, 0] - y) ** 2) / np.var(y)
