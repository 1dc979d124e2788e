"""Draw the plots of an audit, for light and dark pages: the page chooses the ink."""

from __future__ import annotations

import io
import re
from textwrap import fill
from typing import Any

import numpy as np

from splitcredit.results.plots.drawing import pyplot
from splitcredit.views.auditing.subject import Z
from splitcredit.views.auditing.texts import TEXTS, WORDS

# Placeholder of the text's color until the page sets it, and the colors of data and lines.
INK, COLOR, PALE = "#010203", "#3b82c4", "#8a8f98"
# Rows of a plot with one line for each feature.
MOST = 25
_INKED = "text.color axes.labelcolor axes.edgecolor xtick.color ytick.color".split()
_STYLE: Any = {"svg.fonttype": "none", "font.size": 9, **dict.fromkeys(_INKED, INK)}
_STYLE |= {"text.parse_math": False}  # a name may hold a dollar
_STYLE |= {"axes.spines.top": False, "axes.spines.right": False}


def of_section(audit, section):
    """Draw the plot of a section, as a matplotlib Figure; None if there is nothing to draw."""
    if section.key == "measures":
        return side_by_side(audit.comparison, 15)
    axis, line = TEXTS.loc[section.key, ["axis", "line"]]
    table = section.table.dropna(subset=["value"]).drop_duplicates("label")[:MOST]
    if table.empty or (section.key != "model" and not isinstance(axis, str)):
        return None
    column = "", *(table[name].to_numpy(float) for name in ("value", "low", "high"))
    figure, (ax,) = _columns(6.4, 0.9, table["label"], [column], float(line))
    ax.set_xlabel(section.what if section.key == "model" else axis)
    return figure


def side_by_side(comparison, top):
    """Draw a column for each measure, scaled to its largest value, and a line a feature."""
    found, columns = comparison.importances, []
    ranks = [(-importance.values).argsort().argsort() for importance in found.values()]
    order = np.argsort(np.mean(ranks, axis=0), kind="stable")[:top]
    for name, importance in found.items():
        name = WORDS[name]
        scale = np.abs(importance.values).max() or 1.0
        value, half = importance.values[order] / scale, Z * importance.standard_error[order] / scale
        columns.append((name, value, value - half, value + half))
    names = [comparison.feature_names[j] for j in order]
    figure, axes = _columns(2.2 + 0.5 * len(found), 1.8, names, columns, 0.0)
    for ax in axes:
        ax.set_xticks([])
    return figure


def _columns(width, margin, names, columns, line):
    """Draw columns of dots with intervals: pairs of a title, and values with ends by name."""
    plt = pyplot()
    with plt.rc_context(_STYLE):
        figure = plt.Figure(figsize=(width, margin + 0.24 * len(names)), layout="constrained")
        (axes,) = figure.subplots(1, len(columns), squeeze=False, sharey=True)
        places = np.arange(len(names))[::-1]
        for ax, (title, value, low, high) in zip(axes, columns, strict=True):
            if np.isfinite(line):
                ax.axvline(line, color=PALE, linewidth=1, linestyle="--")
            has = np.isfinite(low) & np.isfinite(high)
            ax.hlines(places[has], low[has], high[has], color=COLOR, linewidth=1.6)
            ax.plot(value, places, "o", color=COLOR, markersize=4.5)
            ax.set_title(fill(title, 20), rotation=90, fontsize=9)
            ax.set_ylim(-0.7, len(names) - 0.3)
        axes[0].set_yticks(places, [_shortened(name) for name in names])
    return figure, axes


def _shortened(name):
    name = " ".join(str(name).split())
    return name if len(name) <= 40 else name[:39] + "…"


def svg(figure, prefix) -> str:
    """Write a figure as text for a page: in the page's text color, with prefixed names."""
    out = io.StringIO()
    with pyplot().rc_context({**_STYLE, "svg.hashsalt": prefix}):
        figure.savefig(out, format="svg", transparent=True, metadata={"Date": None})
    text = out.getvalue()
    unseen = r"<metadata>.*?</metadata>|<!--.*?-->"
    text = re.sub(unseen, "", text[text.index("<svg") :], flags=re.S)
    text = re.sub(r'(?<=id=")|(?<=url\(#)|(?<=href="#)', f"{prefix}-", text)
    return text.replace(INK, "currentColor")
