"""Compute partial dependence, individual conditional expectations and accumulated local effects."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, softmax

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
from splitcredit.rows.names import feature_index
from splitcredit.rows.tables import (
    check_choice,
    check_whole,
    column_of,
    dense,
    numbers,
    row_weights,
)

# Numbers of the curves of some rows (64 MB), and the most of a result (8 GB).
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
    """Compute how the prediction depends on one feature, or on two together, exactly.

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
        ``"individual"`` and ``"both"`` also give the curve of each row (ICE); plots of the first
        show these only. ``"ale"`` gives accumulated local effects of one numeric feature.
    grid : "thresholds" or values, optional
        ``"thresholds"`` is one value for each interval between thresholds of the trees: the exact
        step function. Values may be given as numbers or labels of categories; for two features, in
        two lists. By default all values if they are fewer than `grid_resolution`, else values at
        equal distances between two percentiles; all categories; and NaN if X has it.
    grid_resolution : int
        Number of values on the grid, from 2. For ``"ale"``, of quantiles that bound the bins.
    percentiles : (float, float)
        Shares of the rows below the lowest and the highest value of the grid.
    output : "all", or the name or index of one output
    model_output : {"raw", "probability"}
        ``"probability"`` is for boosted classifiers, whose raw prediction is a score.
    sample_weight : array-like (n_samples,), optional
        Weights of the rows in the mean, see `splitcredit.importance`.
    check_additivity, progress
        See `splitcredit.tree_shap`.

    Returns
    -------
    PartialDependence
        In units of the prediction. Accumulated local effects have the mean 0 over the rows; rows
        whose value is missing or outside of the grid take no part in them.

    Raises
    ------
    TypeError, ValueError
        As `splitcredit.explain`, and if the feature, a value on its axis or a weight is not
        allowed, or the result is larger than 8 GB.

    Notes
    -----
    Friedman, "Greedy function approximation", Annals of Statistics 29 (2001), Section 8.2.
    Goldstein et al., "Peeking inside the black box", Journal of Computational and Graphical
    Statistics 24 (2015): curves of rows. Apley and Zhu, "Visualizing the effects of predictor
    variables in black box supervised learning models", Journal of the Royal Statistical Society B
    82 (2020), Equations 15 and 16: accumulated local effects.

    Examples
    --------
    >>> curve = splitcredit.partial_dependence(model, X, "petal width (cm)", grid=[0.5, 1.5])
    >>> curve
    PartialDependence('average', 'petal width (cm)', 2 places, 3 outputs)
    >>> curve.values.round(2)
    array([[0.69, 0.17, 0.14],
           [0.13, 0.56, 0.31]])
    """
    check_choice("kind", kind, KINDS)
    check_whole("grid_resolution", grid_resolution, 2)
    opened = Opened(model, X).checked(check_additivity)
    forest: Any = opened.forest
    rows = forest.prepare(opened.rows)
    if len(rows) == 0:
        raise ValueError("X has no rows: partial dependence is a mean over rows, pass some")
    weights = row_weights(sample_weight, len(rows), opened.index)
    weights = np.ones(len(rows)) if weights is None else weights
    scale = _scale(opened, output, model_output)
    table = dense(forest.in_order(opened.rows), forest.absent)
    is_one = isinstance(features, str) or not hasattr(features, "__iter__")
    listed: Any = [features] if is_one else features
    chosen = [feature_index(forest.feature_names, name, "features") for name in listed]
    if len(chosen) not in (1, 2) or len({*chosen}) < len(chosen):
        raise ValueError(f"features={features!r}: expected one feature, or two different ones")
    axes = [_Axis.of(forest, rows, table, j) for j in chosen]
    is_list = len(axes) == 2 and not (grid is None or isinstance(grid, str))
    grids: Any = grid if is_list else [grid] * len(axes)
    if len(grids) != len(axes):
        raise ValueError(f"grid has {len(grids)} entries, expected 2: a list for each feature")
    individual = None
    if kind == "ale":
        of_bins = grids[0], grid_resolution
        values, axes = _accumulated(forest, rows, axes, scale, weights, *of_bins)
    else:
        how = grid_resolution, percentiles
        axes = [axis.placed(own, *how) for axis, own in zip(axes, grids, strict=True)]
        with progress_bar.bar(len(rows), progress, remedy="fewer rows or trees take less") as done:
            values, individual = _means(forest, rows, axes, scale, weights, kind, done)
    return PartialDependence(
        values=values,
        grids=tuple(axis.shown(axis.places) for axis in axes),
        feature_names=tuple(axis.name for axis in axes),
        output_names=scale.names,
        kind=kind,
        individual=individual,
        data=tuple(axis.shown(axis.of_rows) for axis in axes),
        unit=opened.unit if model_output == "raw" else model_output,
        is_step=isinstance(grid, str),
    )


class _Scale(NamedTuple):
    """The raw outputs to compute, and the function that turns them into the results."""

    names: tuple[str, ...]
    outputs: np.ndarray
    of_raw: Callable  # of (..., n_computed)
    is_linear: bool = False


def _scale(opened, output, model_output) -> _Scale:
    check_choice("model_output", model_output, ("raw", "probability"))
    forest = opened.forest
    outputs, sign = chosen_outputs(forest, output), 1.0
    names = tuple(forest.output_names[c] for c in outputs)
    if is_other_class(forest, output):
        names, sign = (forest.other_class,), -1.0
    if model_output == "raw":
        return _Scale(names, outputs, lambda raw: sign * raw, is_linear=True)
    rescaling.check_model(opened, model_output)
    rescaling.check(forest, model_output, None, 0)
    if forest.n_outputs == 1:
        return _Scale(names, outputs, lambda raw: expit(sign * raw))
    every = np.arange(forest.n_outputs)
    return _Scale(names, every, lambda raw: softmax(raw, axis=-1)[..., outputs])


class _Axis(NamedTuple):
    """A studied feature and its grid. Values of a categorical feature are codes."""

    forest: Any
    feature: int
    template: np.ndarray  # a prepared row, (1, n_features)
    of_rows: np.ndarray  # float64 (n_samples,)
    is_category: bool
    labels: tuple | None
    places: np.ndarray = np.zeros(0)  # float64, with NaN behind the others

    @classmethod
    def of(cls, forest, rows, table, j):
        """Make the axis of feature j from the prepared rows and the user's table."""
        labels, is_category, values = None, False, rows[:, j].astype(np.float64)
        if forest.categories is not None:
            labels = _labels(forest.categories, table, j)
            is_category = labels is not None or j in forest.categories.feature
        if not is_category:  # not rounded to single precision, as it may be in prepared rows
            given = column_of(table, j).to_numpy(np.float64, na_value=np.nan)
            values = np.where(np.isnan(values), np.nan, given)
        return cls(forest, j, rows[:1, : forest.n_features], values, is_category, labels)

    @property
    def name(self):
        """Name of the feature."""
        return self.forest.feature_names[self.feature]

    @property
    def known(self):
        """Finite values in the rows, float64."""
        return self.of_rows[np.isfinite(self.of_rows)]

    def rows(self):
        """Copy one prepared row for each place, with the feature set to it."""
        rows = np.repeat(self.template, len(self.places), axis=0)
        with np.errstate(over="ignore"):
            rows[:, self.feature] = self.places
        if self.forest.missing_value is not None:
            rows = with_missing(rows, self.forest.missing_value)
        return rows if self.forest.categories is None else self.forest.categories.appended(rows)

    def shown(self, values):
        """Turn codes of categories into their labels; other values stay."""
        if self.labels is None:
            return values.astype(object) if self.is_category else values
        labels = np.array([*self.labels, np.nan], object)
        return labels[np.where(np.isnan(values), -1, values).astype(np.int64)]

    def placed(self, grid, resolution, percentiles):
        """Return the axis with the places of its grid."""
        if grid is not None and not isinstance(grid, str):
            return self._replace(places=self.given(grid))
        check_choice("grid", grid, (None, "thresholds"))
        if self.is_category:
            places = np.arange(len(self.labels)) if self.labels else np.unique(self.known)
        elif grid is not None:
            places = self._of_thresholds()
        else:
            places = self._between(resolution, percentiles)
        missing = [np.nan] if np.isnan(self.of_rows).any() else []
        return self._replace(places=np.concatenate([places, missing]))

    def given(self, grid):
        """Turn a user's values or labels into places, with NaN last."""
        if np.ndim(grid) != 1 or len(grid) == 0:
            raise ValueError(f"grid={grid!r}: expected 'thresholds' or values of {self.name}")
        known = [value for value in grid if value is not None and value == value]
        missing = [np.nan] * (len(known) < len(grid))
        if missing and self.forest.missing_left is None:
            raise ValueError("grid holds NaN, and this model has no rule for missing values")
        if self.labels is not None:
            unknown = [value for value in known if value not in self.labels]
            if unknown:
                text = f"{unknown[0]!r} is not a category of {self.name}: it has {self.labels[:10]}"
                raise ValueError(f"grid: {text}")
            known = [self.labels.index(value) for value in known]
        return np.append(numbers(known, "grid"), missing)

    def _of_thresholds(self):
        """Return the upper end of each interval between thresholds, and a value above all."""
        ends = np.unique(lowered(self.forest)[self.forest.feature == self.feature])
        ends, highest = ends[np.isfinite(ends)], [self.known.max()] if len(self.known) else []
        if not len(ends):
            return np.array(highest)
        with np.errstate(over="ignore"):  # nothing finite may be above the last
            above = float(np.nextafter(ends[-1], ends.dtype.type(np.inf)))
        return np.append(ends.astype(np.float64), max([above, *highest]))

    def _between(self, resolution, percentiles):
        """Return all values if they are few, else an even grid as scikit-learn makes it."""
        from scipy.stats.mstats import mquantiles

        distinct = np.unique(self.known)
        if len(distinct) < resolution:
            return distinct
        low, high = mquantiles(self.known, prob=percentiles)
        if not low < high:
            both = f"percentiles={percentiles} of {self.name} are both {low:g}"
            raise ValueError(f"{both}: pass (0, 1)")
        return np.linspace(low, high, resolution)


