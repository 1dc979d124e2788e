"""The functions that users meet first: one door to every method.

Every function takes a fitted model as people hold it: of scikit-learn, XGBoost or LightGBM, a
Booster, a `Forest`, the path of a model file, a pipeline, or a fitted search. X goes through the
steps of a pipeline first; features are then those that come out of them.
"""

from __future__ import annotations

import numpy as np

from splitcredit import _arguments, _chunks, _methods, _ranks
from splitcredit._methods import methods
from splitcredit.attribution import Attribution, Importance
from splitcredit.convert import forest_and_rows, to_forest
from splitcredit.faithfulness import prediction_gap
from splitcredit.faithfulness.rankings import Rankings

__all__ = ["explain", "explain_chunks", "faithfulness", "importance", "methods", "rank"]


def explain(
    model, X, method: str = "tree_shap", *, y=None, dtype="float64", progress=None, **parameters
) -> Attribution:
    """Attribute the predictions (or impurity decreases) of a fitted model to its features, by row.

    Parameters
    ----------
    model : fitted model, Forest or path
        Anything `splitcredit.to_forest` accepts.
    X : array-like or DataFrame (n_samples, n_features)
        Columns with names may come in any order.
    method : str
        See `splitcredit.methods`: ``"tree_shap"``, ``"tree_shap_interventional"``, ``"saabas"``,
        ``"local_mdi"``, or ``"oob_attributions"`` of the training rows.
    y : ignored
        Taken so that all functions can be called alike; no method that attributes rows needs it.
    dtype : {"float64", "float32"}
        Of the values. All work is in float64; float32 halves the memory of the result.
    progress : bool, optional
        Whether a bar on standard error shows the rows done. By default it appears after two
        seconds, in terminals and notebooks.
    **parameters
        Passed to the method; see its module in `splitcredit.importances`.

    Returns
    -------
    Attribution
        ``values`` is (n_samples, n_features, n_outputs).

    Raises
    ------
    TypeError
        If a parameter of the method is missing or unknown, or `to_forest` does not know the model.
    ValueError
        See `to_forest`, `Forest.prepare` and the method.

    Notes
    -----
    Rows are taken in chunks. What a row gets does not depend on them: not one byte.

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
    chosen = _dtype(dtype)
    function = _methods.attributing(method)
    _arguments.check(method, function, ("X",), parameters)
    forest, X, parameters = _opened(model, X, parameters)
    rows = _chunks.chunk_rows(forest, method) if _methods.takes_any_rows(method) else max(len(X), 1)
    pieces = _chunks.attributions(function, forest, X, rows, chosen, progress, parameters)
    return _chunks.joined(pieces, len(X))


def explain_chunks(
    model,
    X,
    method: str = "tree_shap",
    *,
    chunk_rows: int | None = None,
    dtype="float64",
    progress=None,
    **parameters,
):
    """Attribute rows as `explain` does, a chunk at a time: for results larger than the memory.

    Parameters
    ----------
    model, X, method, dtype, progress, **parameters
        See `explain`.
    chunk_rows : int, optional
        Rows in a chunk; by default as many as make 64 MB of values, and less for large forests.

    Returns
    -------
    iterator of Attribution
        Together they are the bytes that `explain` gives.

    Raises
    ------
    TypeError, ValueError
        As `explain`, and if the method needs all its rows at once. What is wrong with arguments is
        said by the call itself, what is wrong with X before the first chunk.

    Examples
    --------
    >>> import splitcredit
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = DecisionTreeClassifier(max_depth=2, random_state=0).fit(X, y)
    >>> for part in splitcredit.explain_chunks(model, X, chunk_rows=100):
    ...     print(part)
    Attribution('tree_shap', 100 samples, 4 features, 3 outputs)
    Attribution('tree_shap', 50 samples, 4 features, 3 outputs)
    """
    chosen = _dtype(dtype)
    function = _methods.attributing(method)
    if not _methods.takes_any_rows(method):
        raise ValueError(f"method {method!r} attributes all training rows at once: use explain")
    whole = isinstance(chunk_rows, (int, np.integer)) and not isinstance(chunk_rows, bool)
    if chunk_rows is not None and not (whole and chunk_rows > 0):
        raise ValueError(f"chunk_rows={chunk_rows!r}: expected a whole number above 0")
    _arguments.check(method, function, ("X",), parameters)
    forest, X, parameters = _opened(model, X, parameters)
    rows = _chunks.chunk_rows(forest, method) if chunk_rows is None else int(chunk_rows)
    return _chunks.attributions(function, forest, X, rows, chosen, progress, parameters)


def importance(
    model, X=None, y=None, method: str = "mdi", *, progress=None, **parameters
) -> Importance:
    """Global importances of the features of a fitted model.

    Parameters
    ----------
    model : fitted model, Forest or path
        See `explain`. For ``"air"``, an estimator; a copy of it is fitted.
    X : array-like or DataFrame (n_samples, n_features), optional
        Rows; for methods that need bootstrap, the training rows in their order. ``"mdi"`` needs
        none.
    y : (n_samples,), optional
        Targets of the rows, where the method needs them.
    method : str
        See `splitcredit.methods`. A method that attributes rows gives the mean absolute
        attribution over the rows of X, added over the outputs; ``output="predicted"``, or the name
        or index of one, takes a single output.
    progress : bool, optional
        As for `explain`, where rows are attributed.
    **parameters
        Passed to the method.

    Returns
    -------
    Importance
        In the units of the method; see its module in `splitcredit.importances`.

    Raises
    ------
    TypeError, ValueError
        As `explain`; TypeError also if X or y is missing.

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
    0  sepal length (cm)   0.07             0.0
    1   sepal width (cm)   0.00             0.0
    2  petal length (cm)   0.26             0.0
    3   petal width (cm)   0.25             0.0
    >>> splitcredit.importance(model, X, method="tree_shap").parameters
    {'output': 'all', 'summary': 'mean |attribution|'}
    """
    function = _methods.summarizing(method)
    if function is not None:
        return _global(function, model, X, y, method, parameters)
    if X is None:
        raise TypeError(_arguments.needs(f"method {method!r}", "X"))
    function = _methods.attributing(method)
    _arguments.check(method, function, ("X",), parameters)
    forest, X, parameters = _opened(model, X, parameters)
    if len(X) == 0:
        raise ValueError("X has no rows: the importance is a mean over rows, pass at least one")
    rows, total = _chunks.chunk_rows(forest, method), np.zeros(forest.n_features)
    pieces = _chunks.attributions(
        function, forest, X, rows, np.dtype("float64"), progress, parameters
    )
    for piece in pieces:
        total += np.abs(piece.values).sum(axis=(0, 2))
    called = piece.parameters | {"summary": "mean |attribution|"}
    return Importance(total / len(X), forest.feature_names, method, called)


def rank(model, X, method: str = "pg2_greedy", *, y=None, progress=None, **parameters) -> Rankings:
    """Rank the features for every row, the most important first.

    Parameters
    ----------
    model : fitted model, Forest or path
        See `explain`.
    X : array-like or DataFrame (n_samples, n_features)
    method : str
        ``"pg2_greedy"`` takes feature after feature, each with the largest squared prediction gap
        together with those before; ``"pgi2_optimum"`` is the order with the largest PGI^2 of all,
        for up to 16 features. A method that attributes rows ranks by absolute values, a global one
        by value and all rows alike. See `splitcredit.methods`.
    y : (n_samples,), optional
        Targets of the rows, where the method needs them.
    progress : bool, optional
        As for `explain`.
    **parameters
        Passed to the method. The first two take the noise as `faithfulness` does: `noise`, `scale`,
        `background` and `output`, and ``"pg2_greedy"`` takes `arithmetic` and `ties`, see
        `splitcredit.faithfulness.greedy.greedy_ranking`. Without `output`, rows of classifiers are
        ranked for their predicted class.

    Returns
    -------
    Rankings
        With `gaps` if the method makes the ranking from them.

    Raises
    ------
    TypeError, ValueError
        As `explain`, and as `splitcredit.faithfulness.prediction_gap.pg2`.

    Examples
    --------
    >>> import splitcredit
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = RandomForestClassifier(20, random_state=0).fit(X, y)
    >>> ranking = splitcredit.rank(model, X[:5], scale=0.3 * X.std())
    >>> ranking
    GreedyRankings(5 samples, 4 features)
    >>> print(ranking.to_frame()[["sample", "place", "feature"]].head(2))
       sample  place            feature
    0       0      1   petal width (cm)
    1       0      2  petal length (cm)
    """
    _methods.check_ranks(method)
    if method in _ranks.BY_GAPS:
        return _by_gaps(model, X, method, progress, parameters)
    if _methods.attributes(method):
        attributed = _of_one_output(model, X, method, progress, parameters)
        return _ranks.by_values(attributed, len(attributed.values))
    return _ranks.by_values(importance(model, X, y, method, **parameters), len(X))


def faithfulness(
    model,
    X,
    ranking,
    metric: str = "pgi2",
    *,
    y=None,
    noise="normal",
    scale=None,
    background=None,
    output=None,
    k: int | None = None,
    progress=None,
    **parameters,
) -> np.ndarray:
    """How much predictions move if the features that a ranking names first are perturbed.

    The squared prediction gap PG^2 of a set of features is the expected square of what the
    prediction moves by when they are perturbed; PGI^2 of a ranking is its mean over the first 1,
    2, ... features (gajewski2025, Eq. 2 and 3). Both are exact, without sampling.

    Parameters
    ----------
    model : fitted model, Forest or path
        See `explain`.
    X : array-like or DataFrame (n_samples, n_features)
    ranking : Rankings, Attribution, Importance, list of names or indices, array, or str
        Features of all rows alike, or row by row (n_samples, n_features), the most important
        first. An Attribution ranks by absolute values, an Importance by values. Text is the name
        of a method, see `rank`; `parameters` and `y` are for it. For ``metric="pg2"`` a list may
        name some features only, and a mask, bool (n_features,) or (n_samples, n_features), will do.
    metric : {"pgi2", "pgu2", "pg2", "pgi2_curve", "pgu2_curve"}
        PGI^2; PGU^2, where all but the first features are perturbed; PG^2 of the features named,
        or the first `k` of them; or the gaps that the first two are the means of.
    noise : {"normal", "laplace", "uniform", "marginal"} or perturbation
        What is added to a perturbed feature; ``"marginal"`` takes values from `background`
        instead. Or an object of `splitcredit.faithfulness.perturbations`, such as
        ``Laplace(0.3)``.
    scale : float, (n_features,), Series or dict by feature
        Size of the noise, in units of the features as the trees see them: standard deviation,
        scale, or half width. Needed where `noise` is a name.
    background : array-like or DataFrame (n_background, n_features), optional
        For ``"marginal"``.
    output : str or int, optional
        Name or index of the output whose gap is meant, or ``"predicted"``. Without it, that is the
        only output, or the predicted class of each row.
    k : int, optional
        For ``metric="pg2"``.
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
    >>> scale = 0.3 * X.std()
    >>> shap = splitcredit.faithfulness(model, X[:20], "tree_shap", scale=scale)
    >>> greedy = splitcredit.faithfulness(model, X[:20], "pg2_greedy", scale=scale)
    >>> bool(greedy.mean() >= shap.mean())
    True
    >>> splitcredit.faithfulness(model, X[:1], ["petal width (cm)"], "pg2", scale=scale).shape
    (1,)
    """
    if metric not in _ranks.METRICS:
        raise ValueError(f"metric={metric!r}: available are {', '.join(map(repr, _ranks.METRICS))}")
    if k is not None and metric != "pg2":
        raise ValueError(f"k={k!r} is for metric='pg2': {metric!r} takes all features")
    forest, rows, background = forest_and_rows(model, X, background)
    given = _ranks.noise_of(forest, noise, scale, background, f"metric {metric!r}")
    if isinstance(ranking, str):
        own = {"noise": given[0], "scale": given[1], "output": output}
        if ranking not in _ranks.BY_GAPS:
            own = {"output": output} if _methods.attributes_outputs(ranking) else {}
        ranking = rank(model, X, ranking, y=y, progress=progress, **own, **parameters)
    elif parameters:
        raise TypeError(
            f"faithfulness has no parameter {next(iter(parameters))!r}: parameters of a method go "
            "with the name of the method as ranking"
        )
    rows = forest.prepare(rows)
    mask = metric == "pg2" and getattr(np.asarray(ranking), "dtype", None) == np.bool_
    if mask:
        ranks = prediction_gap.chosen_features(forest, ranking, len(rows))
    else:
        ranks = _ranks.ranking_of(ranking, forest, rows, output)
    return _ranks.measured(forest, rows, ranks, metric, *given, output, k, progress)


def _dtype(dtype):
    if dtype not in ("float64", "float32", np.float64, np.float32):
        raise ValueError(f"dtype={dtype!r}: available are 'float64', 'float32'")
    return np.dtype(dtype)


def _opened(model, X, parameters):
    """The forest, its rows, and the parameters with the background as the trees see it."""
    forest, X, background = forest_and_rows(model, X, parameters.get("background"))
    X = _chunks.as_table(forest, X)
    return forest, X, parameters | ({} if background is None else {"background": background})


def _global(function, model, X, y, method, parameters):
    given = {name: value for name, value in (("X", X), ("y", y)) if value is not None}
    _arguments.check(method, function, given, parameters)
    if not _arguments.takes(function, "X"):
        return function(model, **parameters)
    return function(model, X, y, **parameters)


def _by_gaps(model, X, method, progress, parameters):
    own = dict(parameters)
    background = own.pop("background", None)
    _arguments.check(method, _ranks.BY_GAPS[method], ("X",), own, extra=("noise", "background"))
    forest, X, background = forest_and_rows(model, X, background)
    noise, scale = own.pop("noise", "normal"), own.pop("scale", None)
    noise, scale = _ranks.noise_of(forest, noise, scale, background, f"method {method!r}")
    output = own.pop("output", None)
    X = forest.prepare(X)
    return _ranks.by_gaps(forest, X, method, noise, scale, output, progress, own)


def _of_one_output(model, X, method, progress, parameters):
    """Attribution to one output: the predicted one of each row, if there is a choice to make."""
    if _methods.attributes_outputs(method) and parameters.get("output") is None:
        output = "predicted"
        if not _methods.takes_any_rows(method):
            output = prediction_gap.only_output(to_forest(model), None)
        parameters = parameters | {"output": output}
    return explain(model, X, method, progress=progress, **parameters)
