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
import json
import math
import re
from dataclasses import dataclass

from reproduction.planning import costs, jobs, requirements
from reproduction.planning.recipes import (
    KINDS,
    ConfigError,
    check_importances,
    check_method,
    check_number,
    check_recipe,
    check_required,
    check_value,
    known_name,
)
from reproduction.planning.signatures import parameters
from reproduction.planning.values import problem
from reproduction.storage import canonical, digest

# Where the configuration does not say how many runs a job takes. Seconds that the jobs of a batch
# last on average, beside which the start of Python, a second or two, is little; that the longest
# lasts, so that it is not what a sweep ends with; megabytes that the largest needs; and batches of
# a group of runs at most, for the scheduler.
MEAN, LONGEST, LARGEST = 30.0, 120.0, 1000.0
MOST_BATCHES = 1000
# Points of a sweep at most. A million take half a minute and 2 GB wherever the rules are read, and
# Snakemake reads them anew in every submitted job; a billion would end in a MemoryError.
MOST_POINTS = 1_000_000
# Runs of a group whose costs are looked at.
_LOOKED_AT = 32


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
    the overridden parameters, and to the complete recipes. ``batch_size`` is that of its block.
    """

    axes: dict
    run: Run
    importances: dict[str, tuple[str, dict]]
    metrics: dict[str, tuple[str, dict]]
    batch_size: int | None = None


def expand(config: dict, name: str) -> list[Point]:
    """All points of one experiment, in the order of its blocks, without repetitions.

    Raises
    ------
    ConfigError
        See `check`.
    """
    check(config, name)
    experiment = config["experiments"][name]
    points, texts, computed = [], set(), {}
    for block in experiment["sweep"]:
        for axes in _combinations(block, name, experiment.get("most_repeats")):
            text = canonical(axes)
            if text not in texts:
                texts.add(text)
                size = block.get("batch_size")
                points.append(_point(config, experiment, axes, size, computed))
    return points


def check(config: dict, name: str) -> None:
    """Check the sweep of one experiment without its points: every value of every axis once.

    Raises
    ------
    ConfigError
        If an axis or a value does not exist or is not allowed, a parameter without a default is
        missing, a metric needs an importance that the experiment does not compute, or there are
        more points than `MOST_POINTS`.
    """
    experiment = config["experiments"][name]
    _check_number_of_points(experiment, f"experiments.{name}.sweep")
    for number, block in enumerate(experiment["sweep"]):
        place = f"experiments.{name}.sweep.{number}"
        for axes in _alternatives(block, place):
            for settings in _settings(experiment, axes, place):
                _check_axes(experiment, settings, place)
                _check_settings(config, experiment, settings, place)


def axes_of(block: dict) -> dict[str, list | dict]:
    """Values of each axis of a block: a list, or in a ``random`` block an interval."""
    axes = block["random"]["axes"] if "random" in block else _axes(block)
    return {
        axis: values if "random" in block and isinstance(values, dict) else _values(values)
        for axis, values in axes.items()
    }


def batches(points: list[Point]) -> list[list[Run]]:
    """Runs of new points grouped into jobs.

    Runs of one block that need the same settings of measures and metrics go together,
    ``batch_size`` at a time; without it, see `runs_per_job`. Results do not depend on it.
    """
    settings: dict[str, set] = {}
    first: dict[str, Point] = {}
    files_of: dict[int, tuple] = {}
    for point in points:
        # Points share what they compute.
        if id(point.importances) not in files_of:
            files = (*sorted(f for f, _ in point.importances.values()),)
            files += (*sorted(f for f, _ in point.metrics.values()),)
            files_of[id(point.importances)] = files
        settings.setdefault(point.run.key, set()).add(files_of[id(point.importances)])
        first.setdefault(point.run.key, point)
    groups: dict[tuple, list[Point]] = {}
    for key, point in first.items():
        groups.setdefault((point.batch_size, tuple(sorted(settings[key]))), []).append(point)
    parts = []
    for (size, _), group in groups.items():
        runs = [point.run for point in group]
        size = size or runs_per_job(group[0], runs)
        parts += [runs[start : start + size] for start in range(0, len(runs), size)]
    return parts


def runs_per_job(point: Point, runs: list[Run]) -> int:
    """How many of some runs make a batch, by the project's costs of jobs.

    As many as its jobs need to last `MEAN` seconds on average, but none longer than `LONGEST` or
    larger than `LARGEST`; and so many that there are at most `MOST_BATCHES`. The user's own
    measurements do not count: they differ from one machine to another.

    Parameters
    ----------
    point : Point
        One of those of the runs, which compute the same importances and metrics.
    runs : list of Run
    """
    if len(runs) == 1:
        return 1
    rates, n = costs.reference(), min(len(runs), _LOOKED_AT)
    looked_at = [runs[i * len(runs) // n] for i in range(n)]
    lasting, of_one = _jobs_of(point, looked_at), _jobs_of(point, looked_at[:1])
    seconds = [rates.runs(job) / n for job in lasting]
    megabytes = list(map(rates.megabytes, of_one))
    growth = [
        (rates.megabytes(job) - first) / (n - 1)
        for job, first in zip(lasting, megabytes, strict=True)
    ]
    n_runs = min(
        MEAN * len(seconds) / max(sum(seconds), 1e-9),
        LONGEST / max(*seconds, 1e-9),
        1 + (LARGEST - max(megabytes)) / max(*growth, 1e-9),
        len(runs),
    )
    return max(1, math.ceil(len(runs) / MOST_BATCHES), math.floor(n_runs))


def _jobs_of(point, runs):
    """The jobs of a batch of some runs that take time."""
    batch = jobs.Batch(runs)
    importances = [recipe for _, recipe in point.importances.values()]
    planned = [jobs.of_models("", batch, runs)] if importances else []
    planned += [jobs.of_importance("", batch, recipe) for recipe in importances]
    metrics = [recipe for _, recipe in point.metrics.values()]
    return planned + [jobs.of_metric("", batch, recipe, len(importances)) for recipe in metrics]


def _combinations(block, name, most_repeats):
    """Axes of every point of a block; of the repeats only the first so many, if a number is given.

    Draws of a ``random`` block are no repeats.
    """
    repeats = dict.fromkeys(_values(_axes(block).get("repeat", 0)))
    first_repeats = set(itertools.islice(repeats, most_repeats))
    for axes in _all_combinations(block, name):
        if "random" in block or axes.get("repeat", 0) in first_repeats:
            yield axes


def _axes(block):
    return block.get("grid") or block.get("zip") or {}


def _all_combinations(block, name):
    if "grid" in block:
        axes = {k: _values(v) for k, v in block["grid"].items()}
        for values in itertools.product(*axes.values()):
            yield dict(zip(axes, values, strict=True))
    elif "zip" in block:
        yield from _rows(block["zip"])
    else:
        yield from _draws(block["random"], name)


def _rows(block):
    """Points of a ``zip``, an axis with one value keeping it."""
    axes = {k: _values(v) for k, v in block.items()}
    for i in range(max(len(v) for v in axes.values())):
        yield {axis: values[i % len(values)] for axis, values in axes.items()}


def _values(spec):
    """Values of an axis: a list, a range ``{first, last}`` with both ends, or one value."""
    if isinstance(spec, list):
        return spec
    if isinstance(spec, dict):
        return list(range(spec["first"], spec["last"] + 1, spec.get("step", 1)))
    return [spec]


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


def _point(config, experiment, axes, batch_size, computed):
    variants = experiment.get("variants", {})
    settings = {**variants[axes["variant"]]} if "variant" in axes else {}
    settings |= {k: v for k, v in axes.items() if k != "variant"}
    by_owner = _by_owner(settings)

    def recipe(kind, name):
        over = by_owner.get(_owner(kind, name), {})
        return {**config[KINDS[kind][0]][name], **over}, over

    run = _run(settings, *(recipe(kind, settings[kind]) for kind in ("data", "model")))
    # Points that set the same of importances and metrics share what is computed.
    of_measures = {owner: over for owner, over in by_owner.items() if "." in owner}
    text = canonical(of_measures) if of_measures else ""
    if text not in computed:
        computed[text] = _computed(experiment, recipe)
    return Point(axes, run, *computed[text], batch_size)


def _computed(experiment, recipe):
    """Importances and metrics of a point, by name: the file name and the recipe of each."""
    importances, measured = {}, {}
    for name in experiment["importances"]:
        complete, over = recipe("importance", name)
        importances[name] = (_file(name, over, between="+"), complete)
        measured |= {f"{name}.{k}": v for k, v in over.items()}
    metrics = {}
    for name in experiment["metrics"]:
        complete, over = recipe("metric", name)
        metrics[name] = (_file(name, over | measured, between="+"), complete)
    return importances, metrics


def _run(settings, data, model):
    (data, data_over), (model, model_over) = data, model
    repeat = settings.get("repeat", 0)
    takes_seed = "random_state" in parameters("dataset", data["dataset"])
    is_drawn = takes_seed and data.get("random_state") is None
    if is_drawn or data.get("outcome") == "permuted":
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


def _file(name, over, between=","):
    """File name of a recipe: its name and what differs from the configuration.

    Those of importances and metrics are wildcards, and have no comma: Snakemake's executors put
    commas between the wildcards of a submitted job.
    """
    if not over:
        return name
    text = between.join(f"{k}={canonical(v)}".replace('"', "") for k, v in sorted(over.items()))
    unclear = any(isinstance(v, str) and _is_plain(v) for v in over.values())
    if unclear or len(text) > 60 or not re.fullmatch(rf"[\w.{between}=+-]+", text):
        text = digest(over)
    return f"{name}@{text}"


def _is_plain(text):
    """Whether a text is that of another value, such as the class "1" beside the output 1."""
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def _check_number_of_points(experiment, place):
    """Check the ranges of all blocks, and that they make no more points than can be planned.

    Nothing is listed, as a short line may name billions.
    """
    total = 0
    for number, block in enumerate(experiment["sweep"]):
        way, axes, where = _parts(block, f"{place}.{number}")
        for axis, spec in axes.items():
            if isinstance(spec, dict):
                (_check_interval if way == "random" else _check_range)(spec, f"{where}.{axis}")
        sizes = {axis: _n_values(spec) for axis, spec in axes.items()}
        if way == "random":
            sizes = {"draws": block["random"]["draws"]}
        total += math.prod(sizes.values()) if way == "grid" else max(sizes.values(), default=0)
        if total > MOST_POINTS:
            longest = max(sizes, key=sizes.get)
            raise ConfigError(
                f"{place}.{number}: with this block there are {total} points, and a sweep has at "
                f"most {MOST_POINTS}: take fewer values ({longest} has {sizes[longest]}), or make "
                "several experiments"
            )


def _n_values(spec):
    """Number of the values of an axis, as `_values` would list them."""
    if isinstance(spec, dict) and "first" in spec:
        return (spec["last"] - spec["first"]) // spec.get("step", 1) + 1
    return len(spec) if isinstance(spec, list) else 1


def _parts(block, place):
    """The way of a block, its axes, and the place of these."""
    (way,) = {"grid", "zip", "random"} & set(block)
    if way == "random":
        return way, block[way]["axes"], f"{place}.{way}.axes"
    return way, block[way], f"{place}.{way}"


def _alternatives(block, place):
    """Axes of a block with the values that each can have, whatever those of the others are.

    One set for a ``grid`` or ``random`` block, one for each point of a ``zip``.
    """
    way, axes, where = _parts(block, place)
    if way == "random":
        yield {axis: _possible(spec) for axis, spec in axes.items()}
    elif way == "grid":
        yield {axis: _values(spec) for axis, spec in axes.items()}
    else:
        lengths = {axis: len(_values(spec)) for axis, spec in axes.items()}
        longest = max(lengths.values())
        for axis, length in lengths.items():
            if length not in (1, longest):
                raise ConfigError(
                    f"{where}.{axis}: {length} values beside {longest}; "
                    "give every axis one value or equally many"
                )
        for row in _rows(axes):
            yield {axis: [value] for axis, value in row.items()}


def _check_range(spec, place):
    for key in ("first", "last", "step"):
        reason = problem("int", spec.get(key, 1))
        if reason:
            raise ConfigError(f"{place}.{key}: {reason}")
    if spec.get("step", 1) < 1:
        raise ConfigError(f"{place}.step: {spec['step']} is not allowed; expected at least 1")
    if spec["last"] < spec["first"]:
        raise ConfigError(
            f"{place}: first is {spec['first']} and last is {spec['last']}; "
            "expected a last that is not below first"
        )


def _check_interval(spec, place):
    ((way, ends),) = spec.items()
    kind = {"integers": "int", "uniform": "float", "log_uniform": "Positive"}[way]
    reason = problem(f"tuple[{kind}, {kind}]", ends)
    if reason:
        raise ConfigError(f"{place}.{way}: {reason}")
    if way == "integers" and max(map(abs, ends)) >= 2**63 - 1:
        raise ConfigError(f"{place}.{way}: {ends} is not allowed; expected numbers below 2**63 - 1")
    if ends[0] > ends[1]:
        raise ConfigError(f"{place}.{way}: {ends} is not allowed; expected the lower end first")


def _possible(spec):
    """Values that an axis of a ``random`` block can have; of an interval, those next to its ends.

    The ends of a ``uniform`` interval are not drawn.
    """
    if not isinstance(spec, dict):
        return _values(spec)
    ((way, (low, high)),) = spec.items()
    if way == "integers":
        return [low, high]
    low, high = float(low), float(high)
    if way == "log_uniform" or low == high:
        return [low, high]
    return [math.nextafter(low, high), math.nextafter(high, low)]


def _settings(experiment, axes, place):
    """Axes with the settings of their variant below them, for each variant; values in lists."""
    if "variant" not in axes:
        yield axes
        return
    variants, axes = experiment.get("variants", {}), dict(axes)
    for name in axes.pop("variant"):
        if not isinstance(name, str) or name not in variants:
            defined = ", ".join(variants) or "none"
            raise ConfigError(f"{place}: variant {name!r} is not defined; there are {defined}")
        of_variant = {axis: [value] for axis, value in variants[name].items()}
        names = ", ".join(sorted(of_variant.keys() & axes.keys()))
        if names:
            raise ConfigError(f"{place}: {names} is set by the variant {name!r}, too; leave it out")
        yield of_variant | axes


def _check_settings(config, experiment, settings, place):
    """Check every value of every axis, for each of the recipes that it can belong to."""
    for needed in ("data", "model"):
        if needed not in settings:
            raise ConfigError(f"{place}: axis {needed} is missing; name a recipe of {needed}")
        known_name(config, KINDS[needed][0], settings[needed], f"{place}.{needed}")
    for repeat in settings.get("repeat", []):
        reason = problem("Natural", repeat)
        if reason:
            raise ConfigError(f"{place}.repeat: {reason}")
    for kind in ("data", "model"):
        for name in settings[kind]:
            _check_over(config, experiment, settings, (kind, name), place)
    for kind in ("importance", "metric"):
        section = KINDS[kind][0]
        known_name(config, section, experiment[section], place)
        for name in experiment[section]:
            _check_over(config, experiment, settings, (kind, name), place)
    _check_requirements(config, experiment, settings, place)


def _check_requirements(config, experiment, settings, place):
    """Check that every importance can take every model."""
    over = _by_owner(settings)
    decisive = {p: v for p, v in over.get("model", {}).items() if p in requirements.DECISIVE}
    for model in settings["model"]:
        recipes = [
            config["models"][model] | dict(zip(decisive, values, strict=True))
            for values in itertools.product(*decisive.values())
        ]
        for name in experiment["importances"]:
            base, owner = config["importances"][name], _owner("importance", name)
            options = {"n_rows": [base.get("n_rows")], "importance": [base["importance"]]}
            options |= {p: v for p, v in over.get(owner, {}).items() if p in options}
            for values in itertools.product(*options.values()):
                for recipe in recipes:
                    at = f"{place}: {owner} of {model}"
                    requirements.check(dict(zip(options, values, strict=True)), recipe, at)


def _check_over(config, experiment, settings, of, place):
    """Check one recipe, given by kind and name, with the settings laid on it."""
    kind, name = of
    section, key = KINDS[kind]
    recipe, over = config[section][name], _by_owner(settings).get(_owner(kind, name), {})
    place = f"{place}: {_owner(kind, name)}"
    for target in over.pop(key, [recipe[key]]):
        check_recipe(kind, {**recipe, key: target}, place)
        for parameter, parameter_values in over.items():
            for value in parameter_values:
                check_value(kind, target, parameter, value, f"{place}.{parameter}")
        check_required(kind, target, {*recipe, *over}, place)
        for parameter, declared in parameters(key, target).items():
            if "ImportanceName" in declared.annotation:
                for value in over.get(parameter, [recipe.get(parameter, declared.default)]):
                    computed = experiment["importances"]
                    check_importances(target, parameter, value, computed, f"{place}.{parameter}")
        if kind == "metric":
            check_number(target, experiment["importances"], place)
            computed = {name: config["importances"][name] for name in experiment["importances"]}
            check_method(target, computed, place)


def _by_owner(settings):
    """Settings by the recipe that they are laid on, and by parameter."""
    by_owner: dict[str, dict] = {}
    for axis, setting in settings.items():
        owner, _, parameter = axis.rpartition(".")
        by_owner.setdefault(owner, {})[parameter] = setting
    return by_owner


def _owner(kind, name):
    """What comes before the parameter in an axis."""
    return kind if kind in ("data", "model") else f"{kind}.{name}"


def _check_axes(experiment, settings, place):
    for axis in settings:
        if axis in ("data", "model", "repeat"):
            continue
        kind, _, target = axis.partition(".")
        name, _, parameter = target.rpartition(".")
        choices = {"importance": experiment["importances"], "metric": experiment["metrics"]}
        if kind not in KINDS or not parameter or (kind in choices) != bool(name):
            raise ConfigError(
                f"{place}: axis {axis!r} is not known; allowed are data, model, repeat, variant, "
                "data.P, model.P, importance.NAME.P and metric.NAME.P"
            )
        if kind in choices and name not in choices[kind]:
            raise ConfigError(
                f"{place}: axis {axis!r}: this experiment has no {kind} {name!r}; "
                f"there are {', '.join(choices[kind])}"
            )
