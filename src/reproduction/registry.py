"""Modules found by the name of their file: data sets, metrics, artefacts of papers.

In some packages a file may also be a family: it holds several things, a function each, and the
package lists their names.
"""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache


def names(package: str, families: dict[str, tuple[str, ...]] | None = None) -> list[str]:
    """Public modules of a package, or what is in them if they are families; without importing."""
    return sorted(_modules(package, families or {}))


def _modules(package, families):
    """Name of each thing -> the name of its module."""
    modules = {name: name for name in _names(package) if name not in families}
    return modules | {name: family for family, members in families.items() for name in members}


@cache
def _names(package):
    path = importlib.import_module(package).__path__
    return sorted(m.name for m in pkgutil.iter_modules(path) if not m.name.startswith("_"))


def declared(**constants):
    """Give a function of a family what the file of a single thing declares by constants."""

    def declare(function):
        vars(function).update(constants)
        return function

    return declare


def load(package: str, name: str, what: str, families: dict[str, tuple[str, ...]] | None = None):
    """The module of that name, or the function of a family; ValueError lists what there is."""
    modules = _modules(package, families or {})
    if name not in modules:
        raise ValueError(f"unknown {what} {name!r}: available are {', '.join(sorted(modules))}")
    module = importlib.import_module(f"{package}.{modules[name]}")
    return module if modules[name] == name else getattr(module, name)
