"""Count printed values and statements by verdict, as counts, lines and Markdown."""

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
STATED, TIMED = "claims in words", "claims about run time"
# What became of a paper's values and findings -> their verdicts and outcomes.
STANDINGS = {
    "reproduced": ("equal", "within", "holds"),
    "in part": ("holds in part", "undecided in part"),
    "not": ("differs", "unexplained", "does not hold", "not by our reading"),
    "open": ("undecided", "not comparable", "not judged", OUTSIDE),
}


def totals(claims) -> dict[str, dict[str, int]]:
    """Count a run's verdicts of printed values, and outcomes of statements, by kind.

    ``"printed values"`` are of the variant published, which the printed numbers came from. Each of
    the ``"claims in words"`` counts once, except for those about run time, which only checks by the
    clock decide: only these may differ from run to run. Verdicts that none has are left out.
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


def standing(claims) -> dict:
    """Summarize one paper: a ``mark``, and counts of what was reproduced by kind.

    Each printed value of the variant published and each claim in words counts once. The mark is
    empty for a paper that has neither.
    """
    found = totals(claims)
    counts = {
        kind: {
            name: sum(found[kind].get(verdict, 0) for verdict in verdicts)
            for name, verdicts in STANDINGS.items()
        }
        for kind in (STATED, PRINTED)
        if found[kind]
    }
    names = {name for numbers in counts.values() for name, n in numbers.items() if n}
    if names & {"reproduced", "in part"}:
        mark = "reproduced" if names == {"reproduced"} else "reproduced in part"
    else:
        mark = "not reproduced" if "not" in names else "open" if names else ""
    return {"mark": mark, "counts": counts}


def outcome(claims) -> str:
    """Write one line on a run that passed: how much of it could be judged."""
    found, parts = totals(claims), []
    for kind, unjudged in ((PRINTED, "not comparable"), (STATED, "not judged")):
        n = sum(found[kind].values())
        parts.append(f"{n - found[kind].get(unjudged, 0)} of {n} {kind}")
    preset = reduced_preset(claims)
    scale = f" at the sizes of the preset {preset}" if preset else ""
    return f"passed: no difference without a known cause; judged {' and '.join(parts)}{scale}"


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
    """Count printed values by verdict, artefact and variant, in order of appearance."""
    rows: dict = {}
    for claim in claims:
        if not is_statement(claim):
            name = f"{claim['paper']}/{claim['artefact']}"
            name += "" if claim["data"] == PAPERS_DATA else f" ({STAND_IN})"
            row = rows.setdefault((name, claim["variant"]), dict.fromkeys(VALUE_VERDICTS, 0))
            row[claim["verdict"]] += 1
    return rows


def statement_counts(claims) -> dict[tuple[str, str], dict[str, int]]:
    """Count statements by outcome and paper, and by whose data, or the clock, decided."""
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
