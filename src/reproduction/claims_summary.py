"""Numbers of printed values and statements by verdict, as counts and as Markdown."""

import re

from reproduction.claims import OUTCOMES, PAPERS_DATA, STAND_IN, VERDICTS, is_statement, outcomes

VALUE_VERDICTS = tuple(v for v in VERDICTS if v not in ("holds", "undecided"))


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
    """Number of statements of each outcome, by paper and by whose data decided."""
    rows: dict = {}
    for (paper, _), (outcome, data) in outcomes(claims).items():
        rows.setdefault((paper, data), dict.fromkeys(OUTCOMES, 0))[outcome] += 1
    return rows


def reduced_preset(claims) -> str | None:
    """The preset of a run that was scaled down, as the causes of its claims name it."""
    named = (re.search(r"\bpreset (\w+):", claim["cause"]) for claim in claims)
    return next((match[1] for match in named if match), None)


def summary(claims) -> str:
    """Markdown tables: printed values by verdict, and statements by outcome, each counted once."""
    values = _markdown("artefact | variant | values", VALUE_VERDICTS, counts(claims))
    statements = _markdown("paper | data | statements", OUTCOMES, statement_counts(claims))
    return f"{values}\n{statements}"


def _markdown(head, names, rows):
    lines = [f"| {head} | {' | '.join(names)} |", "|---|---|--:|" + "--:|" * len(names)]
    for key, row in rows.items():
        numbers = " | ".join(str(n or "") for n in row.values())
        lines.append(f"| {' | '.join(key)} | {sum(row.values())} | {numbers} |")
    return "\n".join(lines) + "\n"
