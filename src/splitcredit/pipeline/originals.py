"""Which real data sets can be had, what is left out without them, and what is recorded of them.

Looked up once, when the workflow is read, in the configured directories and among the downloads.
Nothing is fetched here: ``snakemake fetch`` does that.
"""

from __future__ import annotations

from splitcredit import datasets
from splitcredit.datasets import _routes
from splitcredit.pipeline.config import ConfigError
from splitcredit.storage import canonical


class Originals:
    """Files of the data sets of a configuration.

    Parameters
    ----------
    config : dict
        Complete configuration, see `splitcredit.pipeline.config.load`.
    """

    def __init__(self, config):
        self.places = {
            "directories": config["data_directories"],
            "routes": config["data_routes"],
        }
        datasets.look_in(**self.places)
        self._looked_up: dict = {}

    def look_up(self, recipe) -> list:
        """What there is of the files that a data recipe needs: of each Found, or the error."""
        key = self.file(recipe)
        if key not in self._looked_up:
            self._looked_up[key] = [_find(original) for original in _originals(recipe)]
        return self._looked_up[key]

    @staticmethod
    def file(recipe) -> str:
        """Names and checksums of the files that a recipe needs, as text; empty if none."""
        forms = [original.form for original in _originals(recipe)]
        return canonical([[form.name, form.sha256] for form in forms]) if forms else ""

    def missing(self, recipe) -> str:
        """Why the data of a recipe cannot be had, in one line; empty if they can."""
        errors = (f for f in self.look_up(recipe) if isinstance(f, _routes.NotAvailableError))
        return " ".join(error.line for error in errors)

    def noted(self, recipe):
        """The file of a recipe that differs from the original, None if there is none."""
        if self.missing(recipe):
            return None
        return next((found for found in self.look_up(recipe) if found.form.note), None)

    def files(self, recipes) -> list[str]:
        """Files of the recipes that need some and have them, each once."""
        there = [recipe for recipe in recipes if not self.missing(recipe)]
        return sorted({str(found.path) for recipe in there for found in self.look_up(recipe)})


class RealData:
    """The real data sets that experiments and artefacts use.

    Parameters
    ----------
    config : dict
    plans : dict of str to Plan
    originals : Originals

    Attributes
    ----------
    left_out : dict of str to str
        Artefacts that cannot be made for want of data, and why: one of their experiments has no
        point left, or none of the data sets that they count is there.
    """

    def __init__(self, config, plans, originals):
        self.config, self.plans, self.originals = config, plans, originals
        self.artefacts = config["artefacts"]
        self.left_out = {n: why for n in self.artefacts if (why := self._why_left_out(n))}

    def needed(self, artefact=None) -> list[tuple[str, dict]]:
        """(name, recipe) of the data that need a file, each name and file once.

        Those of one artefact, or of all experiments and artefacts.
        """
        unique: dict = {}
        for name, recipe in self._used(artefact):
            unique.setdefault((name, self.originals.file(recipe)), (name, recipe))
        return [pair for (_, file), pair in unique.items() if file]

    def causes(self, artefact) -> dict[str, str]:
        """Why values of some data sets of an artefact cannot be held against print, by name."""
        causes = {}
        for name, recipe in self.needed(artefact):
            if self.originals.missing(recipe):
                causes[name] = f"data set {name} is not available, see results/sources.csv"
            elif noted := self.originals.noted(recipe):
                causes[name] = f"data set {name}: {noted.form.note}"
        return causes

    def impossible(self) -> dict[str, str]:
        """Targets that cannot be made for want of data, and why."""
        found = {name.replace("/", "_"): why for name, why in self.left_out.items()}
        for name, plan in self.plans.items():
            if not plan.points:
                found[f"experiment_{name}"] = self._why_without(plan)
        return found

    def notices(self) -> list[str]:
        """One line for every data set that cannot be had or is not the original."""
        lines = []
        for name, recipe in self.needed():
            if why := self.originals.missing(recipe):
                lines.append(f"data set {name}: {why} {self._consequences(name)}")
            elif noted := self.originals.noted(recipe):
                lines.append(f"data set {name}: {noted.form.note} ({noted.route}).")
        return lines

    def _used(self, artefact):
        """(name, recipe) of all data, or of those of one artefact."""
        artefacts = self.artefacts if artefact is None else [artefact]
        plans = self.plans.values() if artefact is None else self._plans(artefact)
        points = [p for plan in plans for p in (*plan.points, *plan.without)]
        counted = [n for a in artefacts for n in self.artefacts[a].get("datasets", [])]
        named = [(_name(p), p.run.data) for p in points]
        return named + [(n, self.config["datasets"][n]) for n in counted]

    def _plans(self, artefact):
        inputs = self.artefacts[artefact].get("inputs", [])
        return [self.plans[e] for e in dict.fromkeys(i.partition("/")[0] for i in inputs)]

    def _why_left_out(self, artefact):
        for plan in self._plans(artefact):
            if not plan.points:
                return self._why_without(plan)
        counted = [self.config["datasets"][n] for n in self.artefacts[artefact].get("datasets", [])]
        missing = [why for recipe in counted if (why := self.originals.missing(recipe))]
        return missing[0] if missing and len(missing) == len(counted) else ""

    def _why_without(self, plan):
        return self.originals.missing(plan.without[0].run.data)

    def _consequences(self, name):
        lost = []
        for experiment, plan in self.plans.items():
            n = sum(_name(p) == name for p in plan.without)
            if n:
                lost.append(f"{n} of {len(plan.without) + len(plan.points)} points of {experiment}")
        lost += [a for a in self.left_out if name in dict(self._used(a))]
        return f"Left out: {', '.join(lost)}." if lost else ""


def _name(point):
    """Name of the data recipe of a point."""
    return point.run.data_key.partition("@")[0]


def _originals(recipe):
    try:
        return datasets.originals(recipe)
    except ValueError as error:
        raise ConfigError(f"datasets: {error}") from None


def _find(original):
    try:
        return _routes.find(original)
    except _routes.NotAvailableError as error:
        return error
