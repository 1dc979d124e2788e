"""Draw each kind of plot of attributions and interactions; see `Attribution.plot`."""

from __future__ import annotations

import numpy as np

from splitcredit.results.plots import drawing
from splitcredit.rows.tables import column_of, places_of

KINDS = ("bar", "beeswarm", "decision", "force", "heatmap", "scatter", "waterfall")
# Bins along the axis in which the rows of dots of a beeswarm are counted.
_BINS = 100
# Share of the height between two features that a swarm may take on each side.
_SPREAD = 0.4
# Groups of rows with similar values of a feature, in which others are compared with it.
_GROUPS = 10
# Most labels of categories on an axis.
_LABELS = 20


def stacked_bars(ax, means, names):
    """Draw a bar for each feature, with a part for each output."""
    start, bars = np.zeros(len(means)), []
    for of_output in means.T:
        bars.append(ax.barh(np.arange(len(means)), of_output, left=start))
        start = start + of_output
    ax.set_xlim(left=0)
    if len(names) > 1:  # not by labels, of which a legend leaves out those that begin with "_"
        texts = [drawing.literal(name) for name in names]
        ax.legend(bars, texts, title="output", frameon=False, loc="lower right")


def swarms(ax, values, X):
    """Draw one swarm a feature; gray where the value of the feature is missing or unknown."""
    ax.axvline(0, color="0.6", linewidth=0.8, zorder=0)
    n, shown = values.shape
    width = np.ptp(values) / _BINS if n else 0.0
    colored = None
    for k in range(shown):
        height = k + _offsets(values[:, k], width)
        color = None if X is None else drawing.shares(X[:, k])
        colored = drawing.dots(ax, values[:, k], height, color) or colored
    if colored is not None:
        drawing.color_bar(ax, colored, "value of the feature", are_shares=True)


def _offsets(values, width):
    """Return heights of dots about 0: dots of a bin lie above and below each other."""
    if len(values) == 0 or width == 0:
        return np.zeros(len(values))
    cell = np.round(values / width).astype(np.int64)
    order = np.argsort(cell, kind="stable")
    _, first, size = np.unique(cell[order], return_index=True, return_counts=True)
    rank = np.empty(len(values), np.int64)
    rank[order] = np.arange(len(values)) - np.repeat(first, size)
    step = (rank + 1) // 2 * np.where(rank % 2, 1, -1)
    return step * min(_SPREAD / max(step.max(), 1), 0.06)


def waterfall(attribution, ax, output, top, X, row):
    """Draw bars from the baseline, at the bottom, to the total of the row."""
    row = drawing.checked_row(attribution, row, "a waterfall")
    values = attribution.values[row, :, output].astype(np.float64)
    order = np.argsort(-np.abs(values), kind="stable")[:top][::-1]
    ax = drawing.new_axes(ax, len(order), attribution.feature_names)
    places, steps = np.arange(len(order)), values[order]
    if len(order) < len(values):
        places, steps = np.r_[-1, places], np.r_[values.sum() - steps.sum(), steps]
    start, _ = drawing.ends(attribution, row, output)
    ends = start + np.cumsum(steps)
    ax.barh(places, steps, left=ends - steps, color=np.where(steps < 0, "tab:blue", "tab:red"))
    for place, step, end in zip(places, steps, ends, strict=True):
        text = drawing.signed(f"{step:+.3g}")
        drawing.beside(ax, text, (end, place), -3 if step < 0 else 3, fontsize="small")
    for x in (start, ends[-1]):
        ax.axvline(x, color="0.6", linewidth=0.8, linestyle=":", zorder=0)
    corners = np.r_[start, ends]
    room = 0.2 * (np.ptp(corners) or 1.0)
    ax.set_xlim(corners.min() - room, corners.max() + room)
    text = f"{drawing.title(attribution, [output], '')}\n{drawing.reach(attribution, row, output)}"
    drawing.label(ax, attribution, order, text, X, row)
    return ax


