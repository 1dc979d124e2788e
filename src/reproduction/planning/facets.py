"""The figure of a sweep: which of its parameters stand on which side, unless the ``figure`` says.

Numbers of a sweep differ by the axes that it varies, and by the columns that a metric declares as
``KEYS``. Each has a place in the figure: along x, as a color, or by panels in columns
and rows. Numbers that agree in all of them are repeats, and are averaged.
"""

from __future__ import annotations

from reproduction import metrics
from reproduction.planning import sweep
from reproduction.planning.errors import ConfigError
from reproduction.storage import canonical

# Columns of metrics whose rows are repeats of one thing.
REPEATED = ("repeat", "sample", "shuffle", "fold")
# Columns of the tables of sweeps beside those of the metric: a metric's own would overwrite them.
_OF_SWEEPS = ("run", "metric", "data", "model", "repeat", "variant")
# Columns of metrics with names of the user's, of which 1.1 and 1.10 are two.
_NAMES = ("feature",)
# How the names of axes begin that are parameters.
_AXES = ("data.", "model.", "importance.", "metric.")
# The largest value over the smallest from which an axis is logarithmic.
_WIDE = 10
# With more in the rows of panels, a figure that nobody has thought about cannot be read.
_MOST_IN_ROWS = 2


def complete(config: dict, name: str) -> dict | None:
    """Every setting of the figure of one experiment, if it has one.

    Parameters
    ----------
    config : dict
        Complete, with sweeps that `checks.check_sweep` has passed.
    name : str

    Returns
    -------
    dict or None
        None if the experiment has ``figure: false``, or no ``figure`` and nothing to draw or more
        than a figure can show. Else ``metric``, and of its table the columns ``x`` (a list: a panel
        each), ``y``, ``color`` (or None), ``column`` and ``row`` (lists); ``log``, those of x, and
        ``y``, that are logarithmic; ``where``, values by column; ``labels``, texts by name;
        ``points``, whether x is drawn at random, so that there are no curves; ``own_rows``, whether
        rows of panels have scales of their own; ``texts``, columns that are read as text, where as
        numbers values that differ might be one.

    Raises
    ------
    ConfigError
        If a name is not one of the sweep or of the metric, or has two places.
    """
    experiment, place = config["experiments"][name], f"experiments.{name}.figure"
    figure = experiment.get("figure", True)
    if figure is False:
        return None
    figure = {} if figure is True else figure
    metric = _metric(config, experiment, figure, place)
    if metric is None:
        return None
    keys, values = (columns(config["metrics"][metric]["metric"], kind) for kind in _KINDS)
    axes = {
        axis: values_of_axis
        for axis, values_of_axis in swept(experiment).items()
        if not axis.startswith("metric.") or axis.rpartition(".")[0] == f"metric.{metric}"
    }
    _check(figure, axes, keys, values, metric, place)
    varied = _varied(experiment, axes, figure.get("where", {}))
    x = _listed(figure["x"]) if "x" in figure else _default_x(experiment, axes, varied, keys)
    dimensions = [
        *(a for a in varied if a not in REPEATED),
        *(k for k in keys if k not in REPEATED),
    ]
    fixed = {c for c, value in figure.get("where", {}).items() if not isinstance(value, list)}
    placed = [*x, *_listed(figure.get("column", [])), *_listed(figure.get("row", []))]
    free = [c for c in dimensions if c not in (*placed, *fixed)]
    color = figure.get("color", next((c for c in (*keys, *free) if c in free), None))
    free = [c for c in free if c != color]
    first = 0 if "column" in figure or len(x) > 1 else 1
    column = _listed(figure.get("column", free[:first]))
    of_rows = [c for c in free if c not in column]
    row = [*_listed(figure.get("row", [])), *of_rows]
    if "figure" not in experiment and len(row) > _MOST_IN_ROWS:
        return None
    of_values = {c: _texts_of(c, axes, experiment) for c in {*x, color, *column, *row} - {None}}
    _check_labels(figure.get("labels", {}), [*axes, *keys, *values], of_values, place)
    return {
        "metric": metric,
        "x": x,
        "y": figure.get("y", values[0]),
        "color": color,
        "column": column,
        "row": row,
        "log": _log(figure, x, axes),
        "where": {c: _listed(v) for c, v in figure.get("where", {}).items()},
        "labels": figure.get("labels", {}),
        "points": any(_is_interval(axes.get(axis)) for axis in x),
        "own_rows": any(c in keys for c in row),
        "texts": [*(a for a in axes if _is_text(axes[a])), *(c for c in _NAMES if c in keys)],
    }


