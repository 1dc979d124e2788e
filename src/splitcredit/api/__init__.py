"""The functions that users meet first, for loops over methods and for rankings.

Every function takes a fitted model of scikit-learn, XGBoost, LightGBM or CatBoost, a Booster, a
`Forest`, the path of a model file, a pipeline, or a fitted search. X goes through the steps of a
pipeline first; results are by the columns of X that these steps read. Each measure has a
function of its own, such as `splitcredit.sage`, with its parameters.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from splitcredit.api import _ranking, _refits
from splitcredit.measures import _attributed, _methods
from splitcredit.measures._calls import checked
from splitcredit.measures._methods import methods
from splitcredit.models.by_columns import forest_by_columns
from splitcredit.models.opened import Opened
from splitcredit.models.prediction import OutputIndex, refuse_targets
from splitcredit.prediction_gap import exact_gap
from splitcredit.prediction_gap.rankings import Rankings, refuse_another_order_of_rows
from splitcredit.results.attribution import Attribution, Importance
from splitcredit.rows.tables import check_choice

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import ArrayLike

__all__ = ["explain", "explain_chunks", "faithfulness", "importance", "methods", "rank"]

Explaining = Literal[
    "tree_shap", "tree_shap_interventional", "saabas", "local_mdi", "oob_attributions"
]
Measuring = (
    Explaining
    | Literal["mdi", "mdi_oob", "ufi", "penalized_gini", "air", "mda"]
    | Literal["permutation", "conditional_permutation", "sage", "splits"]
)


@checked
def explain(
    model: object,
    X: ArrayLike,
    method: Explaining | Callable[..., Attribution] | str = "tree_shap",
    *,
    output: str | int = "all",
    groups: dict | str | None = None,
    features: Literal["columns", "transformed"] = "columns",
    random_state: int | None = None,
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
    method : str or callable
        A name, see `splitcredit.methods`; or a function of a model and X, such as
        ``functools.partial(splitcredit.tree_shap_interventional, background=X)``.
    output : str or int
        ``"all"``, the name or index of one, or ``"predicted"``: each row's output is the class
        that it is predicted as.
    groups : dict of str to list of str or int, or "columns", optional
        Features that the method takes for one player each; see `splitcredit.tree_shap`.
    features : {"columns", "transformed"}
        What results of a pipeline are by; see `splitcredit.tree_shap`.
    random_state : int, optional
        Seed of a method that draws.
    progress : bool, optional
        Whether a bar on standard error shows the rows done. By default it appears after two
        seconds, in terminals and notebooks.

    Returns
    -------
    Attribution
        ``values`` is (n_samples, n_features, n_outputs). If X is a DataFrame, ``to_frame`` has
        its index.

    Raises
    ------
    TypeError, ValueError
        See `to_forest`, `Forest.prepare` and the method; and if the model predicts something else
        than its trees, as a subclass may.

    Notes
    -----
    Rows are explained in chunks. The values of a row are bit-identical in any chunk.

    Examples
    --------
    >>> attribution = splitcredit.explain(model, X[:1], output="predicted")
    >>> attribution
    Attribution('tree_shap', 1 samples, 4 features, 1 outputs)
    >>> attribution.totals().round(6)  # the fraction of the predicted class
    array([[1.]])
    """
    common = _common(output, groups, random_state, features)
    return _methods.call(method, "explain", progress, **common)(model, X)


