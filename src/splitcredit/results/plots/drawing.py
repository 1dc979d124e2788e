"""Draw parts of plots by matplotlib: axes, labels, dots, colors, and texts."""

from __future__ import annotations

import importlib
import re
from textwrap import fill

import numpy as np

from splitcredit.rows.tables import check_whole, column_of

# Most characters of a feature's name that are drawn.
_LONGEST = 40
# Methods whose values and baseline add up to the prediction.
ADD_UP = ("tree_shap", "tree_shap_interventional", "saabas")
# What the values of other methods are.
_UNITS = {
    **dict.fromkeys(("mdi", "mdi_oob", "ufi", "local_mdi"), "decrease of impurity"),
    **dict.fromkeys(("air", "penalized_gini"), "decrease of impurity"),
    **dict.fromkeys(("mda", "conditional_permutation"), "increase of the error"),
    "permutation": "decrease of the score",
    "sage": "decrease of the loss",
}


def imported(name, what_needs):
    """Import a package that may not be installed; a ModuleNotFoundError has the remedy."""
    package = name.partition(".")[0]
    try:
        importlib.import_module(package)
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name != package:
            raise
        text = f"{what_needs} {package}, which is not installed: pip install {package}"
        raise ModuleNotFoundError(text, name=package) from None


def pyplot():
    """Import matplotlib's functions for figures."""
    return imported("matplotlib.pyplot", "plots need")


def first(ranking, top):
    """Return the first of a ranking, the last of them first: axes begin below."""
    if top is not None:
        check_whole("top", top, 1)
    return ranking[:top][::-1]


def new_axes(ax, n_features, names=()):
    """Return the given axes, or new ones with room for some features and the longest name."""
    if ax is not None:
        return ax
    height = 1.2 + 0.32 * max(n_features, 4)
    longest = min(max(map(len, names), default=0), _LONGEST)
    return pyplot().subplots(figsize=(5 + 0.07 * max(longest, 20), height), layout="constrained")[1]


def label(ax, result, order, text, X=None, row=None):
    """Write names of features, with values in a row, how many are left out, and the axis label."""
    left_out = len(result.feature_names) - len(order)
    ax.set_yticks(np.arange(len(order)), [with_value(result, X, row, j) for j in order])
    ax.set_ylim(-0.7 - 0.7 * (left_out > 0), len(order) - 0.3)
    if left_out:
        note = f"and {more_features(left_out)}"
        beside(ax, note, (0, -1), -4, xycoords=("axes fraction", "data"), color="0.4")
    ax.set_xlabel(text)
    if ax.get_xscale() == "linear" and not ax.images:
        ax.locator_params("x", nbins=5)
    open_frame(ax)


def open_frame(ax):
    """Leave out the upper and the right line of a plot, and wrap labels at its edges."""
    ax.spines[["top", "right"]].set_visible(False)
    for text in (ax.xaxis.label, ax.yaxis.label):  # constrained layout lets them be cut
        text.set_wrap(True)


def beside(ax, text, place, points, **style):
    """Write a text so many points to the right of a place, or to the left if they are negative."""
    style |= {"xytext": (points, 0), "textcoords": "offset points", "va": "center"}
    ax.annotate(text, place, ha="right" if points < 0 else "left", **style)


def bars(ax, values, errors, ends=None, shift=0.0, height=0.8, color="tab:blue"):
    """Draw bars from 0, with intervals (2, n) or standard errors, if there are any."""
    places = np.arange(len(values)) + shift
    style = {"elinewidth": 1, "ecolor": "0.3", "capsize": 2}
    if ends is not None:
        errors, (low, high) = np.full(len(values), np.nan), ends
        ax.errorbar((low + high) / 2, places, xerr=(high - low) / 2, fmt="none", **style)
    errors = errors if np.isfinite(errors).any() else None
    drawn = ax.barh(places, values, height, xerr=errors, color=color, error_kw=style)
    if (values < 0).any():
        ax.axvline(0, color="0.5", linewidth=0.8)
    return drawn


def dots(ax, x, y, color):
    """Draw dots of a shade from 0 to 1, gray for NaN; return those with a shade, or None."""
    style = {"s": 9, "linewidths": 0, "rasterized": len(x) > 500}
    if color is None:
        ax.scatter(x, y, color="tab:blue", alpha=0.6, **style)
        return None
    is_finite = np.isfinite(color)
    ax.scatter(x[~is_finite], y[~is_finite], color="0.7", **style)
    shade = {"c": color[is_finite], "cmap": "coolwarm", "vmin": 0, "vmax": 1}
    return ax.scatter(x[is_finite], y[is_finite], **shade, **style)


def color_bar(ax, colored, text, are_shares=False, **style):
    """Add a color bar; for shares it goes from low to high."""
    bar = ax.figure.colorbar(colored, ax=ax, fraction=0.04, pad=0.02)
    if are_shares:
        bar.set_ticks([0, 1], labels=["low", "high"])
        style["labelpad"] = -8
    bar.set_label(text, wrap=True, **style)
    bar.outline.set_visible(False)


