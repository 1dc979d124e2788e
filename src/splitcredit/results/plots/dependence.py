"""Pictures of partial dependence; see `PartialDependence.plot`."""

from __future__ import annotations

import numpy as np

from splitcredit.results.plots import drawing
from splitcredit.rows.names import index_of
from splitcredit.rows.tables import check_whole

# Bars of the distribution of a feature, and the part of the height that they take at most.
_BINS, _STRIP = 40, 0.12


def draw(result, ax, output, centered, lines):
    """See `PartialDependence.plot`."""
    check_whole("lines", lines, 1)
    names = result.output_names
    outputs = [*range(len(names))] if output is None else [index_of(names, output, "output")]
    if len(outputs) > 1 and (len(result.grids) > 1 or result.kind == "individual"):
        raise ValueError(f"this plot shows one output: pass output=, one of {list(names)[:10]}")
    if ax is None:
        ax = drawing.pyplot().subplots(figsize=(5.6, 4.0), layout="constrained")[1]
    axes = [_Place(grid, values) for grid, values in zip(result.grids, result.data, strict=True)]
    if len(axes) == 2:
        return _map(result, ax, outputs[0], axes)
    _curves(result, ax, outputs, axes[0], centered, lines)
    _distribution(ax, axes[0])
    axes[0].label(ax.xaxis, result.feature_names[0])
    what = "accumulated local effect" if result.kind == "ale" else "partial dependence"
    if result.kind == "individual":
        what = "prediction of each row"
    text = f"{what}{', from the first place' * centered}: {_unit(result, outputs)}"
    ax.set_ylabel(drawing.wrapped(text, 40))
    drawing.open_frame(ax)
    return ax


class _Place:
    """Where the places of a grid, and the values of rows, stand on an axis."""

    def __init__(self, grid, data):
        self.is_category, self.grid = grid.dtype == object, grid
        is_missing = np.array([value != value for value in grid])
        self.known, self.missing = np.flatnonzero(~is_missing), np.flatnonzero(is_missing)
        if self.is_category:
            self.x = np.arange(len(grid), dtype=np.float64)
            place = {value: k for k, value in enumerate(grid[self.known])}
            end = self.x[self.missing[0]] if len(self.missing) else np.nan
            self.data = np.array([end if v != v else place.get(v, np.nan) for v in data])
            return
        low, high = (grid[self.known].min(), grid[self.known].max()) if len(self.known) else (0, 1)
        self.width = (high - low) or 1.0
        self.x = np.where(is_missing, high + 0.1 * self.width, grid)
        beside = self.x[self.missing[0]] if len(self.missing) else np.nan
        inside = (data >= low) & (data <= high)
        self.data = np.where(np.isnan(data), beside, np.where(inside, data, np.nan))

    def label(self, axis, name):
        """Name an axis and its places."""
        axis.set_label_text(drawing.shortened(name))
        ticks, texts = self.x, [drawing.value_text(value) for value in self.grid]
        if not self.is_category:
            if not len(self.missing):
                return
            known = self.x[self.known]
            ticks = axis.get_ticklocs()
            end = known.max(initial=-np.inf) - 0.04 * self.width
            ticks = ticks[(ticks >= known.min(initial=np.inf)) & (ticks <= end)]
            texts = [drawing.signed(f"{tick:.4g}") for tick in ticks] + ["missing"]
            ticks = np.append(ticks, self.x[self.missing[0]])
        is_long = axis.axis_name == "x" and sum(map(len, texts)) > 50
        axis.set_ticks(ticks, texts, rotation=90 if is_long else 0)


def _curves(result, ax, outputs, place, centered, lines):
    """Thin lines for some rows, and a thick one for each output."""
    values = result.values[:, outputs]
    rows = None
    if result.individual is not None and len(outputs) == 1:
        n = len(result.individual)
        chosen = np.linspace(0, n - 1, min(n, lines)).astype(np.int64)
        rows = result.individual[chosen, :, outputs[0]].T
    if centered:
        values, rows = values - values[:1], None if rows is None else rows - rows[:1]
    order = place.known[np.argsort(place.x[place.known], kind="stable")]
    how = {"drawstyle": "steps-pre" if result.is_step and not place.is_category else "default"}
    if rows is not None:
        thin = {"color": "tab:blue", "alpha": 0.25, "linewidth": 0.6}
        ax.plot(place.x[order], rows[order], **how, **thin)
        if len(place.missing):
            ax.plot(place.x[place.missing], rows[place.missing], "_", **thin)
    for c, own in zip(outputs, values.T if result.kind != "individual" else (), strict=False):
        color = f"C{c % 10}" if rows is None else "black"
        marker = {"marker": "o", "linestyle": ":"} if place.is_category else {}
        label = drawing.shortened(result.output_names[c], 30)
        ax.plot(place.x[order], own[order], color=color, label=label, **how, **marker)
        ax.plot(place.x[place.missing], own[place.missing], "D", color=color)
    if len(outputs) > 1:
        ax.legend(title="output", frameon=False)
    ax.margins(x=0.03, y=0.08)


def _distribution(ax, place):
    """Gray bars at the bottom: how many rows have which values."""
    data = place.data[np.isfinite(place.data)]
    if not len(data):
        return
    low, high = ax.get_ylim()
    ax.set_ylim(low - _STRIP * (high - low), high)
    edges = np.arange(len(place.x) + 1) - 0.5
    if not place.is_category:
        edges = np.linspace(place.x.min(), place.x.max(), _BINS + 1)
    counts, edges = np.histogram(data, edges)
    style = {"transform": ax.get_xaxis_transform(), "color": "0.85", "zorder": 0}
    width = np.diff(edges) * (0.6 if place.is_category else 0.9)
    heights = 0.9 * _STRIP * counts / max(counts.max(), 1)
    ax.bar((edges[:-1] + edges[1:]) / 2, heights, width, **style)


def _map(result, ax, output, axes):
    """A cell for each pair of places, and a bar that says what colors mean."""
    orders = [np.argsort(place.x, kind="stable") for place in axes]
    cells = result.values[np.ix_(*orders)][:, :, output]
    edges = [_edges(place.x[order]) for place, order in zip(axes, orders, strict=True)]
    colored = ax.pcolormesh(*edges, cells.T, cmap="viridis", rasterized=cells.size > 10_000)
    for place, axis, name in zip(axes, (ax.xaxis, ax.yaxis), result.feature_names, strict=True):
        place.label(axis, name)
    drawing.color_bar(ax, colored, f"partial dependence: {_unit(result, [output])}")
    drawing.open_frame(ax)
    return ax


def _edges(centers):
    """Bounds of cells around sorted places."""
    if len(centers) == 1:
        return centers[0] + np.array([-0.5, 0.5])
    middle = (centers[1:] + centers[:-1]) / 2
    return np.concatenate([[2 * centers[0] - middle[0]], middle, [2 * centers[-1] - middle[-1]]])


def _unit(result, outputs):
    """What the values count, and of which output."""
    name = result.output_names[outputs[0]] if len(outputs) == 1 else "output"
    return result.unit + ("" if name == "output" else f" of '{drawing.shortened(name, 30)}'")
