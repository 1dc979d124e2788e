"""Pictures of an audit, for light and dark pages: ink is a color that the page chooses."""

from __future__ import annotations

import io
import re
from typing import Any

import numpy as np

from splitcredit.auditing.sections import TEXTS

# What stands for the color of the text until the page gives it, and the color of what is shown.
INK, COLOR, PALE = "#010203", "#3b82c4", "#8a8f98"
# Lines of a picture with one line for each feature.
MOST = 25
_STYLE: Any = {
    "svg.fonttype": "none",
    "text.parse_math": False,  # a name may hold a dollar
    "font.family": "sans-serif",
    "font.size": 9,
    **dict.fromkeys(("text.color", "axes.labelcolor", "axes.edgecolor"), INK),
    **dict.fromkeys(("xtick.color", "ytick.color"), INK),
    "axes.spines.top": False,
    "axes.spines.right": False,
}


def of_section(audit, section):
    """The picture of a section, as a matplotlib Figure; None if there is nothing to draw."""
    if section.key == "measures":
        return side_by_side(audit.comparison)
    table = section.table.dropna(subset=["value"]).drop_duplicates("label")
    axis, line = TEXTS.loc[section.key, ["axis", "line"]]
    axis = section.what if section.key == "model" else axis
    return None if table.empty else dots(table[:MOST], axis, float(line))


def dots(table, axis, reference=np.nan):
    """A dot with its interval for each row of a table with ``label, value, low, high``."""
    with _styled():
        figure, (ax,) = _axes(6.4, 0.9 + 0.24 * len(table), 1)
        places = np.arange(len(table))[::-1]
        if np.isfinite(reference):
            ax.axvline(reference, color=PALE, linewidth=1, linestyle="--")
        _intervals(ax, *(table[c].to_numpy(float) for c in ("value", "low", "high")), places)
        ax.set_yticks(places, [shortened(name) for name in table["label"]])
        ax.set_xlabel(axis)
        ax.set_ylim(-0.7, len(table) - 0.3)
    return figure


def side_by_side(comparison, top=15):
    """A column for each measure, on the scale of its largest value, and a line for each feature."""
    found = comparison.importances
    with _styled():
        if not found:
            return None
        ranks = [(-importance.values).argsort().argsort() for importance in found.values()]
        order = np.argsort(np.mean(ranks, axis=0), kind="stable")[:top]
        figure, axes = _axes(2.2 + 0.62 * len(found), 1.3 + 0.24 * len(order), len(found))
        places = np.arange(len(order))[::-1]
        for k, (ax, (name, importance)) in enumerate(zip(axes, found.items(), strict=True)):
            scale = np.abs(importance.values).max() or 1.0
            value, error = (
                importance.values[order] / scale,
                importance.standard_error[order] / scale,
            )
            ax.axvline(0, color=PALE, linewidth=0.8)
            _intervals(ax, value, value - 1.96 * error, value + 1.96 * error, places)
            ax.set_xlim(min(-0.15, value.min() - 0.1), 1.15)
            ax.set_ylim(-0.7, len(order) - 0.3)
            ax.set_title(name, rotation=60, ha="left", fontsize=9, color=INK)
            ax.set_xticks([])
            ax.set_yticks(
                places, ["" if k else shortened(comparison.feature_names[j]) for j in order]
            )
            ax.tick_params(length=0)
    return figure


def shortened(name) -> str:
    """A name of at most 40 letters on one line."""
    name = " ".join(str(name).split())
    return name if len(name) <= 40 else name[:39] + "…"


def svg(figure, prefix) -> str:
    """A figure as text for a page: with the color of its text, and a prefix on its names."""
    from matplotlib import rc_context

    out = io.StringIO()
    with rc_context({**_STYLE, "svg.hashsalt": prefix}):
        figure.savefig(out, format="svg", transparent=True, metadata={"Date": None})
    text = out.getvalue()
    text = re.sub(r"<metadata>.*?</metadata>", "", text[text.index("<svg") :], flags=re.S)
    text = re.sub(r'(?<=id=")|(?<=url\(#)|(?<=href="#)', f"{prefix}-", text)
    return text.replace(INK, "currentColor")


def _styled():
    try:
        from matplotlib import rc_context
    except ModuleNotFoundError:
        raise ModuleNotFoundError(
            "pictures need matplotlib, which is not installed: pip install matplotlib"
        ) from None
    return rc_context(_STYLE)


def _axes(width, height, n):
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, figure.subplots(1, n, squeeze=False)[0]


def _intervals(ax, value, low, high, places):
    has = np.isfinite(low) & np.isfinite(high)
    ax.hlines(places[has], low[has], high[has], color=COLOR, linewidth=1.6)
    ax.plot(value, places, "o", color=COLOR, markersize=4.5)
