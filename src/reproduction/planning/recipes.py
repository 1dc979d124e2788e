"""Checks of recipes: names, parameters and values; every error is one line."""

from __future__ import annotations

import csv
import importlib.util
import re
from functools import cache
from pathlib import Path

from reproduction.planning import signatures, values
from reproduction.planning.errors import ConfigError

# What an importance or metric is given by the job, not by its recipe.
_GIVEN = {
    "importance": {"forest", "model", "estimator", "X", "y", "background", "progress"},
    "metric": {"attributions", "data", "training", "forest", "estimator", "refit"},
}
# What every recipe of a kind takes, beside the parameters of what it names.
_COMMON = {"data": {"outcome": signatures.Parameter("Outcome", required=False)}}

# Kind of recipe -> its section of the configuration, and the key that names its file or class.
KINDS = {
    "data": ("datasets", "dataset"),
    "model": ("models", "estimator"),
    "importance": ("importances", "importance"),
    "metric": ("metrics", "metric"),
}
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.-]*")


def check_name(name, place: str) -> None:
    """Check that a name can be part of a path, an axis and a command.

    Raises
    ------
    ConfigError
    """
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise ConfigError(
            f"{place}: the name {name!r} is not allowed; expected a letter, and then letters, "
            "digits, '_', '.' and '-'"
        )


def known_name(config: dict, section: str, names, place: str) -> None:
    """Raise ConfigError unless `names` all stand in a section of the configuration."""
    for name in names:
        if not isinstance(name, str) or name not in config[section]:
            choices = ", ".join(sorted(config[section]))
            raise ConfigError(f"{place}: {name!r} is not in {section}; there are {choices}")


def parameters(kind: str, name: str, place: str) -> dict[str, signatures.Parameter]:
    """Parameters that a recipe may give to what it names.

    Parameters
    ----------
    kind : str
        A key of `KINDS`.
    name : str
        Of the file or class.
    place : str
        Of the recipe.

    Raises
    ------
    ConfigError
        If there is no such file or class.
    """
    key = KINDS[kind][1]
    if not isinstance(name, str):
        raise ConfigError(f"{place}.{key}: {name!r} is not allowed; expected text")
    try:
        return _allowed(kind, name)
    except ValueError as error:
        raise ConfigError(f"{place}.{key}: {error}") from None


# A sweep asks for every value of every axis.
@cache
def _allowed(kind, name):
    declared = signatures.parameters(KINDS[kind][1], name)
    allowed = {n: p for n, p in declared.items() if n not in _GIVEN.get(kind, ())}
    allowed |= _COMMON.get(kind, {})
    if kind == "importance" and "X" in declared and "y" not in declared:
        allowed["n_rows"] = signatures.Parameter("Count | None", required=False)
    if kind == "importance" and "ties" in declared:
        # The job takes the name of a recorded order as well, which the library does not know.
        allowed["ties"] = signatures.Parameter("TieOrder", required=False)
    return allowed


def check_recipe(kind: str, recipe: dict, place: str) -> None:
    """Check that a recipe names something that exists, and gives it parameters that it takes.

    Parameters may be missing, as a sweep can add them; see `check_required`.

    Raises
    ------
    ConfigError
        Naming the place, the parameter or value, and what is allowed.
    """
    key = KINDS[kind][1]
    for parameter, value in recipe.items():
        if parameter != key:
            check_value(kind, recipe[key], parameter, value, f"{place}.{parameter}")
    parameters(kind, recipe[key], place)
    if recipe[key] == "csv_file":
        _check_columns(recipe, place)
    for package in _needs(key, recipe[key]):
        if importlib.util.find_spec(package) is None:
            raise ConfigError(
                f"{place}: {recipe[key]} needs {package}, which is missing: pip install {package}"
            )


def _check_columns(recipe, place):
    """Check that the first line of a CSV has the target and the features; the job checks the rest.

    A line that cannot be read, or has one name only, as with another separator, is left to the job.
    """
    try:
        with open(Path(recipe["path"]).expanduser(), encoding="utf-8-sig", newline="") as file:
            names = next(csv.reader(file, delimiter=recipe.get("separator", ",")), [])
    except (KeyError, OSError, RuntimeError, UnicodeError, TypeError, ValueError, csv.Error):
        return
    for parameter in ("target", "features"):
        given = recipe.get(parameter) or []
        unknown = [n for n in ([given] if isinstance(given, str) else given) if n not in names]
        if unknown and len(names) > 1:
            raise ConfigError(
                f"{place}.{parameter}: {recipe['path']} has no column {', '.join(unknown)}; it has "
                f"{', '.join(names)}"
            )


def _needs(key, name):
    """Packages that a module declares as ``NEEDS``, beside those of the environment."""
    if key == "estimator":
        return ()
    return signatures.constants(signatures.path_of(key, name)).get("NEEDS", ())


