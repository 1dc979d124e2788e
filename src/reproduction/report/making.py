"""The making of each artefact: command, rules, files, and the settings of its experiments."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

from reproduction import datasets, papers

_ROOT = Path(__file__).resolve().parents[3]


def of_artefact(name: str, config: dict, drawn: bool) -> dict:
    """The command, files and settings with which a reader makes PAPER/ARTEFACT again."""
    paper = name.partition("/")[0]
    artefact = config["artefacts"][name]
    inputs: dict[str, list[str]] = {}
    for input_name in artefact.get("inputs", []):
        experiment, _, metric = input_name.partition("/")
        inputs.setdefault(experiment, []).append(metric)
    stages = ["data_and_models", "importances", "metrics"] if inputs else []
    timing = "timing/" if artefact.get("timed") else ""
    home = f"src/reproduction/papers/{paper}"
    return {
        "rules": [*stages, "artefacts" if drawn else "artefacts_without_figure"],
        "module": f"{home}/{papers.module_of(name)}.py",
        "table": f"results/{timing}tables/{name}.csv",
        "logs": [f"results/logs/{timing}artefacts/{name}.log"],
        "parameters": _settings(artefact.get("parameters", {})),
        **_making(config, name, inputs, [f"{home}/artefacts.yaml"], artefact.get("datasets", [])),
    }


def of_sweep(name: str, config: dict) -> dict:
    """The command, files and settings with which a reader makes one sweep again."""
    inputs = {name: config["experiments"][name]["metrics"]}
    return {
        "table": f"results/experiments/{name}.csv",
        "logs": [f"results/logs/sweeps/{name}.log"],
        **_making(config, f"sweep EXPERIMENT={name}", inputs),
    }


def _making(config, target, inputs, files=(), datasets=()):
    """The command, and the settings of experiments by name, each with its metrics."""
    experiments = [_experiment(config, name, metrics) for name, metrics in inputs.items()]
    preset = config["preset"]
    return {
        "command": f"make {target}" + ("" if preset == "full" else f" PRESET={preset}"),
        "data": _data(config, experiments, datasets),
        "configuration": [*files, *(f"config/experiments/{name}.yaml" for name in inputs)],
        "experiments": experiments,
    }


def _data(config, experiments, names):
    """SHA-256 of the tables of the project, and not of a user, that data sets are read from."""
    recipes = [r for e in experiments for block in e["blocks"] for r in block["recipes"]]
    names = [*names, *(recipe["name"] for recipe in recipes if recipe["kind"] == "data")]
    found = {}
    for name in dict.fromkeys(names):
        try:
            files = datasets.files(config["datasets"].get(name, {}))
        except (KeyError, ValueError):  # Its file is an axis of the sweep.
            continue
        for path in files:
            if path.is_file() and path.resolve().is_relative_to(_ROOT):
                found[path.resolve().relative_to(_ROOT).as_posix()] = _sha256(path)
    return found


@cache
def _sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _experiment(config, name, metrics):
    """Its metrics, and one text for each block of its sweep."""
    definition = config["experiments"][name]
    return {
        "name": name,
        "metrics": metrics,
        "importances": definition.get("importances", []),
        "most_repeats": definition.get("most_repeats"),
        "blocks": [_block(config, block) for block in definition["sweep"]],
    }


def _block(config, block):
    axes = {k: v for k, v in (block.get("grid") or block.get("zip") or {}).items()}
    recipes = []
    for kind, section in (("data", "datasets"), ("model", "models")):
        names = axes.get(kind, [])
        for name in dict.fromkeys(names if isinstance(names, list) else [names]):
            recipe = config[section].get(name, {})
            # A data set is often called as its recipe is.
            settings = {key: v for key, v in recipe.items() if (key, v) != ("dataset", name)}
            recipes.append({"kind": kind, "name": name, "settings": _settings(settings)})
    swept = {k: v for k, v in axes.items() if k not in ("data", "model")}
    return {
        "how": "in step" if "zip" in block else "every combination",
        "recipes": recipes,
        "axes": [f"{key}: {_values(value)}" for key, value in swept.items()],
    }


def _settings(recipe):
    return ", ".join(f"{key} = {_values(value)}" for key, value in recipe.items())


def _values(value):
    if isinstance(value, dict) and {"first", "last"} <= value.keys():
        return f"{value['first']} to {value['last']}"
    if isinstance(value, dict):
        return "; ".join(f"{key}: {_values(item)}" for key, item in value.items())
    if isinstance(value, list):
        return ", ".join(_values(item) for item in value)
    return '""' if value == "" else str(value)
