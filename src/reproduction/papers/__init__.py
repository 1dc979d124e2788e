"""The papers: one package each, with a file ``artefacts.yaml`` that lists its artefacts.

A study of ours, as `trust`, has the same form. It prints nothing, so it has no folder ``claims``.

The code of an artefact is the module of its name, or the one that its key ``module`` names:
artefacts that differ in parameters alone share one. A module has
``compute(inputs, **parameters) -> DataFrame``; `inputs` are the tables that ``artefacts.yaml``
lists for it, by their names there; if it takes ``importances``, it gets all recipes of these. Its
rows are tidy with the numbers in ``value`` and, where the
paper's text and its printed numbers disagree, a column ``variant``. That of a figure also has
``draw(table) -> matplotlib Figure``, and one that decides claims in words has
``statements(table)``, which gives or yields a `finding` each. Both get the table alone, so it has
all that they need.

The claims of a paper have two forms, in its folder ``claims``. A *PrintedValue* is a number or word
of a table or figure (``claims/ARTEFACT.csv``), compared with the cell of ours that it names. A
*Statement* is a claim in words (``claims/statements.csv``), decided by a measured number and a
limit, see `finding`. Of each comes a *Verdict*: how ours relates to it, see
`reproduction.claims.judge` and `reproduction.claims.judge_statements`.
"""

import math
from functools import cache
from pathlib import Path

import yaml

from reproduction import claims, registry, storage


def finding(
    statement,
    variant,
    measured,
    value,
    limit,
    kind="at most",
    *,
    reading="",
    basis="rounding",
    reason="",
    interval=None,
    possible=None,
    expected=None,
    beside=False,
    identity=False,
) -> dict:
    """The measurement that decides a claim in words, for `reproduction.claims.judge_statements`.

    `statement` is its id, `variant` the case for which it is judged, `measured` the quantity in
    words. Its `value`, None if it is measured elsewhere or cannot be, must be on the side `kind` of
    the `limit`: ``"at most"`` or ``"at least"``.

    A limit that was chosen has a `reading`: why it means what the paper's words mean. Of others
    `basis` says where they, and the interval, come from: ``"rounding"``, errors of floating-point
    arithmetic or of printed digits; ``"printed"``, a limit that the paper prints;
    ``"monte-carlo"``, standard errors of draws; ``"seeds"``, the spread over seeds; and `reason`
    may say more.

    `interval` has the ends of the interval of `value`, over draws or seeds. `possible` are the
    least and the largest that such a quantity can be, None where it has no bound: of a share
    ``(0, 1)``, of an error ``(0, None)``. A value outside is a mistake, whatever the limit.
    `expected` is the range in which the cause on file predicts `value`, if it is not to hold: from
    other rows of the table than `value`, or from theory.

    What stands `beside` the statement does not count toward its outcome: a premise, or a measure
    that the statement does not name. An `identity` can come out in one way only, by its definition,
    and so is no evidence: it is shown, and does not count.
    """
    return {
        "statement": statement,
        "variant": variant,
        "measured": measured,
        "value": None if value is None else float(value),
        "limit": float(limit),
        "kind": kind,
        "basis": claims.OUR_READING if reading else basis,
        "reason": reading or reason,
        "interval": None if interval is None else (float(interval[0]), float(interval[1])),
        "possible": _ends(possible),
        "expected": _ends(expected),
        "counts": claims.IDENTITY if identity else claims.BESIDE if beside else claims.COUNTS,
    }


def around(value, half_width) -> tuple:
    """Ends of the interval that reaches so far to either side of a value."""
    return value - half_width, value + half_width


def of_size(low, high) -> tuple:
    """The interval of the absolute value of a number in an interval."""
    return 0.0 if low <= 0 <= high else min(abs(low), abs(high)), max(abs(low), abs(high))


def printed(paper: str, artefact: str) -> list[tuple[dict, str]]:
    """Return the printed cells of an artefact: the keys of each, and its text."""
    rows = storage.read_rows(Path(__file__).parent / paper / "claims" / f"{artefact}.csv")
    return [(claims.parse_cell(row["cell"]), row["printed"]) for row in rows]


def _ends(pair):
    """A range with infinite ends in place of None."""
    if pair is None:
        return None
    low, high = pair
    return (-math.inf if low is None else float(low), math.inf if high is None else float(high))


def available() -> list[str]:
    """All artefacts, as PAPER/ARTEFACT."""
    return sorted(_modules())


def artefact(name: str):
    """The module of one artefact.

    Raises
    ------
    ValueError
        If there is no such artefact, or its module does not exist; the message lists all artefacts.
    """
    paper = name.partition("/")[0]
    return registry.load(f"{__name__}.{paper}", module_of(name), f"module of {name}")


def module_of(name: str) -> str:
    """Name of the module that has the code of an artefact.

    Raises
    ------
    ValueError
        If there is no such artefact; the message lists all artefacts.
    """
    if name not in _modules():
        raise ValueError(f"unknown artefact {name!r}: available are {', '.join(available())}")
    return _modules()[name]


@cache
def _modules() -> dict[str, str]:
    """Artefact, as PAPER/ARTEFACT -> its module, from the files beside the code."""
    return {
        f"{path.parent.name}/{name}": keys.get("module", name)
        for path in Path(__file__).parent.glob("*/artefacts.yaml")
        for name, keys in yaml.safe_load(path.read_text(encoding="utf-8")).items()
    }