def scatter(attribution, ax, output, X, j):
    """Draw a dot for each row: the value of a feature, and its attribution."""
    if X is None:
        raise ValueError("a scatter shows the values of a feature: pass X=, the explained rows")
    values, names = attribution.values[:, j, output], attribution.feature_names
    x, labels = places_of(column_of(X, j))
    table = drawing.numbers(X)
    table[:, j] = x
    k = partner(values, table, j)
    ax = drawing.new_axes(ax, 8)
    ax.axhline(0, color="0.6", linewidth=0.8, zorder=0)
    is_known, is_category = np.isfinite(x), labels is not None
    low, high = (x[is_known].min(), x[is_known].max()) if is_known.any() else (0.0, 1.0)
    width = (high - low) or 1.0
    gap = 1.0 if is_category else 0.08 * width
    beside = low - gap
    place = np.where(is_known, x, beside)
    is_stripe = ~is_known | is_category
    place[is_stripe] += gap * _spread(place[is_stripe], values[is_stripe])
    colored = drawing.dots(ax, place, values, None if k is None else drawing.shares(table[:, k]))
    if colored is not None:
        text = f"value of {drawing.shortened(names[k], 30)}"
        drawing.color_bar(ax, colored, text, are_shares=True)
        drawing.gray_legend(ax, X, [k], f" of {drawing.shortened(names[k], 30)}")
    ticks, texts = [], []
    if is_category:
        ticks = np.arange(0, len(labels), -(-len(labels) // _LABELS) or 1)
        texts = [drawing.shortened(labels[c], 20) for c in ticks]
    elif not is_known.all():
        ticks = ax.get_xticks()
        ticks = ticks[(ticks > beside + 0.12 * width) & (ticks <= high)]
        texts = [drawing.signed(f"{tick:.4g}") for tick in ticks]
    if not is_known.all():
        ticks = [beside, *ticks]
        texts = ["not finite" if np.isinf(x).any() else "missing", *texts]
    if texts:
        ax.set_xticks(ticks, texts, rotation=90 if len(texts) * max(map(len, texts)) > 70 else 0)
    ax.set_xlabel(drawing.shortened(names[j]))
    ax.set_ylabel(drawing.title(attribution, [output]))
    drawing.open_frame(ax)
    return ax


def _spread(place, values):
    """Shift dots that share a place, by less than half a unit, so that they do not overlap."""
    width, shift = np.ptp(values) / _BINS if len(values) else 0.0, np.zeros(len(values))
    for own in np.unique(place):
        shift[place == own] = _offsets(values[place == own], width)
    return shift


def partner(values, X, j):
    """Return the feature that explains most of the variance of j's attributions, or None.

    It does so by a line within each of ten groups of rows, which are cut by the value of j.
    """
    explained, is_known = np.zeros(X.shape[1]), np.isfinite(X)
    by_value = np.argsort(X[:, j], kind="stable")
    for rows in np.array_split(by_value, min(_GROUPS, max(len(X) // _GROUPS, 1))):
        known, count = is_known[rows], np.maximum(is_known[rows].sum(axis=0), 1)
        mean = np.where(known, X[rows], 0.0).sum(axis=0) / count
        centered = np.where(known, X[rows] - np.where(known, mean, 0.0), 0.0)
        squares = (centered**2).sum(axis=0)
        products = (values[rows] - values[rows].mean()) @ centered
        explained += np.divide(products**2, squares, out=np.zeros(len(squares)), where=squares > 0)
    explained[j] = 0.0
    return int(explained.argmax()) if explained.any() else None


def heatmap(attribution, ax, output, order):
    """Draw a column for each row, by rising prediction, and a color for each attribution."""
    values = attribution.values[:, :, output]
    columns = np.argsort(attribution.totals()[:, output], kind="stable")
    largest = float(np.percentile(np.abs(values[:, order]), 99)) or float(np.abs(values).max())
    ax = drawing.new_axes(ax, len(order), attribution.feature_names)
    style = {"cmap": "coolwarm", "vmin": -largest, "vmax": largest or 1.0}
    cells = values[np.ix_(columns, order)].T
    image = ax.imshow(cells, aspect="auto", interpolation="nearest", **style)
    total = "prediction" if attribution.method in drawing.ADD_UP else "sum of attributions"
    drawing.label(ax, attribution, order, f"{len(values)} rows, by rising {total}")
    ax.set_xticks([])
    drawing.color_bar(ax, image, drawing.title(attribution, [output]), fontsize="small")
    return ax


def matrix(interactions, ax, output, top):
    """Draw a square for each pair of features, and main effects on the diagonal."""
    values = np.abs(interactions.values[..., output]).mean(axis=0)
    pairs = 2 * values - np.diag(values.diagonal())
    order = np.argsort(-values.sum(axis=0), kind="stable")[:top]
    shown, n = pairs[np.ix_(order, order)], len(order)
    if ax is None:
        size = 3.2 + 0.55 * n
        ax = drawing.pyplot().subplots(figsize=(size + 0.8, size), layout="constrained")[1]
    below, own = np.tril(np.ones((n, n), bool), -1), np.eye(n, dtype=bool)
    for cells, colors in ((own, "Greys"), (below, "Reds")):
        most = shown[cells].max(initial=0.0) or 1.0
        image = ax.imshow(np.where(cells, shown, np.nan), cmap=colors, vmin=0, vmax=1.2 * most)
        for j, k in zip(*np.nonzero(cells), strict=True):
            style = {"ha": "center", "va": "center", "fontsize": "x-small"}
            style["color"] = "white" if shown[j, k] > 0.8 * most else "black"
            ax.text(k, j, f"{shown[j, k]:.2g}", **style)
    names = [drawing.shortened(interactions.feature_names[j], 24) for j in order]
    ax.set_xticks(np.arange(n), names, rotation=90)
    ax.set_yticks(np.arange(n), names)
    more = f"\n{drawing.more_features(len(values) - n)} not shown" if len(values) > n else ""
    name = interactions.output_names[output]
    of = {"output": "", "predicted": " for the predicted class"}.get(name, f" for {name!r}")
    ax.set_xlabel(f"red: pairs{drawing.literal(of)}; gray: single features{more}")
    drawing.open_frame(ax)
    drawing.color_bar(ax, image, "mean |interaction|, in units of the prediction")
    return ax
