"""Checks of a configuration before the first job: every error is one line with place and remedy.

The form is held against the JSON Schema in ``workflow/schemas``, and names and values against the
code: the signatures of loaders, measures, metrics and artefacts, whose annotations are the kinds in
`reproduction.parameters`, and the libraries' own checks of the parameters of their models.
"""

from __future__ import annotations

import difflib
import inspect
import math
import re
import typing
from functools import cache
from pathlib import Path

import jsonschema
import sklearn.metrics

from reproduction import datasets, metrics, models, papers, parameters, peers, recorded, storage
from reproduction.parameters import named, problem, written
from reproduction.planning import facets, sweep, together
from reproduction.planning.errors import ConfigError
from reproduction.planning.places import PAPERS

# Kind of recipe -> its section of the configuration, and the key that names its file or class.
KINDS = sweep.KINDS
_FUNCTIONS = {"data": datasets.loader, "importance": peers.function_of, "metric": metrics.metric}
# What an importance or metric is given by the job, not by its recipe.
_GIVEN = {
    "importance": {
        *("forest", "model", "X", "y", "background", "progress", "check_additivity", "dtype")
    },
    "metric": {"attributions", "data", "training", "forest", "estimator", "refit"},
}
# What the workflow reads, gives its own meaning, or the libraries would take without a word.
_OF_MODELS = {
    "folds": typing.Annotated[int, ">= 2"] | None,
    "random_state": parameters.Seed,
    "recorded": typing.Literal[tuple(recorded.TREES)] | None,
}
_OF_BOOSTED = {
    "n_estimators": parameters.Count | None,
    "subsample": parameters.Share | None,
    # Others are no sums of trees, or give other bytes.
    "booster": typing.Literal["gbtree", "dart"] | None,
    "device": typing.Literal["cpu"] | None,
}
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.-]*")
# Names of files have 255 bytes, and those of jobs are longer than the name of a recipe.
_LONGEST_NAME = 100
_ENDINGS = (".csv", ".json", ".npz", ".pdf", ".png", ".svg", ".sha256")


def check(config: dict, schema: dict) -> None:
    """Check keys and types, names, recipes, sweeps, figures and artefacts; raises ConfigError."""
    _check_keys(config)
    check_schema(config, schema)
    for section in (*(section for section, _ in KINDS.values()), "experiments"):
        for name in config[section]:
            check_name(name, section)
    for kind, (section, _) in KINDS.items():
        for name, recipe in config[section].items():
            check_recipe(kind, recipe, f"{section}.{name}")
    for name in config["metrics"]:
        facets.check_columns(config, name)
    for name, experiment in config["experiments"].items():
        for section in ("importances", "metrics"):
            _known(config, section, experiment[section], f"experiments.{name}.{section}")
        check_sweep(config, name)
        facets.complete(config, name)
    _known(config, "experiments", config["sweeps"], "sweeps")
    for name, artefact in config["artefacts"].items():
        _check_artefact(config, name, artefact)


# Form


def _check_keys(config, place=""):
    """Keys are text: elsewhere they are sorted, joined and stored as text."""
    for key, value in config.items() if isinstance(config, dict) else enumerate(config):
        if isinstance(config, dict) and not isinstance(key, str):
            at = f"{place}: " if place else ""
            raise ConfigError(f"{at}the key {key!r} is not allowed; expected text")
        if isinstance(value, (dict, list)):
            _check_keys(value, f"{place}.{key}" if place else str(key))


# JSON Schema takes 2.0 for an integer; `range` does not.
_Validator = jsonschema.validators.extend(
    jsonschema.Draft202012Validator,
    type_checker=jsonschema.Draft202012Validator.TYPE_CHECKER.redefine(
        "integer", lambda _, value: parameters.is_int(value)
    ),
)
# Types of JSON Schema, in words.
_TYPES = {
    "object": "keys and values",
    "array": "a list",
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "null": "null",
}


def check_schema(config: dict, schema: dict) -> None:
    """Check keys, types and ranges; ConfigError for the first violation."""
    errors = sorted(_Validator(schema).iter_errors(config), key=lambda e: list(map(str, e.path)))
    for error in errors[:1]:
        while error.validator in ("anyOf", "oneOf") and (inner := _meant(error)):
            error = inner
        place = ".".join(map(str, error.absolute_path))
        raise ConfigError(f"{place}: {_reason(error)}" if place else _reason(error))


