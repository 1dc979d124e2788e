"""The claims table for reading: a summary in Markdown and a page in HTML."""

from __future__ import annotations

from pathlib import Path

import jinja2

from reproduction.claims import (
    OUTCOMES,
    PAPERS_DATA,
    STAND_IN,
    VERDICTS,
    is_statement,
    number,
    outcomes,
    parse_cell,
)

_MEANING = {
    "equal": "ours rounds to the printed text",
    "within": "inside the tolerance, whose basis is named",
    "holds": "a finding in words, on the side of its limit that the paper states",
    "undecided": "a finding in words; the interval of the measured number includes the limit",
    "differs": "outside; the cause was found, and a test shows it",
    "unexplained": "outside, and no cause is known; the run ends with status 1",
    "not comparable": "not held against print, for the reason given",
}


_VALUE_VERDICTS = tuple(v for v in VERDICTS if v not in ("holds", "undecided"))


def counts(claims) -> dict[tuple[str, str], dict[str, int]]:
    """Number of printed values of each verdict, by artefact and variant in order of appearance."""
    counted: dict = {}
    for claim in claims:
        if not is_statement(claim):
            name = _name(claim) + ("" if claim["data"] == PAPERS_DATA else f" ({STAND_IN})")
            row = counted.setdefault((name, claim["variant"]), dict.fromkeys(_VALUE_VERDICTS, 0))
            row[claim["verdict"]] += 1
    return counted


def statement_counts(claims) -> dict[tuple[str, str], dict[str, int]]:
    """Number of statements of each outcome, by paper and by whose data decided."""
    counted: dict = {}
    for (paper, _), (outcome, data) in outcomes(claims).items():
        counted.setdefault((paper, data), dict.fromkeys(OUTCOMES, 0))[outcome] += 1
    return counted


def summary(claims) -> str:
    """Markdown tables: printed values by verdict, and statements by outcome, each counted once."""
    values = _markdown("artefact | variant | values", _VALUE_VERDICTS, counts(claims))
    stated = _markdown("paper | data | statements", OUTCOMES, statement_counts(claims))
    return f"{values}\n{stated}"


def _markdown(head, names, counted):
    lines = [f"| {head} | {' | '.join(names)} |", "|---|---|--:|" + "--:|" * len(names)]
    for key, row in counted.items():
        numbers = " | ".join(str(n or "") for n in row.values())
        lines.append(f"| {' | '.join(key)} | {sum(row.values())} | {numbers} |")
    return "\n".join(lines) + "\n"


def page(claims, titles, figures, preset, incomplete=(), stand_ins=None) -> str:
    """Self-contained HTML: the summary, each artefact's picture, and every value.

    Parameters
    ----------
    claims : list of dict
        Rows of the claims table.
    titles : dict of str to str
        By PAPER/ARTEFACT; artefacts without printed values are listed too.
    figures : list of paths
        SVG files ending in PAPER/ARTEFACT.svg, put into the page.
    preset : str
    incomplete : sequence of dict of str to str
        Artefacts that this run did not finish: ``artefact``, ``log`` and ``reason``.
    stand_ins : dict of str to str, optional
        By PAPER/ARTEFACT: what replaces the paper's data.
    """
    pictures = {f"{Path(f).parent.name}/{Path(f).stem}": Path(f) for f in figures}
    reasons = {row["artefact"]: row for row in incomplete}
    sections = []
    for name in dict.fromkeys([*titles, *map(_name, claims)]):
        rows = [claim for claim in claims if _name(claim) == name]
        groups: dict = {}
        for row in rows:
            groups.setdefault(_group(row), []).append(row)
        sections.append(
            {
                "name": name,
                "title": titles.get(name, ""),
                "picture": _svg(pictures[name]) if name in pictures else "",
                "incomplete": reasons.get(name),
                "stand_in": (stand_ins or {}).get(name, ""),
                "groups": [
                    {"name": group, "tally": _tally(own), "rows": own}
                    for group, own in groups.items()
                ],
            }
        )
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters |= {
        "cell": _cell,
        "width": _width,
        "ours": _ours,
        "is_number": _is_number,
    }
    return environment.get_template("claims_page.html").render(
        preset=preset,
        incomplete=incomplete,
        unexplained=[claim for claim in claims if claim["verdict"] == "unexplained"],
        meanings=_MEANING,
        value_verdicts=_VALUE_VERDICTS,
        counts=counts(claims),
        outcomes=OUTCOMES,
        statement_counts=statement_counts(claims),
        sections=sections,
    )


def _group(claim):
    return "stated in words" if is_statement(claim) else claim["variant"]


def _name(claim):
    return f"{claim['paper']}/{claim['artefact']}"


def _tally(rows):
    verdicts = [row["verdict"] for row in rows]
    return ", ".join(f"{verdicts.count(v)} {v}" for v in VERDICTS if v in verdicts)


def _cell(claim):
    if is_statement(claim):
        return claim["cell"] + ("" if claim["variant"] == "stated" else f" ({claim['variant']})")
    return ", ".join(f"{key} {value}" for key, value in parse_cell(claim["cell"]).items())


def _width(claim):
    return f"{claim['tolerance']} ({claim['basis']})" if claim["tolerance"] else claim["basis"]


def _ours(claim):
    """Ours as the page shows it, with the interval of a measured number."""
    interval = f" (interval {claim['interval']})" if claim["interval"] else ""
    return _short(claim["ours"], claim["printed"]) + interval


def _is_number(text):
    return number(str(text)) is not None


def _short(ours, printed):
    """Ours with two digits more than printed; the table has all of them."""
    if not (_is_number(printed) and _is_number(ours)):
        return str(ours)
    digits = max(-number(printed).as_tuple().exponent, 0) + 2
    return f"{float(ours):.{digits}f}"


def _svg(path):
    text = Path(path).read_text(encoding="utf-8")
    return text[text.index("<svg") :]
