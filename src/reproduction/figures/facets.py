"""Curves of a tidy table as small multiples: a panel for each combination of the outer columns.

A curve is the mean over repeats, with its 95 % interval by Student's t as a band.
"""

import itertools
import math
import textwrap

import numpy as np
import pandas as pd

_UNSET = "not set"
# An x whose largest value is so many times the smallest is logarithmic by default.
_WIDE = 10
# A figure with more panels cannot be read: the others are left out, and the title says so. Those of
# a single row are wrapped.
_MOST_ROWS, _MOST_COLUMNS, _WRAPPED = 8, 6, 4
_MOST_TICKS = 8


def draw(table: pd.DataFrame, spec: dict, title: str):
    """Draw the figure that `reproduction.planning.facets.complete` describes.

    All columns of the table but ``y`` are text, as they stand in the file: 1, one feature, is not
    1.0, all of them. ValueError if no row is left to draw.
    """
    from matplotlib import pyplot as plt

    table = table.fillna(dict.fromkeys(table.columns.drop(spec["y"]), _UNSET))
    for column, values in spec["where"].items():
        table = _chosen(table, column, values)
    columns = list(itertools.product(spec["x"], _keys(table, spec["column"])))
    rows = _keys(table, spec["row"])
    n_panels, is_wrapped, is_one_x = len(rows) * len(columns), len(rows) == 1, len(spec["x"]) == 1
    rows, columns = rows[:_MOST_ROWS], columns[: _MOST_COLUMNS * (_MOST_ROWS if is_wrapped else 1)]
    width = len(columns)
    if is_wrapped:
        width = math.ceil(width / math.ceil(width / _WRAPPED))
    panels = list(itertools.product(rows, columns))
    height = math.ceil(len(panels) / width)
    figure, axes = plt.subplots(
        height,
        width,
        figsize=(2.4 * width + 1.8, 2.1 * height + 0.7),
        sharex=is_one_x and not is_wrapped,
        sharey="all" if is_wrapped else "row",
        squeeze=False,
    )
    names = [None] if spec["color"] is None else _values(table[spec["color"]])
    handles: dict = {}
    for axis, (row, (x, column)) in zip(axes.flat, panels, strict=False):
        settings = dict(zip((*spec["row"], *spec["column"]), (*row, *column), strict=True))
        # Where parameters have panels of their own, a panel has the rows that set its one.
        settings |= {} if is_one_x else {other: _UNSET for other in spec["x"] if other != x}
        chosen = np.all([table[name] == value for name, value in settings.items()], axis=0)
        panel = table[chosen & (is_one_x | (table[x] != _UNSET))]
        texts = _values((table if is_one_x else panel)[x])
        for number, name in enumerate(names):
            own = panel if name is None else panel[panel[spec["color"]] == name]
            if len(own):
                handles[name] = _curve(axis, own, x, texts, spec, (number, len(names)))
        _set_scale(axis, x, texts, spec)
        axis.set_title(_heading(table, settings, spec), fontsize=8)
        axis.set_xlabel(spec["labels"].get(x, x))
        if is_one_x and not is_wrapped:
            axis.label_outer()
    _finish(figure, axes, len(panels), spec, handles)
    n_repeats = table["repeat"].nunique() if "repeat" in table else 1
    if not spec["points"] and n_repeats > 1:
        title += f"; mean of {n_repeats} repeats and its 95 % interval"
    if len(panels) < n_panels:
        title += f"; the first {len(panels)} of {n_panels} panels"
    # As wide as the panels, so that it does not run into the legend on their right.
    title = "\n".join(textwrap.wrap(title, 30 * width))
    figure.suptitle(title, fontsize=9, x=0.01, ha="left")
    return figure


def _chosen(table, column, values):
    """The rows that have one of the values of ``where``."""
    texts, wanted = _values(table[column]), []
    for value in values:
        text = _UNSET if value is None else str(value)
        found = [text] if text in texts else [t for t in texts if _number(t) == value]
        if not found:
            there_are = ", ".join(texts)
            raise ValueError(f"figure.where.{column}: no row has {value!r}; there are {there_are}")
        wanted += found
    return table[table[column].isin(wanted)]


def _number(text):
    """The number that a text stands for; nan if it does not."""
    try:
        return float(text)
    except ValueError:
        return math.nan


def _values(series):
    """Different texts of a column: numbers in their order, others in that of the table."""
    texts = [text for text in series.unique() if text != _UNSET]
    if not any(math.isnan(_number(text)) for text in texts):
        texts.sort(key=_number)
    return [*texts, *([_UNSET] if (series == _UNSET).any() else [])]


def _is_numeric(texts):
    """Whether different texts are different numbers."""
    numbers = {_number(text) for text in texts}
    return all(map(math.isfinite, numbers)) and len(numbers) == len(texts)


