"""Plots of importances and attributions by matplotlib, and results in the form of shap's plots."""

from __future__ import annotations

import re
from textwrap import fill

import numpy as np

from splitcredit._names import feature_index, index_of, rows_to_show
from splitcredit._tables import check_choice, check_whole

# Bins along the axis in which the rows of dots of a beeswarm are counted.
_BINS = 100
# Of the height between two features, what a swarm may take on each side.
_SPREAD = 0.4
# Most characters of a feature's name that are drawn, and panels beside each other.
_LONGEST, _PANELS = 40, 5
KINDS = ("bar", "beeswarm", "heatmap", "scatter", "waterfall")
# Methods whose values and baseline add up to the prediction.
ADD_UP = ("tree_shap", "tree_shap_interventional", "saabas")
# What the values of other methods are.
_UNITS = {
    **dict.fromkeys(("mdi", "mdi_oob", "ufi", "local_mdi"), "decrease of impurity"),
    **dict.fromkeys(("air", "penalized_gini"), "decrease of impurity"),
    "mda": "increase of the error",
    "permutation": "decrease of the score",
    "sage": "decrease of the loss",
}


def _checked_top(top):
    if top is not None:
        check_whole("top", top, 1)
    return top


def of_importance(importance, ax, top):
    """See `Importance.plot`."""
    order = np.argsort(-importance.values, kind="stable")[: _checked_top(top)][::-1]
    ax = new_axes(ax, len(order), importance.feature_names)
    _bars(ax, importance.values[order], importance.standard_error[order])
    output = importance.parameters.get("output")
    counted = unit(importance, output if isinstance(output, str) and output != "all" else "")
    if "mean |attribution|" in importance.parameters.values():
        counted = f"mean |contribution| to the {counted}"
    label(ax, importance, order, wrapped(f"{counted or 'importance'} ({importance.method})"))
    return ax


def side_by_side(importances, top=20):
    """See `Importance.side_by_side`."""
    named = _by_label(importances)
    features = next(iter(named.values())).feature_names
    for name, one in named.items():
        if sorted(one.feature_names) != sorted(features):
            raise ValueError(
                f"{name!r} is of the features {list(one.feature_names)[:5]}, and another measure "
                f"of {list(features)[:5]}: pass importances of the same features"
            )
    places = [[one.feature_names.index(name) for name in features] for one in named.values()]
    values = np.array([one.values[j] for one, j in zip(named.values(), places, strict=True)])
    errors = [one.standard_error[j] for one, j in zip(named.values(), places, strict=True)]
    rank = np.argsort(np.argsort(-values, axis=1, kind="stable"), axis=1).mean(axis=0)
    order = np.argsort(rank, kind="stable")[: _checked_top(top)][::-1]
    axes = _panels(len(named), len(order))
    for k, (ax, (name, one)) in enumerate(zip(axes, named.items(), strict=True)):
        _bars(ax, values[k, order], errors[k][order])
        label(ax, one, [places[k][j] for j in order], wrapped(unit(one), 22))
        ax.set_title(shortened(name, 20), fontsize="small")
        ax.xaxis.label.set_size("x-small")
        ax.tick_params("x", labelsize="x-small")
        ax.locator_params("x", nbins=2)
        if k % _PANELS:
            ax.tick_params("y", labelleft=False)
            for note in ax.texts:
                note.set_visible(False)
    return axes


def _by_label(importances):
    """Importances by what is written over them: their labels, or their methods."""
    if hasattr(importances, "items"):
        named = {str(name): one for name, one in importances.items()}
    else:
        named = {}
        for one in importances:
            twins = sum(one.method == other.method for other in named.values())
            named[f"{one.method} ({twins + 1})" if twins else one.method] = one
    if not named:
        raise ValueError("no importances are given: pass at least one")
    return named


