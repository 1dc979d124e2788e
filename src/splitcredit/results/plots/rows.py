"""Draw decision and force plots; see `Attribution.plot`."""

from __future__ import annotations

import numpy as np

from splitcredit.results.plots import drawing

# Most rows that have a line in a decision plot.
_LINES = 200
# Share of the sum of absolute values from which on a force plot names a feature, as in shap.
_NAMED = 0.05


def decision(attribution, ax, output, X, row, order):
    """Draw a line for each row, from its baseline at the bottom to its total at the top."""
    n, p, _ = attribution.values.shape
    drawn = np.sort(np.random.default_rng(0).choice(n, min(n, _LINES), replace=False))
    if row is not None:
        row = drawing.checked_row(attribution, row, "a highlight")
        drawn = np.r_[drawn[drawn != row], row][-_LINES:]
    values = attribution.values[drawn, :, output].astype(np.float64)
    steps, heights = values[:, order], np.arange(len(order) + 1) - 0.5
    if len(order) < p:
        steps = np.c_[values.sum(axis=1) - steps.sum(axis=1), steps]
        heights = np.r_[-1.5, heights]
    start = np.broadcast_to(attribution.baseline, attribution.values[:, 0].shape)[drawn, output]
    places = np.cumsum(np.c_[start, steps], axis=1)
    ax = drawing.new_axes(ax, len(order), attribution.feature_names)
    colors = drawing.pyplot().get_cmap("coolwarm")(drawing.shares(places[:, -1]))
    for line, color in zip(places, colors, strict=True):
        ax.plot(line, heights, color=color, linewidth=0.8, alpha=0.7 if row is None else 0.35)
    text = f"{len(drawn)} of {n} rows, drawn with a fixed seed" if len(drawn) < n else f"{n} rows"
    if row is not None:
        ax.lines[-1].set(color="black", linewidth=2, alpha=1)
        text += f"; black: row {row}, {drawing.reach(attribution, row, output)}"
    title = drawing.title(attribution, [output], "")
    shown = None if row is None else X
    drawing.label(ax, attribution, order, f"{title}\n{drawing.wrapped(text)}", shown, row)
    ax.set_ylim(heights[0], heights[-1])
    return ax


def force(attribution, ax, output, top, X, row):
    """Draw bars that raise one row's total, from the left, and lower it, from the right."""
    row = drawing.checked_row(attribution, row, "a force plot")
    values = attribution.values[row, :, output].astype(np.float64)
    start, end = drawing.ends(attribution, row, output)
    order = np.argsort(-np.abs(values), kind="stable")
    is_named = np.abs(values[order]) >= _NAMED * np.abs(values).sum()
    is_named[top:] = False
    bars = []
    for sign in (1, -1):
        is_own = sign * values[order] > 0
        own, others = order[is_own & is_named], order[is_own & ~is_named]
        texts = [drawing.with_value(attribution, X, row, j) for j in own]
        steps = values[own]
        if len(others):
            texts.append(drawing.more_features(len(others)))
            steps = np.r_[steps, values[others].sum()]
        # With the largest at the top, no two lines from names to bars cross.
        heights = np.arange(len(steps), 0, -1) if sign > 0 else -np.arange(1, len(steps) + 1)
        bars += zip(texts, steps, end - np.cumsum(steps), heights, strict=True)
    ax = drawing.new_axes(ax, len(bars) + 1, attribution.feature_names)
    corners = np.array([start, end, *(left for _, _, left, _ in bars)])
    room = 0.03 * (np.ptp(corners) or 1.0)
    edge = corners.min() - room
    ax.set_xlim(edge, corners.max() + room)
    texts = [f"{text}: {drawing.signed(f'{step:+.3g}')}" for text, step, _, _ in bars]
    ax.set_yticks([height for _, _, _, height in bars], texts)
    for text, (_, step, left, height) in zip(ax.get_yticklabels(), bars, strict=True):
        color = "tab:blue" if step < 0 else "tab:red"
        text.set_color(color)
        ax.barh(0, step, left=left, color=color, edgecolor="white")
        x = left + step / 2
        ax.plot([edge, x, x], [height, height, 0], color="0.7", linewidth=0.8, zorder=0)
    for x, other, text in ((start, end, "baseline"), (end, start, "total")):
        ax.axvline(x, color="0.3", linewidth=0.8, linestyle=":", zorder=0)
        style = {"xycoords": ("data", "axes fraction"), "fontsize": "small", "color": "0.3"}
        drawing.beside(ax, text, (x, 1.03), 2 if x > other else -2, **style)
    text = f"{drawing.title(attribution, [output], '')}\n{drawing.reach(attribution, row, output)}"
    ax.set_xlabel(text)
    ax.spines["left"].set_visible(False)
    drawing.open_frame(ax)
    return ax
