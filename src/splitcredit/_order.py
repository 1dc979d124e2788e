"""`rank` and `faithfulness`; see `face`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from splitcredit import _arguments, _methods, _ranks
from splitcredit._explain import explain, importance
from splitcredit._names import row_index
from splitcredit.convert import forest_and_rows, to_forest
from splitcredit.faithfulness import prediction_gap
from splitcredit.faithfulness.rankings import Rankings, refuse_another_order_of_rows
from splitcredit.importances._prediction import OutputIndex, refuse_targets

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


def rank(
    model: object,
    X: ArrayLike,
    method: str = "pg2_greedy",
    *,
    y: ArrayLike | None = None,
    progress: bool | None = None,
    **parameters: Any,
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
        all, for up to 16 features. A method that attributes rows ranks by absolute values; a global
        one ranks by its values, alike in all rows. See `splitcredit.methods`.
    y : (n_samples,), optional
        Targets of the rows, where the method needs them.
    progress : bool, optional
        As for `explain`.
    **parameters
        Passed to the method. The first two take the noise as `faithfulness` does: `noise`, `scale`,
        `background` and `output`, and ``"pg2_greedy"`` takes `arithmetic` and `ties`, see
        `splitcredit.faithfulness.greedy.greedy_ranking`. Without `output`, rows of classifiers are
        ranked for their predicted class; ``"oob_attributions"`` needs one where there are several.

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
    0       0      2  petal length (cm)
    """
    _methods.check_ranks(method)
    ranked = _ranked(model, X, method, y, progress, parameters)
    labels = row_index(X)
    return ranked if labels is None else replace(ranked, index=labels)


def faithfulness(
    model: object,
    X: ArrayLike,
    ranking: object,
    metric: str = "pgi2",
    *,
    y: ArrayLike | None = None,
    noise: object = "normal",
    scale: object = None,
    background: ArrayLike | None = None,
    output: str | int | None = None,
    k: int | None = None,
    progress: bool | None = None,
    **parameters: Any,
) -> np.ndarray:
    """How much predictions move if the features that a ranking names first are perturbed.

    The squared prediction gap PG^2 of a set of features is the expected square of the change of the
    prediction when they are perturbed; PGI^2 of a ranking is its mean over the first 1, 2, ...
    features (gajewski2025, Eq. 2 and 3). Both are exact, without sampling.

    Parameters
    ----------
    model : fitted model, Forest or path
        See `explain`.
    X : array-like or DataFrame (n_samples, n_features)
    ranking : Rankings, Attribution, Importance, list of names or indices, array, or str
        Features, the most important first, for all rows alike or row by row (n_samples,
        n_features). An Attribution ranks by absolute values, an Importance by values. A str is the
        name of a method; see `rank`. For ``metric="pg2"`` a list may name some of the features
        only, and a mask is accepted too: bool (n_features,) or (n_samples, n_features).
    metric : {"pgi2", "pgu2", "pg2", "pgi2_curve", "pgu2_curve"}
        ``"pgi2"`` is PGI^2. ``"pgu2"`` is PGU^2, for which all but the first features are
        perturbed. ``"pg2"`` is PG^2 of the features named, or of the first `k` of them. The two
        curves are the gaps for every number of features, whose means are PGI^2 and PGU^2.
    y : (n_samples,), optional
        Targets of the rows, if `ranking` names a method that needs them.
    noise : {"normal", "laplace", "uniform", "marginal"} or perturbation
        What is added to a perturbed feature; ``"marginal"`` takes values from `background`
        instead. Or an object of `splitcredit.faithfulness.perturbations`, such as
        ``Laplace(0.3)``.
    scale : float, (n_features,), Series or dict by feature
        Size of the noise, in units of the features as the trees see them: standard deviation,
        scale, or half width. Needed where `noise` is a name.
    background : array-like or DataFrame (n_background, n_features), optional
        For ``"marginal"``, and for a method that needs one.
    output : str or int, optional
        Name or index of the output whose changes are measured, or ``"predicted"``. By default the
        only output, or the predicted class of each row.
    k : int, optional
        For ``metric="pg2"``: how many of the first features of the ranking are perturbed; by
        default all that it names.
    progress : bool, optional
        As for `explain`.
    **parameters
        Passed to the method, if `ranking` names one.

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
    method_background = {}
    if isinstance(ranking, str) and _methods.takes_background(ranking) and background is not None:
        method_background = {"background": background}
    noise_background = None if method_background and noise != "marginal" else background
    forest, rows, noise_background = forest_and_rows(model, X, noise_background)
    noise_and_scale = _ranks.noise_of(forest, noise, scale, noise_background, f"metric {metric!r}")
    if isinstance(ranking, str):
        for_method = {"noise": noise_and_scale[0], "scale": noise_and_scale[1], "output": output}
        if ranking not in _ranks.BY_GAPS:
            for_method = {"output": output} if _methods.attributes_outputs(ranking) else {}
        for_method |= method_background
        ranking = rank(model, X, ranking, y=y, progress=progress, **for_method, **parameters)
    elif parameters:
        raise TypeError(
            f"faithfulness has no parameter {next(iter(parameters))!r}: parameters of a method go "
            "with the name of the method as ranking"
        )
    refuse_another_order_of_rows(ranking, X)
    rows = prediction_gap.rows_to_perturb(forest, rows, noise_and_scale[0])
    if metric == "pg2" and _ranks.is_mask(ranking):
        if k is not None:
            raise ValueError(f"k={k!r} is for rankings: a mask says which features are perturbed")
        ranks = prediction_gap.chosen_features(forest, ranking, len(rows))
    else:
        ranks = _ranks.ranking_of(ranking, forest, rows, output)
    return _ranks.measured(forest, rows, ranks, metric, *noise_and_scale, output, k, progress)


def _ranked(model, X, method, y, progress, parameters):
    """Rankings of rows by their positions."""
    if method in _ranks.BY_GAPS:
        return _by_gaps(model, X, method, progress, parameters)
    if _methods.attributes(method):
        attributed = _of_one_output(model, X, y, method, progress, parameters)
        return _ranks.by_values(attributed, len(attributed.values))
    if not _methods.refits(method):
        forest, rows = forest_and_rows(model, X)
        forest.prepare(rows)
    data = {"X": X, "y": y} if _methods.takes_data(method) else {}
    ranked = importance(model, method=method, progress=progress, **data, **parameters)
    return _ranks.by_values(ranked, np.shape(X)[0])


def _by_gaps(model, X, method, progress, parameters):
    remaining = dict(parameters)
    background = remaining.pop("background", None)
    _arguments.check(
        method, _ranks.BY_GAPS[method], ("X",), remaining, extra=("noise", "background")
    )
    forest, X, background = forest_and_rows(model, X, background)
    noise, scale = remaining.pop("noise", "normal"), remaining.pop("scale", None)
    noise, scale = _ranks.noise_of(forest, noise, scale, background, f"method {method!r}")
    output = remaining.pop("output", None)
    X = prediction_gap.rows_to_perturb(forest, X, noise)
    return _ranks.by_gaps(forest, X, method, noise, scale, output, progress, remaining)


def _of_one_output(model, X, y, method, progress, parameters):
    """Attribution to one output: the predicted one of each row, if there is a choice to make."""
    if _methods.attributes_outputs(method) and parameters.get("output") is None:
        output, forest = "predicted", to_forest(model)
        refuse_targets(forest)
        if not _methods.takes_any_rows(method):
            output = OutputIndex(prediction_gap.only_output(forest, None))
        parameters = parameters | {"output": output}
    return explain(model, X, method, y=y, progress=progress, **parameters)
