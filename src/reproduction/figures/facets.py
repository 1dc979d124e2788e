"""Curves of a tidy table as small multiples: a panel for each combination of the outer columns.

A curve is the mean over repeats, with its 95 % interval by Student's t as a band.
"""

import math
import textwrap

import numpy as np
import pandas as pd

_STYLES = [(line, marker) for line, marker in zip(("-", "--", ":"), ("o", "s", "^"), strict=True)]
# A figure with more panels cannot be read: the others are left out, and the title says so.
MOST_COLUMNS, MOST_ROWS = 6, 8
_WRAPPED = 4
_MOST_TICKS = 8
_UNSET = "not set"
# Of a number in a title, a legend or at a tick; more only where these do not tell numbers apart.
_DIGITS = 6
# Opacity of a band: the bands of a dozen curves may overlap.
_ALPHA = 0.1


def draw(table: pd.DataFrame, spec: dict, title: str):
    """Draw one figure.

    Parameters
    ----------
    table : DataFrame
        Tidy: one row a number.
    spec : dict
        As `reproduction.planning.facets.complete` makes it.
    title : str

    Returns
    -------
    matplotlib Figure

    Raises
    ------
    ValueError
        If no row is left to draw.
    """
    from matplotlib import pyplot as plt

    table = _chosen(table, spec)
    columns = [(axis, ()) for axis in spec["x"]]
    if len(spec["x"]) == 1:
        columns = [(spec["x"][0], key) for key in _keys(table, spec["column"])]
    rows = _keys(table, spec["row"])
    shape, note = (len(rows), len(columns)), ""
    if shape[0] > MOST_ROWS or shape[1] > MOST_COLUMNS * (MOST_ROWS if shape[0] == 1 else 1):
        rows, columns = rows[:MOST_ROWS], columns[:MOST_COLUMNS]
        note = f"; the first {len(rows)} x {len(columns)} of {shape[0]} x {shape[1]} panels"
    panels = [(row, *column) for row in rows for column in columns]
    n_columns, wrapped = len(columns), len(rows) == 1
    if wrapped:
        n_columns = math.ceil(n_columns / math.ceil(n_columns / _WRAPPED))
    n_rows = math.ceil(len(panels) / n_columns)
    names = [None] if spec["color"] is None else _values(table[spec["color"]])
    texts = {c: _shown(table[c]) for c in {*spec["column"], *spec["row"], spec["color"]} - {None}}
    of_panels = [_rows_of(table, *panel, spec) for panel in panels]
    shares_x = len(spec["x"]) == 1 and _is_one_scale(table[spec["x"][0]], of_panels)
    figure, axes = plt.subplots(
        n_rows,
        n_columns,
        figsize=(2.4 * n_columns + 1.8, 2.1 * n_rows + 0.7),
        sharex=shares_x,
        sharey="row" if spec["own_rows"] and not wrapped else "all",
        squeeze=False,
    )
    counts, lines = set(), {}
    for place, (axis, (row, x, column), panel_rows) in enumerate(
        zip(axes.flat, panels, of_panels, strict=False)
    ):
        # Whether numbers are logarithmic is of the whole table, as panels share their axis.
        log = _logarithmic(table[x]) if x in spec["log"] else None
        scale = _Scale(table[x] if shares_x else panel_rows[x], log, spec)
        for number, name in enumerate(names):
            curve_rows = (
                panel_rows if name is None else panel_rows[_text(panel_rows[spec["color"]]) == name]
            )
            if len(curve_rows):
                lines[name] = _curve(axis, curve_rows, x, spec, scale, (number, len(names)), counts)
        scale.finish(axis)
        axis.set_xlabel(spec["labels"].get(x, x))
        if wrapped or place < n_columns:
            _name(axis, _special(spec["column"], column, table, spec, texts), above=True)
        if not wrapped and place % n_columns == n_columns - 1:
            _name(axis, _special(spec["row"], row, table, spec, texts), above=False)
    _finish(figure, axes, len(panels), spec, lines, texts)
    # As wide as the panels, so that it does not run into the legend on their right.
    lines_of_title = textwrap.wrap(f"{title}{_about(counts, spec)}{note}", 30 * n_columns)
    figure.suptitle("\n".join(lines_of_title), fontsize=9, x=0.01, ha="left")
    return figure


def _chosen(table, spec):
    chosen = table
    for column, values in spec["where"].items():
        texts, wanted = _text(table[column]), {_wanted(v, table[column]): v for v in values}
        absent = [value for text, value in wanted.items() if text not in set(texts)]
        if absent:
            raise ValueError(
                f"figure.where.{column}: no row has {absent[0]!r}; there are "
                f"{', '.join(texts.unique())}"
            )
        chosen = chosen[texts[chosen.index].isin(wanted)]
    if not len(chosen):
        columns = " and ".join(spec["where"])
        raise ValueError(
            f"figure.where: no row has such values of {columns} together: choose other values"
        )
    return chosen


