"""Whether data, model, importances and metrics of one point of a sweep fit each other.

Most of it follows from the recipes. The data set is loaded only where nothing else decides: for
folds, a class by its name or an index above 1, and parameters of models that depend on the rows.
"""

from __future__ import annotations

import inspect
import json
from functools import cache

import numpy as np

from reproduction import datasets, metrics, models, peers, recorded, storage
from reproduction.datasets import standardized_split
from reproduction.parameters import ImportanceName, named, written


def problem(data: dict, model: dict, importances: dict, chosen: dict, parameters) -> str:
    """What does not fit, with the remedy, in one line; empty if nothing is found.

    Parameters
    ----------
    data, model : dict
        Recipes of the point.
    importances, chosen : dict of str to dict
        Recipes of its importances and metrics, by their names.
    parameters : callable (kind, name) -> dict of str to inspect.Parameter
        Of the function of an importance or metric.
    """
    reason = _of_model(data, model)
    several = {}
    for name, recipe in importances.items():
        kind = peers.kind_of(recipe["importance"])
        takes = parameters("importance", recipe["importance"])
        ties = recipe.get("ties")
        if isinstance(ties, str) and data.get("of") not in standardized_split.AUTHORS_ROWS:
            reason = reason or (
                f"importance.{name}.ties: {written(ties)} is recorded for the data of its authors "
                "alone: give a list of indices, or leave it out"
            )
        # One that is given the estimator fits it to all rows.
        fits = "refit" in peers.requires(recipe["importance"])
        if model.get("folds") and kind == "importance" and not fits:
            reason = reason or (
                f"importance.{name} explains no single rows, so folds mean nothing to it: leave "
                "out folds, or the importance"
            )
        output = recipe.get("output", takes["output"].default) if "output" in takes else None
        if "output" in takes:
            reason = reason or _of_output(data, model, output, kind, f"importance.{name}")
        # Whether it explains rows, and by how many outputs.
        is_several = kind == "explain" and output == "all"
        several[name] = (
            kind == "importance",
            is_several and _n_outputs(data, model) > 1,
        )
    for name, recipe in chosen.items():
        takes = parameters("metric", recipe["metric"])
        if model.get("folds") and "forest" in takes:
            reason = reason or (
                f"metric.{name} takes one model, and folds fit several: leave one of them out"
            )
        reason = reason or _of_metric(model, recipe, several, takes, name)
        reason = reason or _of_rows(data, recipe, takes, name)
    return reason


def _of_metric(model, recipe, several, takes, name):
    """A metric of scores takes what has one output, and one of rows what explains rows."""
    module = metrics.module_of(recipe["metric"])
    for word in getattr(module, "REQUIRES", ()):
        if word not in models.offers(model):
            return f"metric.{name} needs {models.REQUIREMENTS[word]}: use another model"
    scores = getattr(module, "SCORES", "")
    if not scores:
        return ""
    given = [
        importance
        for parameter, declared in takes.items()
        if (scores, parameter) != ("global", "reference")
        for importance in named(
            declared.annotation, recipe.get(parameter, declared.default), ImportanceName
        )
    ]
    if not given and scores == "local":
        found = sum(not any(of_one) for of_one in several.values())
        needed = getattr(module, "IMPORTANCES", 0)
        if found < needed:
            return (
                f"metric.{name} takes importances that explain rows by one output, at least "
                f"{needed}, and there are {found}: add one, or set output: predicted"
            )
    for importance in given or (several if scores == "global" else ()):
        is_global, has_several = several[importance]
        if has_several:
            return (
                f"metric.{name} takes one output of each importance, and importance.{importance} "
                "explains all classes: set its output: predicted, or to one class"
            )
        if is_global and scores == "local":
            return (
                f"metric.{name} takes importances that explain rows, and importance.{importance} "
                "explains none: leave it out"
            )
    return ""


