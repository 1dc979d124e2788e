"""Rank features, and measure how faithful rankings are, over rows and outputs."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from splitcredit.kernels.nodes import as_readonly, outputs_add_up
from splitcredit.measures import _methods
from splitcredit.measures._calls import needs
from splitcredit.models.by_columns import forest_by_columns
from splitcredit.models.forest_checks import prepared
from splitcredit.models.prediction import (
    OutputIndex,
    predicted_outputs,
    prepared_background,
    refuse_targets,
)
from splitcredit.prediction_gap import _missing, exact_gap, greedy, optimum, sampling
from splitcredit.prediction_gap.perturbations import (
    FeatureWise,
    Marginal,
    checked_scale,
    of_features,
    perturbation_of,
)
from splitcredit.prediction_gap.rankings import (
    Rankings,
    of_attribution,
    refuse_other_features,
    top_k_mask,
    validate_rankings,
)
from splitcredit.results import progress_bar
from splitcredit.results.attribution import Attribution, Importance
from splitcredit.rows.names import feature_index, in_order_of_features, with_plain_booleans
from splitcredit.rows.tables import check_whole

# Method -> the function that makes its rankings.
BY_GAPS = {_methods.GREEDY: greedy.greedy_ranking, _methods.OPTIMUM: optimum.best_ranking}
# What takes less time than each search.
_REMEDIES = {
    _methods.GREEDY: "top=3 ranks the first three features only, and fewer rows or trees take less",
    _methods.OPTIMUM: "method='pg2_greedy' needs far fewer gaps",
}
_REMEDY = (
    "samples=1000 estimates them (splitcredit.prediction_gap.sampling), metric='pg2' with k= "
    "takes one set, and fewer rows or trees take less"
)
# Rows of X that values are drawn from.
MOST = 500
# Seconds of one core that a pair of leaves takes in a gap, and that it takes if trees split by
# categories. Over forests of 3,000 to 50,000 leaves it was 5e-10 to 1.2e-9, and 4e-8 to 9e-8.
SECONDS, OF_LABELS = 8e-10, 6e-8
# Rows that are ranked or measured at a time, between two moves of the progress bar.
_ROWS = 256
# A forest is large if its number of leaves times its number of tested features is above LARGE. Of a
# large one a greedy ranking has PLACES features, unless `top` says another number. The last places
# take most of the time: all of them can take minutes for one row.
LARGE, PLACES, MOST_PLACES = 400_000, 10, 10_000
METRICS = ("pg2", "pgi2", "pgi2_curve", "pgu2", "pgu2_curve")


def draws_rows(noise, scale) -> bool:
    """Return whether the noise is made of values or deviations of rows, such as a background."""
    by_name = isinstance(noise, str) and noise == "marginal"
    return by_name or isinstance(scale, str) or (noise is None and scale is None)


def perturbed(opened, noise, scale, who, stacklevel) -> tuple:
    """Return forest, rows, perturbation and scale for gaps, from what the user gives."""
    forest, X, background = opened.forest, opened.rows, opened.background
    rows, takes_rows = None, draws_rows(noise, scale)
    if noise is None:
        noise = "marginal" if scale is None else "normal"
    if background is not None and not takes_rows:
        raise ValueError(
            "background= is for noise='marginal', or a scale such as '0.3std': leave it out, or "
            "choose that noise"
        )
    if takes_rows:
        rows = forest.prepare(X) if background is None else prepared_background(forest, background)
    if isinstance(scale, str):
        scale = _deviations(scale, rows)
    if isinstance(noise, str) and noise == "marginal":
        noise = Marginal(_missing.finite(rows if background is not None else _rows_to_draw(rows)))
    elif isinstance(noise, Marginal) and (forest.categories, forest.missing_value) != (None, None):
        noise = Marginal(prepared_background(forest, of_features(noise, forest).rows))
    elif isinstance(noise, str) and scale is None:
        raise TypeError(needs(who, "scale"))
    scale = 1.0 if scale is None else in_order_of_features(forest, scale, "scale")
    if isinstance(noise, Marginal):
        X, drawn = _missing.finite(forest.prepare(X)), of_features(noise, forest).rows
        if opened.columns is not None and drawn.shape[1] == X.shape[1]:
            forest, X, drawn = forest_by_columns(forest, opened.columns, X, drawn.astype(X.dtype))
            noise = Marginal(drawn)
        return *_missing.as_numbers(forest, X, noise), scale
    exact_gap.refuse_special_values(forest)
    noise = of_features(perturbation_of(noise), forest)
    checked_scale(noise, 1.0, forest)
    X = exact_gap.rows_to_perturb(forest, X, noise)
    _warn_of_width(forest, X if rows is None else rows, noise, scale, stacklevel + 1)
    return *forest_by_columns(forest, opened.columns, X, may_move=False), noise, scale


def _deviations(text, rows):
    """Turn text such as 0.3std into a number, or a multiple of each feature's deviation."""
    try:
        size = float(text.replace("std", "", 1))
    except ValueError:
        raise ValueError(
            f"scale is not numeric ({text!r}): pass a number, one for each feature, or that many "
            "standard deviations, such as '0.3std'"
        ) from None
    if "std" not in text:
        return size
    if len(rows) == 1:
        raise ValueError(f"scale={text!r}: one row has no standard deviation: pass background=")
    with warnings.catch_warnings():  # a constant feature, whose scale is refused
        warnings.simplefilter("ignore")
        return size * np.nanstd(np.asarray(rows, np.float64), axis=0, ddof=1)