@checked
def explain_chunks(
    model: object,
    X: ArrayLike,
    method: Explaining | Callable[..., Attribution] | str = "tree_shap",
    *,
    output: str | int = "all",
    groups: dict | str | None = None,
    features: Literal["columns", "transformed"] = "columns",
    random_state: int | None = None,
    chunk_rows: int | None = None,
    dtype: str | type = "float64",
    check_additivity: bool = True,
    progress: bool | None = None,
) -> Iterator[Attribution]:
    """Attribute rows as `explain` does, a chunk at a time: for results larger than the memory.

    Parameters
    ----------
    model, X, method, output, groups, features, random_state, progress
        See `explain`. The method is one of `splitcredit.methods`.
    chunk_rows : int, optional
        Rows in a chunk; by default as many as make 64 MB of values, and less for large forests.
    dtype : {"float64", "float32"}
        Type of the values; all work is in float64.
    check_additivity : bool
        Whether a few rows are compared with what the model itself predicts.

    Returns
    -------
    iterator of Attribution
        Together they hold the values that `explain` gives, bit for bit.

    Raises
    ------
    TypeError, ValueError
        As `explain`, and if the method needs all its rows at once. Wrong values of parameters, and
        a wrong X, are refused when the first chunk is taken.

    Examples
    --------
    >>> for part in splitcredit.explain_chunks(model, X, chunk_rows=100):
    ...     print(repr(part))
    Attribution('tree_shap', 100 samples, 4 features, 3 outputs)
    Attribution('tree_shap', 50 samples, 4 features, 3 outputs)
    """
    found = _methods.look_up(method, "explain")
    of_method = _methods.call(method, "explain", **_common(output, groups, random_state, features))
    _methods.refuse_missing(of_method)
    own = {"chunk_rows": chunk_rows, "dtype": dtype, "progress": progress}
    own["check_additivity"] = check_additivity
    return _attributed.in_chunks(found.name, model, X, of_method.keywords, **own)


@checked
def importance(
    model: object,
    X: ArrayLike | None = None,
    y: ArrayLike | None = None,
    method: Measuring | Callable[..., Any] | str = "mdi",
    *,
    output: str | int = "all",
    groups: dict | str | None = None,
    features: Literal["columns", "transformed"] = "columns",
    sample_weight: ArrayLike | None = None,
    refits: object = None,
    random_state: int | None = None,
    progress: bool | None = None,
) -> Importance:
    """Measure the global importances of the features of a fitted model.

    Parameters
    ----------
    model : fitted model, Forest or path
        See `explain`. For ``"air"``, an estimator; a copy of it is fitted.
    X : array-like or DataFrame (n_samples, n_features), optional
        Rows; for methods that need bootstrap, the training rows in their order. ``"mdi"`` takes
        neither X nor y, but what the model keeps of its training rows.
    y : (n_samples,), optional
        Targets of the rows, where the method needs them.
    method : str or callable
        A name, see `splitcredit.methods`, also one of `compare` such as ``"oob_shap_centered"``;
        or a function, such as ``functools.partial(splitcredit.sage, threshold=0.1)``. A method that
        attributes rows gives the mean absolute attribution over the rows of X, added over the
        outputs; ``output="predicted"``, or the name or index of one, takes a single output.
    sample_weight : (n_samples,), optional
        Weights of the rows of X, finite, from 0 and not all 0, for means of attributions,
        ``"permutation"``, ``"sage"`` and ``"oob_attributions"``. A Series is aligned by its
        labels if X has the same ones. Equal weights give the same bytes as none.
    refits : int, splitter or iterable of (train, test), optional
        Fit so many copies of the model, at least 2, to rows that are drawn from X and y with
        replacement, as many as there are; or to the rows of splits by a splitter of scikit-learn
        or by indices. Each copy is measured on the rows that it has not seen, or on those that it
        was fitted to if the method needs training rows. See Notes.
    output, groups, features, progress
        See `explain`.
    random_state : int, optional
        Seed of a method that draws, and of the rows of refits, by default 0.

    Returns
    -------
    Importance
        In the units of the method; see its function. With `refits`, its `refits` have the values
        of the copies, and `Importance.interval` their quantiles.

    Raises
    ------
    TypeError, ValueError
        As `explain`; TypeError also if X or y is missing, or is text, a method has no weights of
        rows, or a model cannot be fitted anew; ValueError if a refit fails.

    Notes
    -----
    Whole weights give the values of rows that are repeated. They are no numbers of observations:
    the standard error of a weighted mean over rows, ``sum w x / sum w``, is the root of
    ``sum w^2 (x - mean)^2``, over ``sum w``, for weights in any unit.

    Refits say how far an importance would change if other rows of the same kind had been collected
    and the model fitted to them. A standard error takes the model as given, and says how far the
    value would change with other rows, permutations or trees. `values` stay those of the model, as
    without refits. Copies are fitted with the parameters of the model, without weights; seeds that
    are None are drawn. For methods that need training rows, a row that is drawn counts once: a
    repeated one may be in the bag of a tree and out of it, and noise would seem to matter. A
    feature that the steps of a pipeline do not make of some resample counts 0 there.

    Examples
    --------
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
    >>> splitcredit.importance(model, X, y, method="permutation", refits=5).interval().shape
    (2, 4)
    """
    for name, given in (("X", X), ("y", y)):
        if isinstance(given, str):
            raise TypeError(f"{name} is the text {given!r}: name a method by method={given!r}")
    if refits is None:
        common = _common(output, groups, random_state, features)
        return _measured(method, model, X, y, progress, common, sample_weight)
    if sample_weight is not None:
        raise TypeError("refits are fitted without weights: leave sample_weight or refits out")
    _refits.refuse(model, X)
    seed = 0 if random_state is None else random_state
    if "random_state" not in _methods.parameters_of(_methods.call(method, "importance").func):
        random_state = None
    common = _common(output, groups, random_state, features)
    found = _measured(method, model, X, y, progress, common)
    of_copy = partial(_measured, method, progress=False, common=common)
    own = {"random_state": seed, "names": found.feature_names, "progress": progress}
    values = _refits.values_of(of_copy, method, model, X, y, refits, **own)
    return replace(found, refits=values)


