"""Sweep experiments over any parameter of a data set, model, measure or metric.

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

import ast
import hashlib
import itertools
import json
import math
import re
from dataclasses import dataclass
from functools import cache

from reproduction.planning.places import REPRODUCTION
from reproduction.storage import canonical, digest

# Kind of recipe -> its section of the configuration, and the key that names its file or class.
KINDS = {
    "data": ("datasets", "dataset"),
    "model": ("models", "estimator"),
    "importance": ("importances", "importance"),
    "metric": ("metrics", "metric"),
}
# Batches at most that the runs of a block make, if the block has no size of its own: the time of
# the scheduler grows with the square of the number of jobs.
MOST_BATCHES = 1000
# Points of a sweep at most. A million take half a minute and 2 GB wherever the rules are read, and
# Snakemake reads them anew in every submitted job; a billion would end in a MemoryError.
MOST_POINTS = 1_000_000


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
    """One combination of a sweep, with the batch size of its block.

    ``importances`` and ``metrics`` map the names in the configuration to file names, which hold
    the overridden parameters, and to the complete recipes.
    """

    axes: dict
    run: Run
    importances: dict[str, tuple[str, dict]]
    metrics: dict[str, tuple[str, dict]]
    batch_size: int | None = None


def expand(config: dict, name: str) -> list[Point]:
    """All points of one experiment, in the order of its blocks, without repetitions.

    The sweep must have passed `reproduction.planning.experiments.check_sweep`.
    """
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


def all_settings(experiment: dict, name: str):
    """Yield block and settings by axis of every combination, without repeats."""
    for number, block in enumerate(experiment["sweep"]):
        if "grid" in block:
            block = {"grid": {k: v for k, v in block["grid"].items() if k != "repeat"}}
        for axes in _combinations(block, name):
            yield number, _settings(experiment, axes)


def axes_of(block: dict) -> dict[str, list | range | dict]:
    """Values of each axis of a block: a list, a range, or an interval that is drawn from."""
    axes = block.get("grid") or block.get("zip") or block["random"]["axes"]
    return {axis: _values(spec) for axis, spec in axes.items()}


def _values(spec):
    if isinstance(spec, dict) and "first" in spec:
        return range(spec["first"], spec["last"] + 1, spec.get("step", 1))
    return spec if isinstance(spec, (list, dict)) else [spec]


def batches(points: list[Point], default: int) -> list[list[Run]]:
    """Runs of new points grouped into jobs.

    Runs of one block that need the same settings of measures and metrics go together, its
    ``batch_size`` at a time; without it, `default` or as many as make `MOST_BATCHES`. Results do
    not depend on it.
    """
    settings: dict[str, set] = {}
    first: dict[str, Point] = {}
    for point in points:
        # Points that need the same share what they compute.
        settings.setdefault(point.run.key, set()).add(id(point.importances))
        first.setdefault(point.run.key, point)
    groups: dict[tuple, list[Run]] = {}
    for key, point in first.items():
        group = (point.batch_size, frozenset(settings[key]))
        groups.setdefault(group, []).append(point.run)
    parts = []
    for (size, _), runs in groups.items():
        size = size or max(default, math.ceil(len(runs) / MOST_BATCHES))
        parts += [runs[start : start + size] for start in range(0, len(runs), size)]
    return parts


def _combinations(block, name, most_repeats=None):
    """Axes of every point of a block; of its repeats only the first so many, if a number is set."""
    if "random" in block:  # Draws are no repeats.
        yield from _draws(block["random"], name)
        return
    axes = axes_of(block)
    repeats = set(itertools.islice(dict.fromkeys(axes.get("repeat", [0])), most_repeats))
    if "grid" in block:
        rows = itertools.product(*axes.values())
    else:  # An axis with one value keeps it.
        in_turn = zip(*map(itertools.cycle, axes.values()), strict=True)
        rows = itertools.islice(in_turn, max(map(len, axes.values())))
    for values in rows:
        combination = dict(zip(axes, values, strict=True))
        if combination.get("repeat", 0) in repeats:
            yield combination


def _draws(block, name):
    """Draw i depends on the experiment's name, the seed and i: more draws keep the first ones."""
    import numpy as np

    word = int.from_bytes(hashlib.sha256(name.encode()).digest()[:4], "little")
    for i in range(block["draws"]):
        generator = np.random.default_rng([word, block.get("seed", 0), i])
        axes = {}
        for axis, spec in block["axes"].items():
            values = _values(spec)
            if isinstance(values, list):
                axes[axis] = values[generator.integers(len(values))]
            elif "uniform" in values:
                axes[axis] = float(generator.uniform(*values["uniform"]))
            elif "log_uniform" in values:
                low, high = np.log(values["log_uniform"])
                axes[axis] = float(np.exp(generator.uniform(low, high)))
            else:
                low, high = values["integers"]
                axes[axis] = int(generator.integers(low, high + 1))
        yield axes


