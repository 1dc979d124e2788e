"""Lay a run into the templates of the report."""

from __future__ import annotations

from pathlib import Path

from reproduction import storage
from reproduction.claims import (
    CLOCK,
    OUTCOMES,
    OUTSIDE,
    VERDICTS,
    deciding,
    is_statement,
    number,
    outcomes,
    parse_cell,
)
from reproduction.claims_summary import (
    VALUE_VERDICTS,
    counts,
    standing,
    statement_counts,
    totals,
)
from reproduction.report import making, pictures, texts
from reproduction.report.numbers import Numbers
from reproduction.report.texts import is_number

MEANINGS = {
    "equal": "Our value rounds to the printed text.",
    "within": "Our value lies inside a tolerance, whose basis is named beside it.",
    "holds": "A finding in words: the measured number is on the stated side of its limit.",
    "undecided": "A finding in words: the interval of the measured number includes the limit.",
    "differs": "Our value lies outside the tolerance, where a known cause predicts it.",
    "unexplained": "No known cause predicts our value. The run fails.",
    OUTSIDE: "A check by the clock that no known cause predicts: not judged on this machine.",
    "not comparable": "Our value is not held against print, for the reason given beside it.",
}
OUTCOME_MEANINGS = {
    "holds": "Every check of the statement holds.",
    "holds in part": "Some checks hold and others do not.",
    "undecided in part": "Some checks hold, and the intervals of the others include their limits.",
    "does not hold": "No check holds, and at least one measured number is beyond its limit.",
    "not by our reading": "The same, but only by limits or readings that this project chose.",
    "undecided": "No check holds, because every interval includes its limit.",
    "not judged": "No check was made at this scale.",
}
# The verdicts that a reader looks for first.
_DEVIATIONS = ("unexplained", OUTSIDE, "differs")
# Tables of ours with more rows than this are named and not shown; without a picture there is
# nothing else to see.
_SHOWN_ROWS = 40
_SHOWN_ROWS_WITHOUT_PICTURE = 250
# A page has no room for more columns.
_SHOWN_COLUMNS = 16


def render(
    claims,
    config,
    figures,
    tables,
    *,
    manifest=None,
    versions=None,
    seconds=(),
    bench=(),
    incomplete=(),
    incomplete_sweeps=(),
    sweeps=(),
) -> str:
    """The report as one HTML text that refers to no other file.

    `claims` are rows of the claims tables, those of times included; `figures` and `tables` files
    ``.../PAPER/ARTEFACT.svg``, ``.png`` and ``.csv``; `manifest`, `versions` and `seconds` what
    `reproduction.report.manifest` gives; `bench` rows of the benchmarks against other packages.
    `incomplete` and `incomplete_sweeps` name what this run did not finish, by ``artefact`` or
    ``sweep``, ``log`` and ``reason``; `sweeps` is from `reproduction.report.sweeps.sections`.
    """
    # Optional artefacts are shown if they were made.
    images = pictures.by_artefact(figures)
    own_tables = {f"{Path(t).parent.name}/{Path(t).stem}": Path(t) for t in tables}
    judged = _by_artefact(claims)
    reasons = {row["artefact"]: row for row in incomplete}
    names = [
        name
        for name in texts.in_order(config["artefacts"])
        if not config["artefacts"][name].get("optional") or name in own_tables
    ]
    numbers = Numbers(own_tables, claims, config)
    context = _Context(config, images, own_tables, judged, reasons, numbers)
    shown = [context.paper(paper, names) for paper in _papers(names)]
    return _PAGES.get_template("report.html").render(
        preset=config["preset"],
        paper_scale=config["paper_scale"],
        incomplete=incomplete,
        incomplete_sweeps=incomplete_sweeps,
        unexplained=[claim for claim in claims if claim["verdict"] == "unexplained"],
        n_artefacts=len(names),
        n_figures=sum(name in images for name in names),
        n_tables=sum(name in own_tables for name in names),
        meanings=MEANINGS,
        outcome_meanings=OUTCOME_MEANINGS,
        totals=totals(claims),
        outside=[claim for claim in claims if claim["verdict"] == OUTSIDE],
        value_verdicts=VALUE_VERDICTS,
        counts=counts(claims),
        outcomes=OUTCOMES,
        statement_counts=statement_counts(claims),
        papers=shown,
        claims=claims,
        manifest=manifest or {},
        versions=versions or {},
        seconds=seconds,
        bench=bench,
        sweeps=sweeps,
        parts=texts.PARTS,
    )