def _keys(table, columns):
    """Combinations of values of some columns that the table has, in its order."""
    if not columns:
        return [()]
    texts = pd.DataFrame({c: _text(table[c]) for c in columns})
    orders = {c: {v: i for i, v in enumerate(_values(table[c]))} for c in columns}
    keys = set(texts.itertuples(index=False, name=None))
    return sorted(keys, key=lambda key: [orders[c][v] for c, v in zip(columns, key, strict=True)])


def _where(table, columns, key, spec):
    if len(spec["x"]) > 1:
        columns = spec["row"]
    for column, value in zip(columns, key, strict=True):
        table = table[_text(table[column]) == value]
    return table


def _rows_of(table, row, x, column, spec):
    """The rows of one panel; where it has a parameter of its own along x, those that set it."""
    rows = _where(table, [*spec["row"], *spec["column"]], (*row, *column), spec)
    if len(spec["x"]) == 1:
        return rows
    return rows[rows[x].notna() & rows[[o for o in spec["x"] if o != x]].isna().all(axis=1)]


def _is_numeric(series):
    return pd.api.types.is_numeric_dtype(series) and series.dtype != bool and series.notna().all()


def _is_one_scale(series, of_panels):
    """Whether panels can share their axis: if texts stand side by side, all must have the same."""
    shown = [set(_text(rows[series.name])) for rows in of_panels]
    return _is_numeric(series) or all(texts == shown[0] for texts in shown)


def _values(series):
    """Different values as text: numbers in their order, others in that of the table."""
    values = series.dropna().unique()
    if pd.api.types.is_numeric_dtype(series):
        values = np.sort(values)
    return [*map(_written, values), *([_UNSET] if series.isna().any() else [])]


def _text(series):
    return series.map(_written).where(series.notna(), _UNSET)


def _written(value):
    """A value as text that no other value has: it tells panels and curves apart."""
    if isinstance(value, (bool, np.bool_)):
        return str(bool(value))
    if not isinstance(value, (int, float, np.number)):
        return str(value)
    # 10 and 10.0 are one value: a column of whole numbers is read as real ones if it has a blank.
    return str(int(value)) if value == np.floor(value) and abs(value) < 1e16 else repr(float(value))


def _wanted(value, series):
    """A value of the configuration as the text that it has in a column."""
    if value is None:
        return _UNSET
    return _written(value) if pd.api.types.is_numeric_dtype(series) else str(value)


def _shown(series):
    """What stands in the figure for each text of `_values`: as few digits as tell numbers apart."""
    numbers = [v for v in series.dropna().unique() if not isinstance(v, (str, bool, np.bool_))]
    exact = [_written(number) for number in numbers]
    for digits in range(_DIGITS, 16):
        texts = [f"{number:.{digits}g}" for number in numbers]
        if len(set(texts)) == len(set(exact)):
            return dict(zip(exact, texts, strict=True))
    return dict(zip(exact, exact, strict=True))


def _label(value, texts_of, labels):
    """The text of a value: what its labels say, or the value itself."""
    text = texts_of.get(value, value)
    return labels.get(value, labels.get(text, text))


def _logarithmic(values):
    """Arguments of the scale of a logarithmic axis that shows all values; None if it is linear.

    A logarithm would drop 0 and numbers below it without a word. So between the smallest positive
    value and its opposite the axis is linear, and logarithmic on both sides.
    """
    values = np.asarray(values)
    if not np.issubdtype(values.dtype, np.number):
        return None
    values = values[np.isfinite(values)]
    if (values > 0).all():
        return {"value": "log"}
    sizes = np.abs(values[values != 0])
    return {"value": "symlog", "linthresh": sizes.min()} if sizes.size else None


class _Scale:
    """Places of the values along x: numbers as they are, others side by side."""

    def __init__(self, series, log, spec):
        """`log` holds what `Axes.set_xscale` takes, or is None for a linear axis."""
        self.numeric = _is_numeric(series)
        self.values = _values(series)
        texts_of = _shown(series)
        self.texts = [_label(value, texts_of, spec["labels"]) for value in self.values]
        self.log = log if self.numeric else None

    def places(self, series):
        if self.numeric:
            return series.astype(float)
        order = {value: i for i, value in enumerate(self.values)}
        return _text(series).map(order).astype(float)

    def finish(self, axis):
        if self.log:
            axis.set_xscale(**self.log)
        has_few_values = len(self.values) <= _MOST_TICKS
        if self.numeric and has_few_values:
            axis.set_xticks([float(v) for v in self.values], self.texts)
            axis.set_xticks([], minor=True)
        elif not self.numeric:
            axis.set_xticks(range(len(self.values)), self.texts)
            axis.set_xlim(-0.5, len(self.values) - 0.5)
        is_long = max(map(len, self.texts), default=0) * len(self.values) > 30
        if is_long and (has_few_values or not self.numeric):
            axis.tick_params(axis="x", labelrotation=60)