def gray_legend(ax, X, columns, of=""):
    """Add a legend that says what gray dots stand for, if there are any."""
    import pandas as pd

    known, is_missing = numbers(X)[:, columns], np.asarray(pd.isna(X))[:, columns]
    gray = {"categories": np.isnan(known) & ~is_missing, "missing values": is_missing}
    gray["infinite values"] = np.isinf(known)
    words = [word for word, cells in gray.items() if cells.any()]
    if words:
        ax.plot([], [], "o", color="0.7", markersize=4, label=f"gray: {', '.join(words)}{of}")
        ax.legend(loc="lower right", bbox_to_anchor=(1, 1), frameon=False, fontsize="small")


def shares(x):
    """Return each value's place between the 5th and 95th percentile, 0 to 1; NaN stays NaN."""
    finite = x[np.isfinite(x)]
    if len(finite) == 0:
        return np.full(len(x), np.nan)
    low, high = np.percentile(finite, [5, 95])
    if low == high:
        low, high = finite.min(), finite.max()
    if low == high:
        return np.where(np.isfinite(x), 0.5, np.nan)
    return np.clip((x - low) / (high - low), 0.0, 1.0)


def numbers(X):
    """Return the values of the rows, with NaN, drawn gray, for labels, which have no order."""
    try:
        return np.array(X, np.float64)
    except (TypeError, ValueError):
        import pandas as pd

        columns = np.asarray(X, object).T
        return np.column_stack([pd.to_numeric(list(c), errors="coerce") for c in columns])


def unit(result, output=""):
    """Return the unit of the values in words; "" if it is not known."""
    if result.method not in (*ADD_UP, "oob_attributions"):
        return _UNITS.get(result.method, result.parameters.get("kind", ""))
    curve = result.parameters.get("model_output", "raw").replace("_", " ")
    counted = curve if curve != "raw" else result.unit or "prediction"
    of = {"": "", "output": "", "path length": "", "predicted": " of the predicted class"}
    return counted + of.get(output, f" of '{shortened(output, 30)}'")


def title(attribution, outputs, what="contribution"):
    """Label an axis: the values, a summary or sums of them, their unit, and the method."""
    output = attribution.output_names[outputs[0]] if len(outputs) == 1 else ""
    counted, method = unit(attribution, output), attribution.method
    if what and method in (*ADD_UP, "oob_attributions"):
        what, counted = f"{what} to the {counted}", ""
    text = ": ".join(filter(None, (what, counted)))
    return wrapped(f"{text} ({method})")


def ends(attribution, row, output):
    """Return the baseline and the total of a row; a total that is only rounding is 0."""
    every = np.broadcast_to(attribution.baseline, attribution.values[:, 0].shape)
    start = float(every[row, output])
    end = start + attribution.values[row, :, output].sum(dtype=np.float64)
    return start, 0.0 if abs(end) < 1e-12 * abs(start) else end


def reach(attribution, row, output):
    """Write the baseline and the total of a row."""
    start, end = ends(attribution, row, output)
    return signed(f"from the baseline {start:.4g} to {end:.4g}")


def wrapped(text, width=48):
    """Break a text into lines that fit beside an axis."""
    return fill(text, width, break_long_words=False, break_on_hyphens=False)


def literal(text):
    """Escape dollars, at which matplotlib would start mathematics."""
    return re.sub(r"(?<!\\)\$", r"\\$", str(text))


def shortened(text, longest=_LONGEST):
    """Leave out the middle of a text that is longer than `longest`."""
    text, head = str(text), longest * 2 // 3
    return literal(text if len(text) <= longest else f"{text[:head]}…{text[head + 1 - longest :]}")


def signed(number):
    """Write a number with a minus sign in place of a hyphen."""
    return number.replace("-", "\N{MINUS SIGN}")


def value_text(value):
    """Write a value of a feature for a reader."""
    if isinstance(value, (bool, np.bool_, str)):
        return shortened(value, 20)
    try:
        return "missing" if np.isnan(value) else f"{value:.4g}"
    except (TypeError, ValueError):
        return "missing" if value is None or str(value) == "<NA>" else shortened(value, 20)


def with_value(result, X, row, j):
    """Write a feature's name, and its value in a row if the rows are known."""
    name = shortened(result.feature_names[j], _LONGEST if X is None else 30)
    return name if X is None else f"{name} = {value_text(column_of(X, j).iloc[row])}"


def checked_row(attribution, row, what):
    """Check the position of a row, by default that of the only one; else a ValueError."""
    n = len(attribution.values)
    row = 0 if row is None and n == 1 else row
    if row is None:
        raise ValueError(f"{what} shows one row: pass row=, a position below {n}")
    check_whole("row", row)
    if row >= n:
        raise ValueError(f"row={row}: {n} rows were explained, pass a position below {n}")
    return row


def more_features(count):
    """Say how many features there are beside those that are drawn."""
    return f"{count} more feature{'s' * (count > 1)}"
