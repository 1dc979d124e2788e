"""Measures: one file each, found by its file name.

The public function of a measure has the name of its file and takes any fitted model:
``splitcredit.ufi`` is that of ``ufi.py``. A measure that attributes rows has a function
``attribute(forest, X, **parameters) -> Attribution`` beside it, which explains some rows as the
trees see them; `explained` of ``_attributed.py`` calls it chunk by chunk. A file with a second
function for means over rows names it in ``IMPORTANCE``, and ``ADDS_UP`` says whether the values of
a row and its baseline add up to the prediction. The file that only ranks has
``rank(forest, X, **parameters) -> Attribution``, whose values say the order and nothing else.

File name, name in the configuration and ``Attribution.method`` are the same word. A file whose
measure does not take every model says so in ``REQUIRES``, a tuple of words: ``"impurity"`` (of
every node), ``"bootstrap"`` (the bag of each tree), ``"prediction"`` (on the scale of y),
``"score"``, ``"gains"`` (the fitted model itself) or ``"refit"`` (an estimator that can be fitted
again). Its function ``refuse(model, forest)`` raises the error that says so for one model.
"""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache


def names() -> list[str]:
    """List the names of all methods."""
    return list(_names())


@cache
def _names():
    return sorted(m.name for m in pkgutil.iter_modules(__path__) if not m.name.startswith("_"))


def function_of(name: str):
    """Find the function that measures by a forest and rows; a ValueError lists all methods."""
    module = module_of(name)
    for kind in ("rank", getattr(module, "IMPORTANCE", ""), "attribute", name):
        if hasattr(module, kind):
            return getattr(module, kind)


def kind_of(name: str) -> str:
    """Say what `function_of` does: ``"explain"`` rows, give an ``"importance"``, or ``"rank"``."""
    module = module_of(name)
    if hasattr(module, "rank"):
        return "rank"
    is_of_rows = hasattr(module, "attribute") and not hasattr(module, "IMPORTANCE")
    return "explain" if is_of_rows else "importance"


@cache
def module_of(name: str):
    """Import the module of one method; a ValueError lists all methods."""
    if name not in names():
        raise ValueError(f"unknown method {name!r}: available are {', '.join(names())}")
    return importlib.import_module(f"{__name__}.{name}")