@checked
def rank(
    model: object,
    X: ArrayLike,
    by: object = "pg2_greedy",
    *,
    y: ArrayLike | None = None,
    noise: object = None,
    scale: object = None,
    background: ArrayLike | None = None,
    output: str | int | None = None,
    top: int | None = None,
    features: Literal["columns", "transformed"] = "columns",
    random_state: int | None = None,
    check_additivity: bool = True,
    progress: bool | None = None,
) -> Rankings:
    """Rank the features for every row, the most important first.

    Parameters
    ----------
    model : fitted model, Forest or path
        See `explain`.
    X : array-like or DataFrame (n_samples, n_features)
    by : str, callable, Attribution, Importance, or features in order
        ``"pg2_greedy"`` adds one feature at a time, the one with the largest squared prediction gap
        together with those before it; ``"pgi2_optimum"`` is the order with the largest PGI^2 of
        all, for up to 16 features. A method of `explain`, or an Attribution, ranks the features of
        a row by absolute attributions; one of `importance`, or an Importance, gives all rows the
        same order. See `splitcredit.methods`.
    y : (n_samples,), optional
        Targets of the rows, where the method needs them.
    noise, scale, background
        For the first two methods; see `faithfulness`. Others use the background if they need one.
    output : str or int, optional
        Without it, rows of classifiers are ranked for their predicted class;
        ``"oob_attributions"`` needs one where there are several.
    top : int, optional
        For ``"pg2_greedy"``: number of features to rank. By default all, but ten for a forest with
        many leaves or features.
    features, random_state, check_additivity, progress
        See `explain_chunks`.

    Returns
    -------
    Rankings
        With `gaps` if the method makes the ranking from them.

    Raises
    ------
    TypeError, ValueError
        As `explain` and `faithfulness`.

    Examples
    --------
    >>> ranking = splitcredit.rank(model, X[:5], background=X)
    >>> ranking
    GreedyRankings(5 samples, 4 features)
    >>> print(ranking.to_frame()[["sample", "place", "feature"]].head(2))
       sample  place            feature
    0       0      1   petal width (cm)
    0       0      2  petal length (cm)
    """
    given = {
        "noise": noise,
        "scale": scale,
        "background": background,
        "top": top,
        "random_state": random_state,
    }
    given = {name: value for name, value in given.items() if value is not None}
    opened = Opened(model, X, background, features=features)
    if isinstance(by, str) and _methods.look_up(by, "rank").name in _ranking.BY_GAPS:
        method = _methods.look_up(by, "rank").name
        ranked = _by_gaps(opened.checked(check_additivity), method, output, given, progress)
    elif isinstance(by, str) or callable(by):
        given["check_additivity"] = check_additivity
        if features != "columns":
            given["features"] = features
        ranked = _by_method(opened, by, y, output, progress, given)
    else:
        for name in given:
            raise TypeError(f"{name}= is for methods, and by= is a ranking already: leave it out")
        refuse_another_order_of_rows(by, opened.given)
        rows = opened.forest.prepare(opened.rows)
        forest, rows = forest_by_columns(opened.forest, opened.columns, rows)
        places = _ranking.ranking_of(by, forest, rows, output)
        ranked = Rankings(places, None, feature_names=forest.feature_names)
    return ranked if opened.index is None else replace(ranked, index=opened.index)