def _sample_rows(rows):
    """Return all rows, or if they are more than `MOST`, so many drawn with a fixed seed."""
    if len(rows) <= MOST:
        return rows
    return rows[np.sort(np.random.default_rng(0).choice(len(rows), MOST, replace=False))]


def _rows_to_draw(rows):
    """Return the explained rows that values are drawn from."""
    if len(rows) == 0:  # nothing is drawn
        return np.zeros((1, rows.shape[1]))
    if np.array_equal(rows, np.broadcast_to(rows[:1], rows.shape), equal_nan=True):
        raise ValueError(
            "values are drawn from the rows of X, and all rows of X are equal: pass rows to "
            "draw from, such as background=X_train, or noise of a width, scale=..."
        )
    return _sample_rows(rows)


def _warn_of_width(forest, rows, noise, scale, stacklevel):
    """Warn of features whose noise crosses a split between values in fewer than 1 of 40 cases."""
    scales, rows, far = checked_scale(noise, scale, forest), _sample_rows(rows), []
    for j in np.flatnonzero(exact_gap.tested_features(forest) & (scales > 0)):
        own = noise.noises[j] if isinstance(noise, FeatureWise) else noise
        column = rows[np.isfinite(rows[:, j]), j].astype(np.float64)
        values = np.unique(column)
        if 1 < len(values) < len(column):
            half = np.median(np.diff(values)) / 2
            if own.probability_above(half / scales[j]) < 0.025:
                far.append(forest.feature_names[j])
    if far:
        more = f" and {len(far) - 5} more" if len(far) > 5 else ""
        warnings.warn(
            f"noise of this width hardly crosses a split between two values of "
            f"{', '.join(map(str, far[:5]))}{more}: their effect is hardly measured; "
            "noise='marginal' draws the values of other rows",
            UserWarning,
            stacklevel=stacklevel + 1,
        )


def by_output(forest, X, output):
    """Yield pairs of an output and the rows of X that it is explained for.

    Without a choice that is the one output, or the second of two that add up, or, of more, the
    predicted one of each row.
    """
    several = forest.n_outputs > 1
    if output is None:
        refuse_targets(forest)
    if output is None and forest.n_outputs == 2:
        several = not outputs_add_up(forest)
    if isinstance(output, str) and output == "predicted":
        several, output = forest.n_outputs > 1, None
    if output is None and several:
        rows = forest.prepare(X) if forest.categories is None else as_readonly(X)[0]
        predicted = predicted_outputs(forest, rows)
        return [(OutputIndex(c), np.flatnonzero(predicted == c)) for c in np.unique(predicted)]
    return [(OutputIndex(exact_gap.only_output(forest, output)), np.arange(len(X)))]


