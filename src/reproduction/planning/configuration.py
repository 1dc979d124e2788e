"""Reading and checking the configuration; errors are one line that names key, value and remedy."""

from __future__ import annotations

import copy
import difflib
import re
from pathlib import Path

import jsonschema
import yaml

from reproduction import papers, storage
from reproduction.planning import facets, signatures, sweep, values
from reproduction.planning.errors import ConfigError
from reproduction.planning.places import CONFIG, PAPERS, SCHEMA
from reproduction.planning.recipes import (
    KINDS,
    check_name,
    check_recipe,
    check_required,
    known_name,
)
from reproduction.planning.values import written

__all__ = ["KINDS", "ConfigError", "artefacts", "load", "merge", "read_yaml"]


# Keys of an artefact for which its job hands something to what computes it, and that parameter.
_OF_THE_JOB = {"datasets": "recipes", "recorded": "recorded"}
# PyYAML's parser in C, if it was built with it: it takes a sixth of the time.
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
# Tag of the key ``<<``, by which a mapping takes over another one.
_MERGE = "tag:yaml.org,2002:merge"


class _StrictLoader(_LOADER):
    """YAML that refuses duplicate keys; plain YAML lets the last one win without a word."""

    def construct_mapping(self, node, deep=False):
        lines = {}
        for key_node, _ in node.value:
            if key_node.tag == _MERGE:  # Keys of the other mapping may be given anew here.
                continue
            key = self.construct_object(key_node, deep=True)
            line = key_node.start_mark.line + 1
            if key in lines:
                raise ConfigError(
                    f"duplicate key {key!r} in lines {lines[key]} and {line}: keep one of them"
                )
            lines[key] = line
        return super().construct_mapping(node, deep)


def read_yaml(path) -> dict:
    """Read one YAML file.

    Raises
    ------
    ConfigError
        If it is missing, is not YAML or not a mapping, or has a key twice.
    """
    try:
        content = yaml.load(Path(path).read_text(encoding="utf-8"), _StrictLoader)
    except OSError as error:
        hint = _files_beside(Path(path)) if isinstance(error, FileNotFoundError) else ""
        raise ConfigError(f"{path}: {(error.strerror or str(error)).lower()}{hint}") from None
    except UnicodeDecodeError:
        raise ConfigError(f"{path}: not UTF-8 text") from None
    except yaml.YAMLError as error:
        where = getattr(error, "problem_mark", None)
        line = f" in line {where.line + 1}" if where else ""
        raise ConfigError(f"{path}: not valid YAML{line}") from None
    except ConfigError as error:
        raise ConfigError(f"{path}: {error}") from None
    if not isinstance(content or {}, dict):
        raise ConfigError(f"{path}: expected keys and values at the top level")
    return content or {}


def _files_beside(missing):
    """What the message of a missing file adds: the closest names in its folder, if it has any."""
    names = sorted(path.name for path in missing.parent.glob("[!.]*.yaml"))
    closest = difflib.get_close_matches(missing.name, names, 5, cutoff=0)
    return f"; its folder has {', '.join(closest)}" if closest else ""


def merge(base: dict, over: dict) -> dict:
    """`base` with `over` laid on it: mappings are merged, everything else is replaced."""
    merged = copy.deepcopy(base)
    for key, value in over.items():
        if isinstance(value, dict) and isinstance(merged.get(key), dict):
            merged[key] = merge(merged[key], value)
        else:
            merged[key] = copy.deepcopy(value)
    return merged


def load(config: dict, files=()) -> dict:
    """Complete configuration, checked: the project's own with `config` laid on it.

    The base is ``config/config.yaml``, the experiments of ``config/experiments/``, each named after
    its file, and the artefacts of the papers.

    Parameters
    ----------
    config : dict
        As Snakemake merged it from its configuration files and command line.
    files : sequence of paths
        Configuration files given to Snakemake; only read for duplicate keys and the preset.

    Raises
    ------
    ConfigError
    """
    for path in files:
        _check_preset(path, read_yaml(path))
    base = read_yaml(CONFIG / "config.yaml")
    # Editors keep hidden files beside those that are open.
    experiments = {
        p.stem: read_yaml(p) for p in sorted((CONFIG / "experiments").glob("[!.]*.yaml"))
    }
    base |= {"experiments": experiments, "artefacts": artefacts()}
    merged = merge(base, config)
    check_keys(merged)
    check_schema(merged, read_yaml(SCHEMA))
    check_names(merged)
    return merged