def _meant(error):
    """Of several ways to be valid, the error in the one of the value's type, if there is one."""
    errors = [e for e in error.context if e.validator != "type" or e.relative_path]
    errors.sort(key=lambda e: e.validator != "additionalProperties")
    return errors[0] if error.validator == "anyOf" and errors else None


def _reason(error):
    value, rule, properties = error.instance, error.validator_value, error.schema.get("properties")
    if error.validator == "additionalProperties":
        unknown = sorted(set(value) - set(properties))
        nearest = _nearest(unknown[0], properties)
        allowed = ", ".join(sorted(properties))
        return f"unknown key {', '.join(unknown)}{nearest}; allowed are {allowed}"
    if error.validator == "required":
        missing = next(key for key in rule if key not in value)
        return f"{missing} is missing; allowed are {', '.join(properties)}"
    if error.validator == "oneOf":
        ways = ", ".join(name for way in rule for name in way["required"])
        return f"expected one of {ways}; there are {', '.join(value) or 'none'}"
    if error.validator == "enum":
        return f"{written(value)} is not allowed; allowed are {', '.join(map(str, rule))}"
    types_allowed = [rule] if isinstance(rule, str) else rule
    expected = {
        "type": lambda: " or ".join(_TYPES[name] for name in types_allowed),
        "minimum": lambda: f"at least {rule}",
        "maximum": lambda: f"at most {rule}",
        "exclusiveMinimum": lambda: f"above {rule}",
        "pattern": lambda: error.schema["description"],
        "anyOf": lambda: "one value, a list, or keys and values",
    }.get(error.validator)
    return f"{written(value)} is not allowed; expected {expected()}" if expected else error.message


def _nearest(name, choices):
    """A question after the nearest of some names, if one is near."""
    near = difflib.get_close_matches(str(name), list(choices), 1)
    return f" (did you mean {near[0]}?)" if near else ""


def check_name(name: str, place: str) -> None:
    """Check that a name can be part of a path, an axis and a command."""
    if len(name) > _LONGEST_NAME:
        raise ConfigError(
            f"{place}: the name {name[:20]}... has {len(name)} characters; at most {_LONGEST_NAME}"
        )
    if name.endswith(_ENDINGS):
        raise ConfigError(f"{place}: the name {name!r} is not allowed; it ends as a file does")
    if not _NAME.fullmatch(name):
        raise ConfigError(
            f"{place}: the name {name!r} is not allowed; expected a letter, and then letters, "
            "digits, '_', '.' and '-'"
        )


def _known(config, section, names, place):
    for name in names:
        if not isinstance(name, str) or name not in config[section]:
            choices, nearest = ", ".join(sorted(config[section])), _nearest(name, config[section])
            raise ConfigError(
                f"{place}: {name!r} is not in {section}{nearest}; there are {choices}"
            )


# Recipes


def signature(kind: str, name: str, place: str) -> dict[str, inspect.Parameter]:
    """Parameters that a recipe may give to what it names; ConfigError if there is no such thing."""
    if not isinstance(name, str):
        raise ConfigError(f"{place}.{KINDS[kind][1]}: {name!r} is not allowed; expected text")
    try:
        return _signature(kind, name)
    except SyntaxError as error:
        line = f", line {error.lineno}" if error.lineno else ""
        raise ConfigError(f"{error.filename}{line}: {error.msg}") from None
    except (StopIteration, AttributeError, NameError, ImportError) as error:
        raise ConfigError(
            f"{place}: {name}.py cannot be used: {str(error) or 'no function'}"
        ) from None
    except ValueError as error:
        raise ConfigError(f"{place}.{KINDS[kind][1]}: {error}") from None


@cache
def taken(kind: str, name: str) -> dict[str, inspect.Parameter]:
    """Parameters of the function of a data set, importance or metric, annotations included."""
    return dict(inspect.signature(_FUNCTIONS[kind](name), eval_str=True).parameters)


# A sweep asks for every value of every axis.
@cache
def _signature(kind, name):
    if kind == "model":
        boosted = _OF_BOOSTED if name.startswith(("XGB", "LGBM")) else {}
        hints = {n: {**_OF_MODELS, **boosted}.get(n, typing.Any) for n in models.parameters(name)}
    else:
        all_of_it = taken(kind, name)
        allowed = {n: p for n, p in all_of_it.items() if n not in _GIVEN.get(kind, ())}
        hints = {"outcome": parameters.Outcome} if kind == "data" else {}
        if kind == "importance" and "X" in all_of_it and "y" not in all_of_it:
            hints["n_rows"] = parameters.Count | None
        if kind == "importance" and "scoring" in all_of_it:
            hints["scoring"] = typing.Literal[tuple(sklearn.metrics.get_scorer_names())] | None
        if kind == "importance" and "ties" in all_of_it:
            # The job takes the name of a recorded order as well, which the library does not know.
            hints["ties"] = parameters.TieOrder
        return allowed | _optional(hints)
    return _optional(hints)


