"""Check experiments: their axes, and whether the recipes of every point fit each other.

No data are loaded: classes, numbers of rows and what else they decide are left to the jobs.
"""

from __future__ import annotations

import math

from reproduction import models, parameters, storage
from reproduction.datasets import standardized_split
from reproduction.parameters import ImportanceName, named, problem, written
from reproduction.planning import recipes, sweep
from reproduction.planning.errors import ConfigError, check_in
from reproduction.planning.recipes import constant


def check_sweep(config: dict, name: str) -> None:
    """Check the axes of one experiment, and the recipes and measures of all of its points."""
    experiment, total = config["experiments"][name], 0
    for number, block in enumerate(experiment["sweep"]):
        place = f"experiments.{name}.sweep.{number}"
        n_points, longest = _n_points(block, place)
        total += n_points
        if total > sweep.MOST_POINTS:
            raise ConfigError(
                f"{place}: with this block there are {total} points, and a sweep has at most "
                f"{sweep.MOST_POINTS}: take fewer values ({longest}), or make several experiments"
            )
        _check_axes(config, experiment, sweep.axes_of(block), place)
    checked: set = set()
    for number, settings in sweep.all_settings(experiment, name):
        settings.pop("repeat", None)
        if (text := storage.canonical(settings)) not in checked:
            checked.add(text)
            _check_point(
                config, experiment, settings, f"experiments.{name}.sweep.{number}", checked
            )


def _n_points(block, place):
    """Number of points, which are not listed, as a line may name billions; and the longest axis."""
    way = next(way for way in ("grid", "zip", "random") if way in block)
    at = f"{place}.random.axes" if way == "random" else f"{place}.{way}"
    sizes = {axis: _size(values, f"{at}.{axis}") for axis, values in sweep.axes_of(block).items()}
    longest = max(sizes, key=sizes.__getitem__)
    for axis, size in sizes.items():
        if way == "zip" and size not in (1, sizes[longest]):
            raise ConfigError(
                f"{at}.{axis}: {size} values beside {sizes[longest]}; give every axis one value "
                "or equally many"
            )
    if way == "random":
        return block[way]["draws"], f"draws has {block[way]['draws']}"
    n_points = math.prod(sizes.values()) if way == "grid" else sizes[longest]
    return n_points, f"{longest} has {sizes[longest]}"


def _size(values, place):
    """Number of values of an axis; an interval counts as one."""
    if isinstance(values, dict):
        ((kind, (low, high)),) = values.items()
        if low > high:
            raise ConfigError(
                f"{place}.{kind}: {[low, high]} is not allowed; expected the lower end first"
            )
        return 1
    if not values:
        raise ConfigError(
            f"{place}: first is {values.start} and last is {values.stop - 1}; "
            "expected a last that is not below first"
        )
    return len(values)


def _check_axes(config, experiment, axes, place):
    """Check the names of axes, of variants, and of data and models."""
    variants, settings = experiment.get("variants", {}), dict(axes)
    for name in settings.pop("variant", []):
        check_in([name], [*variants], place, "one of the variants")
        names = ", ".join(sorted(variants[name].keys() & axes.keys()))
        if names:
            raise ConfigError(f"{place}: {names} is set by the variant {name!r}, too; leave it out")
        settings |= {axis: [value] for axis, value in variants[name].items()}
    for needed in ("data", "model"):
        if needed not in settings:
            raise ConfigError(f"{place}: axis {needed} is missing; name a recipe of {needed}")
        section = sweep.KINDS[needed][0]
        check_in(settings[needed], sorted(config[section]), f"{place}.{needed}", f"in {section}")
    for repeat in settings.get("repeat", []):
        if reason := problem(parameters.Natural, repeat):
            raise ConfigError(f"{place}.repeat: {reason}")
    for axis in settings.keys() - {"data", "model", "repeat"}:
        kind, _, target = axis.partition(".")
        name, _, parameter = target.rpartition(".")
        choices = {"importance": experiment["importances"], "metric": experiment["metrics"]}
        if kind not in sweep.KINDS or not parameter or (kind in choices) != bool(name):
            raise ConfigError(
                f"{place}: axis {axis!r} is not known; allowed are data, model, repeat, variant, "
                "data.P, model.P, importance.NAME.P and metric.NAME.P"
            )
        if kind in choices:
            check_in([name], choices[kind], f"{place}.{axis}", f"in the {kind}s of the experiment")


def _check_point(config, experiment, settings, place, checked):
    """Check the recipes of one point, each, unless `checked` before, and together."""
    overs, computed = sweep.by_owner(settings), experiment["importances"]
    used = [(kind, settings[kind]) for kind in ("data", "model")]
    used += [(k, n) for k in ("importance", "metric") for n in experiment[sweep.KINDS[k][0]]]
    complete: dict[str, dict] = {kind: {} for kind in sweep.KINDS}
    for kind, name in used:
        recipe, over = sweep.recipe(config, overs, kind, name)
        complete[kind][name] = recipe
        seen, at = (kind, name, storage.canonical(over)), f"{place}: {sweep.owner(kind, name)}"
        if seen not in checked:
            checked.add(seen)
            recipes.check_recipe(kind, recipe, at)
            recipes.check_required(kind, recipe, at)
            if kind == "metric":
                _check_needs(config, recipe, computed, at)
    data, model = (complete[kind][settings[kind]] for kind in ("data", "model"))
    for name, importance in complete["importance"].items():
        at = f"{place}: importance.{name}"
        _check_importance(importance, data, model, at, f"{at} of {settings['model']}")
    for name, metric in complete["metric"].items():
        _check_metric(metric, model, complete["importance"], f"{place}: metric.{name}")


