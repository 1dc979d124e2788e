"""AIR: actual impurity reduction, MDI minus the MDI of permuted features (Nembrini et al. 2018)."""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np
from numpy.typing import ArrayLike

from splitcredit.measures import mdi
from splitcredit.measures._calls import checked
from splitcredit.models.formats import to_forest, unwrap
from splitcredit.models.opened import Opened, Transformed
from splitcredit.results.attribution import Importance
from splitcredit.rows.names import names_of_columns
from splitcredit.rows.tables import (
    check_whole,
    numbers,
    refuse_container,
    refuse_masked,
    refuse_times,
)

REQUIRES = ("refit",)
_NUMBERS_ONLY = (
    "AIR puts permuted features beside the others, and these would be numbers; encode the "
    "categories as numbers, or in columns of 0 and 1"
)

# Parameters of scikit-learn, XGBoost and LightGBM with settings for single features, and values
# of them that hold for all features alike.
_BY_FEATURE = """
    monotonic_cst interaction_cst monotone_constraints monotone_constraint mc
    interaction_constraints feature_weights feature_contri feature_contrib feature_penalty fc fp
    feature_types categorical_feature categorical_features cat_feature categorical_column cat_column
""".split()
_FOR_ALL = ("pairwise", "no_interactions", "from_dtype", "auto", "")


@checked
def air(
    model: object,
    X: ArrayLike,
    y: ArrayLike,
    *,
    random_state: Annotated[int, ">= 0"] = 0,
    features: Literal["columns", "transformed"] = "columns",
) -> Importance:
    """Measure corrected impurity importances by a fit on the features and permuted shadows.

    One permutation of the rows, shared by all features, makes a shadow of each. The model is
    fitted on features and shadows together, and the importance of a feature is its MDI minus that
    of its shadow.

    Parameters
    ----------
    model : estimator
        A copy of it is fitted; of a fitted pipeline, a copy of the last step. A fitted one says
        in which order the features are, and how they are called. The copy sees twice
        as many features: a share as `max_features` then draws twice as many at a node, ``"sqrt"``
        about 1.4 times as many, and a whole number as many as before.
    X : array-like or DataFrame (n_samples, n_features)
    y : (n_samples,)
    random_state : int
        Seed of the permutation; the estimator keeps its own.
    features : {"columns", "transformed"}
        See `splitcredit.tree_shap`.

    Returns
    -------
    Importance
        In units of rows times impurity, mean over the trees. Values may be negative.

    Raises
    ------
    TypeError
        If the model cannot be fitted, or `to_forest` does not know it.
    ValueError
        If the estimator has settings for single features, such as monotonic constraints; X is no
        table of numbers, or split by categories; or the fitted model has no impurities.

    Notes
    -----
    Nembrini, König and Wright, "The revival of the Gini importance?", Bioinformatics 34 (2018);
    "impurity_corrected" of the R package ranger, which divides by the number of trees too.

    Examples
    --------
    >>> splitcredit.air(model, X, y).values.round(1)  # in rows times the Gini impurity
    array([11.9,  2.7, 27.7, 39.8])
    """
    check_whole("random_state", random_state)
    from sklearn.base import clone, is_regressor

    given, model = model, model.model if isinstance(model, Transformed) else model
    fitted = _forest_of(model)
    refuse(model, fitted)
    opened = Opened(given, X, of_training=True, features=features)
    estimator, steps = opened.inner, opened.steps
    X = steps.training_rows(opened.given)
    refuse_container(X)
    refuse_times(X)
    check_targets = numbers if is_regressor(estimator) else refuse_masked
    check_targets(y, "y")
    X = X if fitted is None else fitted.in_order(X)
    if any(str(dtype) == "category" for dtype in getattr(X, "dtypes", ())):
        raise ValueError(f"X has columns of type category: {_NUMBERS_ONLY}")
    if hasattr(X, "toarray"):
        raise ValueError("X is sparse: pass X.toarray()")
    table = _as_array(X)
    if table.ndim != 2:
        raise ValueError(f"X has {table.ndim} dimension(s), expected 2 (n_samples, n_features)")
    if fitted is not None and table.shape[1] != fitted.n_features:
        raise ValueError(
            f"X has {table.shape[1]} features, the model was fitted on {fitted.n_features}: pass "
            "the columns it was fitted on, in that order"
        )
    order = np.random.default_rng(random_state).permutation(len(table))
    copy = clone(estimator).fit(np.hstack([table, table[order]]), y)
    forest = to_forest(copy)
    _refuse_categories(estimator, forest)
    with_shadows = len(table) * mdi.mdi(forest).values.reshape(2, -1)
    names = _names_of(X, steps) if fitted is None else fitted.feature_names
    parameters = {"random_state": int(random_state)}
    values = with_shadows[0] - with_shadows[1]
    return opened.by_columns(Importance(values, tuple(names), "air", parameters))


def refuse(model, forest) -> None:
    """Raise a TypeError if a model cannot be fitted, a ValueError if shadows would not be alike."""
    estimator, _ = unwrap(model)
    if isinstance(estimator, type) or not (
        hasattr(estimator, "fit") and hasattr(estimator, "get_params")
    ):
        raise TypeError(
            f"AIR fits a model of its own, and {_class_name(estimator)} cannot be fitted: pass "
            "an unfitted estimator, e.g. RandomForestClassifier()"
        )
    _refuse_settings_by_feature(estimator)
    if forest is not None:
        _refuse_categories(estimator, forest)


def _refuse_categories(estimator, forest):
    if forest.categories is not None:
        raise ValueError(f"this {type(estimator).__name__} splits by categories: {_NUMBERS_ONLY}")


def _forest_of(estimator):
    """Return the forest of a fitted estimator, which has names of the features; or None."""
    from sklearn.exceptions import NotFittedError

    try:
        return to_forest(estimator)
    except (NotFittedError, TypeError):
        return None


def _class_name(estimator):
    is_class = isinstance(estimator, type)
    return f"the class {estimator.__name__}" if is_class else type(estimator).__name__


def _names_of(X, steps):
    names = names_of_columns(X)
    names = steps.names_out() if names is None else names
    return [f"x{j}" for j in range(np.shape(X)[1])] if names is None else steps.shortened(names)


def _refuse_settings_by_feature(estimator):
    """Refuse settings for single features, which shadow features would lack."""
    settings = estimator.get_params(deep=False)
    for name in _BY_FEATURE:
        value = settings.get(name)
        if value is not None and not (isinstance(value, str) and value in _FOR_ALL):
            raise ValueError(
                f"{name}={value!r} of this {type(estimator).__name__} is for single features, and "
                f"AIR adds a shadow of each, which it does not cover: fit without {name}"
            )


def _as_array(X):
    """Return X as an array, with NaN in place of the missing values of pandas."""
    if hasattr(X, "iloc") and any(hasattr(dtype, "na_value") for dtype in X.dtypes):
        X = X.astype(object).where(X.notna(), np.nan)
    return np.asarray(X)