def _optional(hints):
    keyword = inspect.Parameter.KEYWORD_ONLY
    return {n: inspect.Parameter(n, keyword, default=None, annotation=h) for n, h in hints.items()}


def constant(kind: str, name: str, constant_name: str, default=()):
    """What a data set, importance or metric declares by a name in capitals."""
    declared = (
        metrics.module_of(name) if kind == "metric" else inspect.getmodule(_FUNCTIONS[kind](name))
    )
    return getattr(declared, constant_name, default)


def check_recipe(kind: str, recipe: dict, place: str) -> None:
    """Check that a recipe names what exists, and gives it parameters that it takes."""
    key = KINDS[kind][1]
    signature(kind, recipe[key], place)
    for parameter, value in recipe.items():
        if parameter != key:
            check_value(kind, recipe[key], parameter, value, f"{place}.{parameter}")
    check_before = constant(kind, recipe[key], "check", None) if kind == "data" else None
    if check_before:
        try:
            check_before(**{k: v for k, v in recipe.items() if k not in ("dataset", "outcome")})
        except ValueError as error:
            raise ConfigError(f"{place}.{error}") from None


def check_value(kind: str, name: str, parameter: str, value, place: str) -> None:
    """Check that what a recipe names has a parameter, and that it takes the value."""
    allowed = signature(kind, name, place.removesuffix(f".{parameter}"))
    if parameter not in allowed:
        names = ", ".join(sorted(allowed)) or "none"
        nearest = _nearest(parameter, allowed)
        raise ConfigError(f"{place}: {name} has no such parameter{nearest}; allowed are {names}")
    hint = allowed[parameter].annotation
    reason = problem(hint, value) or (kind == "model" and _problem_of_model(name, parameter, value))
    if reason:
        raise ConfigError(f"{place}: {reason}")
    if value == [] and kind != "model" and allowed[parameter].default not in ([], ()):
        if parameter not in constant(kind, name, "MAY_BE_EMPTY"):
            raise ConfigError(f"{place}: [] is not allowed; expected at least one value")
    if kind == "metric" and (repeated := _repeated(name, parameter, value, hint)):
        raise ConfigError(f"{place}: {written(repeated[0])} is there twice: name it once")
    for dataset in named(hint, value, parameters.DatasetName):
        if dataset not in datasets.available():
            choices = ", ".join(datasets.available())
            raise ConfigError(f"{place}: {dataset!r} is not a data set; there are {choices}")
        needed = ", ".join(_required("data", dataset))
        if needed:
            raise ConfigError(
                f"{place}: {dataset} needs {needed}, which cannot be given here; name another data "
                "set"
            )
    if parameter == "path" and not _is_file(value):
        raise ConfigError(f"{place}: {value}: no such file (working directory {Path.cwd()})")


def _problem_of_model(name, parameter, value):
    """What the library of a model says of one value, if it is one that no data decide."""
    if parameters.tip(value):
        return f"{written(value)} is not allowed{parameters.tip(value)}"
    if parameter in _OF_MODELS or isinstance(value, (dict, list)):
        return ""
    if isinstance(value, float) and not math.isfinite(value) and parameter != "missing":
        return f"{written(value)} is not allowed; expected a finite number"
    reason = models.refusal(name, parameter, value, type(value))
    return f"{written(value)} is not allowed: {reason}" if reason else ""


def _repeated(name, parameter, value, hint):
    """Values that a list has more than once, if each of its values has rows of its own.

    Rows that are there twice would count as repeats, and intervals would be too narrow.
    """
    # As `ks` has a column `k`, and `sigmas` one `sigma_metric`.
    words = {word for column in constant("metric", name, "KEYS") for word in column.split("_")}
    has_rows = parameter in words or parameter.removesuffix("s") in words
    if not isinstance(value, list) or not (
        has_rows or named(hint, value, parameters.ImportanceName)
    ):
        return []
    return [v for place, v in enumerate(value) if v in value[:place]]


def _is_file(path):
    try:
        return Path(path).expanduser().is_file()
    except (OSError, RuntimeError):  # A name that is too long, or the home of nobody.
        return False


def _required(kind, name):
    return [n for n, p in signature(kind, name, "").items() if p.default is p.empty]