def _papers(names):
    return list(dict.fromkeys(name.partition("/")[0] for name in names))


def _by_artefact(claims):
    judged: dict[str, list] = {}
    for claim in claims:
        judged.setdefault(f"{claim['paper']}/{claim['artefact']}", []).append(claim)
    return judged


def _by_paper_and_verdict(claims):
    """Pairs of a paper and of its pairs of a verdict and rows, those that deviate first."""
    order = (*_DEVIATIONS, *(v for v in VERDICTS if v not in _DEVIATIONS))
    for paper in dict.fromkeys(claim["paper"] for claim in claims):
        of_paper = [claim for claim in claims if claim["paper"] == paper]
        pairs = [(v, [claim for claim in of_paper if claim["verdict"] == v]) for v in order]
        yield paper, [(verdict, rows) for verdict, rows in pairs if rows]


class _Context:
    """The contents of a run, from which the sections of papers and artefacts are made."""

    def __init__(self, config, images, tables, judged, reasons, numbers):
        self.config, self.images, self.tables = config, images, tables
        self.judged, self.reasons, self.numbers = judged, reasons, numbers

    def paper(self, paper, shown):
        """One paper: its account, its statements and its artefacts."""
        account = texts.account(paper)
        captions = {f"{paper}/{key}": caption for key, caption in texts.captions(paper).items()}
        names_of_paper = [name for name in shown if name.startswith(f"{paper}/")]
        rows = [claim for name in names_of_paper for claim in self.judged.get(name, [])]
        return {
            "name": paper,
            "citation": account.get("citation", paper),
            "url": account.get("url", ""),
            "claims": self._filled(account.get("claims", "")),
            "found": self._filled(account.get("found", "")),
            "headlines": [self._headline(entry) for entry in account.get("headlines", [])],
            "statements": self._statements(paper, rows),
            "standing": standing(rows),
            "artefacts": [self.artefact(name, captions.get(name, {})) for name in names_of_paper],
        }

    def artefact(self, name, caption):
        """One figure or table with its caption and its judged values."""
        rows = self.judged.get(name, [])
        groups: dict[str, list] = {}
        for row in rows:
            group = "stated in words" if is_statement(row) else row["variant"]
            groups.setdefault(group, []).append(row)
        caption_texts = {
            part: self._filled(caption[part]) for part in texts.PARTS if part in caption
        }
        picture = pictures.embed(self.images[name]) if name in self.images else None
        definition = self.config["artefacts"][name]
        return {
            "name": name,
            "title": definition["title"],
            "timed": definition.get("timed", False),
            "stand_in": definition.get("stand_in", ""),
            "incomplete": self.reasons.get(name),
            "deviations": _tally(row for row in rows if _is_marked(row)),
            "picture": picture,
            # A title may be a user's: only texts of the project are filled.
            "alt": self._filled(caption["alt"])["text"]
            if "alt" in caption
            else definition["title"],
            "caption": caption_texts,
            "groups": [
                {
                    "name": group,
                    "tally": _tally(rows_of_group),
                    "rows": rows_of_group,
                }
                for group, rows_of_group in groups.items()
            ],
            "table": self._small_table(name),
            "making": making.of_artefact(name, self.config, picture is not None),
        }

    def _headline(self, entry):
        return {
            "headline": entry["headline"],
            "shown_by": entry["shown_by"],
            **self._filled(entry["text"]),
        }

    def _filled(self, text):
        return self.numbers.filled(text)

    def _statements(self, paper, rows):
        """Each statement once, with its outcome, which part holds, and what decides it."""
        decided, parts = outcomes(rows), texts.parts(paper)
        statements: dict[str, dict] = {}
        for (_, cell), (outcome, data) in sorted(decided.items()):
            checks = [row for row in rows if row["cell"] == cell]
            entry = {"text": checks[0]["printed"], "outcome": outcome, "data": data, "part": ""}
            if outcome in ("holds in part", "undecided in part"):
                judged = deciding(checks)[1]
                others = [row["variant"] for row in judged if row["verdict"] != "holds"]
                # The words are those of a full run, on any machine.
                part = parts.get(cell) if self.config["paper_scale"] and data != CLOCK else None
                part = part or f"not {'; '.join(others[:3])}" + ("; ..." if others[3:] else "")
                entry["part"] = f"{len(judged) - len(others)} of {len(judged)} checks: {part}"
            entry["by"] = list(dict.fromkeys(f"{paper}/{row['artefact']}" for row in checks))
            statements[cell] = entry
        return statements

    def _small_table(self, name):
        """Header and rows of a table of ours that is short enough to be shown."""
        if name not in self.tables or self.judged.get(name):
            return None
        rows = storage.read_rows(self.tables[name])
        most = _SHOWN_ROWS if name in self.images else _SHOWN_ROWS_WITHOUT_PICTURE
        if not rows or len(rows) > most or len(rows[0]) > _SHOWN_COLUMNS:
            return None
        return {"columns": list(rows[0]), "rows": [list(row.values()) for row in rows]}


