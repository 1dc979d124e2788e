"""Experiments: sweeps over any parameter of a data set, model, measure or metric.

A sweep is a list of blocks. Each block is a ``grid`` (every combination), a ``zip`` (values side
by side) or ``random`` (draws) over axes, and an axis is one of

    data, model                     names of recipes
    data.P, model.P                 a parameter of the data set or model
    importance.NAME.P, metric.NAME.P    a parameter of a measure or metric
    repeat                          number of the repeat, from which seeds are derived
    variant                         a name from the experiment's ``variants``, see below

``variants`` gives names to settings of other axes, e.g. ``published: {metric.m.scores: signed}``.
Each combination is a `Point`. Points that share data, model and repeat share a `Run`: the model is
fitted once, each measure computed once for each of its settings, each metric likewise.
"""

from __future__ import annotations

import hashlib
import itertools
import re
from dataclasses import dataclass

from reproduction.planning.configuration import KINDS, ConfigError, check_recipe, known_name
from reproduction.planning.signatures import parameters
from reproduction.storage import canonical, digest


@dataclass(frozen=True)
class Run:
    """One fitted model: a data recipe, a model recipe and the number of the repeat."""

    key: str
    data_key: str
    data: dict
    model: dict
    repeat: int

    def to_json(self) -> dict:
        """As stored in plan files."""
        return vars(self).copy()


@dataclass(frozen=True)
class Point:
    """One combination of a sweep.

    ``importances`` and ``metrics`` map the names in the configuration to file names, which hold
    the overridden parameters, and to the complete recipes.
    """

    axes: dict
    run: Run
    importances: dict[str, tuple[str, dict]]
    metrics: dict[str, tuple[str, dict]]


def expand(config: dict, name: str) -> list[Point]:
    """All points of one experiment, in the order of its blocks, without repetitions.

    Raises
    ------
    ConfigError
        If an axis or value does not exist.
    """
    experiment = config["experiments"][name]
    points, seen = [], set()
    for number, block in enumerate(experiment["sweep"]):
        place = f"experiments.{name}.sweep.{number}"
        for axes in _combinations(block, place, name, experiment.get("most_repeats")):
            text = canonical(axes)
            if text not in seen:
                seen.add(text)
                points.append(_point(config, experiment, axes, place))
    return points


def batches(config: dict, name: str, points: list[Point]) -> list[list[Run]]:
    """Runs of new points grouped into jobs.

    Runs of one block that need the same settings of measures and metrics go together,
    ``batch_size`` at a time. Results do not depend on it.
    """
    experiment = config["experiments"][name]
    size_of = {}
    for block in experiment["sweep"]:
        for axes in _combinations(block, name, name, experiment.get("most_repeats")):
            size_of.setdefault(canonical(axes), block.get("batch_size", 1))
    settings: dict[str, set] = {}
    runs, sizes = {}, {}
    for point in points:
        files = (*sorted(f for f, _ in point.importances.values()),)
        files += (*sorted(f for f, _ in point.metrics.values()),)
        settings.setdefault(point.run.key, set()).add(files)
        runs[point.run.key] = point.run
        sizes.setdefault(point.run.key, size_of[canonical(point.axes)])
    groups: dict[tuple, list[Run]] = {}
    for key, run in runs.items():
        groups.setdefault((sizes[key], tuple(sorted(settings[key]))), []).append(run)
    return [
        group[start : start + size]
        for (size, _), group in groups.items()
        for start in range(0, len(group), size)
    ]


def _combinations(block, place, name, most_repeats):
    """Axes of every point of a block; of the repeats only the first so many, if a number is given.

    Draws of a ``random`` block are no repeats.
    """
    repeats = dict.fromkeys(_values(_axes(block).get("repeat", 0)))
    kept = set(itertools.islice(repeats, most_repeats))
    for axes in _all_combinations(block, place, name):
        if "random" in block or axes.get("repeat", 0) in kept:
            yield axes


def _axes(block):
    return block.get("grid") or block.get("zip") or {}


def _all_combinations(block, place, name):
    if "grid" in block:
        axes = {k: _values(v) for k, v in block["grid"].items()}
        for values in itertools.product(*axes.values()):
            yield dict(zip(axes, values, strict=True))
    elif "zip" in block:
        axes = {k: _values(v) for k, v in block["zip"].items()}
        length = max(len(v) for v in axes.values())
        for axis, values in axes.items():
            if len(values) not in (1, length):
                raise ConfigError(
                    f"{place}.zip.{axis}: {len(values)} values beside {length}; "
                    "give every axis one value or equally many"
                )
        for i in range(length):
            yield {axis: values[i % len(values)] for axis, values in axes.items()}
    else:
        yield from _draws(block["random"], name)