def _check_preset(path, content):
    """Refuse a file that names the run after a preset and is not the file of that preset.

    The files are compared, not their places, since executors may copy both.
    """
    name = content.get("preset")
    preset = CONFIG / ("config.yaml" if name == "full" else f"presets/{name}.yaml")
    if preset.is_file() and content != read_yaml(preset):
        raise ConfigError(
            f"{path}: the key preset names a run, and this is not the file of the preset {name}: "
            f"leave the key out, and choose the preset by make PRESET={name}"
        )


def artefacts() -> dict:
    """The artefacts of all papers by year, as PAPER/ARTEFACT, from the file beside their code."""
    return {
        f"{path.parent.name}/{name}": artefact
        for path in sorted(PAPERS.glob("*/artefacts.yaml"), key=_year_and_name)
        for name, artefact in read_yaml(path).items()
    }


# JSON Schema takes 2.0 for an integer; `range` does not.
_Validator = jsonschema.validators.extend(
    jsonschema.Draft202012Validator,
    type_checker=jsonschema.Draft202012Validator.TYPE_CHECKER.redefine(
        "integer", lambda _, value: isinstance(value, int) and not isinstance(value, bool)
    ),
)


def _year_and_name(path):
    """Order of the papers: by the year that ends the name of the folder."""
    return re.sub(r"\D", "", path.parent.name), path.parent.name


def check_schema(config: dict, schema: dict) -> None:
    """Check keys, types and ranges.

    Raises
    ------
    ConfigError
        For the first violation, as one line.
    """
    errors = sorted(
        _Validator(schema).iter_errors(config), key=lambda e: [str(p) for p in e.absolute_path]
    )
    if errors:
        raise ConfigError(_line(errors[0]))


def _line(error) -> str:
    innermost = error
    while innermost.validator in ("anyOf", "oneOf") and (inner := _meant(innermost)):
        innermost = inner
    place = ".".join(str(p) for p in innermost.absolute_path)
    return f"{place}: {_reason(innermost)}" if place else _reason(innermost)


def _meant(error):
    """Of several ways to be valid, the error in the one of the value's type, if there is one."""
    errors = [e for e in error.context if e.validator != "type" or e.relative_path]
    errors.sort(key=lambda e: e.validator != "additionalProperties")
    return errors[0] if error.validator == "anyOf" and errors else None


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


def _reason(error) -> str:
    value, rule = error.instance, error.validator_value
    if error.validator == "additionalProperties":
        allowed = error.schema.get("properties", {})
        unknown = sorted(k for k in value if k not in allowed)
        return f"unknown key {', '.join(unknown)}; allowed are {', '.join(sorted(allowed))}"
    if error.validator == "required":
        missing_keys = [key for key in rule if key not in value]
        return f"{missing_keys[0]} is missing; allowed are {', '.join(error.schema['properties'])}"
    if error.validator == "oneOf":
        ways = [name for way in rule for name in way["required"]]
        return f"expected one of {', '.join(ways)}; there are {', '.join(value) or 'none'}"
    if error.validator == "enum":
        return f"{written(value)} is not allowed; allowed are {', '.join(map(str, rule))}"
    if error.validator == "type":
        types = [rule] if isinstance(rule, str) else rule
        return f"{written(value)} is not allowed; expected {' or '.join(map(_TYPES.get, types))}"
    expected = {
        "minimum": f"at least {rule}",
        "maximum": f"at most {rule}",
        "pattern": error.schema.get("description"),
        "anyOf": "one value, a list, or keys and values",
    }
    if expected.get(error.validator):
        return f"{written(value)} is not allowed; expected {expected[error.validator]}"
    return error.message


