"""Numbers of printed values and statements by verdict, as counts, as lines and as Markdown."""

import re

from reproduction.claims import (
    CLOCK,
    OUTCOMES,
    OUTSIDE,
    PAPERS_DATA,
    STAND_IN,
    VERDICTS,
    is_statement,
    outcomes,
)

VALUE_VERDICTS = tuple(v for v in VERDICTS if v not in ("holds", "undecided", OUTSIDE))
# What is counted on every page: each printed value and each statement once.
PRINTED, OTHERS = "printed values", "printed values by other variants"
STATED, TIMED = "findings in words", "findings in words on times"


def totals(claims) -> dict[str, dict[str, int]]:
    """What a run is counted by: verdicts of printed values, and outcomes of statements.

    Parameters
    ----------
    claims : list of dict
        Rows of claims tables.

    Returns
    -------
    dict of str to dict of str to int
        ``"printed values"``: of the variant published, which the printed numbers came from;
        ``"printed values by other variants"``; ``"findings in words"``: each once, but for
        ``"findings in words on times"``, which only checks by the clock decide. Only these may
        differ from run to run. Verdicts that none has are left out.
    """
    found: dict = {kind: [] for kind in (PRINTED, OTHERS, STATED, TIMED)}
    for claim in claims:
        if not is_statement(claim):
            kind = PRINTED if claim["variant"] == "published" else OTHERS
            found[kind].append(claim["verdict"])
    for outcome, decided_by in outcomes(claims).values():
        found[TIMED if decided_by == CLOCK else STATED].append(outcome)
    names = dict.fromkeys((*OUTCOMES, *VERDICTS))
    return {
        kind: {name: verdicts.count(name) for name in names if name in verdicts}
        for kind, verdicts in found.items()
    }


def lines(claims) -> list[str]:
    """The totals as text, a line for each kind that there is; the last ones depend on the clock."""
    texts = [
        f"{kind} ({sum(of_kind.values())}): {', '.join(f'{v} {n}' for v, n in of_kind.items())}"
        for kind, of_kind in totals(claims).items()
        if of_kind
    ]
    outside = sum(claim["verdict"] == OUTSIDE for claim in claims)
    return texts + ([f"checks by the clock outside their band: {outside}"] if outside else [])


def counts(claims) -> dict[tuple[str, str], dict[str, int]]:
    """Number of printed values of each verdict, by artefact and variant in order of appearance."""
    rows: dict = {}
    for claim in claims:
        if not is_statement(claim):
            name = f"{claim['paper']}/{claim['artefact']}"
            name += "" if claim["data"] == PAPERS_DATA else f" ({STAND_IN})"
            row = rows.setdefault((name, claim["variant"]), dict.fromkeys(VALUE_VERDICTS, 0))
            row[claim["verdict"]] += 1
    return rows


def statement_counts(claims) -> dict[tuple[str, str], dict[str, int]]:
    """Number of statements of each outcome, by paper and by whose data, or the clock, decided."""
    rows: dict = {}
    for (paper, _), (outcome, decided_by) in outcomes(claims).items():
        rows.setdefault((paper, decided_by), dict.fromkeys(OUTCOMES, 0))[outcome] += 1
    return rows


def reduced_preset(claims) -> str | None:
    """The preset of a run that was scaled down, as the causes of its claims name it."""
    named = (re.search(r"\bpreset (\w+):", claim["cause"]) for claim in claims)
    return next((match[1] for match in named if match), None)


def summary(claims) -> str:
    """Markdown: the totals, printed values by artefact, and statements by paper, each once."""
    totals_of_run = "".join(f"- {line}\n" for line in lines(claims))
    values = _markdown("artefact | variant | values", VALUE_VERDICTS, counts(claims))
    statements = _markdown(
        "paper | data, or the clock | statements", OUTCOMES, statement_counts(claims)
    )
    return f"{totals_of_run}\n{values}\n{statements}"


def _markdown(head, names, rows):
    text_lines = [f"| {head} | {' | '.join(names)} |", "|---|---|--:|" + "--:|" * len(names)]
    for key, row in rows.items():
        numbers = " | ".join(str(n or "") for n in row.values())
        text_lines.append(f"| {' | '.join(key)} | {sum(row.values())} | {numbers} |")
    return "\n".join(text_lines) + "\n"
