"""The papers: one package each, one file an artefact.

An artefact's file has ``compute(inputs, **parameters) -> DataFrame``, whose rows are tidy with the
numbers in ``value`` and, where the paper's text and its printed numbers disagree, a column
``variant``. A figure's file also has ``draw(table) -> matplotlib Figure``, and one that decides
findings stated in words has ``statements(table) -> list of dict``, see
`reproduction.claims.judge_statements`.
"""

from __future__ import annotations

import pkgutil

from splitcredit import registry


def finding(statement, variant, measured, value, limit, kind="at most") -> dict:
    """What decides a finding in words, as `reproduction.claims.judge_statements` takes it.

    Parameters
    ----------
    statement : str
        Its id.
    variant : str
        What it is judged for.
    measured : str
        In words.
    value : float or None
        None if it is measured elsewhere, or cannot be.
    limit : float
    kind : {"at most", "at least"}
        What `value` must be of `limit`.
    """
    found = {"statement": statement, "variant": variant, "measured": measured}
    value = None if value is None else float(value)
    return {**found, "value": value, "limit": float(limit), "kind": kind}


def available() -> list[str]:
    """All artefacts, as PAPER/ARTEFACT."""
    papers = [m.name for m in pkgutil.iter_modules(__path__)]
    return sorted(f"{p}/{name}" for p in papers for name in registry.names(f"{__name__}.{p}"))


def artefact(name: str):
    """The module of one artefact.

    Raises
    ------
    ValueError
        If there is no such artefact; the message lists what there is.
    """
    if name not in available():
        raise ValueError(f"unknown artefact {name!r}: available are {', '.join(available())}")
    paper, _, own = name.partition("/")
    return registry.load(f"{__name__}.{paper}", own, "artefact")
