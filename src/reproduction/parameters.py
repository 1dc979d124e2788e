"""Kinds of values that parameters take, as annotations, and whether a value is of a kind.

Loaders of data sets and metrics annotate their parameters with these names, and
`reproduction.planning.checks` holds values against them. The second part of a kind is a range,
``">= 0, < 1"``, or the words for what is expected. Numbers are finite.
"""

import collections.abc
import math
import operator
import types
import typing
from functools import cache
from typing import Annotated, Literal

# A number of things; at least one.
Count = Annotated[int, ">= 1"]
# A number of things, or none; also a place, counted from 0.
Natural = Annotated[int, ">= 0"]
# A number above zero.
Positive = Annotated[float, "> 0"]
# A number that may be zero, e.g. a standard deviation.
NonNegative = Annotated[float, ">= 0"]
# A share of a whole: up to all of it, but not nothing.
Share = Annotated[float, "> 0, <= 1"]
# A probability, from 0, never, to 1, always.
Probability = Annotated[float, ">= 0, <= 1"]
# Seed of random numbers, of 32 bits.
Seed = Annotated[int, ">= 0, <= 4294967295"]
# Linkage of groups of rows in a clustering, as scipy calls it.
Linkage = Literal["single", "complete", "average", "weighted", "centroid", "median", "ward"]
# The order in which `pg2_greedy` takes equal features: one in `reproduction.recorded`, or indices,
# the same for all places or of each.
TieOrder = Literal["single", "bigger"] | list[Natural] | list[list[Natural]] | None
# One of the importances that the experiment computes.
ImportanceName = Annotated[str, "the name of an importance"]
# A file in reproduction/datasets.
DatasetName = Annotated[str, "the name of a data set"]
# Outcomes of the rows of a data set: their own, or each other's, dealt at random.
Outcome = Literal["observed", "permuted"]

_BOUNDS = {
    ">=": (operator.ge, "at least"),
    "<=": (operator.le, "at most"),
    ">": (operator.gt, "above"),
    "<": (operator.lt, "below"),
}
_LISTS = (list, tuple, collections.abc.Sequence)


def problem(hint, value) -> str:
    """What is wrong with a value, as ``-5 is not allowed; expected a whole number of at least 1``.

    Parameters
    ----------
    hint : an annotation
        A kind in `reproduction.parameters`, or made of them by ``|``, ``list`` and ``tuple``. What
        is not understood takes every value.
    value : as read from YAML

    Returns
    -------
    str
        Empty if the value fits.
    """
    takes, words = _kind(hint)
    return "" if takes(value) else f"{written(value)} is not allowed; expected {words}{tip(value)}"


def is_int(value) -> bool:
    """Whether a value is a whole number; a bool is none."""
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(value):
    return is_int(value) or (isinstance(value, float) and math.isfinite(value))


_PLAIN = {
    int: (is_int, "a whole number"),
    float: (_is_number, "a number"),
    bool: (lambda value: isinstance(value, bool), "true or false"),
    str: (lambda value: isinstance(value, str), "text"),
    dict: (lambda value: isinstance(value, dict), "keys and values"),
    None: (lambda value: value is None, "null"),
    collections.abc.Callable: (callable, "a function"),
    types.NoneType: (lambda value: value is None, "null"),
}


@cache
def _kind(hint):
    """Whether a value fits an annotation, as a function, and what is expected, in words."""
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if hint in _PLAIN:
        return _PLAIN[hint]
    if origin is typing.Literal:
        choices = {(type(choice), choice) for choice in args}
        takes = lambda value: isinstance(value, typing.Hashable) and (type(value), value) in choices  # noqa: E731
        return takes, " or ".join(map(written, args))
    if origin is typing.Annotated:
        return _annotated(*args)
    if origin in (typing.Union, types.UnionType):
        # Beside a whole number, a number is a fraction: 1 is one thing, and 1.0 all of them.
        bases = [
            typing.get_args(h)[0] if typing.get_origin(h) is typing.Annotated else h for h in args
        ]
        of_int = [
            h for h, base in zip(args, bases, strict=True) if base is not float or int not in bases
        ]
        words = " or ".join(_kind(h)[1] for h in args)
        return lambda v: any(_kind(h)[0](v) for h in (of_int if is_int(v) else args)), words
    if origin in _LISTS or hint in _LISTS:
        return _sequence(hint, args)
    return lambda value: True, "anything"


def _annotated(base, text):
    """Of a base with bounds, as ``">= 0, < 1"``, or with the words for what is expected."""
    takes, words = _kind(base)
    clauses = [clause.split() for clause in text.split(",")]
    if not all(len(clause) == 2 and clause[0] in _BOUNDS for clause in clauses):
        return takes, text
    bounds = [(_BOUNDS[sign][0], float(limit)) for sign, limit in clauses]
    limits = " and ".join(f"{_BOUNDS[sign][1]} {limit}" for sign, limit in clauses)
    joint = " of " if limits.startswith("at") else " "
    is_within = lambda value: takes(value) and all(holds(value, limit) for holds, limit in bounds)  # noqa: E731
    return is_within, f"{words}{joint}{limits}"


def _sequence(hint, args):
    def takes(value):
        pairs = _elements(hint, value)
        return pairs is not None and all(_kind(h)[0](element) for h, element in pairs)

    if typing.get_origin(hint) is tuple and args[-1] is not ...:
        return takes, f"a list of {len(args)}: {', '.join(_kind(h)[1] for h in args)}"
    return takes, f"a list, each {_kind(args[0])[1]}" if args else "a list"


def _elements(hint, value):
    """Annotation and value of each element; None if it is no list of that length."""
    args = typing.get_args(hint) or (typing.Any,)
    if not isinstance(value, (list, tuple)):
        return None
    if typing.get_origin(hint) is tuple and args[-1] is not ...:
        return list(zip(args, value, strict=True)) if len(args) == len(value) else None
    return [(args[0], element) for element in value]


def named(hint, value, kind) -> list[str]:
    """Texts in a value that stand where its annotation has a kind, such as `ImportanceName`."""
    if hint == kind:
        return [value] if _kind(hint)[0](value) else []
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        taking = (choice for choice in typing.get_args(hint) if _kind(choice)[0](value))
        return named(next(taking, None), value, kind)
    elements = _elements(hint, value) if typing.get_origin(hint) in _LISTS else None
    return [text for h, element in elements or [] for text in named(h, element, kind)]


def written(value) -> str:
    """A value for a message, in one line, as YAML has it; numbers with twelve digits."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return repr(float(f"{value:.12g}") if isinstance(value, float) else value)


def tip(value) -> str:
    """What to do about a number that YAML took for text, such as 1e-6, or Snakemake's --config."""
    try:
        float(value if isinstance(value, str) else "")
    except ValueError:
        return ""
    return (
        " (this is text: a number has no quotes, and a decimal point as in 1.0e-6; numbers within "
        "--config name='{...}' are text, so put them into a file for --configfile)"
    )
