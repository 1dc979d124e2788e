"""Plots of importances and attributions by matplotlib, and results in the form of shap's plots."""

from __future__ import annotations

import numpy as np

from splitcredit._names import index_of, rows_to_show
from splitcredit._tables import check_whole

# Bins along the axis in which the rows of dots of a beeswarm are counted.
_BINS = 100
# Of the height between two features, what a swarm may take on each side.
_SPREAD = 0.4


def _checked_top(top):
    if top is not None:
        check_whole("top", top, 1)
    return top


def of_importance(importance, ax, top):
    """See `Importance.plot`."""
    order = np.argsort(-importance.values, kind="stable")[: _checked_top(top)][::-1]
    ax = _axes(ax, len(order))
    error = importance.standard_error[order]
    ax.barh(
        np.arange(len(order)),
        importance.values[order],
        xerr=error if error.any() else None,
        color="tab:blue",
        error_kw={"elinewidth": 1, "ecolor": "0.3", "capsize": 2},
    )
    if (importance.values[order] < 0).any():
        ax.axvline(0, color="0.5", linewidth=0.8)
    _label(ax, importance, order, f"importance by {importance.method}")
    return ax


def of_attribution(attribution, ax, output, top, X):
    """See `Attribution.plot`."""
    n, p, _ = attribution.values.shape
    if X is not None and np.shape(X) != (n, p):
        raise ValueError(
            f"X has shape {np.shape(X)}, and {(n, p)} was explained: pass the same rows, as the "
            "trees see them"
        )
    outputs = _outputs(attribution, output)
    means = np.zeros((p, len(outputs)))
    if n:
        means = np.abs(attribution.values[:, :, outputs]).mean(axis=0, dtype=np.float64)
    order = np.argsort(-means.sum(axis=1), kind="stable")[: _checked_top(top)][::-1]
    ax = _axes(ax, len(order))
    if len(outputs) > 1:
        _stacked_bars(ax, means[order], [attribution.output_names[c] for c in outputs])
        _label(ax, attribution, order, f"mean |{attribution.method}|")
        return ax
    X = None if X is None else rows_to_show(X, attribution.feature_names)
    X = None if X is None else _numbers(X)
    _swarms(ax, attribution.values[:, order, outputs[0]], None if X is None else X[:, order])
    name = attribution.output_names[outputs[0]]
    _label(ax, attribution, order, f"attribution by {attribution.method} to {name!r}")
    return ax


def _numbers(X):
    """The values of the rows, with NaN, which is gray, in place of labels, which have no order."""
    try:
        return np.asarray(X, np.float64)
    except (TypeError, ValueError):
        import pandas as pd

        columns = np.asarray(X, object).T
        return np.column_stack([pd.to_numeric(list(c), errors="coerce") for c in columns])


def _outputs(attribution, output):
    names = attribution.output_names
    return list(range(len(names))) if output is None else [index_of(names, output, "output")]


def _axes(ax, n_features):
    if ax is not None:
        return ax
    try:
        from matplotlib import pyplot as plt
    except ModuleNotFoundError:
        raise ModuleNotFoundError(
            "plots need matplotlib, which is not installed: pip install matplotlib"
        ) from None

    height = 1.2 + 0.32 * max(n_features, 1)
    return plt.subplots(figsize=(6.4, height), layout="constrained")[1]


def _label(ax, result, order, text):
    names = [result.feature_names[j] for j in order]
    ax.set_yticks(np.arange(len(order)), names)
    ax.set_ylim(-0.7, len(order) - 0.3)
    ax.set_xlabel(text)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)


def _stacked_bars(ax, means, names):
    start = np.zeros(len(means))
    for c, name in enumerate(names):
        ax.barh(np.arange(len(means)), means[:, c], left=start, label=name)
        start = start + means[:, c]
    ax.legend(title="output", frameon=False, loc="lower right")