def _importances_of(metric):
    """By parameter of a metric, the importances that its value names, or its default."""
    takes = recipes.taken("metric", metric["metric"])
    return {
        parameter: named(p.annotation, metric.get(parameter, p.default), ImportanceName)
        for parameter, p in takes.items()
    }


def _check_needs(config, recipe, computed, place):
    """The importances that a metric names are computed, as many as it needs, of its method."""
    name, there_are = recipe["metric"], f"there are {', '.join(computed) or 'none'}"
    for parameter, found in _importances_of(recipe).items():
        hint = recipes.taken("metric", name)[parameter].annotation
        tip = "" if problem(hint, None) else "; null takes those that there are"
        what = "among the importances of the experiment"
        check_in(found, computed, f"{place}.{parameter}", what, tip)
    needed, method = constant("metric", name, "IMPORTANCES", 0), constant("metric", name, "METHOD")
    if len(computed) < needed:
        raise ConfigError(
            f"{place}: {name} needs at least {needed} of the experiment's importances, and "
            f"{there_are}: add to them, or leave the metric out"
        )
    if method and method not in [config["importances"][n]["importance"] for n in computed]:
        raise ConfigError(
            f"{place}: {name} needs an importance of the method {method}; {there_are}: add one, or "
            "leave the metric out"
        )


# What a measure takes for an output beside a class and its index, by the kind of its function.
_WORDS = {"explain": ("all", "predicted"), "importance": ("all",), "rank": (None,)}


def _check_importance(importance, data, model, place, of_model):
    """A measure can explain the outputs of a model, by its folds if it has some."""
    name, ties = importance["importance"], importance.get("ties")
    kind, takes = recipes.kind_of(name), recipes.taken("importance", name)
    needs, offered = constant("importance", name, "REQUIRES"), models.offers(model)
    for word in needs:
        # What a recipe does not show is left to the job.
        if word in models.REQUIREMENTS and word not in offered:
            reason = f"{name} needs {models.REQUIREMENTS[word]}; this {model['estimator']} is none"
            raise ConfigError(f"{of_model}: {reason}")
    if model.get("oob_score") and "bootstrap" not in offered:
        raise ConfigError(f"{of_model}: oob_score needs {models.REQUIREMENTS['bootstrap']}")
    if importance.get("n_rows") is not None and model.get("folds"):
        raise ConfigError(
            f"{of_model}: n_rows takes the first rows, and folds explain each row by a model of "
            "its own: leave one of them out"
        )
    if isinstance(ties, str) and data.get("of") not in standardized_split.AUTHORS_ROWS:
        raise ConfigError(
            f"{place}.ties: {written(ties)} is recorded for its authors' data only: give a "
            "list of indices, or leave it out"
        )
    # One that is given the estimator fits it to all rows.
    if model.get("folds") and kind == "importance" and "refit" not in needs:
        raise ConfigError(
            f"{place} does not explain single rows, so folds have no effect: leave out folds, or "
            "the importance"
        )
    if "output" in takes and not model["estimator"].endswith("Classifier"):
        output = importance.get("output", takes["output"].default)
        if isinstance(output, bool) or output not in (*_WORDS[kind], 0, "y"):
            words = "".join(f"{written(word)}, " for word in _WORDS[kind])
            raise ConfigError(
                f"{place}.output: {written(output)} is not allowed: there is one output; expected "
                f"{words}a name or an index below 1"
            )


def _check_metric(metric, model, importances, place):
    """Check that a metric fits the model, and the rows and outputs of its importances."""
    name, offered = metric["metric"], models.offers(model)
    if model.get("folds") and "forest" in recipes.taken("metric", name):
        raise ConfigError(f"{place} takes one model, and folds fit several: leave one of them out")
    for word in constant("metric", name, "REQUIRES"):
        if word not in offered:
            raise ConfigError(f"{place} needs {models.REQUIREMENTS[word]}: use another model")
    if not (scores := constant("metric", name, "SCORES")):
        return
    explained = {name: _explained(recipe, model) for name, recipe in importances.items()}
    given = [
        importance
        for parameter, names in _importances_of(metric).items()
        if (scores, parameter) != ("global", "reference")
        for importance in names
    ]
    if scores == "local" and not given:
        needed, found = constant("metric", name, "IMPORTANCES", 0), [*explained.values()].count(1)
        if found < needed:
            raise ConfigError(
                f"{place} takes importances that explain rows by one output, at least {needed}, "
                f"and there are {found}: add one, or set output: predicted"
            )
    for importance in given or (importances if scores == "global" else ()):
        if explained[importance] == math.inf:
            raise ConfigError(
                f"{place} takes one output of each importance, and importance.{importance} "
                "explains all classes: set its output: predicted, or to one class"
            )
        if explained[importance] == 0 and scores == "local":
            raise ConfigError(
                f"{place} takes importances that explain rows, and importance.{importance} "
                "does not: leave it out"
            )


def _explained(importance, model):
    """Outputs by which an importance explains rows: 0, 1, or any number, of several classes."""
    name, estimator = importance["importance"], model["estimator"]
    if recipes.kind_of(name) != "explain":
        return 0 if recipes.kind_of(name) == "importance" else 1
    declared = recipes.taken("importance", name).get("output")
    output = importance.get("output", declared.default if declared else None)
    # A boosted model of two classes has one output.
    of_classes = estimator.endswith("Classifier") and not estimator.startswith(("XGB", "LGBM"))
    return math.inf if of_classes and output == "all" else 1