def _panels(n_panels, n_features):
    """Axes (n_panels,) in rows of a few."""
    columns = min(n_panels, _PANELS)
    rows = -(-n_panels // columns)
    size = 2.2 + 1.5 * columns, rows * (0.9 + 0.28 * max(n_features, 1))
    figure = pyplot().figure(figsize=size, layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False).ravel()
    for ax in axes[n_panels:]:
        ax.remove()
    return axes[:n_panels]


def _bars(ax, values, errors):
    ax.barh(
        np.arange(len(values)),
        values,
        xerr=errors if np.isfinite(errors).any() else None,
        color="tab:blue",
        error_kw={"elinewidth": 1, "ecolor": "0.3", "capsize": 2},
    )
    if (values < 0).any():
        ax.axvline(0, color="0.5", linewidth=0.8)


def unit(result, output=""):
    """What the values of a result count, in words; "" if that is not known."""
    if result.method not in (*ADD_UP, "oob_attributions"):
        return _UNITS.get(result.method, result.parameters.get("kind", ""))
    curve = result.parameters.get("model_output", "raw").replace("_", " ")
    counted = curve if curve != "raw" else result.unit or "prediction"
    of = {"": "", "output": "", "path length": "", "predicted": " of the predicted class"}
    return counted + of.get(output, f" of '{shortened(output, 30)}'")


def title(attribution, outputs, what="contribution"):
    """What an axis shows: the values or a summary of them, their unit, and the method."""
    output = attribution.output_names[outputs[0]] if len(outputs) == 1 else ""
    counted, method = unit(attribution, output), attribution.method
    if method in (*ADD_UP, "oob_attributions"):
        what, counted = f"{what} to the {counted}", ""
    text = f"{what}: {counted}" if counted else what
    return wrapped(f"{text} ({method})")


def wrapped(text, width=48):
    """A text in lines that stay beside an axis."""
    return fill(text, width, break_long_words=False, break_on_hyphens=False)


def literal(text):
    """A text in which matplotlib takes no dollar for the start of mathematics."""
    return re.sub(r"(?<!\\)\$", r"\\$", str(text))


def shortened(text, longest=_LONGEST):
    """A text with its middle left out, if it is longer than that."""
    text, head = str(text), longest * 2 // 3
    return literal(text if len(text) <= longest else f"{text[:head]}…{text[head + 1 - longest :]}")


def of_attribution(attribution, ax, output, top, X, kind, row, feature):
    """See `Attribution.plot`."""
    from splitcredit import _plot_kinds

    n, p, _ = attribution.values.shape
    if X is not None and np.shape(X) != (n, p):
        raise ValueError(
            f"X has shape {np.shape(X)}, and {(n, p)} was explained: pass the same rows, as the "
            "trees see them"
        )
    outputs, names = _outputs(attribution, output), attribution.output_names
    if kind is not None:
        _check_kind(kind, n, [names[c] for c in outputs])
    means = np.zeros((p, len(outputs)))
    if n:
        means = np.abs(attribution.values[:, :, outputs]).mean(axis=0, dtype=np.float64)
    ranking = np.argsort(-means.sum(axis=1), kind="stable")
    order = ranking[: _checked_top(top)][::-1]
    X = attribution.data if X is None else rows_to_show(X, attribution.feature_names)
    if kind == "waterfall":
        return _plot_kinds.waterfall(attribution, ax, outputs[0], top, X, row)
    if kind == "scatter":
        known = attribution.feature_names
        j = ranking[0] if feature is None else feature_index(known, feature, "feature")
        return _plot_kinds.scatter(attribution, ax, outputs[0], X, j)
    if kind == "heatmap":
        return _plot_kinds.heatmap(attribution, ax, outputs[0], order)
    ax = new_axes(ax, len(order), attribution.feature_names)
    if len(outputs) > 1 or kind == "bar":
        _stacked_bars(ax, means[order], [names[c] for c in outputs])
        label(ax, attribution, order, title(attribution, outputs, "mean |contribution|"))
        return ax
    X = None if X is None else numbers(X)
    _swarms(ax, attribution.values[:, order, outputs[0]], None if X is None else X[:, order])
    label(ax, attribution, order, title(attribution, outputs))
    return ax


def _check_kind(kind, n, outputs):
    """Refuse a kind that there is not, or that does not show what is to be drawn."""
    check_choice("kind", kind, KINDS)
    if kind != "bar" and len(outputs) > 1:
        raise ValueError(f"kind={kind!r} shows one output: pass output=, one of {outputs[:10]}")
    if kind not in ("bar", "beeswarm") and n == 0:
        raise ValueError(f"kind={kind!r} shows rows, and none were explained: explain some")


def numbers(X):
    """The values of the rows, with NaN, which is gray, in place of labels, which have no order."""
    try:
        return np.array(X, np.float64)
    except (TypeError, ValueError):
        import pandas as pd

        columns = np.asarray(X, object).T
        return np.column_stack([pd.to_numeric(list(c), errors="coerce") for c in columns])


def _outputs(attribution, output):
    names = attribution.output_names
    return list(range(len(names))) if output is None else [index_of(names, output, "output")]


def new_axes(ax, n_features, names=()):
    """The axes that are given, or new ones with room for some features and the longest name."""
    if ax is not None:
        return ax
    height = 1.2 + 0.32 * max(n_features, 4)
    longest = min(max(map(len, names), default=0), _LONGEST)
    return pyplot().subplots(figsize=(5 + 0.07 * max(longest, 20), height), layout="constrained")[1]


def pyplot():
    """Matplotlib's functions for figures.

    ModuleNotFoundError if it is not installed.
    """
    try:
        from matplotlib import pyplot as plt
    except ModuleNotFoundError:
        raise ModuleNotFoundError(
            "plots need matplotlib, which is not installed: pip install matplotlib"
        ) from None
    return plt


def label(ax, result, order, text):
    """Names of features beside their rows, how many others there are, and what the axis shows."""
    names, left_out = result.feature_names, len(result.feature_names) - len(order)
    ax.set_yticks(np.arange(len(order)), [shortened(names[j]) for j in order])
    ax.set_ylim(-0.7 - 0.7 * (left_out > 0), len(order) - 0.3)
    if left_out:
        ax.annotate(
            f"and {left_out} more feature{'s' * (left_out > 1)}",
            (0, -1),
            xycoords=("axes fraction", "data"),
            xytext=(-4, 0),
            textcoords="offset points",
            ha="right",
            va="center",
            color="0.4",
        )
    ax.set_xlabel(text)
    if ax.get_xscale() == "linear" and not ax.images:
        ax.locator_params("x", nbins=5)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)