def _swarms(ax, values, X):
    """One swarm a feature; gray where the value of the feature is missing or unknown."""
    ax.axvline(0, color="0.6", linewidth=0.8, zorder=0)
    n, shown = values.shape
    width = np.ptp(values) / _BINS if n else 0.0
    dots = None
    for k in range(shown):
        height = k + _offsets(values[:, k], width)
        style = {"s": 9, "linewidths": 0, "rasterized": n > 500}
        if X is None:
            ax.scatter(values[:, k], height, color="tab:blue", alpha=0.6, **style)
            continue
        color = _shares(X[:, k])
        is_finite = np.isfinite(color)
        ax.scatter(values[~is_finite, k], height[~is_finite], color="0.7", **style)
        dots = ax.scatter(
            values[is_finite, k],
            height[is_finite],
            c=color[is_finite],
            cmap="coolwarm",
            vmin=0,
            vmax=1,
            **style,
        )
    if dots is not None:
        legend = ax.figure.colorbar(dots, ax=ax, ticks=[0, 1], fraction=0.04, pad=0.02)
        legend.ax.set_yticklabels(["low", "high"])
        legend.set_label("value of the feature", labelpad=-8)
        legend.outline.set_visible(False)


def _offsets(values, width):
    """Heights of dots about 0: those of one bin above and below each other, the first inmost."""
    if len(values) == 0 or width == 0:
        return np.zeros(len(values))
    cell = np.round(values / width).astype(np.int64)
    order = np.argsort(cell, kind="stable")
    _, first, size = np.unique(cell[order], return_index=True, return_counts=True)
    rank = np.empty(len(values), np.int64)
    rank[order] = np.arange(len(values)) - np.repeat(first, size)
    step = (rank + 1) // 2 * np.where(rank % 2, 1, -1)
    return step * min(_SPREAD / max(step.max(), 1), 0.06)


def _shares(x):
    """Place of each value between the 5th and the 95th percentile, 0 to 1; NaN stays NaN."""
    finite = x[np.isfinite(x)]
    if len(finite) == 0:
        return np.full(len(x), np.nan)
    low, high = np.percentile(finite, [5, 95])
    if low == high:
        low, high = finite.min(), finite.max()
    if low == high:
        return np.where(np.isfinite(x), 0.5, np.nan)
    return np.clip((x - low) / (high - low), 0.0, 1.0)


def imported_shap():
    """The package shap, which only explanations in its own form need.

    ModuleNotFoundError if it is not installed.
    """
    try:
        import shap
    except ModuleNotFoundError as error:
        if error.name != "shap":
            raise
        raise ModuleNotFoundError(
            "a shap.Explanation needs shap, which is not installed: pip install shap", name="shap"
        ) from None
    return shap


def explanation(result, X):
    """A ``shap.Explanation`` of attributions or of a matrix of interactions.

    ModuleNotFoundError if shap is not installed. ValueError if X has not the shape and the columns
    of the rows that were explained.

    Parameters
    ----------
    result : Attribution or Interactions
        The last axis of its values is that of the outputs; it is left out if there is one.
    X : array-like or DataFrame (n_samples, n_features), optional
        The rows that were explained.
    """
    shap = imported_shap()
    values, n_outputs = result.values, result.values.shape[-1]
    shape, given = (len(values), len(result.feature_names)), np.shape(X)
    if X is not None and given != shape:
        raise ValueError(f"X has shape {given}, and {shape} was explained: pass the same rows")
    data = None if X is None else np.asarray(rows_to_show(X, result.feature_names))
    base = np.broadcast_to(result.baseline, (len(values), n_outputs)).copy()
    is_one = n_outputs == 1
    return shap.Explanation(
        values=values[..., 0] if is_one else values,
        base_values=base[:, 0] if is_one else base,
        data=data,
        feature_names=list(result.feature_names),
        output_names=None if is_one else list(result.output_names),
    )