def _settings(experiment, axes):
    """Return the settings of a combination: its variant's, and its axes'."""
    variants = experiment.get("variants", {})
    settings = variants[axes["variant"]] if "variant" in axes else {}
    return {**settings, **{k: v for k, v in axes.items() if k != "variant"}}


def _point(config, experiment, axes, batch_size, computed):
    settings = _settings(experiment, axes)
    overs = by_owner(settings)
    data, model = (recipe(config, overs, kind, settings[kind]) for kind in ("data", "model"))
    run = _run(settings, data, model)
    # Points that set the same of importances and metrics share what is computed.
    text = canonical({name: over for name, over in overs.items() if "." in name})
    if text not in computed:
        computed[text] = _computed(config, experiment, overs)
    return Point(axes, run, *computed[text], batch_size)


def recipe(config: dict, overs: dict, kind: str, name: str) -> tuple[dict, dict]:
    """Return a recipe with the settings of its owner, see `by_owner`, and these settings."""
    over = overs.get(owner(kind, name), {})
    return config[KINDS[kind][0]][name] | over, over


def _computed(config, experiment, overs):
    """Importances and metrics of a point, by name: the file name and the recipe of each."""
    importances, measured = {}, {}
    # Their file names have no comma: Snakemake puts commas between wildcards of a submitted job.
    for name in experiment["importances"]:
        complete, over = recipe(config, overs, "importance", name)
        importances[name] = (_file(name, over, between="+"), complete)
        measured |= {f"{name}.{k}": v for k, v in over.items()}
    metrics = {}
    for name in experiment["metrics"]:
        complete, over = recipe(config, overs, "metric", name)
        metrics[name] = (_file(name, over | measured, between="+"), complete)
    return importances, metrics


@cache
def _takes_seed(dataset):
    """Whether a loader draws rows, by its source: the jobs that gather tables import none."""
    file = REPRODUCTION / "datasets" / f"{dataset}.py"
    if not file.is_file():  # Those of scikit-learn are functions of one file, and are not drawn.
        return False
    tree = ast.parse(file.read_text(encoding="utf-8"))
    loaders = [n.args for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == "load"]
    # Of one that is imported, nobody knows.
    return not loaders or any(
        argument.arg == "random_state" for of in loaders for argument in (*of.args, *of.kwonlyargs)
    )


def _run(settings, data, model):
    (data, data_over), (model, model_over) = data, model
    repeat = settings.get("repeat", 0)
    is_drawn = _takes_seed(data["dataset"]) and data.get("random_state") is None
    if is_drawn or data.get("outcome") == "permuted":
        data_over = {**data_over, "repeat": repeat}
    data_key = _file(settings["data"], data_over)
    model_key = _file(settings["model"], model_over)
    key = f"{data_key}+{model_key}+{digest([data, model, repeat], 6)}"
    return Run(key, data_key, data, model, repeat)


def _file(name, over, between=","):
    """Return the file name of a recipe: its name and its changes of the configuration."""
    if not over:
        return name
    text = between.join(f"{k}={canonical(v)}".replace('"', "") for k, v in sorted(over.items()))
    unclear = any(isinstance(v, str) and _is_plain(v) for v in over.values())
    if unclear or len(text) > 60 or not re.fullmatch(rf"[\w.{between}=+-]+", text):
        text = digest(over)
    return f"{name}@{text}"


def _is_plain(text):
    """Return whether a text equals another value's, such as class "1" beside output 1."""
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def by_owner(settings: dict) -> dict[str, dict]:
    """Settings by the recipe that they are laid on, and by parameter."""
    owners: dict[str, dict] = {}
    for axis, setting in settings.items():
        name, _, parameter = axis.rpartition(".")
        owners.setdefault(name, {})[parameter] = setting
    return owners


def owner(kind: str, name: str) -> str:
    """Return the part of an axis before the parameter."""
    return kind if kind in ("data", "model") else f"{kind}.{name}"