def by_gaps(forest, X, method, noise, scale, output, progress, parameters) -> Rankings:
    """Rank by PG^2 the features of rows as `exact_gap.rows_to_perturb` gives them."""
    function = BY_GAPS[method]
    if function is greedy.greedy_ranking and parameters.get("top") is None and _is_large(forest):
        parameters = parameters | {"top": PLACES}
    parts: dict[str, list] = {}
    p, top = int(exact_gap.tested_features(forest).sum()), parameters.get("top")
    if top is not None:
        check_whole("top", top, 1)
    sets = {k: p + 1 - k for k in range(1, min(top or p, p) + 1)}
    if method == _methods.OPTIMUM:
        sets = {k: math.comb(p, k) for k in range(1, min(p, optimum.MOST_FEATURES) + 1)}
    remedy = _say_cost(forest, noise, len(X), sets, _REMEDIES[method], progress)
    with progress_bar.bar(len(X), progress, remedy=remedy) as done:
        for c, rows in by_output(forest, X, output) or [(0, np.arange(0))]:
            for chunk in _split(rows):
                of_chunk = X[chunk]
                with prepared(forest, of_chunk):
                    ranked = function(forest, of_chunk, noise, scale, c, done=done, **parameters)
                for name in ("rankings", "gaps", "tied"):
                    if hasattr(ranked, name):
                        parts.setdefault(name, []).append(getattr(ranked, name))
                parts.setdefault("order", []).append(chunk)
    order = np.argsort(np.concatenate(parts.pop("order")))
    arrays = {name: np.concatenate(pieces)[order] for name, pieces in parts.items()}
    return type(ranked)(**arrays, feature_names=forest.feature_names)


def _say_cost(forest, noise, n_rows, sets, remedy, progress):
    """Say how long exact gaps take, if that is long; return the bar's remedy.

    A set of k of p features lets a row reach about ``(1 + k / p)**depth`` leaves of a tree, and a
    gap takes every pair of leaves that are reached. Returns the remedy, if it was not said.
    """
    p = max(int(exact_gap.tested_features(forest).sum()), 1)
    leaves = np.add.reduceat(forest.feature < 0, forest.tree_offsets[:-1], dtype=np.float64)
    if np.count_nonzero(forest.value) <= forest.n_nodes:  # each tree is of one output
        leaves = leaves[:: forest.n_outputs]
    pairs = sum(n * (leaves ** np.log2(1 + k / p)).sum() ** 2 for k, n in sets.items())
    of_labels = forest.categories and isinstance(noise, Marginal)
    seconds = (OF_LABELS if of_labels else SECONDS) * n_rows * pairs
    if seconds <= progress_bar.LONG or progress is False:
        return remedy
    progress_bar.logger.warning(
        "exact gaps of %s sets of features for each of %s rows, by %s trees with %s leaves, take "
        "about %.0f seconds of one core: %s",
        *(f"{n:,.0f}" for n in (sum(sets.values()), n_rows, forest.n_trees, leaves.sum())),
        seconds,
        remedy,
    )
    return ""


def _is_large(forest):
    """Return whether ranking all features of a row may take more than a second."""
    n_leaves, n_tested = np.count_nonzero(forest.left < 0), exact_gap.tested_features(forest)
    return n_leaves * n_tested.sum() > LARGE or forest.n_features > MOST_PLACES


def by_values(result, n: int) -> Rankings:
    """Rank by attributions, or by importances, which give n rows the same ranking."""
    if isinstance(result, Importance):
        order = np.argsort(-result.values, kind="stable")
        return Rankings(np.tile(order, (n, 1)), None, feature_names=result.feature_names)
    return Rankings(of_attribution(result), None, feature_names=result.feature_names)