def check_value(kind: str, name: str, parameter: str, value, place: str) -> None:
    """Check one parameter: that there is one, and that it takes the value.

    Parameters
    ----------
    kind, name
        As for `parameters`.
    parameter : str
    value
        From the configuration.
    place : str
        Of the value: the place of the recipe, a dot, and the parameter.

    Raises
    ------
    ConfigError
    """
    allowed = parameters(kind, name, place.removesuffix(f".{parameter}"))
    if parameter not in allowed:
        raise ConfigError(
            f"{place}: {name} has no such parameter; "
            f"allowed are {', '.join(sorted(allowed)) or 'none'}"
        )
    annotation = allowed[parameter].annotation
    reason = values.problem(annotation, value)
    if reason:
        raise ConfigError(f"{place}: {reason}")
    if value == [] and _asks_for_nothing(kind, name, parameter, allowed[parameter]):
        raise ConfigError(f"{place}: [] is not allowed; expected at least one value")
    if kind == "metric" and (repeated := _repeated(name, parameter, value, annotation)):
        raise ConfigError(f"{place}: {values.written(repeated[0])} is there twice: name it once")
    for dataset in values.named(annotation, value, "DatasetName"):
        if dataset not in signatures.names("dataset"):
            choices = ", ".join(signatures.names("dataset"))
            raise ConfigError(f"{place}: {dataset!r} is not a data set; there are {choices}")
        declared = signatures.parameters("dataset", dataset)
        needed = [n for n, p in declared.items() if p.required]
        if needed:
            raise ConfigError(
                f"{place}: {dataset} needs {', '.join(needed)}, which cannot be given here; name "
                "another data set"
            )
    if parameter == "path" and set("{}") & set(str(value)):
        raise ConfigError(
            f"{place}: {value}: Snakemake takes braces for wildcards: rename the file"
        )
    if parameter == "path" and not _is_file(value):
        raise ConfigError(f"{place}: {value}: no such file (working directory {Path.cwd()})")


def _asks_for_nothing(kind, name, parameter, declared):
    """Whether an empty list would leave nothing to compute, as most lists say what is computed.

    Those that may be empty are so by default, or are named by the module in ``MAY_BE_EMPTY``.
    """
    if kind == "model":
        return declared.required
    constants = signatures.constants(signatures.path_of(KINDS[kind][1], name))
    return declared.default not in ([], ()) and parameter not in constants.get("MAY_BE_EMPTY", ())


def _repeated(name, parameter, value, annotation):
    """Values that a list has more than once, if each of its values has rows of its own.

    Rows that are there twice would count as repeats, and intervals would be too narrow.
    """
    keys = signatures.constants(signatures.path_of("metric", name)).get("KEYS", ())
    # As `ks` has a column `k`, and `sigmas` one `sigma_metric`.
    words = {word for column in keys for word in column.split("_")}
    names_rows = parameter in words or parameter.removesuffix("s") in words
    if not isinstance(value, list) or not (
        names_rows or values.named(annotation, value, "ImportanceName")
    ):
        return []
    return [v for place, v in enumerate(value) if v in value[:place]]


def _is_file(path):
    try:
        return Path(path).expanduser().is_file()
    except (OSError, RuntimeError):  # A name that is too long, or the home of nobody.
        return False


def check_required(kind: str, name: str, given, place: str) -> None:
    """Check that what has no default is given.

    Raises
    ------
    ConfigError
    """
    required = [n for n, p in parameters(kind, name, place).items() if p.required]
    ungiven = [parameter for parameter in required if parameter not in given]
    if ungiven:
        raise ConfigError(f"{place}: {name} needs {', '.join(ungiven)}")


def check_importances(name: str, parameter: str, value, computed, place: str) -> None:
    """Check that the importances that a parameter of a metric names are computed.

    Parameters
    ----------
    name : str
        File of the metric.
    parameter : str
    value
        One that the parameter takes.
    computed : sequence of str
        The importances of the experiment.
    place : str

    Raises
    ------
    ConfigError
    """
    annotation = parameters("metric", name, place)[parameter].annotation
    remedy = "; null takes those that there are" if values.takes_null(annotation) else ""
    for importance in values.named(annotation, value, "ImportanceName"):
        if importance not in computed:
            raise ConfigError(
                f"{place}: {importance!r} is not among the importances of the experiment; "
                f"there are {', '.join(computed) or 'none'}{remedy}"
            )


def check_number(name: str, computed, place: str) -> None:
    """Check that as many importances are computed as a metric declares that it needs.

    Parameters
    ----------
    name : str
        File of the metric.
    computed : sequence of str
        The importances of the experiment.
    place : str

    Raises
    ------
    ConfigError
    """
    needed = signatures.constants(signatures.path_of("metric", name)).get("IMPORTANCES", 0)
    if len(computed) < needed:
        count = f"{len(computed)} ({', '.join(computed)})" if computed else "none"
        raise ConfigError(
            f"{place}: {name} needs at least {needed} of the experiment's importances, and there "
            f"are {count}: add to them, or leave the metric out"
        )


def check_method(name: str, importances, place: str) -> None:
    """Check that an importance of the method is computed whose results alone a metric measures.

    Parameters
    ----------
    name : str
        File of the metric, which declares the method as ``METHOD``.
    importances : dict of str to dict
        Recipes of the importances of the experiment, by name.
    place : str

    Raises
    ------
    ConfigError
    """
    method = signatures.constants(signatures.path_of("metric", name)).get("METHOD")
    if method and method not in [recipe["importance"] for recipe in importances.values()]:
        raise ConfigError(
            f"{place}: {name} needs an importance of the method {method}; there are "
            f"{', '.join(importances) or 'none'}: add one, or leave the metric out"
        )