# Sweeps


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
        _check_point(config, experiment, settings, f"experiments.{name}.sweep.{number}", checked)


def _n_points(block, place):
    """Number of points, which are not listed, as a line may name billions; and the longest axis."""
    way = next(way for way in ("grid", "zip", "random") if way in block)
    axes, place = block[way], f"{place}.{way}"
    if way == "random":
        axes, place = axes["axes"], f"{place}.axes"
    sizes = {axis: 1 for axis in axes}
    for axis, spec in axes.items():
        if isinstance(spec, list):
            sizes[axis] = len(spec)
        elif isinstance(spec, dict) and "first" in spec:
            if spec["last"] < spec["first"]:
                raise ConfigError(
                    f"{place}.{axis}: first is {spec['first']} and last is {spec['last']}; "
                    "expected a last that is not below first"
                )
            sizes[axis] = (spec["last"] - spec["first"]) // spec.get("step", 1) + 1
        elif isinstance(spec, dict):
            ((kind, ends),) = spec.items()
            if ends[0] > ends[1]:
                reason = f"{ends} is not allowed; expected the lower end first"
                raise ConfigError(f"{place}.{axis}.{kind}: {reason}")
    longest = max(sizes, key=sizes.get)
    for axis, size in sizes.items():
        if way == "zip" and size not in (1, sizes[longest]):
            raise ConfigError(
                f"{place}.{axis}: {size} values beside {sizes[longest]}; give every axis one value "
                "or equally many"
            )
    if way == "random":
        return block[way]["draws"], f"draws has {block[way]['draws']}"
    n_points = math.prod(sizes.values()) if way == "grid" else sizes[longest]
    return n_points, f"{longest} has {sizes[longest]}"


def _check_axes(config, experiment, axes, place):
    """Check the names of axes, and those of variants, data and models."""
    variants, settings = experiment.get("variants", {}), dict(axes)
    for name in settings.pop("variant", []):
        if not isinstance(name, str) or name not in variants:
            defined = ", ".join(variants) or "none"
            raise ConfigError(f"{place}: variant {name!r} is not defined; there are {defined}")
        names = ", ".join(sorted(variants[name].keys() & axes.keys()))
        if names:
            raise ConfigError(f"{place}: {names} is set by the variant {name!r}, too; leave it out")
        settings |= {axis: [value] for axis, value in variants[name].items()}
    for needed in ("data", "model"):
        if needed not in settings:
            raise ConfigError(f"{place}: axis {needed} is missing; name a recipe of {needed}")
        _known(config, KINDS[needed][0], settings[needed], f"{place}.{needed}")
    for repeat in settings.get("repeat", []):
        if reason := problem(parameters.Natural, repeat):
            raise ConfigError(f"{place}.repeat: {reason}")
    for axis in settings.keys() - {"data", "model", "repeat"}:
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


def _check_point(config, experiment, settings, place, checked):
    """Check the recipes of one point, unless the same were `checked` with another."""
    over, computed = sweep.by_owner(settings), experiment["importances"]
    used = [(kind, settings[kind]) for kind in ("data", "model")]
    used += [
        (kind, name) for kind in ("importance", "metric") for name in experiment[KINDS[kind][0]]
    ]
    complete, new, point = {}, False, []
    for kind, name in used:
        owner = sweep.owner(kind, name)
        recipe = complete[kind, name] = config[KINDS[kind][0]][name] | over.get(owner, {})
        # Most points change few recipes, and to write out the others takes long.
        seen = kind, name, storage.canonical(over[owner]) if owner in over else ""
        point.append(seen)
        if seen in checked:
            continue
        checked.add(seen)
        new, at = True, f"{place}: {owner}"
        check_recipe(kind, recipe, at)
        _check_required(kind, recipe, at)
        if kind == "metric":
            _check_needs(config, recipe, computed, at)
    if new:
        for name in computed:
            at = f"{place}: importance.{name} of {settings['model']}"
            _check_model(complete["importance", name], complete["model", settings["model"]], at)
    if tuple(point) not in checked:
        checked.add(tuple(point))
        of_kind = {kind: {n: r for (k, n), r in complete.items() if k == kind} for kind in KINDS}
        (data,), (model,) = of_kind["data"].values(), of_kind["model"].values()
        reason = together.problem(data, model, of_kind["importance"], of_kind["metric"], taken)
        if reason:
            raise ConfigError(f"{place}: {reason}")