def _values(given):
    """Values of an axis: a list, a range ``{first, last}`` with both ends, or one value."""
    if isinstance(given, list):
        return given
    if isinstance(given, dict):
        return list(range(given["first"], given["last"] + 1, given.get("step", 1)))
    return [given]


def _draws(block, name):
    """Draw i depends on the experiment's name, the seed and i: more draws keep the first ones."""
    import numpy as np

    word = int.from_bytes(hashlib.sha256(name.encode()).digest()[:4], "little")
    for i in range(block["draws"]):
        generator = np.random.default_rng([word, block.get("seed", 0), i])
        axes = {}
        for axis, values in block["axes"].items():
            if not isinstance(values, dict):
                choices = _values(values)
                axes[axis] = choices[generator.integers(len(choices))]
            elif "uniform" in values:
                axes[axis] = float(generator.uniform(*values["uniform"]))
            elif "log_uniform" in values:
                low, high = np.log(values["log_uniform"])
                axes[axis] = float(np.exp(generator.uniform(low, high)))
            else:
                low, high = values["integers"]
                axes[axis] = int(generator.integers(low, high + 1))
        yield axes


def _point(config, experiment, axes, place):
    settings = {**_variant(experiment, axes, place)}
    settings |= {k: v for k, v in axes.items() if k != "variant"}
    for needed in ("data", "model"):
        if needed not in settings:
            raise ConfigError(f"{place}: axis {needed} is missing; name a recipe of {needed}")
    _check_axes(experiment, settings, place)

    def recipe(kind, name, prefix):
        section = KINDS[kind][0]
        known_name(config, section, [name], f"{place}: {kind}")
        over = {k[len(prefix) :]: v for k, v in settings.items() if k.startswith(prefix)}
        complete = {**config[section][name], **over}
        check_recipe(kind, complete, f"{place}: {kind}")
        return complete, over

    run = _run(
        settings,
        recipe("data", settings["data"], "data."),
        recipe("model", settings["model"], "model."),
    )
    importances, measured = {}, {}
    for name in experiment["importances"]:
        complete, over = recipe("importance", name, f"importance.{name}.")
        importances[name] = (_file(name, over), complete)
        measured |= {f"{name}.{k}": v for k, v in over.items()}
    metrics = {}
    for name in experiment["metrics"]:
        complete, over = recipe("metric", name, f"metric.{name}.")
        metrics[name] = (_file(name, over | measured), complete)
    return Point(axes=axes, run=run, importances=importances, metrics=metrics)


def _variant(experiment, axes, place):
    if "variant" not in axes:
        return {}
    variants = experiment.get("variants", {})
    if axes["variant"] not in variants:
        known = ", ".join(variants) or "none"
        raise ConfigError(f"{place}: variant {axes['variant']!r} is not defined; there are {known}")
    return variants[axes["variant"]]


def _run(settings, data, model):
    (data, data_over), (model, model_over) = data, model
    repeat = settings.get("repeat", 0)
    takes_seed = "random_state" in parameters("dataset", data["dataset"])
    if takes_seed and "random_state" not in data:
        data_over = {**data_over, "repeat": repeat}
    data_key = _file(settings["data"], data_over)
    recipes = [data, model, repeat]
    return Run(
        key=f"{data_key}+{_file(settings['model'], model_over)}+{digest(recipes, 6)}",
        data_key=data_key,
        data=data,
        model=model,
        repeat=repeat,
    )


def _file(name, over):
    """File name of a recipe: its name and what differs from the configuration."""
    if not over:
        return name
    text = ",".join(f"{k}={canonical(v)}".replace('"', "") for k, v in sorted(over.items()))
    if len(text) > 60 or not re.fullmatch(r"[\w.,=+-]+", text):
        text = digest(over)
    return f"{name}@{text}"


def _check_axes(experiment, settings, place):
    for axis in settings:
        if axis in ("data", "model", "repeat"):
            continue
        kind, _, rest = axis.partition(".")
        name, _, parameter = rest.rpartition(".")
        known = {"importance": experiment["importances"], "metric": experiment["metrics"]}
        if kind not in KINDS or not parameter or (kind in known) != bool(name):
            raise ConfigError(
                f"{place}: axis {axis!r} is not known; allowed are data, model, repeat, variant, "
                "data.P, model.P, importance.NAME.P and metric.NAME.P"
            )
        if kind in known and name not in known[kind]:
            raise ConfigError(
                f"{place}: axis {axis!r}: this experiment has no {kind} {name!r}; "
                f"there are {', '.join(known[kind])}"
            )
