"""The functions that users meet first: one door to every method.

Every function takes a fitted model of scikit-learn, XGBoost, LightGBM or CatBoost, a Booster, a
`Forest`, the path of a model file, a pipeline, or a fitted search. X goes through the steps of a
pipeline first; the features are then those that come out of these steps.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from splitcredit import _chunks, _groups, _handed_over, _methods, _ranks
from splitcredit._methods import methods
from splitcredit._names import row_index
from splitcredit._tables import check_choice, check_whole, dense, records, rows_at
from splitcredit.attribution import Attribution, Importance
from splitcredit.formats import (
    forest_and_rows,
    forest_and_training_rows,
    forest_rows_and_start,
    source_of,
    to_forest,
    unit_of,
)
from splitcredit.formats.containers import name_of_offset, offsets, rows_in
from splitcredit.formats.own import check as check_own
from splitcredit.gaps import prediction_gap
from splitcredit.gaps.rankings import Rankings, refuse_another_order_of_rows
from splitcredit.importances._prediction import OutputIndex, refuse_targets
from splitcredit.kernels.results import Whole

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import ArrayLike

__all__ = ["explain", "explain_chunks", "faithfulness", "importance", "methods", "rank"]

_DTYPES = ("float64", "float32")
# Methods whose values and baseline add up to the prediction, and those in its units.
_OF_PREDICTION = ("tree_shap", "tree_shap_interventional", "saabas")
_IN_ITS_UNITS = (*_OF_PREDICTION, "oob_attributions")


@_methods.named
def explain(
    model: object,
    X: ArrayLike,
    method: str = "tree_shap",
    *,
    output: str | int = "all",
    background: ArrayLike | None = None,
    model_output: Literal["raw", "probability", "log_loss", "squared_error"] = "raw",
    groups: dict | None = None,
    algorithm: Literal["auto", "blocks", "tables", "rows"] = "auto",
    attribution: Literal["saabas", "tree_shap"] = "tree_shap",
    rows: Literal["inbag", "oob"] = "oob",
    n_permutations: int | None = None,
    random_state: int = 0,
    y: ArrayLike | None = None,
    dtype: str | type = "float64",
    check_additivity: bool = True,
    progress: bool | None = None,
) -> Attribution:
    """Attribute the predictions (or impurity decreases) of a fitted model to its features, by row.

    Parameters
    ----------
    model : fitted model, Forest or path
        Anything `splitcredit.to_forest` accepts.
    X : array-like, sparse matrix, DataFrame, DMatrix, Pool or Dataset (n_samples, n_features)
        Or rows as dicts. Columns with names may come in any order. The baseline of a row holds the
        base margin of its DMatrix or the baseline of its Pool, if there is one.
    method : str
        See `splitcredit.methods`: ``"tree_shap"``, ``"tree_shap_interventional"``, ``"saabas"``,
        ``"local_mdi"``, or ``"oob_attributions"`` of the training rows.
    y : (n_samples,), optional
        Targets of the rows, for methods that explain a loss: ``"tree_shap_interventional"`` with
        ``model_output="log_loss"`` or ``"squared_error"``. Other methods ignore them.
    dtype : {"float64", "float32"}
        Of the values. All work is in float64; float32 halves the memory of the result.
    check_additivity : bool
        Whether a few rows are compared with what the model itself predicts, if it is at hand.
    progress : bool, optional
        Whether a bar on standard error shows the rows done. By default it appears after two
        seconds, in terminals and notebooks.
    output : str or int
        ``"all"``, the name or index of one, or ``"predicted"``: that of the predicted class of each
        row.
    background : array-like or DataFrame (n_background, n_features), optional
        Rows that ``"tree_shap_interventional"`` takes unknown features from.
    model_output : {"raw", "probability", "log_loss", "squared_error"}
        What ``"tree_shap_interventional"`` explains.
    groups : dict of str to list of str or int, optional
        Features that ``"tree_shap"`` takes for one player each.
    algorithm : {"auto", "blocks", "tables", "rows"}
        Of ``"tree_shap"``; the values are the same.
    attribution : {"tree_shap", "saabas"}
        What ``"oob_attributions"`` are.
    rows : {"oob", "inbag"}
        Whose trees explain a row in ``"oob_attributions"``.
    n_permutations, random_state : int, optional
        Of ``"tree_shap_interventional"`` for probabilities or losses of several classes.

    Returns
    -------
    Attribution
        ``values`` is (n_samples, n_features, n_outputs). If X is a DataFrame, ``to_frame`` has
        its index.

    Raises
    ------
    TypeError
        If a parameter of the method is missing or unknown, or `to_forest` does not know the model.
    ValueError
        See `to_forest`, `Forest.prepare` and the method; and if the model predicts something else
        than its trees, as a subclass may.

    Notes
    -----
    Rows are explained in chunks. The values of a row do not depend on its chunk, by one bit.

    Examples
    --------
    >>> import splitcredit
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = DecisionTreeClassifier(max_depth=2, random_state=0).fit(X, y)
    >>> attribution = splitcredit.explain(model, X[:1], output="predicted")
    >>> attribution
    Attribution('tree_shap', 1 samples, 4 features, 1 outputs)
    >>> attribution.totals().round(6)  # the fraction of the predicted class
    array([[1.]])
    """
    method, parameters = _methods.meant(method, _methods.chosen(explain, locals()))
    X = records(X, model)
    value_dtype, labels = _dtype(dtype), row_index(X)
    found = _methods.look_up(method, "explain")
    function = found.attribute
    _methods.check(method, function, ("X",), parameters)
    given, source = model, source_of(model, X)
    if _handed_over.is_needed(model, method):
        own = _handed_over.explain(model, X, check_additivity=check_additivity, **parameters)
        return replace(own, values=own.values.astype(value_dtype), source=source)
    if not found.takes_any_rows:
        model, X = forest_and_training_rows(model, X)
    forest, table, parameters, offset = _opened(model, X, method, parameters)
    n_samples = table.shape[0]
    step = max(n_samples, 1)
    if found.takes_any_rows:
        step = _chunks.chunk_rows(forest, method, parameters)
    y = y if _methods.takes(function, "y") else None
    whole = Whole(n_samples, value_dtype)
    options = {"y": y, "whole": whole, "offset": offset}
    pieces = _chunks.attributions(
        function, forest, table, step, value_dtype, progress, parameters, **options
    )
    if check_additivity:
        pieces = _compared(pieces, given, X, forest, table, offset, method, parameters)
    joined = _chunks.joined(pieces, n_samples, whole)
    joined = _with_rows(joined, forest, labels, table, source)
    return replace(joined, unit=unit_of(given, forest)) if method in _IN_ITS_UNITS else joined


@_methods.named
def explain_chunks(
    model: object,
    X: ArrayLike,
    method: str = "tree_shap",
    *,
    output: str | int = "all",
    background: ArrayLike | None = None,
    model_output: Literal["raw", "probability", "log_loss", "squared_error"] = "raw",
    groups: dict | None = None,
    algorithm: Literal["auto", "blocks", "tables", "rows"] = "auto",
    attribution: Literal["saabas", "tree_shap"] = "tree_shap",
    rows: Literal["inbag", "oob"] = "oob",
    n_permutations: int | None = None,
    random_state: int = 0,
    y: ArrayLike | None = None,
    chunk_rows: int | None = None,
    dtype: str | type = "float64",
    check_additivity: bool = True,
    progress: bool | None = None,
) -> Iterator[Attribution]:
    """Attribute rows as `explain` does, a chunk at a time: for results larger than the memory.

    Parameters
    ----------
    model, X, method, output, background, model_output, groups, algorithm, attribution, rows
        See `explain`.
    n_permutations, random_state, y, dtype, check_additivity, progress
        See `explain`.
    chunk_rows : int, optional
        Rows in a chunk; by default as many as make 64 MB of values, and less for large forests.

    Returns
    -------
    iterator of Attribution
        Together they hold the values that `explain` gives, bit for bit.

    Raises
    ------
    TypeError, ValueError
        As `explain`, and if the method needs all its rows at once. The call itself refuses unknown
        methods and parameters; wrong values of parameters, and a wrong X, are refused when the
        first chunk is taken.

    Examples
    --------
    >>> import splitcredit
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = DecisionTreeClassifier(max_depth=2, random_state=0).fit(X, y)
    >>> for part in splitcredit.explain_chunks(model, X, chunk_rows=100):
    ...     print(repr(part))
    Attribution('tree_shap', 100 samples, 4 features, 3 outputs)
    Attribution('tree_shap', 50 samples, 4 features, 3 outputs)
    """
    method, parameters = _methods.meant(method, _methods.chosen(explain_chunks, locals()))
    X = records(X, model)
    value_dtype, labels = _dtype(dtype), row_index(X)
    found = _methods.look_up(method, "explain")
    function = found.attribute
    if not found.takes_any_rows:
        raise ValueError(f"method {method!r} attributes all training rows at once: use explain")
    if chunk_rows is not None:
        check_whole("chunk_rows", chunk_rows, 1)
    _methods.check(method, function, ("X",), parameters)
    if _handed_over.is_needed(model, method):
        parameters["check_additivity"] = check_additivity
        return _handed_over.explain_chunks(model, X, chunk_rows, value_dtype, **parameters)
    forest, table, parameters, offset = _opened(model, X, method, parameters)
    step = _chunks.chunk_rows(forest, method, parameters) if chunk_rows is None else int(chunk_rows)
    y = y if _methods.takes(function, "y") else None
    pieces = _chunks.attributions(
        function, forest, table, step, value_dtype, progress, parameters, y=y, offset=offset
    )
    if check_additivity:
        pieces = _compared(pieces, model, X, forest, table, offset, method, parameters)
    unit = unit_of(model, forest) if method in _IN_ITS_UNITS else ""
    return _each_with_rows(pieces, forest, labels, table, source_of(model, X), unit)


@_methods.named
def importance(
    model: object,
    X: ArrayLike | None = None,
    y: ArrayLike | None = None,
    method: str = "mdi",
    *,
    output: str | int = "all",
    background: ArrayLike | None = None,
    model_output: Literal["raw", "probability", "log_loss", "squared_error"] = "raw",
    groups: dict | None = None,
    algorithm: Literal["auto", "blocks", "tables", "rows", "sampled", "exact"] | None = None,
    attribution: Literal["saabas", "tree_shap"] = "tree_shap",
    rows: Literal["inbag", "oob"] = "oob",
    weigh_by: Literal["absolute", "y", "centered_y"] = "absolute",
    divide_by: Literal["rows", "targets"] = "rows",
    normalize: Literal["none", "trees"] = "none",
    kind: Literal["weight", "gain", "total_gain", "cover", "total_cover"] = "weight",
    scaled: bool = False,
    n_repeats: int = 5,
    scoring: str | Callable | None = None,
    sample_weight: ArrayLike | None = None,
    max_samples: float = 1.0,
    loss: Literal["cross_entropy", "mse"] | None = None,
    imputer: Literal["marginal", "conditional"] = "marginal",
    threshold: float = 0.025,
    n_permutations: int | None = None,
    random_state: int = 0,
    preset: str = "pg_hat_10",
    alpha: float | None = None,
    penalty: float | None = None,
    weights: Literal["inbag", "oob"] | None = None,
    min_child_oob: int | None = None,
    min_child_inbag: int | None = None,
    correction: Literal["none", "own", "oob"] | None = None,
    per_row: bool | None = None,
    check_additivity: bool = True,
    progress: bool | None = None,
) -> Importance:
    """Global importances of the features of a fitted model.

    Parameters
    ----------
    model : fitted model, Forest or path
        See `explain`. For ``"air"``, an estimator; a copy of it is fitted.
    X : array-like or DataFrame (n_samples, n_features), optional
        Rows; for methods that need bootstrap, the training rows in their order. ``"mdi"`` takes
        neither X nor y, but what the model keeps of its training rows.
    y : (n_samples,), optional
        Targets of the rows, where the method needs them.
    method : str
        See `splitcredit.methods`; a name of `compare`, such as ``"oob_shap_centered"``, is taken,
        too. A method that attributes rows gives the mean absolute attribution over the rows of X,
        added over the outputs; ``output="predicted"``, or the name or index of one, takes a single
        output.
    check_additivity : bool
        See `explain`. ``"air"`` and ``"permutation"`` ask the model itself.
    progress : bool, optional
        As for `explain`, where rows are attributed, and for ``"sage"`` and ``"mda"``.
    output, background, model_output, groups, algorithm, attribution, rows
        See `explain`. ``"sage"`` takes a background, too, and an algorithm, ``"sampled"`` or
        ``"exact"``; ``"mdi_oob"`` takes rows and an output.
    weigh_by
        Of ``"oob_attributions"``.
    divide_by
        Of ``"mdi_oob"``.
    normalize
        Of ``"mdi"``.
    kind
        Of ``"splits"``.
    scaled
        Of ``"mda"``.
    n_repeats, scoring, sample_weight, max_samples
        Of ``"permutation"``.
    loss, imputer, threshold, n_permutations
        Of ``"sage"``.
    random_state
        Seed of ``"air"``, ``"mda"``, ``"permutation"`` and ``"sage"``.
    preset, alpha, penalty, weights, min_child_oob, min_child_inbag, correction, per_row
        Of ``"penalized_gini"``.

    Returns
    -------
    Importance
        In the units of the method; see its module in `splitcredit.importances`.

    Raises
    ------
    TypeError, ValueError
        As `explain`; TypeError also if X or y is missing, or is text.

    Examples
    --------
    >>> import splitcredit
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = RandomForestClassifier(20, random_state=0).fit(X, y)
    >>> splitcredit.importance(model)
    Importance('mdi', 4 features)
    >>> splitcredit.importance(model, X, y, method="ufi").to_frame().round(2)
                 feature  value  standard_error
    0  petal length (cm)   0.26             NaN
    1   petal width (cm)   0.25             NaN
    2  sepal length (cm)   0.07             NaN
    3   sepal width (cm)   0.00             NaN
    >>> splitcredit.importance(model, X, method="tree_shap").parameters
    {'output': 'all', 'summary': 'mean |attribution|'}
    """
    method, parameters = _methods.meant(method, _methods.chosen(importance, locals()))
    X = records(X, model)
    for name, argument in (("X", X), ("y", y)):
        if isinstance(argument, str):
            raise TypeError(
                f"{name} is the text {argument!r}: name a method by method={argument!r}"
            )
    found = _methods.look_up(method, "importance")
    if found.summarize is not None:
        found_by = _global(found, model, X, y, parameters, progress, check_additivity)
        if method == "permutation":  # whose features are the columns of X
            return found_by
        return replace(found_by, source=source_of(model, None))
    if X is None:
        raise TypeError(_methods.needs(f"method {method!r}", "X"))
    function = found.attribute
    _methods.check(method, function, ("X",), parameters)
    if _handed_over.is_needed(model, method):
        own = _handed_over.explain(model, X, check_additivity=check_additivity, **parameters)
        mean = np.abs(own.values).mean(axis=0).sum(axis=1)
        called = own.parameters | {"summary": "mean |attribution|"}
        return Importance(mean, own.feature_names, method, called)
    forest, table, parameters, offset = _opened(model, X, method, parameters)
    if table.shape[0] == 0:
        raise ValueError("X has no rows: the importance is a mean over rows, pass at least one")
    step, total = _chunks.chunk_rows(forest, method, parameters), np.zeros(1)
    y = y if _methods.takes(function, "y") else None
    double = np.dtype("float64")
    pieces = _chunks.attributions(
        function, forest, table, step, double, progress, parameters, y=y, offset=offset
    )
    if check_additivity:
        pieces = _compared(pieces, model, X, forest, table, offset, method, parameters)
    for piece in pieces:
        total = total + np.abs(piece.values).sum(axis=(0, 2))
    called = piece.parameters | {"summary": "mean |attribution|"}
    unit = unit_of(model, forest) if method in _IN_ITS_UNITS else ""
    return Importance(total / table.shape[0], piece.feature_names, method, called, unit=unit)


@_methods.named
def rank(
    model: object,
    X: ArrayLike,
    method: str = "pg2_greedy",
    *,
    noise: object = None,
    scale: object = None,
    background: ArrayLike | None = None,
    output: str | int | None = None,
    top: int | None = None,
    arithmetic: Literal["double", "single"] = "double",
    ties: ArrayLike | None = None,
    model_output: Literal["raw", "probability", "log_loss", "squared_error"] = "raw",
    groups: dict | None = None,
    algorithm: Literal["auto", "blocks", "tables", "rows", "sampled", "exact"] | None = None,
    attribution: Literal["saabas", "tree_shap"] = "tree_shap",
    rows: Literal["inbag", "oob"] = "oob",
    weigh_by: Literal["absolute", "y", "centered_y"] = "absolute",
    divide_by: Literal["rows", "targets"] = "rows",
    normalize: Literal["none", "trees"] = "none",
    kind: Literal["weight", "gain", "total_gain", "cover", "total_cover"] = "weight",
    scaled: bool = False,
    n_repeats: int = 5,
    scoring: str | Callable | None = None,
    sample_weight: ArrayLike | None = None,
    max_samples: float = 1.0,
    loss: Literal["cross_entropy", "mse"] | None = None,
    imputer: Literal["marginal", "conditional"] = "marginal",
    threshold: float = 0.025,
    n_permutations: int | None = None,
    random_state: int = 0,
    preset: str = "pg_hat_10",
    alpha: float | None = None,
    penalty: float | None = None,
    weights: Literal["inbag", "oob"] | None = None,
    min_child_oob: int | None = None,
    min_child_inbag: int | None = None,
    correction: Literal["none", "own", "oob"] | None = None,
    per_row: bool | None = None,
    y: ArrayLike | None = None,
    check_additivity: bool = True,
    progress: bool | None = None,
) -> Rankings:
    """Rank the features for every row, the most important first.

    Parameters
    ----------
    model : fitted model, Forest or path
        See `explain`.
    X : array-like or DataFrame (n_samples, n_features)
    method : str
        ``"pg2_greedy"`` adds one feature at a time, the one with the largest squared prediction gap
        together with those before it; ``"pgi2_optimum"`` is the order with the largest PGI^2 of
        all, for up to 16 features. A method of `explain` ranks the features of a row by absolute
        attributions; one of `importance` gives all rows the same order. See `splitcredit.methods`.
    y : (n_samples,), optional
        Targets of the rows, where the method needs them.
    check_additivity : bool
        See `explain`.
    progress : bool, optional
        As for `explain`.
    noise, scale, background
        Of the first two methods; see `faithfulness`.
    output : str or int, optional
        Without it, rows of classifiers are ranked for their predicted class;
        ``"oob_attributions"`` needs one where there are several.
    top : int, optional
        Of ``"pg2_greedy"``: how many features are ranked, the first. By default all; of a forest
        with many leaves or features ten.
    arithmetic, ties
        Of ``"pg2_greedy"``; see `splitcredit.gaps.greedy.greedy_ranking`.
    model_output, groups, algorithm, attribution, rows, weigh_by, divide_by, normalize, kind
        Of other methods; see `importance`.
    scaled, n_repeats, scoring, sample_weight, max_samples, loss, imputer, threshold
        See `importance`.
    n_permutations, random_state
        See `importance`.
    preset, alpha, penalty, weights, min_child_oob, min_child_inbag, correction, per_row
        See `importance`.

    Returns
    -------
    Rankings
        With `gaps` if the method makes the ranking from them.

    Raises
    ------
    TypeError, ValueError
        As `explain`, and as `splitcredit.gaps.prediction_gap.pg2`.

    Examples
    --------
    >>> import splitcredit
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = RandomForestClassifier(20, random_state=0).fit(X, y)
    >>> ranking = splitcredit.rank(model, X[:5], background=X)
    >>> ranking
    GreedyRankings(5 samples, 4 features)
    >>> print(ranking.to_frame()[["sample", "place", "feature"]].head(2))
       sample  place            feature
    0       0      1   petal width (cm)
    0       0      2  petal length (cm)
    """
    method, parameters = _methods.meant(method, _methods.chosen(rank, locals()))
    X = records(X, model)
    _methods.look_up(method, "rank")
    parameters["check_additivity"] = check_additivity
    ranked = _ranked(model, X, method, y, progress, parameters)
    labels = row_index(X)
    return ranked if labels is None else replace(ranked, index=labels)


@_methods.named
def faithfulness(
    model: object,
    X: ArrayLike,
    ranking: object,
    metric: str = "pgi2",
    *,
    y: ArrayLike | None = None,
    noise: object = None,
    scale: object = None,
    background: ArrayLike | None = None,
    output: str | int | None = None,
    k: int | None = None,
    samples: int | None = None,
    random_state: int = 0,
    check_additivity: bool = True,
    progress: bool | None = None,
) -> np.ndarray:
    """How much predictions move if the features that a ranking names first are perturbed.

    The squared prediction gap PG^2 of a set of features is the expected square of the change of the
    prediction when they are perturbed; PGI^2 of a ranking is the mean of PG^2 of its first
    feature, of its first two, and so on to all (gajewski2025, Eq. 2 and 3). Both are exact,
    without sampling. Their cost grows with the square of the number of leaves: for many fully grown
    trees, `samples` estimates them.

    Parameters
    ----------
    model : fitted model, Forest or path
        See `explain`.
    X : array-like or DataFrame (n_samples, n_features)
    ranking : Rankings, Attribution, Importance, list of names or indices, array, or str
        Features, the most important first, for all rows alike or row by row (n_samples,
        n_features). An Attribution ranks by absolute values, an Importance by values. A str is the
        name of a method; with other parameters of it, pass what `rank` gives. For ``metric="pg2"``
        a list may name some of the features only, and a mask is accepted too: bool (n_features,) or
        (n_samples, n_features).
    metric : {"pgi2", "pgu2", "pg2", "pgi2_curve", "pgu2_curve"}
        ``"pgi2"`` is PGI^2. ``"pgu2"`` is PGU^2, for which all but the first features are
        perturbed. ``"pg2"`` is PG^2 of the features named, or of the first `k` of them. The two
        curves are the gaps for every number of features, whose means are PGI^2 and PGU^2.
    y : (n_samples,), optional
        Targets of the rows, if `ranking` names a method that needs them.
    noise : {"marginal", "normal", "laplace", "uniform"} or perturbation, optional
        ``"marginal"``, which needs no `scale` and is taken if there is none, draws the value of a
        perturbed feature from other rows, also labels and missing values. The others are added to
        the value; if a `scale` is given, ``"normal"`` is taken. Or an object of
        `splitcredit.gaps.perturbations`, such as ``Laplace(0.3)``.
    scale : float, (n_features,), Series or dict by feature, or str, optional
        Size of added noise, in units of the features as the trees see them: standard deviation,
        scale, or half width. ``"0.3std"`` is that many standard deviations of each feature, in the
        background if there is one, else in X. Between the values of a feature that has few, noise
        of such a width hardly crosses a split, which a warning says.
    background : array-like or DataFrame (n_background, n_features), optional
        Rows that values are drawn from. Without them, these are the rows of X, or of more than 500
        rows 500 that are drawn with a fixed seed: pass them if X has only few rows. Also for a
        method that needs one.
    output : str or int, optional
        Name or index of the output whose changes are measured, or ``"predicted"``. By default the
        only output, or the predicted class of each row.
    k : int, optional
        For ``metric="pg2"``: how many of the first features of the ranking are perturbed; by
        default all that it names.
    samples : int, optional
        Estimate the gaps from so many draws of the noise, instead of exactly.
    random_state : int
        Seed of the draws.
    check_additivity : bool
        See `explain`.
    progress : bool, optional
        As for `explain`.

    Returns
    -------
    float64 (n_samples,), for curves (n_samples, n_features)
        In squared units of the prediction.

    Raises
    ------
    TypeError, ValueError
        As `rank`; and if the ranking does not fit.

    Examples
    --------
    >>> import splitcredit
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = RandomForestClassifier(20, random_state=0).fit(X, y)
    >>> shap = splitcredit.faithfulness(model, X[:20], "tree_shap", background=X)
    >>> greedy = splitcredit.faithfulness(model, X[:20], "pg2_greedy", background=X)
    >>> bool(greedy.mean() >= shap.mean())
    True
    >>> splitcredit.faithfulness(model, X, ["petal width (cm)"], "pg2").shape
    (150,)
    """
    check_choice("metric", metric, _ranks.METRICS)
    X = records(X, model)
    if k is not None and metric != "pg2":
        raise ValueError(f"k={k!r} is for metric='pg2': {metric!r} takes all features")
    method_background, found = {}, None
    if isinstance(ranking, str):
        found, (_, preset) = _methods.look_up(ranking, "rank"), _methods.meant(ranking, {})
        if found.takes("background") and background is not None:
            method_background = {"background": background}
    if method_background and not _ranks.draws_rows(noise, scale):
        background = None
    forest, rows, background = forest_and_rows(model, X, background)
    if check_additivity:
        check_own(model, X, forest, _chunks.as_table(forest, rows))
    forest, rows, noise, scale = _ranks.perturbed(
        forest, rows, noise, scale, background, f"metric {metric!r}", stacklevel=3
    )
    if found is not None and found.name in _ranks.BY_GAPS:
        all_asked_for = {"top": forest.n_features if k is None else k}
        of_method: dict[str, Any] = all_asked_for if found.name == _methods.GREEDY else {}
        ranking = _ranks.by_gaps(
            forest, rows, found.name, noise, scale, output, progress, of_method
        )
    elif found is not None:
        of_method = {"output": output} if found.attribute and found.takes("output") else {}
        of_method |= method_background | preset | {"check_additivity": False}  # which it is by now
        ranking = rank(model, X, found.name, y=y, progress=progress, **of_method)
    refuse_another_order_of_rows(ranking, X)
    if metric == "pg2" and _ranks.is_mask(ranking):
        if k is not None:
            raise ValueError(f"k={k!r} is for rankings: a mask says which features are perturbed")
        ranks = prediction_gap.chosen_features(forest, ranking, len(rows))
    else:
        ranks = _ranks.ranking_of(ranking, forest, rows, output)
    draws = {"samples": samples, "random_state": random_state}
    return _ranks.measured(
        forest, rows, ranks, metric, noise, scale, output, k=k, **draws, progress=progress
    )


def _with_rows(attribution, forest, labels, table, source):
    """An attribution with its rows as the trees see them; those of groups of features have none."""
    if attribution.feature_names != forest.feature_names:
        return replace(attribution, index=labels)
    data = dense(forest.in_order(table), forest.absent)
    return replace(attribution, index=labels, data=data, source=source)


def _each_with_rows(pieces, forest, labels, table, source, unit):
    """The attributions of chunks with their rows and unit."""
    start = 0
    for piece in pieces:
        rows = slice(start, start + len(piece.values))
        own = None if source is None else replace(source, rows=rows_at(source.rows, rows))
        index = None if labels is None else labels[rows]
        yield _with_rows(replace(piece, unit=unit), forest, index, rows_at(table, rows), own)
        start = rows.stop


def _dtype(dtype):
    if not isinstance(dtype, Hashable) or dtype not in (*_DTYPES, np.float64, np.float32):
        raise ValueError(f"dtype={dtype!r}: available are 'float64', 'float32'")
    return np.dtype(dtype)


def _opened(model, X, method, parameters):
    """The forest, its rows, and the parameters with the background as the trees see it."""
    if "model_output" in parameters:  # the measure gets the forest, which does not know its units
        from splitcredit.importances import _rescaling

        _rescaling.check_model(model, parameters["model_output"])
    if parameters.get("groups") is not None:  # each chunk reads them
        parameters = parameters | {"groups": _groups.listed(parameters["groups"])}
    given = X
    opening = forest_rows_and_start if method in _OF_PREDICTION else forest_and_rows
    forest, X, background, *start = opening(model, rows_in(X, model), parameters.get("background"))
    X = _chunks.as_table(forest, X)
    offset, what = offsets(given, forest) if method in _OF_PREDICTION else None, ""
    if offset is not None:
        what = name_of_offset(given)
    elif start and start[0] is not None:
        offset, what = start[0](forest.prepare(X)), "the model that this one starts from (init)"
    _check_offset(offset, what, forest, parameters)
    if background is not None:
        parameters = parameters | {"background": background}
    return forest, X, parameters, offset


def _check_offset(offset, what, forest, parameters):
    """Refuse offsets of rows where the baseline has no place for them."""
    if offset is None:
        return
    if parameters.get("model_output", "raw") != "raw":
        raise ValueError(
            f"{what} moves each row along the curve: explain model_output='raw', or rows without it"
        )
    has_classes = forest.n_outputs > 1 or forest.other_class is not None
    if parameters.get("output") == "predicted" and has_classes:
        raise ValueError(f"{what} has a part in which class is predicted: explain output='all'")


def _compared(pieces, model, X, forest, table, offset, method, parameters):
    """The pieces, after the first of them is compared with what the model itself predicts."""
    is_raw = method in _OF_PREDICTION and parameters.get("model_output", "raw") == "raw"
    output = parameters.get("output", "all")
    for k, piece in enumerate(pieces):
        if k == 0:
            totals = piece if is_raw and output == "all" else None
            check_own(model, X, forest, table, offset, totals, output == "predicted")
        yield piece


def _global(found, model, X, y, parameters, progress, check_additivity):
    function, method = found.summarize, found.name
    data = {name: value for name, value in (("X", X), ("y", y)) if value is not None}
    _methods.check(method, function, data, parameters)
    if _methods.takes(function, "progress"):
        parameters = parameters | {"progress": progress}
    if not _methods.takes(function, "X"):
        return function(model, **parameters)
    given, rows = model, X
    if "bootstrap" in found.needs:  # and so nothing is made of the model twice
        model, X = forest, table = forest_and_training_rows(model, X)
    elif check_additivity and "prediction" in found.needs:
        forest, table = forest_and_rows(model, X)
    if check_additivity and {"bootstrap", "prediction"} & {*found.needs}:
        check_own(given, rows, forest, _chunks.as_table(forest, table))
    return function(model, X, y, **parameters)


def _ranked(model, X, method, y, progress, parameters):
    """Rankings of rows by their positions."""
    if method in _ranks.BY_GAPS:
        return _by_gaps(model, X, method, progress, parameters)
    found = _methods.look_up(method, "rank")
    if found.attribute and "weigh_by" not in parameters:  # which is of means over rows
        attributed = _of_one_output(model, X, y, method, progress, parameters)
        return _ranks.by_values(attributed, len(attributed.values))
    if not found.refits:
        forest, rows = forest_and_rows(model, X)
        forest.prepare(rows)
    data = {"X": X, "y": y} if found.takes("X") else {}
    ranked = importance(model, method=method, progress=progress, **data, **parameters)
    return _ranks.by_values(ranked, np.shape(X)[0])


def _by_gaps(model, X, method, progress, parameters):
    remaining = dict(parameters)
    background, is_checked = remaining.pop("background", None), remaining.pop("check_additivity")
    _methods.check(method, _ranks.BY_GAPS[method], ("X",), remaining, extra=("noise", "background"))
    given, (forest, X, background) = X, forest_and_rows(model, X, background)
    if is_checked:
        check_own(model, given, forest, _chunks.as_table(forest, X))
    noise, scale = remaining.pop("noise", None), remaining.pop("scale", None)
    forest, X, noise, scale = _ranks.perturbed(
        forest, X, noise, scale, background, f"method {method!r}", stacklevel=5
    )
    output = remaining.pop("output", None)
    return _ranks.by_gaps(forest, X, method, noise, scale, output, progress, remaining)


def _of_one_output(model, X, y, method, progress, parameters):
    """Attribution to one output: the predicted one of each row, if there is a choice to make."""
    found = _methods.look_up(method, "rank")
    if found.takes("output") and parameters.get("output") is None:
        output, forest = "predicted", to_forest(model)
        refuse_targets(forest)
        if not found.takes_any_rows:
            output = OutputIndex(prediction_gap.only_output(forest, None))
        parameters = parameters | {"output": output}
    return explain(model, X, method, y=y, progress=progress, **parameters)