def check_keys(config: dict | list, place: str = "") -> None:
    """Check that every key is text: elsewhere, keys are sorted, joined and stored as text.

    Raises
    ------
    ConfigError
    """
    items = config.items() if isinstance(config, dict) else enumerate(config)
    for key, value in items:
        if isinstance(config, dict) and not isinstance(key, str):
            at = f"{place}: " if place else ""
            raise ConfigError(f"{at}the key {key!r} is not allowed; expected text")
        if isinstance(value, (dict, list)):
            check_keys(value, f"{place}.{key}" if place else str(key))


def _check_artefact(name, artefact):
    """Check what an artefact asks of its code and of the files of its paper, if it has any code."""
    try:
        paper, module = name.partition("/")[0], papers.module_of(name)
    except ValueError:  # an unknown artefact, which the workflow names
        return
    folder, code = PAPERS / paper, PAPERS / paper / f"{module}.py"
    accepted = signatures.parameters_of(code, "compute") if code.is_file() else None
    if accepted is None:
        return
    for key, parameter in _OF_THE_JOB.items():
        if artefact.get(key) and parameter not in accepted:
            raise ConfigError(f"artefacts.{name}.{key}: its table takes none; leave it out")
    _check_parameters(f"artefacts.{name}.parameters", artefact.get("parameters", {}), accepted)
    recorded, files = artefact.get("recorded"), sorted(p.name for p in folder.glob("recorded/*"))
    if recorded and recorded not in files:
        choices = ", ".join(files) or "none"
        raise ConfigError(f"artefacts.{name}.recorded: no file {recorded!r}; there are {choices}")
    decided, place = artefact.get("statements", []), f"artefacts.{name}.statements"
    if decided and not signatures.has_function(code, "statements"):
        raise ConfigError(f"{place}: {code.name} decides none")
    rows = storage.read_rows(folder / "claims" / "statements.csv") if decided else []
    ids = [row["id"] for row in rows]
    for statement in decided:
        if statement not in ids:
            choices = ", ".join(ids) or "none"
            raise ConfigError(f"{place}: {paper} has no {statement!r}; there are {choices}")


def _check_parameters(place, settings, takes):
    # The first parameter is the tables that the artefact is made from.
    allowed = {n: p for n, p in list(takes.items())[1:] if n not in _OF_THE_JOB.values()}
    for name, value in settings.items():
        if name not in allowed:
            names = ", ".join(sorted(allowed)) or "none"
            raise ConfigError(f"{place}.{name}: no such parameter; allowed are {names}")
        reason = values.problem(allowed[name].annotation, value)
        if reason:
            raise ConfigError(f"{place}.{name}: {reason}")
    ungiven = [name for name, p in allowed.items() if p.required and name not in settings]
    if ungiven:
        raise ConfigError(f"{place}: {', '.join(ungiven)} must be given")


def check_names(config: dict) -> None:
    """Check all names, every recipe, every sweep, and what experiments and artefacts name.

    Raises
    ------
    ConfigError
    """
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
            known_name(config, section, experiment[section], f"experiments.{name}.{section}")
        sweep.check(config, name)
        facets.complete(config, name)
    known_name(config, "experiments", config["sweeps"], "sweeps")
    for name, artefact in config["artefacts"].items():
        _check_artefact(name, artefact)
        datasets = artefact.get("datasets", [])
        known_name(config, "datasets", datasets, f"artefacts.{name}.datasets")
        for dataset in datasets:
            recipe = config["datasets"][dataset]
            check_required("data", recipe["dataset"], recipe, f"datasets.{dataset}")
        for input_name in artefact.get("inputs", []):
            experiment, _, metric = input_name.partition("/")
            place = f"artefacts.{name}.inputs"
            known_name(config, "experiments", [experiment], place)
            known_name(config["experiments"][experiment], "metrics", [metric], place)