@checked
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
    features: Literal["columns", "transformed"] = "columns",
    random_state: int = 0,
    check_additivity: bool = True,
    progress: bool | None = None,
) -> np.ndarray:
    """Measure how much predictions move if the features that a ranking names first are perturbed.

    The squared prediction gap PG^2 of a set of features is the expected square of the change of the
    prediction when they are perturbed; PGI^2 of a ranking is the mean of PG^2 of its first
    feature, of its first two, and so on to all (gajewski2025, Eq. 2 and 3). The cost of exact gaps
    grows with the square of the number of leaves; `samples` estimates them.

    Parameters
    ----------
    model : fitted model, Forest or path
        See `explain`.
    X : array-like or DataFrame (n_samples, n_features)
    ranking : Rankings, Attribution, Importance, list of names or indices, array, str or callable
        Features, the most important first, for all rows alike or row by row (n_samples,
        n_features). An Attribution ranks by absolute values, an Importance by values. A str is the
        name of a method, a callable its function; see `rank`. For ``metric="pg2"`` a list may name
        some of the features only, and a mask is accepted too: bool (n_features,) or (n_samples,
        n_features).
    metric : {"pgi2", "pgu2", "pg2", "pgi2_curve", "pgu2_curve"}
        ``"pgi2"`` is PGI^2. ``"pgu2"`` is PGU^2, which perturbs all features except the
        first ones. ``"pg2"`` is PG^2 of the features named, or of the first `k` of them. The two
        curves are the gaps for every number of features, whose means are PGI^2 and PGU^2.
    y : (n_samples,), optional
        Targets of the rows, if `ranking` names a method that needs them.
    noise : {"marginal", "normal", "laplace", "uniform"} or perturbation, optional
        ``"marginal"``, which needs no `scale` and is the default without one, draws the value of a
        perturbed feature from other rows, also labels and missing values. The others are added to
        the value; if a `scale` is given, ``"normal"`` is taken. Or an object of
        `splitcredit.prediction_gap.perturbations`, such as ``Laplace(0.3)``.
    scale : float, (n_features,), Series or dict by feature, or str, optional
        Size of added noise, in units of the features as the trees see them: standard deviation,
        scale, or half width. ``"0.3std"`` is that many standard deviations of each feature, in the
        background if there is one, else in X. A warning says if it hardly crosses a split.
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
    features, check_additivity, progress
        See `explain_chunks`. Values of a column are drawn together; added noise is independent for
        each of its transformed features.

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
    >>> shap = splitcredit.faithfulness(model, X[:20], "tree_shap", background=X)
    >>> greedy = splitcredit.faithfulness(model, X[:20], "pg2_greedy", background=X)
    >>> bool(greedy.mean() >= shap.mean())
    True
    >>> splitcredit.faithfulness(model, X, ["petal width (cm)"], "pg2").shape
    (150,)
    """
    check_choice("metric", metric, _ranking.METRICS)
    if k is not None and metric != "pg2":
        raise ValueError(f"k={k!r} is for metric='pg2': {metric!r} takes all features")
    found, method_background = None, None
    by_method = isinstance(ranking, str) or callable(ranking)
    if by_method and _methods.is_measure(ranking):
        found = _methods.look_up(ranking, "rank")
        if found.name not in _ranking.BY_GAPS and found.takes("background"):
            method_background = background
    if method_background is not None and not _ranking.draws_rows(noise, scale):
        background = None
    opened = Opened(model, X, background, features=features)
    if check_additivity:
        opened.check()
    forest, rows, noise, scale = _ranking.perturbed(
        opened, noise, scale, f"metric {metric!r}", stacklevel=3
    )
    if found is not None and found.name in _ranking.BY_GAPS:
        top = {"top": forest.n_features if k is None else k}
        top = top if found.name == _methods.GREEDY else {}
        ranking = _ranking.by_gaps(forest, rows, found.name, noise, scale, output, progress, top)
    elif by_method:
        options: dict[str, Any] = {"background": method_background, "progress": progress}
        options["features"] = features
        if found is not None and found.attributes and found.takes("output"):
            options["output"] = output
        ranking = rank(model, X, ranking, y=y, check_additivity=False, **options)
    refuse_another_order_of_rows(ranking, opened.given)
    if metric == "pg2" and _ranking.is_mask(ranking):
        if k is not None:
            raise ValueError(f"k={k!r} is for rankings: a mask says which features are perturbed")
        ranks = exact_gap.chosen_features(forest, ranking, len(rows))
    else:
        ranks = _ranking.ranking_of(ranking, forest, rows, output)
    more = {"k": k, "samples": samples, "random_state": random_state, "progress": progress}
    return _ranking.measured(forest, rows, ranks, metric, noise, scale, output, **more)