def _place(name):
    """Where a link to a file of the project leads, or to a test, from ``results/report.html``."""
    file = name.partition("::")[0]
    return file.removeprefix("results/") if file.startswith("results/") else f"../{file}"


def _is_marked(claim):
    """Whether the list of contents marks a row: it counts values as the tiles do, each once."""
    is_counted = claim["variant"] == "published" and not is_statement(claim)
    return claim["verdict"] == "unexplained" or (is_counted and claim["verdict"] == "differs")


def _tally(rows):
    verdicts = [row["verdict"] for row in rows]
    return {v: verdicts.count(v) for v in VERDICTS if v in verdicts}


def _cell(claim):
    if is_statement(claim):
        return claim["cell"] + ("" if claim["variant"] == "stated" else f" ({claim['variant']})")
    return ", ".join(f"{key} {value}" for key, value in parse_cell(claim["cell"]).items())


def _tolerance(claim):
    text = f"{claim['tolerance']} ({claim['basis']})" if claim["tolerance"] else claim["basis"]
    return f"{text}; expected {claim['expected']}" if claim["expected"] else text


def _ours(claim):
    """Ours as the page shows it, with the interval of a measured number."""
    interval = f" (interval {claim['interval']})" if claim["interval"] else ""
    if claim["ours"] == "nan":
        return "unknown"
    return _rounded(claim["ours"], claim["printed"]) + interval


def _rounded(ours, printed):
    """Ours with two digits more than printed, if it has any; the table has all of them."""
    if not (is_number(printed) and is_number(ours)):
        return str(ours)
    after_point = max(-number(printed).as_tuple().exponent, 0)
    if after_point > 0 or not float(ours).is_integer():
        after_point += 2
    return f"{float(ours):.{after_point}f}"


def _seconds(value):
    """A duration for reading, in the unit that suits it."""
    value = float(value)
    if value >= 120:
        return f"{value / 60:.1f} min"
    return f"{value:.1f} s" if value >= 1 else f"{value:.2f} s"


_PAGES = texts.PAGES
_PAGES.filters |= {
    "cell": _cell,
    "tolerance": _tolerance,
    "ours": _ours,
    "is_statement": is_statement,
    "by_paper_and_verdict": _by_paper_and_verdict,
    "place": _place,
    "artefact_of": lambda claim: f"{claim['paper']}/{claim['artefact']}",
    "seconds": _seconds,
}