def check_columns(config: dict, name: str) -> None:
    """Check that no column of a metric takes the place of one that all tables of sweeps have.

    Raises
    ------
    ConfigError
    """
    metric = config["metrics"][name]["metric"]
    names = [column for kind in _KINDS for column in columns(metric, kind)]
    clashes = [column for column in names if column in _OF_SWEEPS]
    if clashes:
        raise ConfigError(
            f"metrics.{name}: {metric} has the column {clashes[0]}, which is one of the sweep: "
            "give it another name in its KEYS, VALUES and table"
        )


def columns(metric: str, kind: str) -> tuple[str, ...]:
    """Columns that a metric declares as ``KEYS`` or ``VALUES``."""
    return tuple(getattr(metrics.module_of(metric), kind, ()))


_KINDS = ("KEYS", "VALUES")


def swept(experiment: dict) -> dict[str, list | dict]:
    """Values of each axis, over all blocks: a list, or the interval that is drawn from."""
    axes: dict[str, list | dict] = {}
    for block in experiment["sweep"]:
        for axis, values in sweep.axes_of(block).items():
            if isinstance(values, dict) or isinstance(axes.get(axis), dict):
                axes[axis] = values if isinstance(values, dict) else axes[axis]
            else:
                axes[axis] = _united(axes.get(axis, []), values)
    return axes


def _united(known, values):
    """Values of two lists, each once."""
    if not known:
        return list(values)
    kept = set(map(_apart, known))
    return [*known, *(value for value in values if _apart(value) not in kept)]


def _apart(value):
    """What differs if values do: Python takes 1, one feature, for 1.0, all of them."""
    return canonical(value) if isinstance(value, (list, dict)) else (type(value), value)


def _metric(config, experiment, figure, place):
    """The metric that is drawn: without a choice the first that has numbers."""
    names = experiment["metrics"]
    if "metric" not in figure:
        with_numbers = [n for n in names if columns(config["metrics"][n]["metric"], "VALUES")]
        return with_numbers[0] if with_numbers else None
    name = figure["metric"]
    if name not in names:
        raise ConfigError(
            f"{place}.metric: {name!r} is not a metric of the experiment; "
            f"there are {', '.join(names)}"
        )
    if not columns(config["metrics"][name]["metric"], "VALUES"):
        raise ConfigError(f"{place}.metric: {name} has no numbers to draw; choose another")
    return name


def _check(figure, axes, keys, values, metric, place):
    names, placed = [*axes, *keys], set()
    for part in ("x", "color", "column", "row", "where"):
        for column in _listed(figure.get(part, [])) if part != "where" else figure.get(part, {}):
            if column not in names:
                raise ConfigError(
                    f"{place}.{part}: {column!r} is neither swept nor a column of {metric}; "
                    f"there are {', '.join(names)}"
                )
            if part != "where" and column in placed:
                raise ConfigError(f"{place}.{part}: {column!r} has a place already; give it one")
            placed |= {column} if part != "where" else set()
    for column, wanted in figure.get("where", {}).items():
        axis = axes.get(column)
        if wanted == []:
            raise ConfigError(f"{place}.where.{column}: [] leaves no row; name a value")
        other = [v for v in _listed(wanted) if not isinstance(v, (str, int, float, type(None)))]
        if other:
            raise ConfigError(
                f"{place}.where.{column}: {other[0]!r} is not allowed; expected a text, a number, "
                "true, false or null, or a list of these"
            )
        unswept = [v for v in _listed(wanted) if isinstance(axis, list) and not _has(axis, v)]
        if unswept:
            raise ConfigError(
                f"{place}.where.{column}: {unswept[0]!r} is not swept; "
                f"there are {', '.join(map(str, axis))}"
            )
    if len(_listed(figure.get("x", []))) > 1 and "column" in figure:
        raise ConfigError(f"{place}.column: the parameters of x take the columns; use row")
    if figure.get("y", values[0]) not in values:
        raise ConfigError(
            f"{place}.y: {figure['y']!r} is not a number of {metric}; there are {', '.join(values)}"
        )
    for column in figure.get("log", []):
        if column not in ("x", "y", *_listed(figure.get("x", [])), *axes):
            raise ConfigError(
                f"{place}.log: {column!r} is not allowed; expected x, y or what stands along x"
            )
        axis = axes.get(column)
        if isinstance(axis, list) and not _numeric(axis):
            raise ConfigError(
                f"{place}.log: {column} has values that are not numbers: leave it out"
            )


