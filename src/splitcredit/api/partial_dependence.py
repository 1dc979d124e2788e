"""Partial dependence, individual conditional expectations and accumulated local effects."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import softmax

from splitcredit.kernels.nodes import as_readonly, lowered, owners
from splitcredit.kernels.walks import partial_dependence as kernel
from splitcredit.kernels.walks import predict
from splitcredit.measures._calls import checked
from splitcredit.models import rescaling
from splitcredit.models.forest import with_missing
from splitcredit.models.opened import Opened
from splitcredit.models.prediction import chosen_outputs, is_other_class
from splitcredit.results import progress_bar
from splitcredit.results.partial_dependence import KINDS, PartialDependence
from splitcredit.rows.names import did_you_mean, feature_index
from splitcredit.rows.tables import check_choice, check_whole, column_of, dense, numbers

# Numbers of the curves of some rows (64 MB), and most of a result (8 GB).
_CHUNK, _MOST = 1 << 23, 1 << 30


@checked
def partial_dependence(
    model: object,
    X: ArrayLike,
    features: object,
    *,
    kind: Literal["average", "individual", "both", "ale"] = "average",
    grid: object = None,
    grid_resolution: int = 100,
    percentiles: tuple[float, float] = (0.05, 0.95),
    output: str | int = "all",
    model_output: Literal["raw", "probability"] = "raw",
    sample_weight: ArrayLike | None = None,
    check_additivity: bool = True,
    progress: bool | None = None,
) -> PartialDependence:
    """How the prediction depends on one feature, or on two together, exactly.

    Partial dependence is the mean, over the rows of X, of the prediction with the features set to
    each value of a grid: what ``sklearn.inspection.partial_dependence(method="brute")`` gives.

    Parameters
    ----------
    model : fitted model or Forest
        Anything `splitcredit.to_forest` accepts.
    X : array-like or DataFrame (n_samples, n_features)
        The rows that the mean is over, such as the training rows.
    features : str, int, or two of them
        Names or indices of features as the trees see them: of a pipeline those that its steps make.
    kind : {"average", "individual", "both", "ale"}
        ``"individual"`` and ``"both"`` also give the curve of each row (ICE); a plot of the first
        shows these only. ``"ale"`` gives accumulated local effects of one numeric feature instead,
        which are of use where features are correlated.
    grid : "thresholds" or values, optional
        ``"thresholds"`` is one value for each interval in which no tree changes its prediction,
        which gives the exact step function. Values are those of the feature, or labels of
        categories; for two features pass two lists. By default the distinct values of a feature if
        these are fewer than `grid_resolution`, else values at equal distances between two
        percentiles. A categorical feature has its categories, and a feature that is missing in some
        rows of X a place of its own for NaN.
    grid_resolution : int
        Number of values on the grid, from 2. For ``"ale"``, of quantiles that bound the bins.
    percentiles : (float, float)
        Shares of the rows below the lowest and the highest value of the grid.
    output : "all", or the name or index of one output
    model_output : {"raw", "probability"}
        ``"probability"`` is for boosted classifiers, whose raw prediction is a score.
    sample_weight : array-like (n_samples,), optional
        Weights of the rows in the mean, from 0 on, not all 0.
    check_additivity : bool
        See `splitcredit.explain`.
    progress : bool, optional
        See `splitcredit.explain`.

    Returns
    -------
    PartialDependence
        In units of the prediction. The values of ``"ale"`` have the mean 0 over the rows.

    Raises
    ------
    TypeError, ValueError
        As `splitcredit.explain`, and if there is no such feature or no such value on its axis, the
        weights are negative or all 0, accumulated local effects are asked for of two features or a
        categorical one, or the result is larger than 8 GB.

    Notes
    -----
    Friedman, "Greedy function approximation: a gradient boosting machine", Annals of Statistics 29
    (2001), Section 8.2. Goldstein et al., "Peeking inside the black box", Journal of Computational
    and Graphical Statistics 24 (2015): individual curves. Apley and Zhu, "Visualizing the effects
    of predictor variables in black box supervised learning models", Journal of the Royal
    Statistical Society B 82 (2020), Equations 15 and 16: accumulated local effects. Rows whose
    value is missing or outside of a given grid take no part in these.

    Examples
    --------
    >>> curve = splitcredit.partial_dependence(model, X, "petal width (cm)", grid=[0.5, 1.5])
    >>> curve
    PartialDependence('average', 'petal width (cm)', 2 places, 3 outputs)
    >>> curve.values.round(2)
    array([[0.6 , 0.27, 0.12],
           [0.14, 0.62, 0.24]])
    """
    check_choice("kind", kind, KINDS)
    check_whole("grid_resolution", grid_resolution, 2)
    opened = Opened(model, X).checked(check_additivity)
    forest: Any = opened.forest
    rows = forest.prepare(opened.rows)
    weights = _weights(sample_weight, len(rows))
    scale = _scale(opened, output, model_output)
    chosen = _features(forest, features)
    table = dense(forest.in_order(opened.rows), forest.absent)
    grids = grid if len(chosen) == 2 and not isinstance(grid, str) else [grid] * len(chosen)
    grids = [None] * len(chosen) if grids is None else list(grids)
    if len(grids) != len(chosen):
        raise ValueError(f"grid has {len(grids)} entries, expected 2: a list for each feature")
    make = _edges if kind == "ale" else _places
    sizes = {"resolution": grid_resolution, "percentiles": percentiles}
    axes = [
        make(_Axis.of(forest, rows, table, j), g, **sizes)
        for j, g in zip(chosen, grids, strict=True)
    ]
    individual = None
    if kind == "ale":
        _refuse_ale(axes)
        values = _accumulated(forest, rows, axes[0], scale, weights)
    else:
        of_rows = len(rows) if kind in ("individual", "both") else 1
        _check_size(len(scale.outputs) * of_rows, axes)
        with progress_bar.bar(len(rows), progress, remedy="fewer rows or trees take less") as done:
            take = _average if kind == "average" and model_output == "raw" else _by_rows
            values, individual = take(forest, rows, axes, scale, weights, of_rows > 1, done)
    return PartialDependence(
        values=values,
        grids=tuple(axis.shown() for axis in axes),
        feature_names=tuple(forest.feature_names[j] for j in chosen),
        output_names=scale.names,
        kind=kind,
        individual=individual,
        data=tuple(axis.shown(axis.of_rows) for axis in axes),
        unit=opened.unit if model_output == "raw" else model_output,
        is_step=isinstance(grid, str),
        index=opened.index,
    )


class _Scale(NamedTuple):
    """The outputs that are computed, and what makes those that are asked for of them."""

    names: tuple[str, ...]
    outputs: np.ndarray
    of_raw: Callable  # of (..., n_computed)


def _scale(opened, output, model_output) -> _Scale:
    check_choice("model_output", model_output, ("raw", "probability"))
    forest = opened.forest
    outputs, negated = chosen_outputs(forest, output), is_other_class(forest, output)
    names = tuple(forest.output_names[c] for c in outputs)
    names = (forest.other_class,) if negated else names
    sign = -1.0 if negated else 1.0
    if model_output == "raw":
        return _Scale(names, outputs, lambda raw: sign * raw)
    rescaling.check_model(opened, model_output)
    rescaling.check(forest, model_output, None, 0)
    if forest.n_outputs == 1:
        return _Scale(names, outputs, lambda raw: rescaling.transformed(model_output, sign * raw))
    every = np.arange(forest.n_outputs)
    return _Scale(names, every, lambda raw: softmax(raw, axis=-1)[..., outputs])


def _weights(given, n):
    """Weights of n rows as float64; ones if none are given."""
    if n == 0:
        raise ValueError("X has no rows: partial dependence is a mean over rows, pass some")
    if given is None:
        return np.ones(n)
    weights = numbers(given, "sample_weight")
    if weights.shape != (n,):
        raise ValueError(f"sample_weight has shape {weights.shape}, expected {(n,)}")
    if not (np.isfinite(weights) & (weights >= 0)).all() or not weights.any():
        raise ValueError("sample_weight must be finite and from 0 on, and not all 0")
    return weights


def _features(forest, features) -> list[int]:
    """Indices of the one feature or the two."""
    names = forest.feature_names
    is_one = isinstance(features, (str, int, np.integer))
    listed = [features] if is_one or not hasattr(features, "__iter__") else list(features)
    chosen = [feature_index(names, name, "features") for name in listed]
    if len(chosen) not in (1, 2) or len({*chosen}) < len(chosen):
        raise ValueError(
            f"features={features!r}: expected one feature, or two different ones; call it once for "
            "each curve"
        )
    return chosen


class _Axis(NamedTuple):
    """A studied feature: what it is in the rows, and on the grid.

    Values of a categorical feature are codes, whose labels are known or None.
    """

    forest: Any
    feature: int
    template: np.ndarray  # a prepared row
    of_rows: np.ndarray  # float64 (n_samples,)
    is_category: bool
    labels: tuple | None
    places: np.ndarray = np.zeros(0)  # float64, with NaN behind the others

    @classmethod
    def of(cls, forest, rows, table, j):
        labels = _labels(forest, table, j)
        is_split = forest.categories is not None and j in forest.categories.feature
        is_category, values = labels is not None or is_split, rows[:, j].astype(np.float64)
        if not is_category:  # not rounded to single precision, as it may be in prepared rows
            given = column_of(table, j).to_numpy(np.float64, na_value=np.nan)
            values = np.where(np.isnan(values), np.nan, given)
        return cls(forest, j, rows[:1, : forest.n_features], values, is_category, labels)

    @property
    def name(self):
        return self.forest.feature_names[self.feature]

    def columns(self):
        """Columns of the prepared rows that are of the feature, bool (n_columns,)."""
        return owners(self.forest) == self.feature

    def rows(self, places=None):
        """Prepared rows with the feature at its places."""
        places = self.places if places is None else places
        rows = np.repeat(self.template, len(places), axis=0)
        with np.errstate(over="ignore"):
            rows[:, self.feature] = places
        if self.forest.missing_value is not None:
            rows = with_missing(rows, self.forest.missing_value)
        return rows if self.forest.categories is None else self.forest.categories.appended(rows)

    def parts(self):
        """Indices of places that are sorted: numbers and NaN, or each category by itself."""
        if self.is_category:
            return [np.array([k]) for k in range(len(self.places))]
        numeric = self.rows()[:, self.feature]
        order = np.argsort(numeric, kind="stable")  # NaN goes last
        n_known = int(np.isfinite(numeric).sum() + np.isinf(numeric).sum())
        return [part for part in (order[:n_known], order[n_known:]) if len(part)]

    def shown(self, values=None):
        """Places, or the values of rows, as a user knows them."""
        values = self.places if values is None else values
        if not self.is_category:
            return values
        shown = np.empty(len(values), object)
        labels = self.labels
        shown[:] = [v if np.isnan(v) or labels is None else labels[int(v)] for v in values]
        return shown


def _labels(forest, table, j):
    """Labels of the codes of a feature; None if it has no categories, or they have no names."""
    if forest.categories is None:
        return None
    columns = table.dtypes if hasattr(table, "iloc") else ()
    by_type = [k for k, kind in enumerate(columns) if str(kind) == "category"]
    labeled = by_type if forest.categories.labeled is None else forest.categories.labeled
    known = dict(zip(labeled, forest.categories.labels, strict=False))
    if j not in known and j in by_type:
        return tuple(table.iloc[:, j].cat.categories)
    return known.get(j)


def _places(axis, grid, resolution, percentiles) -> _Axis:
    """The axis with the places of its grid."""
    known = np.unique(axis.of_rows[~np.isnan(axis.of_rows)])
    if grid is not None and not isinstance(grid, str):
        places = _given(axis, grid)
        if np.isnan(places).any() and axis.forest.missing_left is None:
            raise ValueError("grid holds NaN, and this model has no rule for missing values")
        return axis._replace(places=places)
    if isinstance(grid, str):
        check_choice("grid", grid, ("thresholds",))
    if axis.is_category:
        places = known if axis.labels is None else np.arange(len(axis.labels), dtype=np.float64)
    elif grid is not None:
        places = _of_thresholds(axis, known)
    else:
        places = _between(axis, known[np.isfinite(known)], resolution, percentiles)
    missing = [np.nan] if np.isnan(axis.of_rows).any() else []
    return axis._replace(places=np.concatenate([places, missing]))


def _given(axis, grid):
    """Places of given values or labels, with NaN behind the others."""
    if np.ndim(grid) != 1 or len(grid) == 0:
        raise ValueError(
            f"grid={grid!r}: expected 'thresholds', or a list of values of {axis.name}"
        )
    if axis.labels is None:
        places = numbers(grid, "grid")
    else:
        missing = [label is None or label != label for label in grid]
        unknown = [
            label
            for label, is_missing in zip(grid, missing, strict=True)
            if not is_missing and label not in axis.labels
        ]
        if unknown:
            known = [str(label) for label in axis.labels]
            hint = did_you_mean(unknown[0], known) or f": they are {known[:10]}"
            raise ValueError(f"grid: {unknown[0]!r} is no category of {axis.name}{hint}")
        places = np.array(
            [
                np.nan if is_missing else float(axis.labels.index(label))
                for label, is_missing in zip(grid, missing, strict=True)
            ]
        )
    return np.concatenate([places[~np.isnan(places)], places[np.isnan(places)]])


def _of_thresholds(axis, known):
    """The upper end of each interval between thresholds, and a value above all of them."""
    forest = axis.forest
    ends = np.unique(lowered(forest)[forest.feature == axis.feature])
    ends = ends[np.isfinite(ends)]
    if not len(ends):
        return known[-1:] if len(known) else np.zeros(1)
    with np.errstate(over="ignore"):  # nothing finite may be above the last
        above = float(np.nextafter(ends[-1], ends.dtype.type(np.inf)))
    last = max(above, known[-1]) if len(known) else above
    return np.append(ends.astype(np.float64), last)


def _between(axis, known, resolution, percentiles):
    """All values if they are few, else some between two percentiles, as scikit-learn does."""
    from scipy.stats.mstats import mquantiles

    if len(known) < resolution:
        return known
    low, high = mquantiles(axis.of_rows[np.isfinite(axis.of_rows)], prob=percentiles)
    if not low < high:
        raise ValueError(
            f"percentiles={percentiles} of {axis.name} are both {low:g}: pass others, such as "
            "percentiles=(0, 1), or a grid"
        )
    return np.linspace(low, high, resolution)


def _check_size(n_curves, axes):
    n_places = int(np.prod([len(axis.places) for axis in axes]))
    if n_curves * n_places > _MOST:
        raise ValueError(
            f"{n_curves} curves of {n_places} places are more than 8 GB: pass fewer rows, or a "
            "grid with fewer places"
        )


def _average(forest, rows, axes, scale, weights, _, done) -> tuple:
    """The mean of raw predictions, without those of the rows."""
    curve = _curves(forest, rows, axes, scale, weights)
    done(len(rows))
    return scale.of_raw(curve)[0], None


def _by_rows(forest, rows, axes, scale, weights, are_kept, done) -> tuple:
    """The mean of what is made of the predictions of each row, and these if they are to be kept."""
    shape = tuple(len(axis.places) for axis in axes)
    total = np.zeros((*shape, len(scale.names)))
    kept = np.empty((len(rows), *total.shape)) if are_kept else None
    step = max(1, _CHUNK // ((int(np.prod(shape)) + 1) * len(scale.outputs)))
    for start in range(0, len(rows), step):
        chunk = slice(start, start + step)
        own = scale.of_raw(_curves(forest, rows[chunk], axes, scale))
        total += (weights[chunk].reshape(-1, *[1] * total.ndim) * own).sum(axis=0)
        if kept is not None:
            kept[chunk] = own
        done(len(own))
    return total / weights.sum(), kept


def _curves(forest, rows, axes, scale, weights=None):
    """Raw predictions (n_samples, n_places, ..., n_computed), or their mean as of one sample."""
    numeric = [axis for axis in axes if not axis.is_category]
    swept = numeric[0] if numeric else axes[0] if len(axes) == 2 else None
    listed = next((axis for axis in axes if axis is not swept), None)
    owner = np.zeros(rows.shape[1], np.int8)
    for axis, number in ((swept, 1), (listed, 2)):
        if axis is not None:
            owner[axis.columns()] = number
    first = rows[:1] if swept is None else swept.rows()
    parts = [np.zeros(1, np.int64)] if swept is None else swept.parts()
    second = rows[:1] if listed is None else listed.rows()
    of_part = partial(kernel.curves, second=second, owner=owner, outputs=scale.outputs)
    pieces = [of_part(forest, rows, first[part], weights=weights) for part in parts]
    values = np.concatenate(pieces, axis=2)[:, :, np.argsort(np.concatenate(parts))]
    if len(axes) == 2 and swept is axes[1]:
        values = values.swapaxes(2, 3)
    shape = [len(axis.places) for axis in axes]
    return np.moveaxis(values.reshape(*values.shape[:2], *shape), 1, -1)


def _edges(axis, grid, resolution, **_) -> _Axis:
    """The axis with the bounds of its bins: quantiles, or given values."""
    if isinstance(grid, str):
        raise ValueError("accumulated local effects need bins: pass values as grid, or None")
    if axis.is_category:
        return axis
    known = axis.of_rows[np.isfinite(axis.of_rows)]
    if grid is None and len(known):
        shares = np.linspace(0, 1, resolution)
        grid = np.quantile(known, shares, method="inverted_cdf")
    edges = np.zeros(0) if grid is None else np.unique(_given(axis, grid))
    return axis._replace(places=edges[np.isfinite(edges)])


def _refuse_ale(axes):
    names = " and ".join(axis.name for axis in axes)
    if len(axes) > 1:
        raise ValueError(f"kind='ale' takes one feature, not {names}: call it for each of them")
    if axes[0].is_category:
        raise ValueError(f"{names} is categorical, and its effects have no order: kind='average'")
    if len(axes[0].places) < 2:
        raise ValueError(f"{names} has fewer than two values: it has no local effects")


def _accumulated(forest, rows, axis, scale, weights):
    """Accumulated local effects (Apley and Zhu 2020, Equations 15 and 16), (n_edges, n_outputs)."""
    edges, n_bins = axis.places, len(axis.places) - 1
    inside = np.flatnonzero((axis.of_rows >= edges[0]) & (axis.of_rows <= edges[-1]))
    bins = np.maximum(np.searchsorted(edges, axis.of_rows[inside]), 1) - 1
    at_edges = axis.rows()[:, axis.feature]
    weights = weights[inside]
    in_bin = np.bincount(bins, weights, n_bins)
    if not in_bin.any():
        raise ValueError(f"no row has a value of {axis.name} inside of the grid, and a weight")
    ends = []
    for of_bins in (bins, bins + 1):
        moved = np.array(rows[inside])
        moved[:, axis.feature] = at_edges[of_bins]
        raw = predict.predict(forest, *as_readonly(moved))
        ends.append(scale.of_raw(raw[:, scale.outputs]))
    values = np.zeros((len(edges), len(scale.names)))
    for c, effects in enumerate((ends[1] - ends[0]).T):
        sums = np.bincount(bins, weights * effects, n_bins)
        means = np.divide(sums, in_bin, out=np.zeros(n_bins), where=in_bin > 0)
        values[1:, c] = np.cumsum(means)
    return values - in_bin @ values[1:] / in_bin.sum()
