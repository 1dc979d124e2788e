"""What the rules ask: inputs, parameters and sources of each job, from configuration and plans.

The methods that take `wildcards` are input and parameter functions of the rules in
``workflow/rules``.
"""

from __future__ import annotations

import inspect
import json
import shlex
from functools import cache
from pathlib import Path

from splitcredit import datasets, metrics
from splitcredit.__main__ import FINISHED
from splitcredit.kernels.parts import PARTS
from splitcredit.pipeline import config as configuration
from splitcredit.pipeline import plans
from splitcredit.pipeline.sources import digest, sources

EXPERIMENTS = "config/experiments"
SCHEMA = "workflow/schemas/config.schema.yaml"
CLAIMS = "config/claims"


class Workflow:
    """The checked configuration and the plans of all experiments.

    Parameters
    ----------
    config : dict
        As Snakemake merged it.
    files : sequence of paths
        The configuration files it was merged from.

    Raises
    ------
    splitcredit.pipeline.config.ConfigError
    """

    def __init__(self, config, files=()):
        self.config = configuration.load(config, EXPERIMENTS, SCHEMA, files)
        self.plans = plans.make(self.config, "results/plans")
        self.artefacts = self.config["artefacts"]
        self.wanted = [n for n, a in self.artefacts.items() if not a.get("optional", False)]
        self.figures = [name for name, a in self.artefacts.items() if a.get("figure")]
        self.judged = [
            name
            for name, artefact in self.artefacts.items()
            if artefact.get("statements") or self._printed_file(name).exists()
        ]

    @staticmethod
    def job(*modules):
        """Digest of the sources of a job, as a parameter of its rule: an edit then reruns it."""
        return digest("splitcredit.__main__", *(f"splitcredit.{m}" for m in modules))

    @staticmethod
    def compiled(*modules):
        """What shows that the kernels of a job are compiled: before, it would compile its own."""
        files = sources(*(f"splitcredit.{m}" for m in modules))
        kernels = {Path(file).stem for file in files if Path(file).parent.name == "kernels"}
        parts = [part for part, own in PARTS.items() if not kernels.isdisjoint(own)]
        return [f"results/logs/warm_up/{part}.txt" for part in parts]

    # Data

    def data_sources(self, wildcards):
        """Sources of the data sets of a batch."""
        names = sorted({recipe["dataset"] for recipe in self._batch_recipes(wildcards)})
        return self.job("jobs.data", *(f"datasets.{name}" for name in names))

    def data_files(self, wildcards):
        """Files that the data sets of a batch come from."""
        return _files(self._batch_recipes(wildcards))

    def _batch_recipes(self, wildcards):
        return [run.data for run in self.plans[wildcards.experiment].batches[wildcards.batch]]

    # Importances

    def importance_recipe(self, wildcards):
        """Recipe of a measure, as JSON."""
        return json.dumps(self.plans[wildcards.experiment].importance(wildcards.importance))

    def importance_sources(self, wildcards):
        """Sources of a measure."""
        return self.job(*self._importance_modules(wildcards))

    def importance_compiled(self, wildcards):
        """What shows that the kernels of a measure are compiled."""
        return self.compiled(*self._importance_modules(wildcards))

    def _importance_modules(self, wildcards):
        recipe = self.plans[wildcards.experiment].importance(wildcards.importance)
        return "jobs.explain", f"importances.{recipe['measure']}"

    # Metrics

    def metric_recipe(self, wildcards):
        """Recipe of a metric, as JSON."""
        return json.dumps(self.plans[wildcards.experiment].metric(wildcards.metric)[0])

    def metric_sources(self, wildcards):
        """Sources of a metric."""
        return self.job(*self._metric_modules(wildcards))

    def metric_compiled(self, wildcards):
        """What shows that the kernels of a metric are compiled."""
        return self.compiled(*self._metric_modules(wildcards))

    def _metric_modules(self, wildcards):
        recipe, _ = self.plans[wildcards.experiment].metric(wildcards.metric)
        return "jobs.measure", f"metrics.{recipe['metric']}"

    def metric_names(self, wildcards):
        """Names of the importances that a metric reads."""
        return list(self.plans[wildcards.experiment].metric(wildcards.metric)[1])

    def metric_inputs(self, wildcards):
        """Files of the importances that a metric reads, in the order of `metric_names`."""
        files = self.plans[wildcards.experiment].metric(wildcards.metric)[1].values()
        folder = f"results/importances/{wildcards.experiment}/{wildcards.batch}"
        return [f"{folder}/{file}.npz" for file in files]

    def metric_models(self, wildcards):
        """The models of a batch, for a metric that asks for the forest."""
        recipe, _ = self.plans[wildcards.experiment].metric(wildcards.metric)
        asks = "forest" in inspect.signature(metrics.metric(recipe["metric"])).parameters
        return [f"results/models/{wildcards.experiment}/{wildcards.batch}.npz"] if asks else []

    def metric_tables(self, wildcards):
        """Tables of one metric over all batches and settings of an experiment."""
        pairs = self.plans[wildcards.experiment].metric_files(wildcards.metric)
        folder = f"results/metrics/{wildcards.experiment}"
        return [f"{folder}/{batch}/{file}.csv" for batch, file in pairs]

    # Artefacts

    def artefact_names(self, wildcards):
        """Inputs of an artefact, as EXPERIMENT/METRIC."""
        return self._artefact(wildcards).get("inputs", [])

    def artefact_inputs(self, wildcards):
        """Their files."""
        return [f"results/experiments/{name}.csv" for name in self.artefact_names(wildcards)]

    def artefact_parameters(self, wildcards):
        """Parameters of an artefact's ``compute``, as JSON."""
        artefact, recipes = self._artefact(wildcards), self._counted(wildcards)
        given = dict(artefact.get("parameters", {}))
        given |= {"recipes": recipes} if recipes else {}
        given |= {"recorded": artefact["recorded"]} if "recorded" in artefact else {}
        return json.dumps(given)

    def table_files(self, wildcards):
        """Files that an artefact reads: of the data sets it counts itself, and what is recorded."""
        recorded = self._artefact(wildcards).get("recorded")
        return [*_files(self._counted(wildcards).values()), *([recorded] if recorded else [])]

    def table_sources(self, wildcards):
        """Sources of an artefact's table."""
        return self.job(*self._table_modules(wildcards))

    def table_compiled(self, wildcards):
        """What shows that the kernels of an artefact are compiled."""
        return self.compiled(*self._table_modules(wildcards))

    def _table_modules(self, wildcards):
        names = [recipe["dataset"] for recipe in self._counted(wildcards).values()]
        return "jobs.table", self._module(wildcards), *(f"datasets.{n}" for n in names)

    def figure_sources(self, wildcards):
        """Sources of an artefact's picture."""
        return self.job("jobs.figure", self._module(wildcards))

    # Claims

    def judge_sources(self, wildcards):
        """Sources of an artefact's judgement: those of its module only if it decides statements."""
        decides = self.decided(wildcards)
        return self.job("jobs.judge", *([self._module(wildcards)] if decides else []))

    def printed(self, wildcards):
        """File of the printed values of an artefact, if it has any."""
        path = self._printed_file(f"{wildcards.paper}/{wildcards.artefact}")
        return [str(path)] if path.exists() else []

    def stated(self, wildcards):
        """File of the statements of a paper, if the artefact decides some."""
        return [f"{CLAIMS}/{wildcards.paper}_statements.csv"] if self.decided(wildcards) else []

    def decided(self, wildcards):
        """Statements that an artefact decides."""
        return self._artefact(wildcards).get("statements", [])

    def claim_rules(self, wildcards):
        """How the printed values of an artefact are judged, as JSON."""
        return json.dumps(self._claims(wildcards).get(wildcards.artefact, []))

    def evidence(self, wildcards):
        """Tests and causes of the statements that an artefact decides, as JSON."""
        known = self._claims(wildcards).get("statements", {})
        return json.dumps({s: known[s] for s in self.decided(wildcards) if s in known})

    def incomparable(self, wildcards):
        """Why the values of an artefact cannot be held against print, or nothing."""
        if self.config["paper_scale"] or not self._artefact(wildcards).get("scaled", False):
            return ""
        return f"preset {self.config['preset']}: sizes are not those of the paper"

    def judged_table(self, wildcards):
        """Table of an artefact."""
        return self.path("tables", f"{wildcards.paper}/{wildcards.artefact}", "csv")

    def titles(self):
        """Titles of all artefacts, as JSON."""
        return json.dumps({name: a["title"] for name, a in self.artefacts.items()})

    def judgements(self, clock):
        """Judgements of the artefacts whose values depend on the clock, or of the others."""
        return [self.path("claims", n, "json") for n in self.judged if self.on_clock(n) == clock]

    def pictures(self):
        """Pictures for the claims page."""
        return [self.path("figures", n, "svg") for n in self.figures if not self.on_clock(n)]

    def page_after_failure(self, table, summary, page):
        """Command that writes the claims page from the artefacts that were made."""
        incomplete = self.incomplete()
        unfinished = {row["artefact"] for row in incomplete}
        made = [n for n in self.wanted if n not in unfinished and not self.on_clock(n)]
        judged = [self.path("claims", n, "json") for n in made if n in self.judged]
        figures = [self.path("figures", n, "svg") for n in made if n in self.figures]
        words = ["python", "-m", "splitcredit", "claims", "--judged", *judged]
        words += ["--figures", *figures, "--titles", self.titles()]
        words += ["--incomplete", json.dumps(incomplete), "--preset", self.config["preset"]]
        words += ["--table", table, "--summary", summary, "--page", page]
        return shlex.join(words)

    def incomplete(self):
        """Artefacts that are not made, each with the log of the job that failed and its reason."""
        rows = []
        for name in self.wanted:
            steps = list(self._steps(name))
            failed = next((log for _, log in steps if _reason(log)), "")
            if failed or not all(Path(output).exists() for output, _ in steps if output):
                reason = _reason(failed) if failed else "none of its jobs failed, but not all ran"
                rows.append({"artefact": name, "log": failed, "reason": reason})
        return rows

    def _steps(self, name):
        """(output, log) of every job behind an artefact, in the order of the flow; no output for
        fits, whose models are temporary.
        """
        logs = "results/logs"
        for wanted in self.artefacts[name].get("inputs", []):
            experiment, _, metric = wanted.partition("/")
            plan = self.plans[experiment]
            for batch, file in plan.metric_files(metric):
                place = f"{experiment}/{batch}"
                yield f"results/data/{place}.npz", f"{logs}/data/{place}.log"
                yield "", f"{logs}/fit/{place}.log"
                for measure in plan.metric(file)[1].values():
                    place_of = f"{place}/{measure}"
                    yield f"results/importances/{place_of}.npz", f"{logs}/explain/{place_of}.log"
                yield f"results/metrics/{place}/{file}.csv", f"{logs}/measure/{place}/{file}.log"
            yield f"results/experiments/{wanted}.csv", f"{logs}/collect/{wanted}.log"
        clock = "timing/" if self.on_clock(name) else ""
        yield self.path("tables", name, "csv"), f"{logs}/{clock}table/{name}.log"
        if name in self.figures:
            yield self.path("figures", name, "svg"), f"{logs}/{clock}figure/{name}.log"
        if name in self.judged:
            yield self.path("claims", name, "json"), f"{logs}/{clock}judge/{name}.log"

    # Targets

    def on_clock(self, name):
        """Whether the values of an artefact are times."""
        return self.artefacts[name].get("clock", False)

    def path(self, folder, name, kind):
        """One file of an artefact; what depends on the clock lies apart."""
        return f"results/{'timing/' if self.on_clock(name) else ''}{folder}/{name}.{kind}"

    def everything(self):
        """All files of all artefacts but the optional ones."""
        return [file for name in self.wanted for file in self.outputs(name)]

    def outputs(self, name):
        """All files of one artefact."""
        files = [self.path("tables", name, "csv")]
        if name in self.figures:
            files += [self.path("figures", name, kind) for kind in ("svg", "png")]
        if name in self.judged:
            files.append(self.path("claims", name, "json"))
        return files

    def targets(self):
        """Names of artefacts, papers and experiments, and the files that each stands for."""
        found = {}
        for name in self.artefacts:
            paper, artefact = name.split("/")
            found[f"{paper}_{artefact}"] = self.outputs(name)
            if name in self.wanted:
                found[paper] = [*found.get(paper, []), *self.outputs(name)]
        for name, experiment in self.config["experiments"].items():
            tables = [f"results/experiments/{name}/{m}.csv" for m in experiment["metrics"]]
            found[f"experiment_{name}"] = tables
        return found

    def _counted(self, wildcards):
        """Recipes of the data sets that an artefact counts itself."""
        names = self._artefact(wildcards).get("datasets", [])
        return {name: self.config["datasets"][name] for name in names}

    @staticmethod
    def _claims(wildcards):
        return _claims_of(wildcards.paper)

    def _artefact(self, wildcards):
        return self.artefacts[f"{wildcards.paper}/{wildcards.artefact}"]

    @staticmethod
    def _module(wildcards):
        return f"papers.{wildcards.paper}.{wildcards.artefact}"

    @staticmethod
    def _printed_file(name):
        return Path(CLAIMS, f"{name.replace('/', '_')}.csv")


def _reason(log):
    """Last line of the log of a job that did not finish; empty if it did, or never started."""
    path = Path(log)
    if not path.is_file():
        return ""
    lines = path.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    if not lines:
        return "the job was stopped before it printed anything"
    return "" if lines[-1] == FINISHED else lines[-1]


def _files(recipes):
    """Files that data recipes are read from, each once; relative if below the working directory."""
    paths = {path.absolute() for recipe in recipes for path in datasets.files(recipe)}
    here = Path.cwd()
    return sorted(str(p.relative_to(here) if p.is_relative_to(here) else p) for p in paths)


@cache
def _claims_of(paper):
    path = Path(CLAIMS, f"{paper}.yaml")
    return configuration.read_yaml(path) if path.exists() else {}