def is_mask(features) -> bool:
    """Return whether features are given by true and false, and not as a ranking."""
    if isinstance(features, Mapping):
        features = list(features.values())
    features = with_plain_booleans(features, "the mask")
    if hasattr(features, "columns") or hasattr(features, "dtype"):
        return np.asarray(features).dtype == np.bool_
    while isinstance(features, (list, tuple)) and features:
        features = features[0]
    return isinstance(features, (bool, np.bool_))


def ranking_of(ranking, forest, X, output) -> np.ndarray:
    """Return rankings, int64 (n_samples, n_ranked), from any form but the name of a method."""
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
    """Return whether these are whole numbers from pandas that are names of features."""
    is_of_pandas = type(ranking).__module__.partition(".")[0] == "pandas"
    names = set(forest.feature_names)
    return is_of_pandas and array.dtype.kind in "iu" and names >= set(map(str, array.ravel()))


def _refuse_without_order(ranking, forest):
    """Refuse sets of features, and numbers by feature, which have no order."""
    if isinstance(ranking, (set, frozenset)):
        raise ValueError(f"ranking={ranking!r} is a set, which has no order: pass a list")
    of_names = hasattr(ranking, "keys") and not hasattr(ranking, "columns")
    if not of_names or getattr(ranking, "ndim", 1) != 1:
        return
    common_names = set(forest.feature_names) & {str(name) for name in ranking.keys()}
    is_mapping = isinstance(ranking, Mapping)
    if is_mapping or (common_names and ranking.dtype.kind in "iuf"):
        ordered = "scores.sort_values(ascending=False).index"
        ordered = "sorted(scores, key=scores.get, reverse=True)" if is_mapping else ordered
        raise ValueError(
            f"ranking is a {type(ranking).__name__} of numbers by feature, which may be scores or "
            f"places: pass the features, the most important first, such as {ordered}"
        )


def _as_array(ranking):
    """Return features as an array of one or two dimensions, at least one for each row."""
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
    """Rank by an attribution to one output, or to the row's own one of several."""
    n, p, n_outputs = attribution.values.shape
    if n_outputs == 1:
        return of_attribution(attribution)
    if n != len(X):
        raise ValueError(f"{attribution!r} has {n} rows, and X has {len(X)}: pass the same rows")
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


def measured(
    forest, X, ranks, metric, noise, scale, output, *, k, samples, random_state, progress
) -> np.ndarray:
    """Compute a metric of `METRICS` for rows, with rankings or, for PG^2, a mask."""
    out: Any = None
    curve, p = metric != "pg2", int(exact_gap.tested_features(forest).sum())
    if not curve and ranks.dtype != np.bool_:
        ranks = top_k_mask(ranks, ranks.shape[1] if k is None else k, forest.n_features)
    remedy = "fewer samples, rows or trees"
    if samples is None:
        sizes = range(1, p + 1) if curve else ranks.sum(axis=1).clip(max=p).tolist()
        sets = {n: (1 if curve else sizes.count(n) / len(X)) for n in sizes}
        remedy = _say_cost(forest, noise, len(X), sets, _REMEDY, progress)
    with progress_bar.bar(len(X), progress, remedy=remedy) as done:
        for c, rows in by_output(forest, X, output) or [(0, np.arange(0))]:
            problem = exact_gap.GapProblem(forest, noise, scale, c)
            if samples is not None:
                problem = sampling.SampledProblem(forest, noise, scale, c, samples, random_state)
            for chunk in _split(rows):
                if curve:
                    important = metric.startswith("pgi2")
                    gaps = problem.curve(X[chunk], ranks[chunk], important, done)
                    gaps = gaps if metric.endswith("curve") else gaps.mean(axis=1)
                else:
                    gaps = problem.gaps(X[chunk], ranks[chunk][:, None], done)[:, 0]
                if out is None:
                    out = np.empty((len(X), *gaps.shape[1:]))
                out[chunk] = gaps
    return out


def _split(rows):
    return [rows[a : a + _ROWS] for a in range(0, max(len(rows), 1), _ROWS)]
