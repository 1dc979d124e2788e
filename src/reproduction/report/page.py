"""Lay a run into the templates of the report."""

from __future__ import annotations

from pathlib import Path

from reproduction import claims as claims_module
from reproduction import claims_summary, storage
from reproduction.report import figure_files, making, texts
from reproduction.report.numbers import Numbers
from reproduction.report.texts import is_number

# The verdicts that a reader looks for first.
_DEVIATIONS = ("unexplained", claims_module.OUTSIDE, "differs")
# Tables of ours with more rows than this are named and not shown; without a figure there is
# nothing else to see.
_SHOWN_ROWS = 40
_SHOWN_ROWS_WITHOUT_FIGURE = 250
# A page has no room for more columns.
_SHOWN_COLUMNS = 16
# What a run may have beside its claims.
_ABSENT: dict = {"manifest": {}, "versions": {}}
_ABSENT |= {"seconds": (), "bench": (), "sweeps": (), "incomplete_sweeps": ()}


def render(claims, config, figures, tables, *, incomplete=(), **run) -> str:
    """The report as one HTML text that refers to no other file.

    `claims` are rows of the claims tables, those of times included; `figures` and `tables` files
    ``.../PAPER/ARTEFACT.svg``, ``.png`` and ``.csv``. `incomplete` names the artefacts that the run
    did not finish, by ``artefact``, ``log`` and ``reason``.

    Of the `run` there may be ``manifest``, ``versions`` and ``seconds``, see
    `reproduction.report.manifest`; ``bench``, rows of the benchmarks against other packages;
    ``sweeps``, see `reproduction.report.sweeps.sections`; and ``incomplete_sweeps``, as
    `incomplete` by ``sweep``.
    """
    images = figure_files.by_artefact(figures)
    own_tables = {f"{Path(t).parent.name}/{Path(t).stem}": Path(t) for t in tables}
    names: dict[str, list] = {}
    for name, artefact in config["artefacts"].items():
        # Optional artefacts are shown if they were made.
        if not artefact.get("optional") or name in own_tables:
            names.setdefault(name.partition("/")[0], []).append(name)
    context = _Context(config, images, own_tables, claims, incomplete)
    shown = [name for of_paper in names.values() for name in of_paper]
    return texts.PAGES.get_template("report.html").render(
        _ABSENT | run,
        config=config,
        incomplete=incomplete,
        n_artefacts=len(shown),
        n_figures=sum(name in images for name in shown),
        n_tables=sum(name in own_tables for name in shown),
        unexplained=[claim for claim in claims if claim["verdict"] == "unexplained"],
        outside=[claim for claim in claims if claim["verdict"] == claims_module.OUTSIDE],
        summary=claims_summary,
        papers=[context.paper(paper, of_paper) for paper, of_paper in names.items()],
        claims=claims,
        parts=texts.PARTS,
    )


def _by_paper_and_verdict(claims):
    """Pairs of a paper and of its pairs of a verdict and rows, those that deviate first."""
    order = dict.fromkeys((*_DEVIATIONS, *claims_module.VERDICTS))
    for paper in dict.fromkeys(claim["paper"] for claim in claims):
        of_paper = [claim for claim in claims if claim["paper"] == paper]
        pairs = [(v, [claim for claim in of_paper if claim["verdict"] == v]) for v in order]
        yield paper, [(verdict, rows) for verdict, rows in pairs if rows]


