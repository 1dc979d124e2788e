"""Choose the figure of a sweep: from its ``figure``, with defaults from its first axes.

Numbers of a sweep differ by the axes that it varies, and by the columns that a metric declares as
``KEYS``. What has no place along x, as a color or by columns of panels goes into rows of panels.
Numbers that agree in all of them are repeats, and are averaged.
"""

from __future__ import annotations

from reproduction import metrics
from reproduction.planning import sweep
from reproduction.planning.errors import ConfigError, check_in

# Columns of metrics whose rows are repeats of one thing.
REPEATED = ("repeat", "sample", "shuffle", "fold")
# Columns of the tables of sweeps beside those of the metric: a metric's own would overwrite them.
_OF_SWEEPS = ("run", "metric", "data", "model", "repeat", "variant")
_AXES = ("data.", "model.", "importance.", "metric.")
_PARTS = ("x", "color", "column", "row")
# With more in the rows of panels, a figure that nobody has thought about cannot be read.
_MOST_IN_ROWS = 2


def complete(config: dict, name: str) -> dict | None:
    """Every setting of the figure of an experiment with a checked sweep; None if it has none."""
    experiment, place = config["experiments"][name], f"experiments.{name}.figure"
    figure = experiment.get("figure", True)
    drawable = [n for n in experiment["metrics"] if columns(config["metrics"][n]["metric"])[1]]
    if figure is False or (not drawable and (figure is True or "metric" not in figure)):
        return None
    figure = {} if figure is True else figure
    metric = figure.get("metric", next(iter(drawable), ""))
    check_in([metric], drawable, f"{place}.metric", "a metric of the experiment with numbers")
    keys, values = columns(config["metrics"][metric]["metric"])
    axes = {
        axis: values_of_axis
        for axis, values_of_axis in swept(experiment).items()
        if not axis.startswith("metric.") or axis.rpartition(".")[0] == f"metric.{metric}"
    }
    given = {part: _listed(figure[part]) for part in _PARTS if part in figure}
    _check(figure, given, axes, keys, values, place)
    blocks = [sweep.axes_of(block) for block in experiment["sweep"]]
    varied = [axis for axis in axes if axis not in REPEATED and _varies(axes[axis], axis, blocks)]
    where = figure.get("where", {})
    fixed = [column for column, value in where.items() if not isinstance(value, list)]
    x = given.get("x") or _default_x(blocks, axes, varied, keys)
    placed = {*x, *fixed, *REPEATED, *(column for part in given.values() for column in part)}
    free = [column for column in dict.fromkeys((*keys, *varied)) if column not in placed]
    color = given.get("color") or free[:1]
    free = [column for column in free if column not in color]
    column = given.get("column", free[:1] if len(x) == 1 else [])
    row = [*given.get("row", []), *(c for c in free if c not in column)]
    if "figure" not in experiment and len(row) > _MOST_IN_ROWS:
        return None
    return {
        "metric": metric,
        "x": x,
        "y": figure.get("y", values[0]),
        "color": next(iter(color), None),
        "column": column,
        "row": row,
        "log": figure.get("log"),
        "where": {column: _listed(value) for column, value in where.items()},
        "labels": figure.get("labels", {}),
        "points": any(_is_interval(value) for axis in x for value in axes.get(axis, [])),
    }


def check_columns(config: dict, name: str) -> None:
    """Check that no column of a metric takes the place of one that all tables of sweeps have."""
    metric = config["metrics"][name]["metric"]
    clashes = [column for of_kind in columns(metric) for column in of_kind if column in _OF_SWEEPS]
    if clashes:
        raise ConfigError(
            f"metrics.{name}: {metric} has the column {clashes[0]}, which is one of the sweep: "
            "give it another name in its KEYS, VALUES and table"
        )


def columns(metric: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Columns that the file of a metric declares as ``KEYS`` and as ``VALUES``."""
    module = metrics.module_of(metric)
    return tuple(getattr(module, "KEYS", ())), tuple(getattr(module, "VALUES", ()))


def swept(experiment: dict) -> dict[str, list]:
    """Values of each axis, over all blocks; an interval that is drawn from is one of them."""
    axes: dict[str, list] = {}
    for block in experiment["sweep"]:
        for axis, values in sweep.axes_of(block).items():
            axes.setdefault(axis, []).extend([values] if _is_interval(values) else values)
    return axes


def _check(figure, given, axes, keys, values, place):
    names, where = [*axes, *keys], figure.get("where", {})
    for part, of_part in (given | {"where": list(where)}).items():
        check_in(of_part, names, f"{place}.{part}", "swept, and no column of the metric")
    placed = [column for of_part in given.values() for column in of_part]
    for column in placed:
        if placed.count(column) > 1:
            raise ConfigError(f"{place}: {column!r} has two places; give it one")
    check_in(_listed(figure.get("y", values[0])), values, f"{place}.y", "a number of the metric")
    for column, wanted in where.items():
        if column in axes and not any(map(_is_interval, axes[column])):
            check_in(_listed(wanted), axes[column], f"{place}.where.{column}", "swept")
    for column in figure.get("log", []):
        check_in(
            [column], ["x", "y", *given.get("x", []), *axes], f"{place}.log", "x, y or along x"
        )
    of_axes = [label for label in figure.get("labels", {}) if label.startswith(_AXES)]
    check_in(of_axes, names, f"{place}.labels", "a column of the figure")


def _varies(values, axis, blocks):
    """Whether an axis has several values; not to be set is a value, too."""
    # By their texts, as Python takes 1, one feature, for 1.0, all of them.
    is_one = len(set(map(repr, values))) == 1 and not any(map(_is_interval, values))
    return not is_one or any(axis not in block for block in blocks)


def _default_x(blocks, axes, varied, keys):
    """The first numeric axis of all blocks; if blocks vary one axis each, each of these."""
    own = [[a for a in varied if len(block.get(a, ())) > 1] for block in blocks]
    if all(len(of_block) == 1 for of_block in own):
        return list(dict.fromkeys(of_block[0] for of_block in own))
    free = [axis for axis in varied if all(axis in block for block in blocks)]
    numeric = [a for a in free if not any(isinstance(v, (str, bool)) for v in axes[a])]
    return (numeric or free or list(keys[1:2]) or list(keys))[:1]


def _is_interval(value):
    return isinstance(value, dict)


def _listed(value):
    return value if isinstance(value, list) else [value]
