"""Verdicts of the findings of an artefact."""

from reproduction import claims


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