class _Context:
    """The contents of a run, from which the sections of papers and artefacts are made."""

    def __init__(self, config, images, tables, claims, incomplete):
        self.config, self.images, self.tables = config, images, tables
        self.numbers = Numbers(tables, claims, config)
        self.reasons = {row["artefact"]: row for row in incomplete}
        self.judged: dict[str, list] = {}
        for claim in claims:
            self.judged.setdefault(_artefact_of(claim), []).append(claim)

    def paper(self, paper, names):
        """One paper: its account, its statements and its artefacts of some names."""
        nothing = {"citation": paper, "url": "", "claims": "", "found": "", "headlines": []}
        account, captions = nothing | texts.account(paper), texts.captions(paper)
        rows = [claim for name in names for claim in self.judged.get(name, [])]
        # Which part of a statement holds is known in words of a full run, on any machine.
        parts = texts.parts(paper) if self.config["paper_scale"] else {}
        return {
            **account,
            "name": paper,
            "claims": self.numbers.filled(account["claims"]),
            "found": self.numbers.filled(account["found"]),
            "headlines": self.numbers.headlines(account["headlines"]),
            "statements": _statements(rows, parts),
            "standing": claims_summary.standing(rows),
            "artefacts": [
                self.artefact(name, captions.get(name.partition("/")[2], {})) for name in names
            ],
        }

    def artefact(self, name, caption):
        """One figure or table with its caption and its judged values."""
        rows, definition = self.judged.get(name, []), self.config["artefacts"][name]
        groups: dict[str, list] = {}
        for row in rows:
            group = "stated in words" if claims_module.is_statement(row) else row["variant"]
            groups.setdefault(group, []).append(row)
        figure = figure_files.embed(self.images[name]) if name in self.images else None
        # A title may be a user's: only texts of the project are filled.
        has_alt, title = "alt" in caption, definition["title"]
        return {
            "name": name,
            "title": title,
            "timed": definition.get("timed", False),
            "stand_in": definition.get("stand_in", ""),
            "incomplete": self.reasons.get(name),
            "deviations": _tally(row for row in rows if _is_marked(row)),
            "figure": figure,
            "alt": self.numbers.filled(caption["alt"])["text"] if has_alt else title,
            "caption": self.numbers.caption(caption),
            "groups": groups,
            "table": self._small_table(name),
            "making": making.of_artefact(name, self.config, figure is not None),
        }

    def _small_table(self, name):
        """Header and rows of a table of ours that is short enough to be shown."""
        if name not in self.tables or self.judged.get(name):
            return None
        rows = storage.read_rows(self.tables[name])
        most = _SHOWN_ROWS if name in self.images else _SHOWN_ROWS_WITHOUT_FIGURE
        if not rows or len(rows) > most or len(rows[0]) > _SHOWN_COLUMNS:
            return None
        return {"columns": list(rows[0]), "rows": [list(row.values()) for row in rows]}


def _statements(rows, parts):
    """Each statement once, with its outcome, which part holds, and what decides it."""
    statements: dict[str, dict] = {}
    for (_, cell), (outcome, data) in sorted(claims_module.outcomes(rows).items()):
        checks = [row for row in rows if row["cell"] == cell]
        words = "" if data == claims_module.CLOCK else parts.get(cell, "")
        statements[cell] = {
            "text": checks[0]["printed"],
            "outcome": outcome,
            "data": data,
            "part": _part(checks, words) if outcome.endswith("in part") else "",
            "by": list(dict.fromkeys(map(_artefact_of, checks))),
        }
    return statements


def _part(checks, words):
    """Which of the checks of a statement hold, in words or by the variants of those that do not."""
    judged = claims_module.deciding(checks)[1]
    others = [row["variant"] for row in judged if row["verdict"] != "holds"]
    words = words or f"not {'; '.join(others[:3])}" + ("; ..." if others[3:] else "")
    return f"{len(judged) - len(others)} of {len(judged)} checks: {words}"


def _artefact_of(claim):
    return f"{claim['paper']}/{claim['artefact']}"


def _place(name):
    """Where a link to a file of the project leads, or to a test, from ``results/report.html``."""
    file = name.partition("::")[0]
    return file.removeprefix("results/") if file.startswith("results/") else f"../{file}"


def _is_marked(claim):
    """Whether the list of contents marks a row: it counts values as the tiles do, each once."""
    is_counted = claim["variant"] == "published" and not claims_module.is_statement(claim)
    return claim["verdict"] == "unexplained" or (is_counted and claim["verdict"] == "differs")


def _tally(rows):
    verdicts = [row["verdict"] for row in rows]
    return {v: verdicts.count(v) for v in claims_module.VERDICTS if v in verdicts}


def _cell(claim):
    if claims_module.is_statement(claim):
        return claim["cell"] + ("" if claim["variant"] == "stated" else f" ({claim['variant']})")
    return ", ".join(
        f"{key} {value}" for key, value in claims_module.parse_cell(claim["cell"]).items()
    )


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
    after_point = max(-claims_module.number(printed).as_tuple().exponent, 0)
    if after_point > 0 or not float(ours).is_integer():
        after_point += 2
    return f"{float(ours):.{after_point}f}"


def _seconds(value):
    """A duration for reading, in the unit that suits it."""
    value = float(value)
    if value >= 120:
        return f"{value / 60:.1f} min"
    return f"{value:.1f} s" if value >= 1 else f"{value:.2f} s"


texts.PAGES.filters |= {
    "cell": _cell,
    "tolerance": _tolerance,
    "ours": _ours,
    "is_statement": claims_module.is_statement,
    "by_paper_and_verdict": _by_paper_and_verdict,
    "place": _place,
    "tally": _tally,
    "artefact_of": _artefact_of,
    "seconds": _seconds,
}
