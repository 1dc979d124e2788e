"""Draw partial dependence; see `PartialDependence.plot`."""

from __future__ import annotations

import numpy as np

from splitcredit.results.plots import drawing
from splitcredit.rows.names import index_of
from splitcredit.rows.tables import check_whole

# Bars of the distribution of a feature, and the part of the height that they take at most.
_BINS, _STRIP = 40, 0.12
_WHAT = {"ale": "accumulated local effect", "individual": "prediction of each row"}


def draw(result, ax, output, centered, lines):
    """Draw a result; see `PartialDependence.plot`."""
    check_whole("lines", lines, 1)
    names = result.output_names
    outputs = [*range(len(names))] if output is None else [index_of(names, output, "output")]
    if len(outputs) > 1 and (len(result.grids) > 1 or result.kind == "individual"):
        raise ValueError(f"this plot shows one output: pass output=, one of {list(names)[:10]}")
    if ax is None:
        ax = drawing.pyplot().subplots(figsize=(5.6, 4.0), layout="constrained")[1]
    places = [_Places(*own) for own in zip(result.grids, result.data, strict=True)]
    begun = ", from the first place" * centered
    text = f"{_WHAT.get(result.kind, 'partial dependence')}{begun}: {result.unit}"
    if len(outputs) == 1 and names[outputs[0]] != "output":
        text += f" of '{drawing.shortened(names[outputs[0]], 30)}'"
    if len(places) == 2:
        orders = [np.argsort(own.x, kind="stable") for own in places]
        cells = result.values[np.ix_(*orders)][:, :, outputs[0]].T
        edges = [_edges(np.sort(own.x)) for own in places]
        colored = ax.pcolormesh(*edges, cells, rasterized=cells.size > 10_000)
        drawing.color_bar(ax, colored, drawing.wrapped(text, 36))
    else:
        _curves(result, ax, outputs, places[0], centered, lines)
        _distribution(ax, places[0])
        ax.set_ylabel(drawing.wrapped(text, 40))
    for axis, own, feature in zip((ax.xaxis, ax.yaxis), places, result.feature_names, strict=False):
        own.label(axis, feature)
    drawing.open_frame(ax)
    return ax


class _Places:
    """Positions of grid values and of the rows' values on an axis."""

    def __init__(self, grid, data):
        self.grid, self.is_category = grid, grid.dtype == object
        self.is_missing = np.array([value != value for value in grid])
        self.x, known = np.arange(len(grid), dtype=np.float64), grid[~self.is_missing]
        if self.is_category:
            place = dict(zip(known, self.x, strict=False))
            data = np.array([np.nan if v != v else place.get(v, np.inf) for v in data])
        elif len(known):
            self.x = np.where(self.is_missing, known.max() + 0.1 * (np.ptp(known) or 1.0), grid)
        beside = [*self.x[self.is_missing], np.nan][0]
        self.data = np.where(np.isnan(data), beside, data)

    def label(self, axis, name):
        """Name an axis and its places, if these are not plain numbers."""
        axis.set_label_text(drawing.shortened(name))
        if not self.is_category and not self.is_missing.any():
            return
        ticks, texts = self.x, [drawing.value_text(value) for value in self.grid]
        if not self.is_category and not self.is_missing.all():
            known, ticks = self.x[~self.is_missing], axis.get_ticklocs()
            end = known.max() - 0.04 * np.ptp(known)
            ticks = ticks[(ticks >= known.min()) & (ticks <= end)]
            texts = [drawing.signed(f"{tick:.4g}") for tick in ticks] + ["missing"]
            ticks = np.append(ticks, self.x[self.is_missing][0])
        is_long = axis.axis_name == "x" and sum(map(len, texts)) > 50
        axis.set_ticks(ticks, texts, rotation=90 if is_long else 0)


def _curves(result, ax, outputs, places, centered, lines):
    """Draw thin lines for some rows, and a thick one for each output."""
    curves = [(result.values[:, c], c) for c in outputs if result.kind != "individual"]
    if result.individual is not None and len(outputs) == 1:
        n = len(result.individual)
        chosen = np.linspace(0, n - 1, min(n, lines)).astype(np.int64)
        curves = [(own[:, outputs[0]], None) for own in result.individual[chosen]] + curves
    known, missing = np.flatnonzero(~places.is_missing), np.flatnonzero(places.is_missing)
    order = known[np.argsort(places.x[known])]
    x, is_step = places.x[order], result.is_step and not places.is_category
    if is_step and len(x):  # the first interval begins before the place that it ends at
        x, order = np.append(min(x[0], np.nanmin(result.data[0])), x), np.append(order[0], order)
    style = {"drawstyle": "steps-pre" if is_step else "default"}
    for own, c in curves:
        own = own - own[0] if centered else own
        color, marker, mean = {"color": "tab:blue", "alpha": 0.25, "linewidth": 0.6}, "_", {}
        if c is not None:
            color, marker = {"color": "black" if len(curves) > len(outputs) else f"C{c % 10}"}, "D"
            mean = {"marker": "o", "linestyle": ":"} if places.is_category else {}
            mean["label"] = drawing.shortened(result.output_names[c], 30)
        ax.plot(x, own[order], **style, **color, **mean)
        ax.plot(places.x[missing], own[missing], marker, **color)
    if len(outputs) > 1:
        ax.legend(title="output", frameon=False)
    ax.margins(x=0.03, y=0.08)


def _distribution(ax, places):
    """Draw gray bars at the bottom: how many rows have which values."""
    low, high = ax.get_ylim()
    ax.set_ylim(low - _STRIP * (high - low), high)
    edges = np.arange(len(places.x) + 1) - 0.5
    if not places.is_category:
        edges = np.linspace(places.x.min(), places.x.max(), _BINS + 1)
    counts, edges = np.histogram(places.data[np.isfinite(places.data)], edges)
    heights, width = 0.9 * _STRIP * counts / max(counts.max(), 1), 0.8 * np.diff(edges)
    style = {"transform": ax.get_xaxis_transform(), "color": "0.85", "zorder": 0}
    ax.bar((edges[:-1] + edges[1:]) / 2, heights, width, **style)


def _edges(centers):
    """Return the bounds of cells around sorted places."""
    half = np.diff(centers) / 2 if len(centers) > 1 else np.array([0.5])
    return np.concatenate([centers[:1] - half[:1], centers[:-1] + half, centers[-1:] + half[-1:]])
