"""Permutation: loss of the score on given rows if a feature is permuted (scikit-learn)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Annotated, Literal

import numpy as np
from numpy.typing import ArrayLike

from splitcredit.measures._calls import checked
from splitcredit.models.formats import format_of, to_forest, unwrap
from splitcredit.models.formats.containers import rows_in
from splitcredit.models.opened import Opened, Transformed
from splitcredit.models.training import refuse_targets_of_several, targets_of
from splitcredit.results import progress_bar
from splitcredit.results.attribution import Importance
from splitcredit.rows.names import names_of_columns
from splitcredit.rows.tables import check_whole, dense, refuse_container, row_weights

REQUIRES = ("score",)


@checked
def permutation(
    model: object,
    X: ArrayLike,
    y: ArrayLike,
    *,
    n_repeats: Annotated[int, ">= 1"] = 5,
    scoring: str | Callable | None = None,
    sample_weight: ArrayLike | None = None,
    max_samples: Annotated[float, "> 0"] = 1.0,
    random_state: Annotated[int, ">= 0"] = 0,
    features: Literal["columns", "transformed"] = "columns",
    progress: bool | None = None,
) -> Importance:
    """Measure how the score drops if a feature is permuted, by scikit-learn's function.

    Parameters
    ----------
    model : fitted estimator, or Forest that averages trees
        An estimator itself predicts, so pipelines are taken, and models that cannot be converted.
        The features are the columns of X, of a pipeline those that it reads.
    X : array-like or DataFrame (n_samples, n_features)
        Rows that the model was not fitted on, to distinguish features from noise.
    y : (n_samples,)
    n_repeats : int
        Permutations of each feature.
    scoring : str or callable, optional
        Name of a score of scikit-learn, or a function of the model, X and y; by default the score
        of the model.
    sample_weight : (n_samples,), optional
        Weights of the rows in the score, see `splitcredit.importance`. A function as `scoring`
        takes them by this name.
    random_state, max_samples
        As scikit-learn has them: a seed, and the number or share of the rows that are drawn for
        each feature.
    features : {"columns", "transformed"}
        For a pipeline: permute the columns of X, or the features that its steps make.
    progress : bool, optional
        See `splitcredit.tree_shap`.

    Returns
    -------
    Importance
        In units of the score: the accuracy of classifiers, and the share of explained variance of
        regressors. Values may be negative. The standard error is that over the permutations.

    Raises
    ------
    TypeError
        If the model cannot be scored, such as a Booster without a function as `scoring`.
    ValueError
        If X, y, weights or scoring do not fit, there are several scores, or one is not finite.

    Notes
    -----
    Breiman, "Random forests", Machine Learning 45 (2001). ``"mda"`` does the same with the
    out-of-bag rows of each tree.

    Examples
    --------
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> model = KNeighborsClassifier().fit(X[::2], y[::2])
    >>> splitcredit.permutation(model, X[1::2], y[1::2]).values.round(1)
    array([0. , 0. , 0.6, 0.1])
    """
    from sklearn.inspection import permutation_importance
    from sklearn.metrics import check_scoring

    check_whole("random_state", random_state)
    opened, names, rows_of = Opened(model, X, features=features), None, lambda X: X
    if isinstance(model, Transformed) or (features == "transformed" and opened.steps.pipelines):
        each = opened.forest.feature_names, [[j] for j in range(opened.forest.n_features)]
        names, members = opened.columns[:2] if opened.columns else each
        table, model = dense(opened.rows, opened.forest.absent), opened.inner
        # Numbers of rows are permuted, and each column has its features from the row of its number.
        X = np.tile(np.arange(len(table))[:, None], len(names))
        rows_of = partial(_rows_with_columns_of, table, members)
    X = rows_in(X, model)
    refuse_container(X)
    if hasattr(X, "to_pandas"):  # of polars and pyarrow; scikit-learn would make an array of it
        X = X.to_pandas()
    if scoring is None and not hasattr(model, "score"):
        forest = to_forest(model)
        refuse(model, forest)
        model, y = _Averaged(forest), targets_of(forest, y, np.shape(X)[0])
    # A Booster cannot be fitted, as scikit-learn asks for: only a function of its user scores it.
    is_judged_by_user = callable(scoring) and not hasattr(model, "fit")
    score = scoring if is_judged_by_user else check_scoring(model, scoring)
    if np.ndim(X) != 2:
        raise ValueError(
            "X is not a table, whose columns are permuted: pass one, or for a pipeline that begins "
            "with a text or a list the last step, model[-1], and model[:-1].transform(X)"
        )
    weights = row_weights(sample_weight, np.shape(X)[0], opened.index)
    total = 1 + n_repeats * np.shape(X)[1]
    with progress_bar.bar(total, progress, "scores", "fewer rows or repeats take less") as done:

        def counted(_, X, y, **weighted):
            value = score(model, rows_of(X), y, **weighted)
            value, *others = value.values() if isinstance(value, dict) else [value]
            if others:
                raise ValueError("an importance is by one score at a time: call it for each")
            if not np.isfinite(value):
                raise ValueError(f"the score is {value}: pass other rows, or another scoring=")
            done(1)
            return value

        options = {"n_repeats": n_repeats, "random_state": random_state, "max_samples": max_samples}
        estimator = _Averaged(model) if is_judged_by_user else model
        try:
            result = permutation_importance(
                estimator, X, y, scoring=counted, sample_weight=weights, **options
            )
        except Exception as refused:  # any error of the model or the score
            raise ValueError(f"X, y or scoring does not fit the model: {refused}") from refused
    known = list(names or names_of_columns(X) or (f"x{j}" for j in range(np.shape(X)[1])))
    shown = getattr(scoring, "__name__", None if scoring is None else str(scoring))
    parameters = {"n_repeats": n_repeats, "scoring": shown, "random_state": random_state}
    parameters |= {} if max_samples == 1.0 else {"max_samples": max_samples}
    parameters |= {} if weights is None else {"weighted": True}
    error = result.importances_std / np.sqrt(n_repeats)
    kept, source = [*range(len(known))], opened.made_of if features == "columns" else None
    if source and min(source.column) >= 0 and source.groups().keys() <= {*known}:
        kept = [known.index(name) for name in source.groups()]
        parameters |= {"features": "columns"}
    names = tuple(known[k] for k in kept)
    return Importance(result.importances_mean[kept], names, "permutation", parameters, error[kept])


def _rows_with_columns_of(table, members, numbers):
    """Return rows whose features of each column come from the row with its number."""
    taken = table.copy()
    for k, features in enumerate(members):
        if hasattr(table, "iloc"):
            taken.isetitem(features, table.iloc[numbers[:, k], features].set_axis(table.index))
        else:
            taken[:, features] = table[numbers[:, k]][:, features]
    return taken


def refuse(model, forest) -> None:
    """Raise an error if neither the model has a score nor a mean of its trees is its prediction."""
    if hasattr(model, "score"):
        return
    inner, _ = unwrap(model)
    library = format_of(inner)
    if forest.aggregate != "mean" or library.has_link(inner) or library.no_mean(inner):
        remedy = "give scoring=, a name or"
        if not hasattr(model, "fit"):
            remedy = "pass the fitted estimator, or give scoring=,"
        raise TypeError(
            f"method 'permutation' asks the model for its score, and a {library.called(inner)} has "
            f"none: {remedy} a function of the model, X and y"
        )
    refuse_targets_of_several(forest)


class _Averaged:
    """A forest that averages trees, with the score that scikit-learn gives such a model."""

    def __init__(self, forest):
        self.forest = forest

    def fit(self, X, y):
        """Do nothing: scikit-learn asks for the method."""
        return self

    def score(self, X, y, sample_weight=None):
        """Return the accuracy of classes, or the share of explained variance of values."""
        from sklearn.metrics import accuracy_score, r2_score

        prediction = self.forest.predict(X)
        if self.forest.n_outputs > 1:
            return accuracy_score(y, prediction.argmax(axis=1), sample_weight=sample_weight)
        return r2_score(y, prediction[:, 0], sample_weight=sample_weight)
