"""Verdicts on the findings and on the printed values of an artefact."""

from reproduction import claims
from reproduction.stages import artefacts


def verdicts(findings):
    """Verdict of each finding, by statement and variant."""
    return {
        (f["statement"], f["variant"]): claims.statement_verdict(
            f["value"], f["limit"], f["kind"], f["interval"]
        )
        for f in findings
    }


def of(verdicts, statement, part=""):
    """Verdicts of one statement, of the variants that hold a text."""
    return {v: w for (s, v), w in verdicts.items() if s == statement and part in v}


def judged(name, table):
    """Claims of all printed values of an artefact, from the rows of its table as text."""
    paper, _, artefact = name.partition("/")
    rows = [{k: str(v) for k, v in row.items()} for row in table.to_dict("records")]
    rules = artefacts.rules_of(paper).get(artefact, [])
    return claims.judge(paper, artefact, artefacts.printed_values(name), rows, rules)