def _of_rows(data, recipe, takes, name):
    """What the metric itself finds wrong with its recipe, for these rows."""
    check = getattr(metrics.module_of(recipe["metric"]), "check", None)
    if check is None:
        return ""
    names = list(inspect.signature(check).parameters)[1:]
    given = {n: recipe.get(n, takes[n].default) for n in names}
    try:
        reason = check(lambda: _read(storage.canonical(data)), **given)
    except _UNREADABLE:
        reason = ""
    return f"metric.{name}.{reason}" if reason else ""


# What a measure takes for an output beside a class and its index, by the kind of its function.
_WORDS = {"explain": ("all", "predicted"), "importance": ("all",), "rank": ()}


def _of_output(data, model, output, kind, place):
    words = _WORDS[kind]
    of_classes = model["estimator"].endswith("Classifier")
    if isinstance(output, str) and output in words:
        return ""
    if output is None and kind == "rank":
        if not of_classes or len(_classes(data) or ()) < 3:
            return ""
    # Every classifier has two classes: the data are not needed.
    names = ("0", "1") if of_classes else ("y",)
    if of_classes and (output is None or isinstance(output, str) or output not in (0, 1)):
        names = _classes(data)
        if names is None:
            return ""
    is_index = isinstance(output, int) and not isinstance(output, bool)
    if (is_index and 0 <= output < len(names)) or (isinstance(output, str) and output in names):
        return ""
    there_are = f"the classes are {', '.join(names)}" if of_classes else "there is one output"
    expected = "".join(f"'{word}', " for word in words)
    return (
        f"{place}.output: {written(output)} is not allowed: {there_are}; expected {expected}a name "
        f"or an index below {len(names)}"
    )


def _n_outputs(data, model):
    """Outputs of a model; a boosted model of two classes has one."""
    if not model["estimator"].endswith("Classifier"):
        return 1
    if not model["estimator"].startswith(("XGB", "LGBM")):
        return 2
    return len(_classes(data) or (1, 2)) - 1


def _of_model(data, model):
    """What the rows say of a model: of its folds, and of parameters that depend on them."""
    given = {k: v for k, v in model.items() if isinstance(v, (dict, list)) or k in models.OF_ROWS}
    if not given and not model.get("folds") and not model.get("recorded"):
        return ""
    rows = _loaded(storage.canonical(data))
    if rows is None:
        return ""
    if model.get("folds"):
        if rows.n_training is not None:
            return "model.folds: these rows are split for training and test already: leave it out"
        try:
            models.folds(model, len(rows.X))
        except ValueError as error:
            return f"model.{error}"
    if model.get("recorded"):
        names = recorded.TREES[model["recorded"]][1]
        if len(names) != rows.X.shape[1]:
            return f"model.recorded: {model['recorded']} is a model of other features: leave it out"
        return ""
    recipe = {k: v for k, v in model.items() if k not in ("folds", "n_estimators")}
    reason = given and _fits(storage.canonical(recipe), storage.canonical(data))
    return (
        f"model: {', '.join(given)} does not fit the data, so give another value: {reason}"
        if reason
        else ""
    )


@cache
def _fits(model, data):
    """What the library says of a model of one tree, fitted to the rows; empty if it fits."""
    rows, recipe = _loaded(data).training, json.loads(model)
    if not recipe["estimator"].startswith("DecisionTree"):
        recipe["n_estimators"] = 1
    return models.first_line_of_fit(recipe, rows.X, rows.y)


def _classes(data):
    rows = _loaded(storage.canonical(data))
    return None if rows is None else tuple(str(c) for c in np.unique(rows.training.y))


def _loaded(data):
    """The data set of a recipe; None if that fails, which its job says."""
    try:
        return _read(data)
    except _UNREADABLE:
        return None


_UNREADABLE = (ValueError, OSError, ImportError)


@cache
def _read(data):
    return datasets.load(json.loads(data))
