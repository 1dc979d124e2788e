"""The table of all methods: what takes them, what they need, and what they are."""

from __future__ import annotations

import inspect
from dataclasses import dataclass

from splitcredit import importances

# What each word in the column `needs` means, in the order in which they are listed.
NEEDS = {
    "y": "the targets of the rows of X",
    "background": "rows that unknown features are taken from",
    "impurity": "a model with an impurity for every node, as converted models have",
    "bootstrap": "a forest with bootstrap=True, and its training rows as X",
    "refit": "an estimator that can be fitted again",
    "scale": "the size of the noise",
}
# The ranking that is no module of `importances`; the other is `pg2_greedy`.
OPTIMUM = "pgi2_optimum"
GREEDY = "pg2_greedy"


@dataclass(frozen=True)
class Method:
    """One method.

    Parameters
    ----------
    name : str
        The word that the functions take as ``method``.
    functions : tuple of str
        Those of ``explain``, ``importance`` and ``rank`` that take it. `splitcredit.faithfulness`
        measures the ranking of each.
    needs : tuple of str
        Beside model and X; see `NEEDS`.
    summary : str
        One line.
    """

    name: str
    functions: tuple[str, ...]
    needs: tuple[str, ...]
    summary: str


class MethodTable(tuple):
    """Methods, shown as a table; `to_frame` gives a DataFrame."""

    def __repr__(self):
        rows = [("name", "functions", "needs", "what it is")]
        rows += [(m.name, ", ".join(m.functions), ", ".join(m.needs), m.summary) for m in self]
        widths = [max(len(row[k]) for row in rows) for k in range(3)]
        lines = [
            "  ".join([*(row[k].ljust(widths[k]) for k in range(3)), row[3]]).rstrip()
            for row in rows
        ]
        used = {need for method in self for need in method.needs}
        return "\n".join([*lines, "", *(f"{n}: {NEEDS[n]}" for n in NEEDS if n in used)])

    def to_frame(self):
        """As a DataFrame: name, functions, needs, summary."""
        import pandas as pd

        columns = ["name", "functions", "needs", "summary"]
        rows = [(m.name, ", ".join(m.functions), ", ".join(m.needs), m.summary) for m in self]
        return pd.DataFrame(rows, columns=columns)


def methods() -> MethodTable:
    """All methods: their names, the functions that take them, what they need, what they are.

    Returns
    -------
    MethodTable
        A tuple of methods that shows itself as a table; ``to_frame()`` gives a DataFrame.

    Examples
    --------
    >>> import splitcredit
    >>> table = splitcredit.methods()
    >>> [method.name for method in table if "explain" in method.functions]
    ['local_mdi', 'oob_attributions', 'saabas', 'tree_shap', 'tree_shap_interventional']
    >>> next(method.needs for method in table if method.name == "ufi")
    ('y', 'bootstrap')
    """
    table = [_method(name) for name in importances.names()]
    best = "The ranking with the largest PGI^2 of all, for up to 16 features."
    table.append(Method(OPTIMUM, ("rank",), ("scale",), best))
    return MethodTable(sorted(table, key=lambda method: (-len(method.functions), method.name)))


def attributing(name: str):
    """The function that attributes rows by a method; it is called with a forest and rows.

    Raises
    ------
    ValueError
        If the method does not attribute rows; the message lists those that do.
    """
    function = _attributing(name) if name in importances.names() else None
    if function is None:
        raise ValueError(_refusal(name, "explain"))
    return function


def summarizing(name: str):
    """The function that gives global importances, or None if the method attributes rows only.

    Raises
    ------
    ValueError
        If the method gives no importances; the message lists those that do.
    """
    if name not in importances.names() or not _functions(name) & {"explain", "importance"}:
        raise ValueError(_refusal(name, "importance"))
    return getattr(importances.module_of(name), "importance", None)


def takes_any_rows(name: str) -> bool:
    """Whether a method attributes rows that the model was not fitted on, each by itself."""
    return name in importances.names() and hasattr(importances.module_of(name), "explain")


def attributes(name: str) -> bool:
    """Whether a method attributes rows."""
    return name in importances.names() and _attributing(name) is not None


def attributes_outputs(name: str) -> bool:
    """Whether a method attributes rows and lets one choose the output."""
    return attributes(name) and "output" in inspect.signature(_attributing(name)).parameters


def takes_data(name: str) -> bool:
    """Whether a method of global importances takes rows; MDI has those of the training only."""
    return "X" in inspect.signature(importances.function_of(name)).parameters


def refits(name: str) -> bool:
    """Whether a method fits a copy of the model, which need not be fitted itself."""
    return "refit" in getattr(importances.module_of(name), "REQUIRES", ())


def takes_background(name: str) -> bool:
    """Whether a method that is no ranking by gaps takes a background."""
    if name not in importances.names() or name == GREEDY:
        return False
    function = _attributing(name) or importances.function_of(name)
    return "background" in inspect.signature(function).parameters


def check_ranks(name: str) -> None:
    """Raise a ValueError that lists the methods that rank, if this is none of them."""
    if name not in (*importances.names(), OPTIMUM):
        raise ValueError(_refusal(name, "rank"))


def _attributing(name):
    """``explain`` of a method, or ``attribute`` of one that only takes its training rows."""
    module = importances.module_of(name)
    return getattr(module, "explain", None) or getattr(module, "attribute", None)


def _functions(name):
    module = importances.module_of(name)
    functions = {"explain"} if _attributing(name) else set()
    if functions or hasattr(module, "importance"):
        functions.add("importance")
    return functions | {"rank"}


def _method(name):
    module = importances.module_of(name)
    parameters = inspect.signature(importances.function_of(name)).parameters
    needed = {p.name for p in parameters.values() if p.default is inspect.Parameter.empty}
    needed |= set(getattr(module, "REQUIRES", ()))
    needed |= {"scale"} if name == GREEDY else set()
    functions = [f for f in ("explain", "importance", "rank") if f in _functions(name)]
    summary = module.__doc__.partition("\n")[0]
    return Method(name, tuple(functions), tuple(n for n in NEEDS if n in needed), summary)


def _refusal(name, function):
    """The line that a function does not take a method, with the functions that do."""
    method_names = ", ".join(m.name for m in methods() if function in m.functions)
    takers = next((m.functions for m in methods() if m.name == name), ())
    if takers:
        verb = "do" if len(takers) > 1 else "does"
        return (
            f"{function} does not take the method {name!r}, {' and '.join(takers)} {verb}: "
            f"available for {function} are {method_names}"
        )
    return f"unknown method {name!r}: available are {method_names}"