def _stacked_bars(ax, means, names):
    start, bars = np.zeros(len(means)), []
    for c in range(len(names)):
        bars.append(ax.barh(np.arange(len(means)), means[:, c], left=start))
        start = start + means[:, c]
    ax.set_xlim(left=0)
    if len(names) > 1:  # not by labels, of which a legend leaves out those that begin with "_"
        texts = [literal(name) for name in names]
        ax.legend(bars, texts, title="output", frameon=False, loc="lower right")


def _swarms(ax, values, X):
    """One swarm a feature; gray where the value of the feature is missing or unknown."""
    ax.axvline(0, color="0.6", linewidth=0.8, zorder=0)
    n, shown = values.shape
    width = np.ptp(values) / _BINS if n else 0.0
    colored = None
    for k in range(shown):
        height = k + _offsets(values[:, k], width)
        color = None if X is None else shares(X[:, k])
        colored = dots(ax, values[:, k], height, color) or colored
    if colored is not None:
        color_bar(ax, colored, "value of the feature")


def dots(ax, x, y, color):
    """Dots of a shade from 0 to 1, gray where it is NaN; returns those with a shade, or None."""
    style = {"s": 9, "linewidths": 0, "rasterized": len(x) > 500}
    if color is None:
        ax.scatter(x, y, color="tab:blue", alpha=0.6, **style)
        return None
    is_finite = np.isfinite(color)
    ax.scatter(x[~is_finite], y[~is_finite], color="0.7", **style)
    shade = {"c": color[is_finite], "cmap": "coolwarm", "vmin": 0, "vmax": 1}
    return ax.scatter(x[is_finite], y[is_finite], **shade, **style)


def color_bar(ax, dots, text):
    """What the shades of dots mean."""
    legend = ax.figure.colorbar(dots, ax=ax, ticks=[0, 1], fraction=0.04, pad=0.02)
    legend.ax.set_yticklabels(["low", "high"])
    legend.set_label(text, labelpad=-8)
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


def shares(x):
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
    """
    shap = imported_shap()
    values, n_outputs = result.values, result.values.shape[-1]
    shape, given = (len(values), len(result.feature_names)), np.shape(X)
    if X is not None and given != shape:
        raise ValueError(f"X has shape {given}, and {shape} was explained: pass the same rows")
    data = getattr(result, "data", None)
    data = data if X is None else rows_to_show(X, result.feature_names)
    base = np.broadcast_to(result.baseline, (len(values), n_outputs)).copy()
    is_one = n_outputs == 1
    return shap.Explanation(
        values=values[..., 0] if is_one else values,
        base_values=base[:, 0] if is_one else base,
        data=None if data is None else np.asarray(data),
        feature_names=list(result.feature_names),
        output_names=None if is_one else list(result.output_names),
    )
