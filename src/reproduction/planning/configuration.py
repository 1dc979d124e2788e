"""Reading and checking the configuration; errors are one line that names key, value and remedy."""

from __future__ import annotations

import copy
from pathlib import Path

import jsonschema
import yaml

from reproduction.planning import signatures
from reproduction.planning.places import CONFIG, PAPERS, SCHEMA


class ConfigError(ValueError):
    """A configuration that cannot be used."""


class _StrictLoader(yaml.SafeLoader):
    """YAML that refuses duplicate keys; plain YAML lets the last one win without a word."""

    def construct_mapping(self, node, deep=False):
        seen = {}
        for key_node, _ in node.value:
            key = self.construct_object(key_node, deep=True)
            line = key_node.start_mark.line + 1
            if key in seen:
                raise ConfigError(
                    f"duplicate key {key!r} in lines {seen[key]} and {line}: keep one of them"
                )
            seen[key] = line
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
        raise ConfigError(f"{path}: {(error.strerror or str(error)).lower()}") from None
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
        Configuration files given to Snakemake; only read for duplicate keys.

    Raises
    ------
    ConfigError
    """
    for path in files:
        read_yaml(path)
    base = read_yaml(CONFIG / "config.yaml")
    experiments = {p.stem: read_yaml(p) for p in sorted((CONFIG / "experiments").glob("*.yaml"))}
    base |= {"experiments": experiments, "artefacts": artefacts()}
    merged = merge(base, config)
    check_schema(merged, read_yaml(SCHEMA))
    check_names(merged)
    return merged


def artefacts() -> dict:
    """The artefacts of all papers, as PAPER/ARTEFACT, from the file beside their code."""
    return {
        f"{path.parent.name}/{name}": artefact
        for path in sorted(PAPERS.glob("*/artefacts.yaml"))
        for name, artefact in read_yaml(path).items()
    }


def check_schema(config: dict, schema: dict) -> None:
    """Check keys, types and ranges.

    Raises
    ------
    ConfigError
        For the first violation, as one line.
    """
    validator = jsonschema.Draft202012Validator(schema)
    errors = sorted(validator.iter_errors(config), key=lambda e: [str(p) for p in e.absolute_path])
    if errors:
        raise ConfigError(_line(errors[0]))


def _line(error) -> str:
    place = ".".join(str(p) for p in error.absolute_path) or "configuration"
    if error.validator == "additionalProperties":
        allowed = error.schema.get("properties", {})
        unknown = sorted(str(k) for k in error.instance if k not in allowed)
        return (
            f"{place}: unknown key {', '.join(unknown)}; allowed are {', '.join(sorted(allowed))}"
        )
    if error.validator == "required":
        return f"{place}: {error.message}; allowed are {', '.join(error.schema['properties'])}"
    if error.validator == "enum":
        allowed = ", ".join(map(str, error.validator_value))
        return f"{place}: {error.instance!r} is not allowed; allowed are {allowed}"
    if error.validator == "type":
        return f"{place}: {error.instance!r} is not allowed; expected {error.validator_value}"
    return f"{place}: {error.message}"


# What an importance or metric is given by the job, not by its recipe.
_GIVEN = {
    "importance": {"forest", "estimator", "X", "y", "background"},
    "metric": {"attributions", "data", "training", "forest", "refit"},
}

# Kind of recipe -> its section of the configuration, and the key that names its file or class.
KINDS = {
    "data": ("datasets", "dataset"),
    "model": ("models", "estimator"),
    "importance": ("importances", "importance"),
    "metric": ("metrics", "metric"),
}


def check_recipe(kind: str, recipe: dict, place: str) -> None:
    """Check that a recipe names something that exists, and gives only parameters it takes.

    Raises
    ------
    ConfigError
        Naming the place, the parameter and what is allowed.
    """
    _, key = KINDS[kind]
    try:
        allowed = set(signatures.parameters(key, recipe[key])) - _GIVEN.get(kind, set())
    except ValueError as error:
        raise ConfigError(f"{place}.{key}: {error}") from None
    for parameter in recipe:
        if parameter not in allowed | {key}:
            raise ConfigError(
                f"{place}.{parameter}: {recipe[key]} has no such parameter; "
                f"allowed are {', '.join(sorted(allowed)) or 'none'}"
            )
    if "path" in recipe and not Path(recipe["path"]).expanduser().is_file():
        raise ConfigError(
            f"{place}.path: {recipe['path']}: no such file (working directory {Path.cwd()})"
        )


def check_names(config: dict) -> None:
    """Check every recipe, and that experiments and artefacts name things that exist.

    Raises
    ------
    ConfigError
    """
    for kind, (section, _) in KINDS.items():
        for name, recipe in config[section].items():
            check_recipe(kind, recipe, f"{section}.{name}")
    for name, experiment in config["experiments"].items():
        for section in ("importances", "metrics"):
            known_name(config, section, experiment[section], f"experiments.{name}.{section}")
    for name, artefact in config["artefacts"].items():
        known_name(config, "datasets", artefact.get("datasets", []), f"artefacts.{name}.datasets")
        for wanted in artefact.get("inputs", []):
            experiment, _, metric = wanted.partition("/")
            place = f"artefacts.{name}.inputs"
            known_name(config, "experiments", [experiment], place)
            known_name(config["experiments"][experiment], "metrics", [metric], place)


def known_name(config: dict, section: str, names, place: str) -> None:
    """Raise ConfigError unless `names` all stand in a section of the configuration."""
    for name in names:
        if name not in config[section]:
            known = ", ".join(sorted(config[section]))
            raise ConfigError(f"{place}: {name!r} is not in {section}; there are {known}")
