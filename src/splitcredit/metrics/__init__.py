"""Metrics: one file each, found by its file name, with ``measure(attributions, ...) -> DataFrame``.

`attributions` maps the names of the run's importances to their `Attribution`. The rows of the
result are tidy; its numbers stand in a column ``value``.
"""

from __future__ import annotations

import importlib
import pkgutil


def available() -> list[str]:
    """Names of the metrics."""
    return sorted(m.name for m in pkgutil.iter_modules(__path__) if not m.name.startswith("_"))


def metric(name: str):
    """The ``measure`` function of one metric.

    Raises
    ------
    ValueError
        If there is no such metric; the message lists what there is.
    """
    if name not in available():
        raise ValueError(f"unknown metric {name!r}: available are {', '.join(available())}")
    return importlib.import_module(f"{__name__}.{name}").measure