def _curve(axis, rows, x, spec, scale, place_among_curves, counts):
    """One curve with its band, or the points themselves; its handle for the legend."""
    cycle, (number, n_curves) = _colors(), place_among_curves
    color = cycle[number % len(cycle)]
    line, marker = _STYLES[number // len(cycle) % len(_STYLES)]
    rows = pd.DataFrame({"x": scale.places(rows[x]), "y": rows[spec["y"]], **_repeat(rows)})
    if spec["points"]:
        return axis.plot(rows["x"], rows["y"], marker, color=color, ms=3, alpha=0.6)[0]
    if "repeat" in rows:
        # Rows of one repeat are of one model: only repeats are independent.
        rows = rows.groupby(["x", "repeat"], as_index=False)["y"].mean()
    grouped = rows.groupby("x")["y"]
    mean, n = grouped.mean(), grouped.count()
    counts |= set(n.tolist())
    half_width = _t(n) * grouped.std() / np.sqrt(n)
    # Texts have no order along x: points, those of each measure beside the others.
    x_places = mean.index + (0.0 if scale.numeric else 0.6 * ((number + 0.5) / n_curves - 0.5))
    style = {"linestyle": line if scale.numeric else "none", "marker": marker, "ms": 3}
    handle = axis.plot(x_places, mean, color=color, **style)[0]
    if (n > 1).any():
        low, high = mean - half_width, mean + half_width
        if scale.numeric:
            axis.fill_between(x_places, low, high, color=color, alpha=_ALPHA, lw=0)
        else:
            axis.vlines(x_places, low, high, color=color, lw=1, alpha=0.6)
    return handle


def _repeat(rows):
    several = "repeat" in rows and rows["repeat"].nunique() > 1
    return {"repeat": rows["repeat"]} if several else {}


def _t(n):
    from scipy import stats

    return pd.Series(stats.t.ppf(0.975, np.maximum(n - 1, 1)), n.index).where(n > 1)


def _colors():
    import matplotlib

    return matplotlib.rcParams["axes.prop_cycle"].by_key()["color"]


def _special(names, key, table, spec, texts_of):
    """Settings that the panels of one column or row share, and in which others differ."""
    labels, texts = spec["labels"], []
    for name, value in zip(names, key, strict=False):
        if table[name].nunique(dropna=False) > 1:
            parameter = name.rpartition(".")[2]
            of = labels.get(name, labels.get(parameter, parameter))
            texts.append(f"{of} {_label(value, texts_of[name], labels)}")
    return ", ".join(texts)


def _name(axis, text, above):
    if above:
        axis.set_title("\n".join(textwrap.wrap(text, 34)), fontsize=8)
    else:
        text = "\n".join(textwrap.wrap(text, 30))
        place = {"xy": (1.02, 0.5), "xycoords": "axes fraction", "rotation": 270}
        axis.annotate(text, **place, va="center", ha="left", fontsize=8)


def _finish(figure, axes, n_panels, spec, lines, texts_of):
    for axis in axes.flat[n_panels:]:
        axis.set_visible(False)
    for axis in axes[:, 0]:
        axis.set_ylabel(spec["labels"].get(spec["y"], spec["y"]))
    if len(spec["x"]) == 1:
        for above in axes[:-1].flat[: max(n_panels - axes.shape[1], 0)]:
            above.set_xlabel("")
    if "y" in spec["log"]:
        y_values = [line.get_ydata() for axis in axes.flat[:n_panels] for line in axis.lines]
        scale = _logarithmic(np.concatenate(y_values)) if y_values else None
        for axis in axes.flat if scale else ():
            axis.set_yscale(**scale)
    if None not in lines:
        figure.legend(
            lines.values(),
            [_label(name, texts_of[spec["color"]], spec["labels"]) for name in lines],
            title=spec["labels"].get(spec["color"], spec["color"]),
            loc="outside right upper",
        )


def _about(counts, spec):
    if spec["points"]:
        return "; a point a draw"
    if not counts or max(counts) == 1:
        return ""
    n = f"{max(counts)}" if len(counts) == 1 else f"{min(counts)} to {max(counts)}"
    return f"; mean of {n} repeats and its 95 % interval"