def _check_required(kind, recipe, place):
    name = recipe[KINDS[kind][1]]
    ungiven = ", ".join(n for n in _required(kind, name) if n not in recipe)
    if ungiven:
        raise ConfigError(f"{place}: {name} needs {ungiven}")


def _check_needs(config, recipe, computed, place):
    """The importances that a metric names are computed, as many as it needs, of its method."""
    name, there_are = recipe["metric"], f"there are {', '.join(computed) or 'none'}"
    for parameter, declared in signature("metric", name, place).items():
        value, hint = recipe.get(parameter, declared.default), declared.annotation
        for importance in named(hint, value, parameters.ImportanceName):
            if importance not in computed:
                tip = "" if problem(hint, None) else "; null takes those that there are"
                raise ConfigError(
                    f"{place}.{parameter}: {importance!r} is not among the importances of the "
                    f"experiment; {there_are}{tip}"
                )
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


def _check_model(importance, model, place):
    """A measure can take a model; what a recipe does not show is left to the job."""
    name = importance["importance"]
    for word in constant("importance", name, "REQUIRES"):
        if word in models.REQUIREMENTS and word not in models.offers(model):
            reason = f"{name} needs {models.REQUIREMENTS[word]}; this {model['estimator']} is none"
            raise ConfigError(f"{place}: {reason}")
    if model.get("oob_score") and "bootstrap" not in models.offers(model):
        raise ConfigError(f"{place}: oob_score needs {models.REQUIREMENTS['bootstrap']}")
    if importance.get("n_rows") is not None and model.get("folds"):
        raise ConfigError(
            f"{place}: n_rows takes the first rows, and folds explain each row by a model of its "
            "own: leave one of them out"
        )


# Artefacts


def _check_artefact(config, name, artefact):
    """Check what an artefact names, and what it asks of its code and of the files of its paper."""
    place, folder = f"artefacts.{name}", PAPERS / name.partition("/")[0]
    try:
        module = papers.artefact(name)
        if artefact.get("module", papers.module_of(name)) != papers.module_of(name):
            raise ValueError("only artefacts.yaml sets the key module")
        takes = inspect.signature(module.compute, eval_str=True).parameters
    except (ValueError, ImportError, NameError, AttributeError) as error:
        raise ConfigError(f"{place}: {error}") from None
    for key, parameter in (("datasets", "recipes"), ("recorded", "recorded")):
        if artefact.get(key) and parameter not in takes:
            raise ConfigError(f"{place}.{key}: its table takes none; leave it out")
    # The first parameter is the tables that the artefact is made from; three are the job's.
    own = ("recipes", "recorded", "importances")
    allowed = {n: p for n, p in list(takes.items())[1:] if n not in own}
    given = artefact.get("parameters", {})
    for parameter, value in given.items():
        at = f"{place}.parameters.{parameter}"
        if parameter not in allowed:
            names = ", ".join(sorted(allowed)) or "none"
            raise ConfigError(f"{at}: no such parameter; allowed are {names}")
        if reason := problem(allowed[parameter].annotation, value):
            raise ConfigError(f"{at}: {reason}")
        if value == []:
            raise ConfigError(f"{at}: [] is not allowed; expected at least one value")
    ungiven = [n for n, p in allowed.items() if p.default is p.empty and n not in given]
    if ungiven:
        raise ConfigError(f"{place}.parameters: {', '.join(ungiven)} must be given")
    files = sorted(path.name for path in folder.glob("recorded/*"))
    if artefact.get("recorded") and artefact["recorded"] not in files:
        reason = f"no file {artefact['recorded']!r}; there are {', '.join(files) or 'none'}"
        raise ConfigError(f"{place}.recorded: {reason}")
    decided = artefact.get("statements", [])
    if decided and not hasattr(module, "statements"):
        raise ConfigError(f"{place}.statements: {papers.module_of(name)}.py decides none")
    rows = storage.read_rows(folder / "claims" / "statements.csv") if decided else []
    for statement in decided:
        if statement not in (ids := [row["id"] for row in rows]):
            reason = f"{folder.name} has no {statement!r}; there are {', '.join(ids) or 'none'}"
            raise ConfigError(f"{place}.statements: {reason}")
    for dataset in artefact.get("datasets", []):
        _known(config, "datasets", [dataset], f"{place}.datasets")
        _check_required("data", config["datasets"][dataset], f"datasets.{dataset}")
    for input_name in artefact.get("inputs", []):
        experiment, _, metric = input_name.partition("/")
        _known(config, "experiments", [experiment], f"{place}.inputs")
        _known(config["experiments"][experiment], "metrics", [metric], f"{place}.inputs")
