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


def load(package: str, name: str, what: str, available: list[str] | None = None):
    """The module of that name.

    ValueError if it is not available, by default as a file of the package; the message lists what
    there is.
    """
    available = names(package) if available is None else available
    if name not in available:
        raise ValueError(f"unknown {what} {name!r}: available are {', '.join(available)}")
    return importlib.import_module(f"{package}.{name}")
