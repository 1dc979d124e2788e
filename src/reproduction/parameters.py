"""Define kinds of parameter values as annotations, and check values against them.

Loaders of data sets and metrics annotate their parameters with these names, and
`reproduction.planning.checks` holds values against them, by pydantic. The second part of a kind is
a range, ``">= 0, < 1"``, or says what a text names. Numbers are finite.
"""

import collections.abc
import contextlib
import re
import types
import typing
from functools import cache
from typing import Annotated, Any, Literal

import pydantic

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
# Some of these, by default all that a metric can take; and pairs of them.
ImportanceNames = list[ImportanceName] | None
Pairs = list[tuple[ImportanceName, ImportanceName]]
# A file in reproduction/datasets.
DatasetName = Annotated[str, "the name of a data set"]
# Outcomes of the rows of a data set: their own, or each other's, dealt at random.
Outcome = Literal["observed", "permuted"]

_BOUNDS = {">=": "ge", "<=": "le", ">": "gt", "<": "lt"}


def problem(hint, value) -> str:
    """Say what is wrong with a value, as ``-5 is not allowed; expected ...``; empty if it fits."""
    try:
        _adapter(hint).validate_python(value, context=[])
    except pydantic.ValidationError as error:
        first, *others = error.errors(include_url=False)
        # Of a union, pydantic says what each of its parts expects.
        ways = [first, *(e for e in others if e["input"] is first["input"])]
        text = " or ".join(dict.fromkeys(e["msg"] for e in ways)).replace("None", "null")
        text = re.sub("(greater|less) than", r"a number \1 than", text)
        text = text.replace("Field required", "expected another value")
        text = text.replace("Input should be", "expected", 1).replace("Input should be ", "")
        found = first["input"]
        return f"{written(found)} is not allowed; {text}{tip(found)}"
    return ""


def named(hint, value, kind) -> list[str]:
    """Texts in a value that stand where its annotation has a kind, such as `ImportanceName`."""
    found: list[tuple] = []
    with contextlib.suppress(pydantic.ValidationError):
        _adapter(hint).validate_python(value, context=found)
    return [text for words, text in found if words == kind.__metadata__[0]]


@cache
def _adapter(hint):
    return pydantic.TypeAdapter(_checked(hint))


def _checked(hint):
    """Turn an annotation into pydantic's; an unknown one takes every value."""
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if origin is Annotated:
        clauses = [clause.split() for clause in args[1].split(",")]
        if all(clause[0] in _BOUNDS for clause in clauses):
            limits = {_BOUNDS[sign]: float(limit) for sign, limit in clauses}
            return Annotated[_checked(args[0]), pydantic.Field(**limits)]
        return Annotated[_checked(args[0]), pydantic.AfterValidator(_noting(args[1]))]
    if origin in (typing.Union, types.UnionType):
        return typing.Union[tuple(map(_checked, args))]  # noqa: UP007
    if origin in (list, tuple, dict, collections.abc.Sequence):
        return origin[tuple(arg if arg is ... else _checked(arg) for arg in args)]
    if hint in (int, bool, str):
        return Annotated[hint, pydantic.Strict()]  # else true is 1, and "2" is 2
    if hint is float:
        return Annotated[float, pydantic.Strict(), pydantic.AllowInfNan(False)]
    return hint if origin is Literal or hint in (dict, list, None, types.NoneType) else Any


def _noting(words):
    """A validator that notes the text it sees in the context, with the words of its kind."""

    def note(text, info):
        info.context.append((words, text))
        return text

    return note


def written(value) -> str:
    """A value for a message, in one line, as YAML has it; numbers with twelve digits."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return repr(float(f"{value:.12g}") if isinstance(value, float) else value)


def tip(value) -> str:
    """Return a remedy for a number that YAML read as text, such as 1e-6, or from --config."""
    try:
        float(value if isinstance(value, str) else "")
    except ValueError:
        return ""
    return (
        " (this is text: a number has no quotes, and a decimal point as in 1.0e-6; numbers within "
        "--config name='{...}' are text, so put them into a file for --configfile)"
    )
