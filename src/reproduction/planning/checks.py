"""Check a configuration before the first job: an error is one line with place and remedy.

The form is checked against the JSON Schema in ``workflow/schemas``, names and values against
the code, see `recipes` and `experiments`.
"""

from __future__ import annotations

import inspect

import jsonschema

from reproduction import papers, storage
from reproduction.parameters import problem, written
from reproduction.planning import experiments, facets, recipes, sweep
from reproduction.planning.errors import ConfigError, check_in, nearest
from reproduction.planning.places import PAPERS, relative


def check(config: dict, schema: dict) -> None:
    """Check keys and types, names, recipes, sweeps, figures and artefacts; raises ConfigError."""
    _check_keys(config)
    check_schema(config, schema)
    for kind, (section, _) in sweep.KINDS.items():
        for name, recipe in config[section].items():
            recipes.check_recipe(kind, recipe, f"{section}.{name}")
    for name in config["metrics"]:
        facets.check_columns(config, name)
    for name, experiment in config["experiments"].items():
        for section in ("importances", "metrics"):
            place = f"experiments.{name}.{section}"
            check_in(experiment[section], sorted(config[section]), place, f"in {section}")
        experiments.check_sweep(config, name)
        facets.complete(config, name)
    check_in(config["sweeps"], sorted(config["experiments"]), "sweeps", "in experiments")
    for name, artefact in config["artefacts"].items():
        _check_artefact(config, name, artefact)


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
        "integer", lambda _, value: not problem(int, value)
    ),
)


def check_schema(config: dict, schema: dict) -> None:
    """Check keys, types and ranges; ConfigError for the first violation."""
    error = jsonschema.exceptions.best_match(_Validator(schema).iter_errors(config))
    if error:
        place = ".".join(map(str, error.absolute_path))
        raise ConfigError(f"{place}: {_reason(error)}" if place else _reason(error))


def check_paper(folder, texts: dict, forms: dict, artefacts: dict) -> None:
    """Check keys of the texts beside a paper's code, and that its claims in words are decided."""
    own = {n.partition("/")[2]: a for n, a in artefacts.items() if n.startswith(f"{folder.name}/")}
    for name, content in texts.items():
        try:
            check_schema(content, forms[name])
        except ConfigError as error:
            raise ConfigError(f"{relative(folder)}/{name}.yaml: {error}") from None
    captions = texts.get("captions", {})
    check_in(captions, own, f"{relative(folder)}/captions.yaml", "an artefact of the paper")
    file = folder / "claims" / "statements.csv"
    decided = {statement for a in own.values() for statement in a.get("statements", [])}
    for row in storage.read_rows(file) if file.exists() else []:
        if row["id"] not in decided:
            raise ConfigError(
                f"{relative(file)}: {row['id']}: no artefact decides it: list it in artefacts.yaml "
                "under the statements of one, whose code measures it"
            )


def _reason(error):
    """Return what the schema expects, with the names that are allowed."""
    value, rule, properties = error.instance, error.validator_value, error.schema.get("properties")
    if error.validator == "additionalProperties":
        unknown = sorted(set(value) - set(properties))
        near, allowed = nearest(unknown[0], properties), ", ".join(sorted(properties))
        return f"unknown key {', '.join(unknown)}{near}; allowed are {allowed}"
    if error.validator == "required":
        missing = next(key for key in rule if key not in value)
        return f"{missing} is missing; allowed are {', '.join(properties)}"
    if error.validator == "oneOf":
        ways = ", ".join(name for way in rule for name in way["required"])
        return f"expected one of {ways}; there are {', '.join(value) or 'none'}"
    if error.validator == "enum":
        return f"{written(value)} is not allowed; allowed are {', '.join(map(str, rule))}"
    limit = " or ".join(rule) if isinstance(rule, list) and error.validator == "type" else rule
    expected = error.schema.get("description", f"{error.validator} {limit}")
    return f"{written(value)} is not allowed; expected {expected}"


def _check_artefact(config, name, artefact):
    """Check the names in an artefact, its arguments, and the files of its paper."""
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
            raise ConfigError(f"{place}.{key}: its table does not use it; leave it out")
    # The first parameter is the tables that the artefact is made from; three are the job's.
    own = ("recipes", "recorded", "importances")
    allowed = {n: p for n, p in list(takes.items())[1:] if n not in own}
    given, at = artefact.get("parameters", {}), f"{place}.parameters"
    for parameter, value in given.items():
        recipes.check_parameter(parameter, value, allowed, at, "one of its parameters")
    ungiven = [n for n, p in allowed.items() if p.default is p.empty and n not in given]
    if ungiven:
        raise ConfigError(f"{at}: {', '.join(ungiven)} must be given")
    if artefact.get("recorded"):
        files = sorted(path.name for path in folder.glob("recorded/*"))
        check_in([artefact["recorded"]], files, f"{place}.recorded", "a recorded file")
    decided = artefact.get("statements", [])
    if decided and not hasattr(module, "statements"):
        raise ConfigError(f"{place}.statements: {papers.module_of(name)}.py decides no statements")
    rows = storage.read_rows(folder / "claims" / "statements.csv") if decided else []
    ids = [row["id"] for row in rows]
    check_in(decided, ids, f"{place}.statements", f"a statement of {folder.name}")
    for dataset in artefact.get("datasets", []):
        check_in([dataset], sorted(config["datasets"]), f"{place}.datasets", "in datasets")
        recipes.check_required("data", config["datasets"][dataset], f"datasets.{dataset}")
    for input_name in artefact.get("inputs", []):
        experiment, _, metric = input_name.partition("/")
        check_in([experiment], sorted(config["experiments"]), f"{place}.inputs", "in experiments")
        named = config["experiments"][experiment]["metrics"]
        check_in([metric], named, f"{place}.inputs", f"a metric of {experiment}")
