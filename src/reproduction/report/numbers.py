"""Numbers for the texts of the report, read from the tables and the claims of the run."""

from __future__ import annotations

import statistics
from functools import cache

import jinja2
from scipy import stats

from reproduction import claims as claims_module
from reproduction import storage
from reproduction.report import texts
from reproduction.report.texts import CAPTIONS, digits

# Outcome of statements -> the words of a sentence for one of them, and for several.
_VERBS = {
    "holds": ("holds", "hold"),
    "holds in part": ("holds in part", "hold in part"),
    "undecided in part": ("is undecided in part", "are undecided in part"),
    "does not hold": ("does not hold", "do not hold"),
    "not by our reading": ("does not hold by our reading", "do not hold by our reading"),
    "undecided": ("is undecided", "are undecided"),
    "not judged": ("is not judged", "are not judged"),
}


# Functions that count claims, which every run has at any scale.
_OF_CLAIMS = ("printed", "tally", "stated", "outcomes")


class MissingNumber(LookupError):
    """The tables of this run do not have a number that a text names."""


class Numbers:
    """Functions that the texts of the report can call, by the names of `FUNCTIONS`.

    `tables` are paths by PAPER/ARTEFACT, and `claims` the rows of the claims tables. Texts also
    read sizes from `config`, the configuration, as in ``{{ models.extra_trees.n_estimators }}``.
    """

    FUNCTIONS = ("cell", "rows", "least", "most", "median", "mean", "interval", "printed", "tally")
    FUNCTIONS += ("stated", "outcomes", "repeats", "parameter", "setting")

    def __init__(self, tables, claims, config):
        self.tables, self.claims, self.config = tables, claims, config
        self._rows = cache(self._read)

    def fill(self, text: str, **names) -> str:
        """The text with its numbers, and with what it calls by further names.

        MissingNumber if the run lacks one, because the artefact was not made or is scaled down.
        """
        sections = ("datasets", "models", "importances", "metrics")
        names |= {section: self.config.get(section, {}) for section in sections}
        names |= {name: getattr(self, name) for name in self.FUNCTIONS}
        try:
            return CAPTIONS.from_string(text).render(**names).strip()
        except jinja2.UndefinedError as error:
            raise MissingNumber(str(error)) from None

    def filled(self, text: str) -> dict[str, str]:
        """``text`` with its numbers, or why not: ``missing``, if the run lacks one of them."""
        try:
            return {"text": self.fill(text), "missing": ""}
        except MissingNumber as error:
            return {"text": "", "missing": str(error)}

    def caption(self, caption: dict[str, str]) -> dict[str, dict[str, str]]:
        """The parts of a caption with their numbers, in the order of the page."""
        return {part: self.filled(caption[part]) for part in texts.PARTS if part in caption}

    def headlines(self, entries) -> list[dict]:
        """Findings with the numbers of their texts."""
        return [{**entry, **self.filled(entry["text"])} for entry in entries]

    def cell(self, table: str, column: str = "value", **where) -> float:
        """The one value of a column in the rows with these values of other columns."""
        values = self._values(table, column, where)
        if len(set(values)) != 1:
            raise MissingNumber(f"{table}: {len(values)} rows are {where}, expected one")
        return values[0]

    def rows(self, table: str, **where) -> list[dict[str, str]]:
        """The rows with these values of columns, as text."""
        if not (rows := self._matching(table, where)):
            raise MissingNumber(f"{table}: no row is {where}")
        return rows

    def least(self, table: str, column: str = "value", **where) -> float:
        """The least of these values."""
        return min(self._values(table, column, where))

    def most(self, table: str, column: str = "value", **where) -> float:
        """The largest of these values."""
        return max(self._values(table, column, where))

    def median(self, table: str, column: str = "value", **where) -> float:
        """The median of these values."""
        return statistics.median(self._values(table, column, where))

    def mean(self, table: str, column: str = "value", by: str = "", **where) -> float:
        """The mean of these values, weighted by another column if one is named."""
        weights = self._values(table, by, where) if by else None
        return statistics.fmean(self._values(table, column, where), weights)

    def interval(self, table: str, column: str = "value", **where) -> str:
        """The mean over repeats and half of its 95 % interval by Student's t, as text.

        Values of one repeat are of the same data, so that their mean counts once.
        """
        by_repeat: dict[str, list] = {}
        for row in self._matching(table, where):
            by_repeat.setdefault(row["repeat"], []).append(float(row[column]))
        means = [statistics.fmean(values) for values in by_repeat.values()]
        if len(means) < 2:
            raise MissingNumber(f"{table}: an interval takes two repeats, there are {len(means)}")
        margin = stats.t.ppf(0.975, len(means) - 1) * statistics.stdev(means) / len(means) ** 0.5
        return f"{digits(statistics.fmean(means), 2)} ± {digits(margin, 2)}"

    def printed(self, name: str, cell: str) -> str:
        """The text that the paper prints in a cell."""
        paper, _, artefact = name.partition("/")
        for claim in self.claims:
            if (claim["paper"], claim["artefact"], claim["cell"]) == (paper, artefact, cell):
                return claim["printed"]
        raise MissingNumber(f"{name}: no printed value {cell}")

    def tally(self, names, variant: str, *verdicts: str) -> int:
        """Number of the printed values of artefacts with one of the verdicts; of all without."""
        if unknown := [verdict for verdict in verdicts if verdict not in claims_module.VERDICTS]:
            raise MissingNumber(f"no verdict is {', '.join(unknown)}")
        rows = [
            claim
            for claim in self.claims
            if f"{claim['paper']}/{claim['artefact']}" in names
            and claim["variant"] == variant
            and not claims_module.is_statement(claim)
        ]
        if not rows:
            raise MissingNumber(f"no printed values of {names}, {variant}")
        return sum(not verdicts or claim["verdict"] in verdicts for claim in rows)

    def stated(self, paper: str) -> int:
        """Number of a paper's statements, but for those that only the clock decides."""
        return len(self._outcomes(paper))

    def outcomes(self, paper: str) -> str:
        """Numbers of a paper's statements by outcome, of those that occur, as text."""
        decided = self._outcomes(paper)
        counts = {outcome: decided.count(outcome) for outcome in claims_module.OUTCOMES}
        phrases = [f"{n} {_VERBS[outcome][n > 1]}" for outcome, n in counts.items() if n]
        *first, last = phrases
        return f"{', '.join(first)} and {last}" if first else last

    def _outcomes(self, paper):
        of_paper = [claim for claim in self.claims if claim["paper"] == paper]
        by_statement = claims_module.outcomes(of_paper).values()
        decided = [outcome for outcome, by in by_statement if by != claims_module.CLOCK]
        if not decided:
            raise MissingNumber(f"no statement of {paper} is judged")
        return decided

    def repeats(self, experiment: str) -> int:
        """The largest number of repeats that a sweep of an experiment has."""
        definition = self._section("experiments", experiment)
        counts = [0]
        for block in definition["sweep"]:
            repeat = (block.get("grid") or block.get("zip") or {}).get("repeat")
            if isinstance(repeat, dict):
                counts.append(repeat["last"] - repeat["first"] + 1)
            elif isinstance(repeat, list):
                counts.append(len(set(repeat)))
        return min(max(counts), definition.get("most_repeats", max(counts)))

    def parameter(self, name: str, key: str):
        """A parameter of an artefact."""
        return self._section("artefacts", name)["parameters"][key]

    def setting(self, experiment: str, variant: str, key: str):
        """The value of a variant of an experiment, which replaces that of the recipe."""
        return self._section("experiments", experiment)["variants"][variant][key]

    def uncounted(self, text: str):
        """Why functions that a text calls find no claims, for each that finds none."""
        for call in CAPTIONS.parse(text).find_all(jinja2.nodes.Call):
            if (function := getattr(call.node, "name", "")) in _OF_CLAIMS:
                try:
                    getattr(self, function)(*(argument.as_const() for argument in call.args))
                except MissingNumber as error:
                    yield str(error)

    def _section(self, section, name):
        if name not in self.config.get(section, {}):
            raise MissingNumber(f"the configuration has no {section} {name}")
        return self.config[section][name]

    def _read(self, table):
        if table not in self.tables:
            raise MissingNumber(f"{table} was not made")
        return storage.read_rows(self.tables[table])

    def _values(self, table, column, where):
        values = [float(row[column]) for row in self._matching(table, where) if row.get(column)]
        if not values:
            raise MissingNumber(f"{table}: no row with {column} is {where}")
        return values

    def _matching(self, table, where):
        rows = self._rows(table)
        return [row for row in rows if all(_alike(row.get(k), v) for k, v in where.items())]


def uncounted(claims, papers) -> list[str]:
    """One line for each count of claims in the texts of some papers that finds none."""
    numbers = Numbers({}, claims, {})
    lines = [
        f"{place}: {reason}: name artefacts, variants and verdicts as results/claims.csv has them"
        for paper in papers
        for place, text in texts.spoken(paper)
        for reason in numbers.uncounted(text)
    ]
    return list(dict.fromkeys(lines))


def _alike(text, value):
    return text in value if isinstance(value, (list, tuple)) else text == str(value)