def _common(output, groups, random_state, features):
    """Return the parameters of every method that do not have their defaults."""
    output = None if isinstance(output, str) and output == "all" else output
    features = None if features == "columns" else features
    return dict(output=output, groups=groups, random_state=random_state, features=features)


def _measured(method, model, X, y, progress, common, sample_weight=None) -> Importance:
    """Compute the importance by a method that is given by its name or its function."""
    data = {name: value for name, value in (("X", X), ("y", y)) if value is not None}
    if not _methods.is_measure(method):
        found = _methods.call(method, "importance", progress, **common)(model, **data)
        if isinstance(found, Attribution):
            return _attributed.mean_of(found, sample_weight)
        if sample_weight is not None:
            raise TypeError("a function as method has weights of its own: bind them to it")
        return found
    measure = _methods.look_up(method, "importance")
    if sample_weight is not None and measure.why_unweighted:
        raise TypeError(f"{measure.name} has no sample_weight: {measure.why_unweighted}")
    if not measure.averages:
        common = common | {"sample_weight": sample_weight}
    of_method = _methods.call(method, "importance", progress, **common)
    taken = {name: data[name] for name in data if measure.takes(name, "importance")}
    if not measure.averages:
        return of_method(model, **taken)
    _methods.refuse_missing(of_method, tuple(data))
    parameters = of_method.keywords | {"y": y} if "y" in taken else dict(of_method.keywords)
    check = parameters.pop("check_additivity", True)
    parameters.pop("progress", None)
    of_rows = check, progress, sample_weight
    return _attributed.averaged(measure.name, model, X, parameters, *of_rows)


def _by_gaps(opened, method, output, given, progress) -> Rankings:
    of_method = {k: v for k, v in given.items() if k not in ("noise", "scale", "background")}
    _methods.call(method, "rank", **of_method)  # refuses unknown parameters
    noise, scale, who = given.get("noise"), given.get("scale"), f"method {method!r}"
    forest, rows, noise, scale = _ranking.perturbed(opened, noise, scale, who, stacklevel=4)
    return _ranking.by_gaps(forest, rows, method, noise, scale, output, progress, of_method)


def _by_method(opened, method, y, output, progress, given) -> Rankings:
    """Rank by the attributions or importances of a method."""
    model, X = opened.model, opened.given
    if not _methods.is_measure(method):
        del given["check_additivity"]
        data = {"X": X} if y is None else {"X": X, "y": y}
        found = _methods.call(method, "rank", progress, output=output, **given)(model, **data)
        return _ranking.by_values(found, np.shape(X)[0])
    measure = _methods.look_up(method, "rank")
    of_rows = measure.attributes and "weigh_by" not in _methods.resolve(method)[1]
    kind = "explain" if of_rows else "importance"
    if not measure.takes("check_additivity", kind):
        del given["check_additivity"]
    if of_rows:
        if measure.takes("output") and output is None:
            refuse_targets(opened.forest)
            output = "predicted"
            if not measure.takes_any_rows:
                output = OutputIndex(exact_gap.only_output(opened.forest, None))
        if y is not None and measure.takes("y"):
            given["y"] = y
        attributed = _methods.call(method, kind, progress, output=output, **given)(model, X)
        return _ranking.by_values(attributed, len(attributed.values))
    if not measure.refits:
        opened.forest.prepare(opened.rows)
    ranked = _measured(method, model, X, y, progress, given | {"output": output})
    return _ranking.by_values(ranked, np.shape(X)[0])