def _check_labels(labels, columns, of_values, place):
    """Refuse the label of nothing, as far as the values of what the figure shows are known."""
    known = {*columns, *(c.rpartition(".")[2] for c in columns)}
    known |= {text for texts in of_values.values() for text in texts or ()}
    all_known = None not in of_values.values()
    for name in labels:
        if name not in known and (all_known or name.startswith(_AXES)):
            raise ConfigError(
                f"{place}.labels: {name!r} is neither a column nor a value of the figure; columns "
                f"are {', '.join(columns)}"
            )


def _texts_of(column, axes, experiment):
    """The texts by which a label may name the values of a column; None if these are not known."""
    if column == "importance":
        return experiment["importances"]
    values = axes.get(column)
    if values is None or _is_interval(values):
        return None
    numbers = [v for v in values if isinstance(v, (int, float)) and not isinstance(v, bool)]
    digits = [f"{v:.{n}g}" for v in numbers for n in range(6, 17)]
    return [*("not set" if v is None else str(v) for v in values), *digits, "not set"]


def _varied(experiment, axes, where):
    """Axes with several values, those with the most first; not to be set is a value, too."""
    sizes = {}
    for axis, values in axes.items():
        everywhere = all(axis in sweep.axes_of(block) for block in experiment["sweep"])
        size = 1000 if _is_interval(values) else len(values) + (not everywhere)
        if size > 1 and (axis not in where or isinstance(where[axis], list)):
            sizes[axis] = size
    return sorted(sizes, key=lambda axis: -sizes[axis])


def _default_x(experiment, axes, varied, keys):
    """The numeric axis with the most values; if blocks vary one axis each, all of these."""
    axes_of_blocks = [
        [a for a in varied if a not in REPEATED and len(sweep.axes_of(block).get(a, ())) > 1]
        for block in experiment["sweep"]
    ]
    if len({tuple(axes_varied) for axes_varied in axes_of_blocks}) > 1 and all(
        len(axes_varied) == 1 for axes_varied in axes_of_blocks
    ):
        return list(dict.fromkeys(axes_varied[0] for axes_varied in axes_of_blocks))
    blocks = [sweep.axes_of(block) for block in experiment["sweep"]]
    everywhere = [axis for axis in varied if all(axis in block for block in blocks)]
    free = [axis for axis in everywhere if axis not in REPEATED]
    numeric = [axis for axis in free if _is_interval(axes[axis]) or _numeric(axes[axis])]
    return (numeric or free or list(keys[1:2]) or list(keys))[:1]


def _log(figure, x, axes):
    if "log" in figure:
        return [c for entry in figure["log"] for c in (x if entry == "x" else [entry])]
    return [axis for axis in x if axis in axes and _is_wide(axes[axis])]


def _is_wide(values):
    if _is_interval(values):
        ((way, (low, high)),) = values.items()
        return way == "log_uniform" or (low > 0 and high >= _WIDE * low)
    return _numeric(values) and min(values) > 0 and max(values) >= _WIDE * min(values)


def _has(values, wanted):
    if not _is_text(values):
        return wanted in values
    return _apart(wanted) in set(map(_apart, values))


def _is_text(values):
    """Whether numbers would not tell all values apart."""
    if _is_interval(values):
        return False
    numbers = [v for v in values if isinstance(v, (int, float)) and not isinstance(v, bool)]
    has_text = any(isinstance(value, str) for value in values)
    return has_text or len(set(numbers)) < len(set(map(_apart, numbers)))


def _is_interval(values):
    return isinstance(values, dict)


def _numeric(values):
    return all(isinstance(v, (int, float)) and not isinstance(v, bool) for v in values)


def _listed(value):
    return value if isinstance(value, list) else [value]