def _keys(table, columns):
    """Combinations of values of some columns that the table has."""
    found = set(zip(*(table[c] for c in columns), strict=True)) or {()}
    return [key for key in itertools.product(*(_values(table[c]) for c in columns)) if key in found]


def _curve(axis, rows, x, texts, spec, place):
    """One curve with its band, or the points themselves; returns its handle for the legend."""
    import matplotlib
    from scipy import stats

    (number, n_curves), is_numeric = place, _is_numeric(texts)
    colors = matplotlib.rcParams["axes.prop_cycle"].by_key()["color"]
    color, turn = colors[number % len(colors)], number // len(colors) % 3
    style = {"color": color, "marker": "os^"[turn], "ms": 3}
    places = {text: _number(text) if is_numeric else i for i, text in enumerate(texts)}
    rows = rows.assign(x=rows[x].map(places), y=rows[spec["y"]])
    if spec["points"]:
        return axis.plot(rows["x"], rows["y"], **style, linestyle="none", alpha=0.6)[0]
    if "repeat" in rows and rows["repeat"].nunique() > 1:
        # Rows of one repeat are of one model: only repeats are independent.
        rows = rows.groupby(["x", "repeat"], as_index=False)["y"].mean()
    by_x = rows.groupby("x")["y"]
    mean, n = by_x.mean(), by_x.count()
    half_width = stats.t.ppf(0.975, n - 1) * by_x.std() / np.sqrt(n)
    low, high = mean - half_width, mean + half_width
    if is_numeric:
        axis.fill_between(mean.index, low, high, color=color, alpha=0.1, lw=0)
        return axis.plot(mean.index, mean, **style, linestyle=("-", "--", ":")[turn])[0]
    # Texts have no order along x: points, those of each curve beside the others.
    beside = mean.index + 0.6 * ((number + 0.5) / n_curves - 0.5)
    axis.vlines(beside, low, high, color=color, lw=1, alpha=0.6)
    return axis.plot(beside, mean, **style, linestyle="none")[0]


def _set_scale(axis, x, texts, spec):
    """Set scale and ticks along x: numbers at their places, other texts side by side."""
    numbers = list(map(_number, texts)) if _is_numeric(texts) else []
    is_wide = bool(numbers) and 0 < min(numbers) and max(numbers) >= _WIDE * min(numbers)
    is_log = is_wide if spec["log"] is None else bool({"x", x} & {*spec["log"]})
    if is_log and (scale := _logarithmic(numbers)):
        axis.set_xscale(**scale)
    if not numbers:
        axis.set_xlim(-0.5, len(texts) - 0.5)
    if len(texts) <= _MOST_TICKS or not numbers:
        labels = [spec["labels"].get(text, text) for text in texts]
        axis.set_xticks(numbers or range(len(texts)), labels)
        axis.set_xticks([], minor=True)
        is_long = sum(map(len, labels)) > 30
        axis.tick_params(axis="x", labelrotation=60 if is_long else 0)


def _logarithmic(values):
    """Arguments of a logarithmic scale that shows all values; None if there is none.

    A logarithm would drop 0 and numbers below it without a word. So between the smallest size and
    its opposite the axis is linear, and logarithmic on both sides.
    """
    sizes = [abs(value) for value in values if value]
    if len(values) and min(values) > 0:
        return {"value": "log"}
    return {"value": "symlog", "linthresh": min(sizes)} if sizes else None


def _heading(table, settings, spec):
    """Settings of a panel, as far as they differ from those of others."""
    labels, texts = spec["labels"], []
    for name, value in settings.items():
        if name not in spec["x"] and table[name].nunique() > 1:
            parameter = name.rpartition(".")[2]
            label = labels.get(name, labels.get(parameter, parameter))
            texts.append(f"{label} {labels.get(value, value)}")
    return "\n".join(textwrap.wrap(", ".join(texts), 34))


def _finish(figure, axes, n_panels, spec, handles):
    """Name the axes, make y logarithmic if it is to be, and draw the legend."""
    labels = spec["labels"]
    for axis in axes.flat[n_panels:]:
        axis.set_visible(False)
    for axis in axes[:, 0]:
        axis.set_ylabel(labels.get(spec["y"], spec["y"]))
    values = np.concatenate([line.get_ydata() for axis in axes.flat for line in axis.lines])
    values = values[np.isfinite(values)]
    if "y" in (spec["log"] or ()) and (scale := _logarithmic(values)):
        for axis in axes.flat:
            axis.set_yscale(**scale)
    if None not in handles:
        names = [labels.get(name, name) for name in handles]
        title = labels.get(spec["color"], spec["color"])
        figure.legend(handles.values(), names, title=title, loc="outside right upper")
