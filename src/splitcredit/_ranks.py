"""Rankings of features and the measure of their faithfulness, over rows and outputs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from splitcredit import _methods, _progress
from splitcredit._names import feature_index, in_order_of_features, with_plain_booleans
from splitcredit.attribution import Attribution, Importance
from splitcredit.gaps import greedy, optimum, prediction_gap
from splitcredit.gaps.perturbations import FeatureWise, Marginal
from splitcredit.gaps.rankings import (
    Rankings,
    of_attribution,
    refuse_other_features,
    top_k_mask,
    validate_rankings,
)
from splitcredit.importances._prediction import (
    OutputIndex,
    predicted_outputs,
    prepared_background,
    refuse_targets,
)

# Method -> the function that makes its rankings.
BY_GAPS = {_methods.GREEDY: greedy.greedy_ranking, _methods.OPTIMUM: optimum.best_ranking}
# What takes less time than each search.
_REMEDIES = {
    _methods.GREEDY: "top=3 ranks the first three features only, and fewer rows or trees take less",
    _methods.OPTIMUM: "method='pg2_greedy' needs far fewer gaps",
}
# Rows that are ranked or measured at a time, between two moves of the progress bar.
_ROWS = 256
# A forest is large if its number of leaves times its number of tested features is above LARGE. Of a
# large one a greedy ranking has PLACES features, unless `top` says another number. The last places
# take most of the time: all of them can take minutes for one row.
LARGE, PLACES = 400_000, 10
METRICS = ("pg2", "pgi2", "pgi2_curve", "pgu2", "pgu2_curve")


def noise_of(forest, noise, scale, background, who) -> tuple[Any, Any]:
    """Perturbation and scale from what the user gives.

    TypeError if the size of the noise or the background is missing. ValueError if a background or
    scale is given that does not apply, or names no feature.
    """
    prediction_gap.refuse_special_values(forest)
    if isinstance(noise, str) and noise == "marginal":
        if background is None:
            raise TypeError(_methods.needs(who, "background"))
        noise, background = Marginal(prepared_background(forest, background)), None
    if background is not None:
        raise ValueError("background= is for noise='marginal': leave it out, or choose that noise")
    if scale is None and (noise is None or isinstance(noise, str)):
        raise TypeError(_methods.needs(who, "scale"))
    if isinstance(noise, (Marginal, FeatureWise)) or scale is None:
        return noise, 1.0 if scale is None else in_order_of_features(forest, scale, "scale")
    return noise, in_order_of_features(forest, scale, "scale")


def by_output(forest, X, output):
    """Pairs of an output and the rows of X that it is taken for.

    Without a choice that is the one output, or the second of two that add up, or, of more, the
    predicted one of each row.

    ValueError if there is no such output, or none is chosen of several targets, whose largest
    prediction means nothing.
    """
    from splitcredit.kernels.nodes import outputs_add_up

    several = forest.n_outputs > 1
    if output is None:
        refuse_targets(forest)
    if output is None and forest.n_outputs == 2:
        several = not outputs_add_up(forest)
    if isinstance(output, str) and output == "predicted":
        several, output = forest.n_outputs > 1, None
    if output is None and several:
        predicted = predicted_outputs(forest, forest.prepare(X))
        return [(OutputIndex(c), np.flatnonzero(predicted == c)) for c in np.unique(predicted)]
    return [(OutputIndex(prediction_gap.only_output(forest, output)), np.arange(len(X)))]


def by_gaps(forest, X, method, noise, scale, output, progress, parameters) -> Rankings:
    """Rankings made from PG^2, of rows as `prediction_gap.rows_to_perturb` gives them."""
    function = BY_GAPS[method]
    if function is greedy.greedy_ranking and parameters.get("top") is None and _is_large(forest):
        parameters = parameters | {"top": PLACES}
    parts: dict[str, list] = {}
    with _progress.bar(len(X), progress, remedy=_REMEDIES[method]) as done:
        for c, rows in by_output(forest, X, output) or [(0, np.arange(0))]:
            for chunk in _split(rows):
                ranked = function(forest, X[chunk], noise, scale, c, done=done, **parameters)
                for name in ("rankings", "gaps", "tied"):
                    if hasattr(ranked, name):
                        parts.setdefault(name, []).append(getattr(ranked, name))
                parts.setdefault("order", []).append(chunk)
    order = np.argsort(np.concatenate(parts.pop("order")))
    arrays = {name: np.concatenate(pieces)[order] for name, pieces in parts.items()}
    return type(ranked)(**arrays, feature_names=forest.feature_names)


def _is_large(forest):
    """Whether ranking all features of a row may take more than a second."""
    n_leaves = np.count_nonzero(forest.left < 0)
    return n_leaves * len(np.unique(forest.feature[forest.left >= 0])) > LARGE


def by_values(result, n: int) -> Rankings:
    """Rankings from attributions, or those of importances, the same for n rows."""
    if isinstance(result, Importance):
        order = np.argsort(-result.values, kind="stable")
        return Rankings(np.tile(order, (n, 1)), None, feature_names=result.feature_names)
    return Rankings(of_attribution(result), None, feature_names=result.feature_names)


def is_mask(features) -> bool:
    """Whether features are given by true and false, and not in an order."""
    if isinstance(features, Mapping):
        features = list(features.values())
    features = with_plain_booleans(features, "the mask")
    if hasattr(features, "columns"):
        return np.asarray(features).dtype == np.bool_
    if hasattr(features, "dtype"):
        return features.dtype == np.bool_
    while isinstance(features, (list, tuple)) and features:
        features = features[0]
    return isinstance(features, (bool, np.bool_))


def ranking_of(ranking, forest, X, output) -> np.ndarray:
    """Rankings, int64 (n_samples, n_ranked), from any form of them but the name of a method.

    ValueError if it does not fit the model or the rows.
    """
    refuse_other_features(ranking, forest)
    n = len(X)
    if isinstance(ranking, Importance):
        ranking = by_values(ranking, n)
    if isinstance(ranking, Attribution):
        return validate_rankings(_of_attribution(ranking, forest, X, output), n, forest.n_features)
    if isinstance(ranking, Rankings):
        return validate_rankings(ranking.rankings, n, forest.n_features)
    _refuse_without_order(ranking, forest)
    array = _as_array(ranking)
    if _are_labels(ranking, array, forest):
        array = array.astype(str)
    elif not hasattr(ranking, "dtype") and array.dtype.kind in "iu":  # As a user writes them.
        for index in np.unique(array[(array >= 0) & (array < forest.n_features)]):
            feature_index(forest.feature_names, int(index), "ranking")
    if array.dtype.kind in "US" or array.dtype == object:
        names = array.ravel().tolist()
        indices = [feature_index(forest.feature_names, name, "ranking") for name in names]
        array = np.array(indices).reshape(array.shape)
    if array.ndim == 1:
        array = np.tile(array, (n, 1))
    return validate_rankings(array, n, forest.n_features)


def _are_labels(ranking, array, forest):
    """Whether these are whole numbers from a column or an index of pandas that name features."""
    is_of_pandas = type(ranking).__module__.partition(".")[0] == "pandas"
    names = set(forest.feature_names)
    return is_of_pandas and array.dtype.kind in "iu" and names >= set(map(str, array.ravel()))


def _refuse_without_order(ranking, forest):
    """Refuse what holds features, or numbers of features, but says no order."""
    if isinstance(ranking, (set, frozenset)):
        raise ValueError(f"ranking={ranking!r} is a set, which has no order: pass a list")
    of_names = hasattr(ranking, "keys") and not hasattr(ranking, "columns")
    if not of_names or getattr(ranking, "ndim", 1) != 1:
        return
    common_names = set(forest.feature_names) & {str(name) for name in ranking.keys()}
    is_mapping = isinstance(ranking, Mapping)
    if is_mapping or (common_names and ranking.dtype.kind in "iuf"):
        ordered = "scores.sort_values(ascending=False).index"
        if is_mapping:
            ordered = "sorted(scores, key=scores.get, reverse=True)"
        raise ValueError(
            f"ranking is a {type(ranking).__name__} of numbers by feature, which may be scores or "
            f"places: pass the features, the most important first, such as {ordered}"
        )


def _as_array(ranking):
    """Features as an array of one or two dimensions, at least one feature for each row."""
    try:
        array = np.asarray(ranking if hasattr(ranking, "ndim") else list(ranking))
    except (TypeError, ValueError):  # no sequence, or one of lists of different lengths
        array = np.empty(())
    if array.ndim not in (1, 2) or array.shape[-1] == 0:
        raise ValueError(
            f"ranking={ranking!r}: expected the name of a method, a Rankings, an Attribution, an "
            "Importance, or features by name or index, for all rows or the same number for each"
        )
    return array


def _of_attribution(attribution, forest, X, output):
    """Rankings by an attribution to one output, or to the one of several that a row is about."""
    n, p, n_outputs = attribution.values.shape
    if n_outputs == 1:
        return of_attribution(attribution)
    if n != len(X):
        raise ValueError(f"{attribution!r} is of {n} rows, and X has {len(X)}: pass the same rows")
    ranks = np.empty((n, p), np.int64)
    for c, rows in by_output(forest, X, output):
        name = forest.output_names[c]
        if name not in attribution.output_names:
            raise ValueError(
                f"{attribution!r} has no output {name!r}, only {list(attribution.output_names)}: "
                "choose one of them with output="
            )
        of_rows = attribution.values[rows, :, attribution.output_names.index(name)]
        ranks[rows] = np.argsort(-np.abs(of_rows), axis=1, kind="stable")
    return ranks


def measured(forest, X, ranks, metric, noise, scale, output, *, k, progress) -> np.ndarray:
    """A metric of `METRICS`, of such rows, with rankings or, for PG^2, a mask."""
    out: Any = None
    with _progress.bar(len(X), progress, remedy="fewer rows, or metric='pg2' with k=") as done:
        for c, rows in by_output(forest, X, output) or [(0, np.arange(0))]:
            problem = prediction_gap.GapProblem(forest, noise, scale, c)
            for chunk in _split(rows):
                sets = _sets(ranks[chunk], metric, k, forest.n_features)
                gaps = problem.gaps(X[chunk], sets, done)
                if not metric.endswith("curve"):
                    gaps = gaps.mean(axis=1)
                if out is None:
                    out = np.empty((len(X), *gaps.shape[1:]))
                out[chunk] = gaps
    return out


def _sets(ranks, metric, k, n_features):
    """The features that are perturbed together, bool (n_samples, n_sets, n_features)."""
    if metric != "pg2":
        return prediction_gap.cuts(ranks, n_features, important=metric.startswith("pgi2"))
    if ranks.dtype != np.bool_:
        ranks = top_k_mask(ranks, ranks.shape[1] if k is None else k, n_features)
    return ranks[:, None]


def _split(rows):
    return [rows[a : a + _ROWS] for a in range(0, max(len(rows), 1), _ROWS)]
