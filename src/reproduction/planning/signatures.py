"""Parameters of what the configuration names, read from the source: nothing is imported.

Importing every loader, measure and metric, and the libraries below them, would cost seconds each
time that Snakemake reads the workflow.
"""

from __future__ import annotations

import ast
import builtins
import json
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from reproduction.planning.errors import ConfigError
from reproduction.planning.places import LIBRARY, REPRODUCTION, SRC, relative

# Kind of recipe -> the folders of its modules, and the functions one of which a module has.
MODULES = {
    "dataset": ((REPRODUCTION / "datasets",), ("load",)),
    "importance": (
        (LIBRARY / "importances", REPRODUCTION / "peers"),
        ("explain", "importance", "rank"),
    ),
    "metric": ((REPRODUCTION / "metrics",), ("compute",)),
}
# The kinds of values that annotations name.
KINDS = REPRODUCTION / "parameters.py"
ESTIMATORS = Path(__file__).with_name("estimators.json")


@dataclass(frozen=True)
class Parameter:
    """One parameter: its annotation as text, empty if it has none; whether it must be given.

    ``default`` is None where it is not a plain value.
    """

    annotation: str
    required: bool
    default: Any = None


@cache
def names(kind: str) -> tuple[str, ...]:
    """Names of the data sets, importances, metrics or estimators that there are."""
    if kind == "estimator":
        return tuple(sorted(_estimators()))
    return tuple(sorted(_paths(kind)))


def path_of(kind: str, name: str) -> Path:
    """The file of a data set, importance or metric.

    Raises
    ------
    ValueError
        If there is none; the message lists what there is.
    """
    if name not in names(kind):
        raise ValueError(f"unknown {kind} {name!r}: available are {', '.join(names(kind))}")
    return _paths(kind)[name]


@cache
def _paths(kind):
    """Name -> file."""
    files = [path for folder in MODULES[kind][0] for path in folder.glob("*.py")]
    return {path.stem: path for path in files if not path.stem.startswith("_")}


@cache
def parameters(kind: str, name: str) -> dict[str, Parameter]:
    """Parameters by name, of a kind in `MODULES` or of an ``"estimator"``.

    Raises
    ------
    ValueError
        If there is none of that name; the message lists what there is.
    ConfigError
        If its file cannot be read, does not define the function of its kind, or annotates a
        parameter of it by a name that there is not.
    """
    if kind == "estimator":
        if name not in _estimators():
            raise ValueError(f"unknown estimator {name!r}: available are {', '.join(names(kind))}")
        return {n: Parameter(text, False) for n, text in _estimators()[name].items()}
    path, expected = path_of(kind, name), MODULES[kind][1]
    by_function = functions(path)
    for function in expected:
        if function in by_function:
            _check_annotations(path, by_function[function])
            return by_function[function]
    raise ConfigError(f"{relative(path)}: define a function {' or '.join(expected)}; it has none")


def _check_annotations(path, declared):
    """Refuse misspelled names, which nothing evaluates, and which would take every value."""
    tree, kinds = _tree(path), constants(KINDS)
    known, imported = set(vars(builtins)), {}
    for node in ast.walk(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            names = {
                alias.asname or alias.name.partition(".")[0]: alias.name for alias in node.names
            }
            known |= names.keys()
            if isinstance(node, ast.ImportFrom) and node.module == "reproduction.parameters":
                imported |= names
        elif isinstance(node, (ast.ClassDef, ast.FunctionDef)):
            known.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            known.add(node.id)
    for parameter, declaration in declared.items():
        for node in ast.walk(ast.parse(declaration.annotation)):
            name = node.id if isinstance(node, ast.Name) else None
            if name and (name not in known or imported.get(name, "Count") not in kinds):
                raise ConfigError(
                    f"{relative(path)}: {parameter} is annotated by {name}, which there is not; "
                    f"reproduction.parameters has {', '.join(kinds)}"
                )


@cache
def text_of(path: Path) -> str:
    """Text of a source file.

    Raises
    ------
    ConfigError
        If it is not UTF-8.
    """
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise ConfigError(f"{relative(path)}: not UTF-8 text") from None


def _tree(path):
    try:
        return ast.parse(text_of(path))
    except SyntaxError as error:
        raise ConfigError(f"{relative(path)}, line {error.lineno}: {error.msg}") from None


@cache
def functions(path: Path) -> dict[str, dict[str, Parameter]]:
    """Functions that a module defines, and the parameters of each."""
    tree = _tree(path)
    return {n.name: _parameters(n.args) for n in tree.body if isinstance(n, ast.FunctionDef)}


@cache
def parameters_of(path: Path, name: str) -> dict[str, Parameter] | None:
    """Parameters of a function that a module defines or imports; None if there is none."""
    text = text_of(path)
    # The head alone: to parse whole modules would take a third of a second for all artefacts.
    head = re.search(rf"^def {name}\(.*?\)(?: -> [^\n]*)?:$", text, re.MULTILINE | re.DOTALL)
    if head:
        return _parameters(ast.parse(f"{head[0]} pass").body[0].args)
    for node in _tree(path).body:
        if isinstance(node, ast.ImportFrom) and node.module:
            originals = {alias.asname or alias.name: alias.name for alias in node.names}
            file = SRC.joinpath(*node.module.split(".")).with_suffix(".py")
            if name in originals and file.is_file():
                return parameters_of(file, originals[name])
    return None


@cache
def constants(path: Path) -> dict[str, Any]:
    """Plain values that a module gives to names, by name."""
    tree = _tree(path)
    assigned = [n for n in tree.body if isinstance(n, ast.Assign) and len(n.targets) == 1]
    return {
        n.targets[0].id: _plain(n.value) for n in assigned if isinstance(n.targets[0], ast.Name)
    }


@cache
def has_function(path: Path, name: str) -> bool:
    """Whether a module defines a function of that name, or imports one."""
    text = text_of(path)
    if not re.search(rf"\b{name}\b", text):
        return False
    if re.search(rf"^def {name}\(", text, re.MULTILINE):
        return True
    imported = [node for node in _tree(path).body if isinstance(node, ast.ImportFrom)]
    names = {alias.asname or alias.name for node in imported for alias in node.names}
    return name in names


def _parameters(arguments):
    positional = [*arguments.posonlyargs, *arguments.args]
    no_default = [None] * (len(positional) - len(arguments.defaults))
    pairs = [
        *zip(positional, [*no_default, *arguments.defaults], strict=True),
        *zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True),
    ]
    return {
        argument.arg: Parameter(
            ast.unparse(argument.annotation) if argument.annotation else "",
            default is None,
            _plain(default),
        )
        for argument, default in pairs
    }


def _plain(node):
    try:
        return ast.literal_eval(node) if node else None
    except ValueError:
        return None


@cache
def _estimators():
    return json.loads(ESTIMATORS.read_text(encoding="utf-8"))
