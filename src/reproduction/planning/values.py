"""Whether a value fits an annotation, from the annotation's text: nothing is imported.

Understood are ``int``, ``float`` (an int is fine), ``bool``, ``str``, ``dict``, ``None``,
``Literal[...]``, unions with ``|``, ``list[X]``, ``Sequence[X]``, ``tuple[X, Y]``,
``tuple[X, ...]``, ``Annotated[int, ">= 1, < 9"]``, ``Annotated[str, "words for what is
expected"]``, and the names in ``reproduction/parameters.py``. A bool is no int. In a union with
an int, whole numbers belong to the int. What is not understood takes every value.
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

from reproduction.planning.places import REPRODUCTION

_BOUNDS = {
    ">=": (operator.ge, "at least"),
    "<=": (operator.le, "at most"),
    ">": (operator.gt, "above"),
    "<": (operator.lt, "below"),
}
_SEQUENCES = ("list", "Sequence", "tuple")


@dataclass(frozen=True)
class _Kind:
    """One annotation, understood.

    Parameters
    ----------
    takes : callable
        Whether a value fits.
    words : str
        What is expected, for messages.
    base : str
        Name of the type below, empty if there is not one.
    names : callable
        (value, kind) -> the texts in the value that stand where the annotation has that kind.
    """

    takes: Callable[[Any], bool]
    words: str
    base: str = ""
    names: Callable[[Any, str], list[str]] = lambda value, kind: []


def problem(annotation: str, value) -> str:
    """What is wrong with a value, as ``-5 is not allowed; expected a whole number of at least 1``.

    Parameters
    ----------
    annotation : str
        Empty if there is none.
    value : as read from YAML

    Returns
    -------
    str
        Empty if the value fits, or the annotation is not understood.
    """
    kind = _kind(annotation)
    if kind.takes(value):
        return ""
    return f"{written(value)} is not allowed; expected {kind.words}{_hint(value)}"


def named(annotation: str, value, kind: str) -> list[str]:
    """Texts in a value that stand where its annotation has a kind, e.g. ``ImportanceName``.

    Parameters
    ----------
    annotation : str
    value
        One that does not fit has none.
    kind : str
        A name in ``reproduction/parameters.py``.
    """
    kind_of_value = _kind(annotation)
    return kind_of_value.names(value, kind) if kind_of_value.takes(value) else []


def takes_null(annotation: str) -> bool:
    """Whether a value may be null, which stands for a default."""
    return _kind(annotation).takes(None)


def written(value) -> str:
    """A value for a message, in one line, as YAML has it; numbers with twelve digits."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return repr(float(f"{value:.12g}") if isinstance(value, float) else value)


def _hint(value):
    """What to do about a number that YAML took for text, such as 1e-6, or Snakemake's --config."""
    try:
        float(value if isinstance(value, str) else "")
    except ValueError:
        return ""
    return (
        " (this is text: a number has no quotes, and a decimal point as in 1.0e-6; numbers within "
        "--config name='{...}' are text, so put them into a file for --configfile)"
    )


_ANYTHING = _Kind(lambda value: True, "anything")


def _is_int(value):
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(value):
    return _is_int(value) or (isinstance(value, float) and math.isfinite(value))


_PLAIN = {
    "int": _Kind(_is_int, "a whole number", "int"),
    "float": _Kind(_is_number, "a number", "float"),
    "bool": _Kind(lambda value: isinstance(value, bool), "true or false", "bool"),
    "str": _Kind(lambda value: isinstance(value, str), "text", "str"),
    "dict": _Kind(lambda value: isinstance(value, dict), "keys and values", "dict"),
    "None": _Kind(lambda value: value is None, "null", "None"),
}


@cache
def _kind(annotation: str) -> _Kind:
    return _of(ast.parse(annotation, mode="eval").body) if annotation else _ANYTHING


