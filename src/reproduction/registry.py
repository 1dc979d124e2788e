"""Modules found by the name of their file: data sets, metrics, artefacts of papers."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache


def names(package: str) -> list[str]:
    """Public modules of a package, without importing them."""
    return list(_names(package))


@cache
def _names(package):
    path = importlib.import_module(package).__path__
    return sorted(m.name for m in pkgutil.iter_modules(path) if not m.name.startswith("_"))


def load(package: str, name: str, what: str):
    """The module of that name.

    ValueError if there is none; the message names it and lists what there is.
    """
    available = names(package)
    if name not in available:
        raise ValueError(f"unknown {what} {name!r}: available are {', '.join(available)}")
    return importlib.import_module(f"{package}.{name}")