def _labels(categories, table, j):
    """Return the labels of a feature's codes, or None if it has none."""
    types = table.dtypes if hasattr(table, "iloc") else ()
    by_type = [k for k, kind in enumerate(types) if str(kind) == "category"]
    labeled = by_type if categories.labeled is None else categories.labeled
    own = {k: tuple(table.iloc[:, k].cat.categories) for k in by_type}
    return (own | dict(zip(labeled, categories.labels, strict=False))).get(j)


def _means(forest, rows, axes, scale, weights, kind, done) -> tuple:
    """Average the curves of all rows; also return the curves, or None for the kind "average"."""
    n_numbers = len(scale.outputs) * int(np.prod([len(axis.places) for axis in axes]))
    if n_numbers * (1 if kind == "average" else len(rows)) > _MOST:
        raise ValueError("the result would be larger than 8 GB: pass fewer rows, or a smaller grid")
    if kind == "average" and scale.is_linear:
        mean = scale.of_raw(_curves(forest, rows, axes, scale, weights))[0]
        done(len(rows))
        return mean, None
    total, kept, step = 0.0, [], max(1, _CHUNK // n_numbers)
    for start in range(0, len(rows), step):
        own = scale.of_raw(_curves(forest, rows[start : start + step], axes, scale))
        total = total + np.einsum("i,i...->...", weights[start : start + step], own)
        kept += [own] if kind != "average" else []
        done(len(own))
    return total / weights.sum(), np.concatenate(kept) if kept else None


def _curves(forest, rows, axes, scale, weights=None):
    """Predict raw outputs, (n_samples, n_places, ..., n_outputs); with weights, their mean."""
    swept, listed = [*sorted(axes, key=lambda axis: axis.is_category), None][:2]
    if listed is None and swept.is_category:
        swept, listed = None, swept
    owner = np.zeros(rows.shape[1], np.int8)
    for number, axis in ((1, swept), (2, listed)):
        if axis is not None:
            owner[owners(forest) == axis.feature] = number
    first, second = (rows[:1] if axis is None else axis.rows() for axis in (swept, listed))
    parts = [np.zeros(1, np.int64)]
    if swept is not None:  # sorted: numbers and NaN, or each category by itself
        numeric = first[:, swept.feature]
        order = np.argsort(numeric, kind="stable")  # NaN goes last
        ends = range(1, len(order)) if swept.is_category else [len(order) - np.isnan(numeric).sum()]
        parts = [part for part in np.split(order, ends) if len(part)]
    pieces = [
        kernel.curves(forest, rows, first[part], second, owner, scale.outputs, weights)
        for part in parts
    ]
    values = np.concatenate(pieces, axis=2)[:, :, np.argsort(np.concatenate(parts))]
    if swept is axes[-1]:  # the second of two, or the only one
        values = values.swapaxes(2, 3)
    return np.moveaxis(values.reshape(*values.shape[:2], *(len(a.places) for a in axes)), 1, -1)


def _accumulated(forest, rows, axes, scale, weights, grid, resolution):
    """Compute accumulated local effects (Apley and Zhu 2020, Eq. 15, 16), and find their axis.

    Its places bound the bins: quantiles, or given values.
    """
    axis, names = axes[0], " and ".join(axis.name for axis in axes)
    if len(axes) > 1:
        raise ValueError(f"kind='ale' takes one feature, not {names}: call it for each of them")
    if axis.is_category:
        raise ValueError(f"{names} is categorical, and its effects have no order: kind='average'")
    if grid is None and len(axis.known):
        grid = np.quantile(axis.known, np.linspace(0, 1, resolution), method="inverted_cdf")
    edges = np.unique(axis.given(grid))
    edges = edges[np.isfinite(edges)]
    if len(edges) < 2:
        raise ValueError(f"{names} has fewer than two values: it has no local effects")
    axis = axis._replace(places=edges)
    inside = np.flatnonzero((axis.of_rows >= edges[0]) & (axis.of_rows <= edges[-1]))
    bins = np.maximum(np.searchsorted(edges, axis.of_rows[inside]), 1) - 1
    weights = weights[inside]
    in_bin = np.bincount(bins, weights, len(edges) - 1)
    if not in_bin.any():
        raise ValueError(f"no row has a value of {names} inside of the grid, and a weight")
    at_edges, ends = axis.rows()[:, axis.feature], []
    for of_bins in (bins, bins + 1):
        moved = np.array(rows[inside])
        moved[:, axis.feature] = at_edges[of_bins]
        raw = predict.predict(forest, *as_readonly(moved))
        ends.append(scale.of_raw(raw[:, scale.outputs]))
    values = np.zeros((len(edges), len(scale.names)))
    np.add.at(values, bins + 1, weights[:, None] * (ends[1] - ends[0]))
    values[1:] /= np.where(in_bin > 0, in_bin, 1.0)[:, None]
    values = np.cumsum(values, axis=0)
    return values - in_bin @ values[1:] / in_bin.sum(), [axis]