@cache
def _aliases():
    """The names in ``reproduction/parameters.py`` and what they stand for."""
    text = (REPRODUCTION / "parameters.py").read_text(encoding="utf-8")
    assigned = [node for node in ast.parse(text).body if isinstance(node, ast.Assign)]
    return {node.targets[0].id: node.value for node in assigned}


def _of(node) -> _Kind:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return _union(_parts(node))
    if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name):
        return _subscript(node.value.id, node.slice)
    if isinstance(node, ast.Name) and node.id in _aliases():
        return _alias(node.id)
    text = ast.unparse(node)
    return _sequence("list", [_ANYTHING]) if text in _SEQUENCES else _PLAIN.get(text, _ANYTHING)


def _alias(name):
    meant = _of(_aliases()[name])
    return _Kind(
        meant.takes, meant.words, meant.base, lambda value, kind: [value] if kind == name else []
    )


def _parts(node):
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return [*_parts(node.left), *_parts(node.right)]
    return [node]


def _subscript(name, inside) -> _Kind:
    inner = inside.elts if isinstance(inside, ast.Tuple) else [inside]
    if name == "Literal":
        return _literal([ast.literal_eval(node) for node in inner])
    if name == "Annotated":
        return _annotated(_of(inner[0]), *map(ast.literal_eval, inner[1:]))
    if name in ("list", "Sequence"):
        return _sequence(name, [_of(inner[0])])
    if name == "tuple" and ast.unparse(inner[-1]) == "...":
        return _sequence("list", [_of(inner[0])])
    if name == "tuple":
        return _sequence(name, [_of(node) for node in inner])
    return _ANYTHING


def _literal(allowed):
    def takes(value):
        return any(type(value) is type(choice) and value == choice for choice in allowed)

    return _Kind(takes, " or ".join(map(written, allowed)))


def _annotated(meant, text) -> _Kind:
    clauses = [clause.split() for clause in text.split(",")]
    if not all(len(clause) == 2 and clause[0] in _BOUNDS for clause in clauses):
        return _Kind(meant.takes, text, meant.base)
    bounds = [(*_BOUNDS[sign], float(limit), limit) for sign, limit in clauses]

    def takes(value):
        return meant.takes(value) and all(holds(value, limit) for holds, _, limit, _ in bounds)

    words = " and ".join(f"{word} {limit_text}" for _, word, _, limit_text in bounds)
    joint = " of " if words.startswith("at") else " "
    return _Kind(takes, f"{meant.words}{joint}{words}", meant.base)


def _union(nodes) -> _Kind:
    kinds = [_of(node) for node in nodes]
    if _ANYTHING in kinds:
        return _ANYTHING
    has_int = any(kind.base == "int" for kind in kinds)

    def first(value):
        """The first kind that takes the value, if any."""
        for kind in kinds:
            if not (has_int and kind.base == "float" and _is_int(value)) and kind.takes(value):
                return kind
        return None

    def names(value, kind):
        taking = first(value)
        return taking.names(value, kind) if taking else []

    words = " or ".join(kind.words for kind in kinds)
    return _Kind(lambda value: first(value) is not None, words, names=names)


def _sequence(name, kinds) -> _Kind:
    """A list of one kind, of any length; or a tuple, one kind for each place."""
    is_tuple = name == "tuple"

    def pairs(value):
        return zip(value, kinds if is_tuple else kinds * len(value), strict=True)

    def takes(value):
        if not isinstance(value, (list, tuple)) or (is_tuple and len(value) != len(kinds)):
            return False
        return all(kind.takes(element) for element, kind in pairs(value))

    def names(value, wanted):
        return [name for element, kind in pairs(value) for name in kind.names(element, wanted)]

    kind_words = ", ".join(kind.words for kind in kinds)
    words = f"a list of {len(kinds)}: {kind_words}" if is_tuple else f"a list, each {kind_words}"
    return _Kind(takes, "a list" if kinds == [_ANYTHING] else words, names=names)
