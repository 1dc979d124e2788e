"""Read the configuration; errors are one line that names key, value and remedy."""

from __future__ import annotations

import copy
import difflib
import re
from pathlib import Path

import yaml

from reproduction.planning import checks
from reproduction.planning.errors import ConfigError
from reproduction.planning.places import CONFIG, PAPERS, PAPERS_SCHEMA, SCHEMA

__all__ = ["ConfigError", "artefacts", "load", "merge", "read_yaml"]

# PyYAML's parser in C, if it was built with it: it takes a sixth of the time.
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
# Tag of the key ``<<``, by which a mapping takes over another one.
_MERGE = "tag:yaml.org,2002:merge"

# A configuration has some 3000 values, and five to ten in each other.
_MOST_VALUES, _DEEPEST = 1_000_000, 100


class _StrictLoader(_LOADER):
    """YAML that refuses duplicate keys; plain YAML lets the last one win without a word."""

    def construct_yaml_int(self, node):
        if re.fullmatch(r"[-+]?0[0-7_]+", node.value):
            raise ConfigError(
                f"{node.value} in line {node.start_mark.line + 1} has base 8 in YAML, "
                f"{super().construct_yaml_int(node)}: write the number without the 0 before it"
            )
        return super().construct_yaml_int(node)

    def construct_mapping(self, node, deep=False):
        lines = {}
        for key_node, _ in node.value:
            if key_node.tag == _MERGE:  # Keys of the other mapping may be given anew here.
                continue
            key = self.construct_object(key_node, deep=True)
            line = key_node.start_mark.line + 1
            if isinstance(key, (list, dict)):
                raise ConfigError(f"the key {key!r} in line {line} is not allowed; expected text")
            if key in lines:
                raise ConfigError(
                    f"duplicate key {key!r} in lines {lines[key]} and {line}: keep one of them"
                )
            lines[key] = line
        return super().construct_mapping(node, deep)


_StrictLoader.add_constructor("tag:yaml.org,2002:int", _StrictLoader.construct_yaml_int)


def read_yaml(path) -> dict:
    """Read one YAML file; ConfigError if it is missing, no mapping, or has a key twice."""
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
    except RecursionError:
        raise ConfigError(f"{path}: its values are nested too deep") from None
    _check_size(content, path)
    if not isinstance(content or {}, dict):
        raise ConfigError(f"{path}: expected keys and values at the top level")
    return content or {}


def _check_size(content, path):
    """Refuse aliases that make more values of few lines than a sweep has, or endless ones."""
    n_values, stack = 0, [(content, 0)]
    while stack:
        value, depth = stack.pop()
        n_values += 1
        if depth > _DEEPEST or n_values > _MOST_VALUES:
            raise ConfigError(
                f"{path}: more than {_MOST_VALUES} values, or nested deeper than {_DEEPEST}, "
                "as aliases may make: write the values out"
            )
        if isinstance(value, (dict, list)):
            stack += [
                (v, depth + 1) for v in (value.values() if isinstance(value, dict) else value)
            ]


def _files_beside(missing):
    """Name the closest files in the folder of a missing one, for its message."""
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
    """Lay a configuration, as Snakemake merged it, on the project's own, and check it.

    The files that it was merged from are only read for duplicate keys and the preset.
    """
    for path in files:
        _check_preset(path, read_yaml(path))
    merged = merge(own(), config)
    checks.check(merged, read_yaml(SCHEMA))
    forms = read_yaml(PAPERS_SCHEMA)
    for folder in sorted(path.parent for path in PAPERS.glob("*/artefacts.yaml")):
        files = {name: folder / f"{name}.yaml" for name in forms}
        texts = {name: read_yaml(path) for name, path in files.items() if path.exists()}
        checks.check_paper(folder, texts, forms, merged["artefacts"])
    return merged


def own() -> dict:
    """The project's own configuration, at the papers' scale.

    The experiments are named after their files, and the artefacts stand with the papers.
    """
    base = read_yaml(CONFIG / "config.yaml")
    # Editors keep hidden files beside those that are open.
    experiments = {
        p.stem: read_yaml(p) for p in sorted((CONFIG / "experiments").glob("[!.]*.yaml"))
    }
    return base | {"experiments": experiments, "artefacts": artefacts()}


def _check_preset(path, content):
    """Refuse a file that names the run after a preset and is not the file of that preset."""
    name = content.get("preset")
    preset = CONFIG / ("config.yaml" if name == "full" else f"presets/{name}.yaml")
    # Their places are not compared: executors may copy both.
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


def _year_and_name(path):
    """Order of the papers: by the year that ends the name of the folder; studies of ours last."""
    return re.sub(r"\D", "", path.parent.name) or "later", path.parent.name
