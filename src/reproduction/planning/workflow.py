"""What the rules ask: inputs, parameters and sources of each job, from configuration and plans.

The methods that take `wildcards` are input and parameter functions of the rules in
``workflow/rules``. Plans are made when a rule first asks for one.
"""

from __future__ import annotations

import json
import os
import shlex
from functools import cache
from pathlib import Path

from reproduction import papers
from reproduction.__main__ import FINISHED
from reproduction.planning import configuration, facets, jobs, plans, records
from reproduction.planning.places import (
    LIBRARY,
    ON_PAGES,
    PAPERS,
    PICTURES,
    REPRODUCTION,
    SRC,
    relative,
)
from reproduction.planning.signatures import has_function, parameters
from reproduction.planning.sources import digest, digest_of_files, named, sources
from reproduction.report import texts
from reproduction.storage import pack
from splitcredit.kernels.parts import PARTS


class Workflow:
    """The checked configuration, and what follows from it for each job.

    Parameters
    ----------
    config : dict
        As Snakemake merged it.
    files : sequence of paths
        The configuration files it was merged from.

    Raises
    ------
    reproduction.planning.configuration.ConfigError
    """

    def __init__(self, config, files=()):
        self.config = configuration.load(config, files)
        self.artefacts = self.config["artefacts"]
        self.required = [n for n, a in self.artefacts.items() if not a.get("optional", False)]
        self.figures = [n for n in self.artefacts if has_function(self._file(n), "draw")]
        self.judged = [
            name
            for name, artefact in self.artefacts.items()
            if artefact.get("statements") or _printed_file(name).exists()
        ]
        self.plan = cache(self._plan)
        self.experiment_modules = cache(self._modules_of_experiment)
        self.experiment_files = cache(self._files_of_experiment)

    @staticmethod
    def growing(amount):
        """A resource: so much at the first attempt, twice and three times as much at the next."""

        def at(wildcards, attempt):
            return amount * attempt

        return at

    # Sources. The key of a job covers its own modules and those of all jobs before it: Snakemake
    # does not miss a file between two that are there, so an edit must reach every key behind it.

    @staticmethod
    def key(*modules, files=()):
        """Digest of the sources of a job, as a parameter of its rule: an edit then reruns it.

        `files` are those that it reads and no job makes, of which Snakemake sees the dates alone: a
        file may be replaced by an older one.
        """
        of_sources = digest("reproduction.__main__", *modules)
        return f"{of_sources} {digest_of_files(files)}" if files else of_sources

    def _models_before(self, wildcards):
        return *self.data_modules(wildcards), "reproduction.stages.models"

    def _importances_before(self, wildcards):
        planned = self.plan(wildcards.experiment).importances
        recipes = [planned[file] for file in self._metric(wildcards)[1].values()]
        return "reproduction.stages.importances", *named(recipes)

    def _modules_of_experiment(self, experiment):
        plan = self.plan(experiment)
        data = [run.data for runs in plan.batches.values() for run in runs]
        metrics = [recipe for recipe, _ in plan.metrics.values()]
        stages = ("data", "models", "importances", "metrics", "experiments")
        recipes = named([data, list(plan.importances.values()), metrics])
        return *(f"reproduction.stages.{stage}" for stage in stages), *recipes

    def _files_of_experiment(self, experiment):
        plan = self.plan(experiment)
        data = [run.data for runs in plan.batches.values() for run in runs]
        metrics = [recipe for recipe, _ in plan.metrics.values()]
        return _paths([*data, *plan.importances.values(), *metrics])

    @staticmethod
    @cache
    def compiled(*modules):
        """Marker files of the compile jobs that a job waits for."""
        home = LIBRARY / "kernels"
        files = {p.relative_to(home) for p in sources(*modules) if home in p.parents}
        kernels = {file.with_suffix("").as_posix() for file in files}
        parts = [part for part, of_part in PARTS.items() if not kernels.isdisjoint(of_part)]
        return [f"results/kernels/{part}.txt" for part in parts]

    # Plans

    def _plan(self, experiment):
        return plans.make(self.config, experiment, f"results/plans/{experiment}")

    def definition(self, wildcards):
        """An experiment and the recipes that it names, packed."""
        experiment = dict(self.config["experiments"][wildcards.experiment])
        # How it is drawn changes no point.
        experiment.pop("figure", None)
        texts = set(_texts(experiment))
        recipes = {
            section: {n: r for n, r in self.config[section].items() if n in texts}
            for section, _ in configuration.KINDS.values()
        }
        # As text, which keeps the order of the axes: it is that of the points.
        return pack(json.dumps({"experiments": {wildcards.experiment: experiment}, **recipes}))

    def points_key(self, wildcards=None):
        """Key of the points of an experiment."""
        return self.key("reproduction.stages.points")

    def runs(self, wildcards):
        """Runs of a batch, packed."""
        return pack([run.to_json() for run in self._batch(wildcards)])

    def plan_files(self, wildcards):
        """Plans of all batches of an experiment."""
        batches = self.plan(wildcards.experiment).batches
        return [f"results/plans/{wildcards.experiment}/{batch}.json" for batch in batches]

    # Data and models

    def data_key(self, wildcards):
        """Key of the data sets of a batch."""
        return self.key(*self.data_modules(wildcards), files=self.data_files(wildcards))

    def data_modules(self, wildcards):
        """Modules that load the data sets of a batch."""
        recipes = [run.data for run in self._batch(wildcards)]
        return "reproduction.stages.data", *named(recipes)

    def data_files(self, wildcards):
        """Files of the user's that the data sets of a batch come from."""
        return _paths(run.data for run in self._batch(wildcards))

    def _batch(self, wildcards):
        return self.plan(wildcards.experiment).batches[wildcards.batch]

    def model_key(self, wildcards):
        """Key of the models of a batch."""
        return self.key(*self._models_before(wildcards), files=self.data_files(wildcards))

    # Importances

    def importance_recipe(self, wildcards):
        """Recipe of an importance, as JSON."""
        return json.dumps(self.plan(wildcards.experiment).importances[wildcards.importance])

    def importance_key(self, wildcards):
        """Key of an importance."""
        modules = *self.importance_modules(wildcards), *self._models_before(wildcards)
        recipe = self.plan(wildcards.experiment).importances[wildcards.importance]
        return self.key(*modules, files=[*self.data_files(wildcards), *_paths([recipe])])

    def importance_compiled(self, wildcards):
        """Marker files of the kernels of an importance."""
        return self.compiled(*self.importance_modules(wildcards))

    def importance_modules(self, wildcards):
        """Modules behind an importance."""
        recipe = self.plan(wildcards.experiment).importances[wildcards.importance]
        return "reproduction.stages.importances", *named(recipe)

    # Metrics

    def _metric(self, wildcards):
        return self.plan(wildcards.experiment).metrics[wildcards.metric]

    def metric_recipe(self, wildcards):
        """Recipe of a metric, as JSON."""
        return json.dumps(self._metric(wildcards)[0])

    def metric_key(self, wildcards):
        """Key of a metric."""
        before = *self._models_before(wildcards), *self._importances_before(wildcards)
        modules = *self.metric_modules(wildcards), *before
        recipe, importances = self._metric(wildcards)
        planned = self.plan(wildcards.experiment).importances
        named_files = _paths([recipe, *(planned[file] for file in importances.values())])
        return self.key(*modules, files=[*self.data_files(wildcards), *named_files])

    def experiment_key(self, wildcards):
        """Key of the table of one metric of an experiment."""
        name = wildcards.experiment
        return self.key(*self.experiment_modules(name), files=self.experiment_files(name))

    def metric_compiled(self, wildcards):
        """Marker files of the kernels of a metric."""
        return self.compiled(*self.metric_modules(wildcards))

    def metric_modules(self, wildcards):
        """Modules behind a metric."""
        return "reproduction.stages.metrics", *named(self._metric(wildcards)[0])

    def metric_names(self, wildcards):
        """Names of the importances that a metric reads."""
        return list(self._metric(wildcards)[1])

    def metric_inputs(self, wildcards):
        """Files of the importances that a metric reads, in the order of `metric_names`."""
        folder = f"results/importances/{wildcards.experiment}/{wildcards.batch}"
        return [f"{folder}/{file}.npz" for file in self._metric(wildcards)[1].values()]

    def metric_models(self, wildcards):
        """The models of a batch, for a metric that takes the forest."""
        takes_forest = "forest" in parameters("metric", self._metric(wildcards)[0]["metric"])
        file = f"results/models/{wildcards.experiment}/{wildcards.batch}.npz"
        return [file] if takes_forest else []

    def metric_tables(self, wildcards):
        """Tables of one metric over all batches and settings of an experiment."""
        pairs = self.plan(wildcards.experiment).metric_files(wildcards.metric)
        folder = f"results/metrics/{wildcards.experiment}"
        return [f"{folder}/{batch}/{file}.csv" for batch, file in pairs]

    # Sweeps

    def sweep_metrics(self, wildcards):
        """Metrics of an experiment."""
        return self.config["experiments"][wildcards.experiment]["metrics"]

    def sweep_inputs(self, wildcards):
        """Tables of all metrics of an experiment."""
        folder = f"results/experiments/{wildcards.experiment}"
        return [f"{folder}/{metric}.csv" for metric in self.sweep_metrics(wildcards)]

    def sweep_table_key(self, wildcards):
        """Key of the table of all metrics."""
        key = self.key("reproduction.stages.sweep_tables")
        return f"{key} {self.experiment_key(wildcards)}"

    def _figure(self, wildcards):
        return facets.complete(self.config, wildcards.experiment)

    def sweep_figure(self, wildcards):
        """Settings of the figure of an experiment, as JSON."""
        return json.dumps(self._figure(wildcards))

    def sweep_figure_table(self, wildcards):
        """The table that the figure of an experiment is drawn from."""
        metric = self._figure(wildcards)["metric"]
        return f"results/experiments/{wildcards.experiment}/{metric}.csv"

    def sweep_figure_key(self, wildcards):
        """Key of the figure of an experiment."""
        key = self.key("reproduction.stages.sweep_figures", files=[self.style()])
        return f"{key} {self.experiment_key(wildcards)}"

    # Artefacts

    def artefact_names(self, wildcards):
        """Inputs of an artefact, as EXPERIMENT/METRIC."""
        return self._artefact(wildcards).get("inputs", [])

    def artefact_inputs(self, wildcards):
        """Their files."""
        return [f"results/experiments/{name}.csv" for name in self.artefact_names(wildcards)]

    def artefact_parameters(self, wildcards):
        """Parameters of an artefact's ``compute``, as JSON."""
        options = dict(self._artefact(wildcards).get("parameters", {}))
        recipes = self._datasets(wildcards)
        options |= {"recipes": recipes} if recipes else {}
        recorded = self.recorded(wildcards)
        options |= {"recorded": recorded[0]} if recorded else {}
        return json.dumps(options)

    def recorded(self, wildcards):
        """The recorded table that an artefact reads, if any."""
        name = self._artefact(wildcards).get("recorded")
        return [relative(PAPERS / wildcards.paper / "recorded" / name)] if name else []

    def table_files(self, wildcards):
        """Files that an artefact reads: what is recorded, and data of the user's."""
        return [*self.recorded(wildcards), *_paths(self._datasets(wildcards).values())]

    def table_key(self, wildcards):
        """Key of an artefact's table."""
        names = self.artefact_names(wildcards)
        experiments = dict.fromkeys(name.partition("/")[0] for name in names)
        before = [m for name in experiments for m in self.experiment_modules(name)]
        files = self.table_files(wildcards)
        files += [file for name in experiments for file in self.experiment_files(name)]
        return self.key(*self.table_modules(wildcards), *before, files=sorted(set(files)))

    def table_compiled(self, wildcards):
        """Marker files of the kernels of an artefact."""
        return self.compiled(*self.table_modules(wildcards))

    def table_modules(self, wildcards):
        """Modules behind the table of an artefact."""
        recipes = list(self._datasets(wildcards).values())
        return "reproduction.stages.tables", self._module(wildcards), *named(recipes)

    def figure_key(self, wildcards):
        """Key of an artefact's picture."""
        key = self.key(*self.figure_modules(wildcards), files=[self.style()])
        return f"{key} {self.table_key(wildcards)}"

    def figure_modules(self, wildcards):
        """Modules behind the picture of an artefact."""
        return "reproduction.stages.figures", self._module(wildcards)

    @staticmethod
    def style():
        """The style file of all figures."""
        return relative(REPRODUCTION / "figures" / "splitcredit.mplstyle")

    # Claims

    def judgment_key(self, wildcards):
        """Key of an artefact's judgment."""
        files = [*self.printed(wildcards), *self.stated(wildcards)]
        key = self.key(*self.judgment_modules(wildcards), files=files)
        return f"{key} {self.table_key(wildcards)}"

    def judgment_modules(self, wildcards):
        """Modules behind a judgment: that of the artefact only if it decides statements."""
        modules = [self._module(wildcards)] if self.decided(wildcards) else []
        return "reproduction.stages.judgments", *modules

    def printed(self, wildcards):
        """File of the printed values of an artefact, if it has any."""
        path = _printed_file(f"{wildcards.paper}/{wildcards.artefact}")
        return [relative(path)] if path.exists() else []

    def stated(self, wildcards):
        """File of the statements of a paper, if the artefact decides some."""
        path = PAPERS / wildcards.paper / "claims" / "statements.csv"
        return [relative(path)] if self.decided(wildcards) else []

    def decided(self, wildcards):
        """Statements that an artefact decides."""
        return self._artefact(wildcards).get("statements", [])

    def claim_rules(self, wildcards):
        """How the printed values of an artefact are judged, as JSON."""
        return json.dumps(_rules(wildcards.paper).get(wildcards.artefact, []))

    def evidence(self, wildcards):
        """Tests and causes of the statements that an artefact decides, as JSON."""
        rules = _rules(wildcards.paper).get("statements", {})
        return json.dumps({s: rules[s] for s in self.decided(wildcards) if s in rules})

    def incomparable(self, wildcards):
        """Why the values of an artefact cannot be held against print, or nothing."""
        if self.config["paper_scale"] or not self._artefact(wildcards).get("scaled", False):
            return ""
        return f"preset {self.config['preset']}: sizes are not those of the paper"

    def stand_in(self, wildcards):
        """Argument of a judgment whose artefact has data in place of the paper's."""
        return "--stand_in" if "stand_in" in self._artefact(wildcards) else ""

    def judged_table(self, wildcards):
        """Table of an artefact."""
        return self.path("tables", f"{wildcards.paper}/{wildcards.artefact}", "csv")

    def packed(self, wildcards=None):
        """The configuration, packed."""
        return pack(self.config)

    def judgments(self, timed):
        """Judgments of the artefacts whose values are times, or of the others; no optional ones."""
        judged = [name for name in self.judged if name in self.required]
        return [self.path("judgments", n, "json") for n in judged if self.timed(n) == timed]

    # The report

    def pictures(self, names=None):
        """Pictures of artefacts for the report, by default of all that a run makes."""
        names = self.required if names is None else names
        with_picture = [name for name in names if name in self.figures]
        return [self.path("figures", name, kind) for name in with_picture for kind in ON_PAGES]

    def tables(self, names=None):
        """Tables of artefacts for the report, by default of all that a run makes."""
        return [self.path("tables", n, "csv") for n in (self.required if names is None else names)]

    def sweep_tables(self, names=None):
        """Tables of sweeps, by default of those that the report shows."""
        names = self.config["sweeps"] if names is None else names
        return [f"results/experiments/{name}.csv" for name in names]

    def sweep_pictures(self, names=None):
        """Pictures of sweeps, by default of those that the report shows."""
        names = self.config["sweeps"] if names is None else names
        return [file for name in names for file in self._pictures_of_sweep(name, ON_PAGES)]

    def _pictures_of_sweep(self, name, kinds):
        has_picture = facets.complete(self.config, name) is not None
        return [f"results/experiments/{name}/figure.{k}" for k in kinds] if has_picture else []

    def labels(self, wildcards):
        """What Snakemake's own report shows beside a figure."""
        title = self._artefact(wildcards)["title"]
        return {"artefact": wildcards.artefact, "what it shows": title}

    @staticmethod
    def report_texts():
        """Captions, accounts and templates of the report."""
        return [relative(path) for path in texts.files()]

    def report_key(self):
        """Key of the report."""
        return self.key("reproduction.stages.report", files=self.report_texts())

    # After a failure

    def report_after_failure(self, table, summary, timings, report, verdict, cores, left=()):
        """Command that writes claims table and report from the artefacts that were made.

        It leaves no summary and no verdict. So the next run makes all these files, even if it makes
        nothing else that differs from before the failure.

        `left` has the files that the run was to make and has not: what lies in their places was
        made before, of other sources or settings. So may be what a run of one artefact did not look
        at.
        """
        left = {*left, *self.unmade()}
        incomplete = self.incomplete(left)
        unfinished = {row["artefact"] for row in incomplete}
        finished = [name for name in self.required if name not in unfinished]
        judged = [n for n in finished if n in self.judged and not self.timed(n)]
        gathering = ["python", "-m", "reproduction", "claims", "--judged"]
        gathering += [self.path("judgments", name, "json") for name in judged]
        gathering += ["--table", table, "--summary", summary]
        writing = ["python", "-m", "reproduction", "report", "--configuration", *self.packed()]
        has_timings = Path(timings).exists() and timings not in left
        writing += ["--claims", table, *([timings] if has_timings else [])]
        writing += ["--figures", *self.pictures(finished), "--tables", *self.tables(finished)]
        incomplete_sweeps = self.incomplete_sweeps(left)
        unfinished = {row["sweep"] for row in incomplete_sweeps}
        sweeps = [name for name in self.config["sweeps"] if name not in unfinished]
        writing += ["--sweeps", *self.sweep_tables(sweeps)]
        writing += ["--sweep_figures", *self.sweep_pictures(sweeps)]
        writing += ["--incomplete", json.dumps(incomplete)]
        writing += ["--incomplete_sweeps", json.dumps(incomplete_sweeps)]
        writing += ["--cores", str(cores), "--out", report]
        removing = shlex.join(["rm", "-f", summary, verdict])
        command = f"{shlex.join(gathering)} && {removing} && {shlex.join(writing)}"
        # Snakemake formats the command.
        return command.replace("{", "{{").replace("}", "}}")

    def unmade(self):
        """Files of all artefacts and sweeps of the report that a run would make, or make anew."""
        planned = list(jobs.of_workflow(self))
        are_made = records.finished(self, planned)
        unmade = [job for job, is_made in zip(planned, are_made, strict=True) if not is_made]
        return [file for job in unmade for file in job.outputs]

    def incomplete(self, left=frozenset()):
        """Artefacts that are not made, each with the log of the job that failed and its reason.

        Nor is one with a file that is `left` to make, whatever lies in its place.
        """
        return [
            {"artefact": name, **unfinished}
            for name in self.required
            if (unfinished := _unfinished(self._steps(name), left))
        ]

    def incomplete_sweeps(self, left=frozenset()):
        """Sweeps of the report that are not made, as `incomplete` has artefacts."""
        return [
            {"sweep": name, **unfinished}
            for name in self.config["sweeps"]
            if (unfinished := _unfinished(self._steps_of_sweep(name), left))
        ]

    def _steps(self, name):
        """(output, log) of every job behind an artefact, in the order of the flow; no output for
        fits, whose models are temporary.
        """
        for input_name in self.artefacts[name].get("inputs", []):
            yield from self._steps_of_metric(input_name)
        stages = {"tables": "csv"}
        stages |= {"figures": "svg"} if name in self.figures else {}
        stages |= {"judgments": "json"} if name in self.judged else {}
        for stage, kind in stages.items():
            timing = "timing/" if self.timed(name) else ""
            yield self.path(stage, name, kind), _log(f"{timing}{stage}", name)

    def _steps_of_sweep(self, name):
        for metric in self.config["experiments"][name]["metrics"]:
            yield from self._steps_of_metric(f"{name}/{metric}")
        yield f"results/experiments/{name}.csv", _log("sweep_tables", name)
        for picture in self._pictures_of_sweep(name, ON_PAGES):
            yield picture, _log("sweep_figures", name)

    def _steps_of_metric(self, input_name):
        experiment, _, metric = input_name.partition("/")
        plan = self.plan(experiment)
        for batch, file in plan.metric_files(metric):
            place = f"{experiment}/{batch}"
            yield _step("data", place, "npz")
            yield "", _log("models", place)
            for importance in plan.metrics[file][1].values():
                yield _step("importances", f"{place}/{importance}", "npz")
            yield _step("metrics", f"{place}/{file}", "csv")
        yield _step("experiments", input_name, "csv")

    # Targets

    def timed(self, name):
        """Whether the values of an artefact are times."""
        return self.artefacts[name].get("timed", False)

    def path(self, folder, name, kind):
        """One file of an artefact; what depends on the clock lies apart."""
        return f"results/{'timing/' if self.timed(name) else ''}{folder}/{name}.{kind}"

    def everything(self):
        """All files of all artefacts but the optional ones, and of the sweeps of the report."""
        files = [file for name in self.required for file in self.outputs(name)]
        return [*files, *self.sweep_tables(), *self.sweep_pictures()]

    def outputs(self, name):
        """All files of one artefact."""
        files = [self.path("tables", name, "csv")]
        if name in self.figures:
            files += [self.path("figures", name, kind) for kind in PICTURES]
        if name in self.judged:
            files.append(self.path("judgments", name, "json"))
        return files

    def targets(self):
        """Names of artefacts, papers and experiments, and the files that each stands for."""
        files: dict = {}
        for name in self.artefacts:
            files[name.replace("/", "_")] = self.outputs(name)
            if name in self.required:
                paper = name.partition("/")[0]
                files[paper] = [*files.get(paper, []), *self.outputs(name)]
        for name, experiment in self.config["experiments"].items():
            tables = [f"results/experiments/{name}/{m}.csv" for m in experiment["metrics"]]
            table = f"results/experiments/{name}.csv"
            files[f"experiment_{name}"] = [*tables, table, *self._pictures_of_sweep(name, PICTURES)]
        return files

    def _datasets(self, wildcards):
        """Recipes of the data sets that the table of an artefact reads directly."""
        names = self._artefact(wildcards).get("datasets", [])
        return {name: self.config["datasets"][name] for name in names}

    def _artefact(self, wildcards):
        return self.artefacts[f"{wildcards.paper}/{wildcards.artefact}"]

    def _module(self, wildcards):
        path = self._file(f"{wildcards.paper}/{wildcards.artefact}")
        return ".".join(path.relative_to(SRC).with_suffix("").parts)

    def _file(self, name):
        try:
            module = papers.module_of(name)
        except ValueError as error:
            raise configuration.ConfigError(f"artefacts.{name}: {error}") from None
        # The job, too, asks the file beside the code, not the configuration.
        if self.artefacts[name].get("module", module) != module:
            raise configuration.ConfigError(f"artefacts.{name}.module: only artefacts.yaml sets it")
        path = PAPERS / name.partition("/")[0] / f"{module}.py"
        if not path.is_file():
            raise configuration.ConfigError(f"artefacts.{name}: no such file: {relative(path)}")
        return path


def _paths(recipes):
    """Files that recipes name, each once; ``~`` is the user's home, as the loader has it.

    A module of the user's may call its file otherwise than ``path``, take several in a list, or a
    folder of them: any text that names a file or a folder.
    """
    named = {(key, text) for r in recipes for key, value in r.items() for text in _texts(value)}
    files: set = set()
    for key, text in named:
        path = os.path.expanduser(text)
        if key == "path" or os.path.isfile(path):
            files.add(path)
        elif len(text) > 1 and os.path.isdir(path):
            files |= _files_below(Path(path))
    return sorted(files)


def _files_below(folder):
    """Files of a folder, unless it holds the results of the run, which would rerun it forever."""
    results = Path("results").resolve()
    if folder.resolve() in (results, *results.parents) or results in folder.resolve().parents:
        return set()
    return {str(path) for path in folder.rglob("[!.]*") if path.is_file()}


def _step(stage, place, kind):
    """(output, log) of one job of a stage."""
    return f"results/{stage}/{place}.{kind}", _log(stage, place)


def _log(stage, place):
    return f"results/logs/{stage}/{place}.log"


def _unfinished(steps, left):
    """Log and reason of the first of these jobs that failed; None if all outputs are there."""
    steps = list(steps)
    failed = next((log for _, log in steps if _reason(log)), "")
    outputs = [output for output, _ in steps if output]
    if not failed and left.isdisjoint(outputs) and all(Path(output).exists() for output in outputs):
        return None
    reason = _reason(failed) if failed else "none of its jobs failed, but not all ran"
    return {"log": failed, "reason": reason}


def _reason(log):
    """Last line of the log of a job that did not finish; empty if it did, or never started."""
    path = Path(log)
    if not path.is_file():
        return ""
    lines = path.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    if not lines:
        return "the job was stopped before it printed anything"
    return "" if lines[-1] == FINISHED else lines[-1]


def _texts(value):
    """Every text in a configuration, keys too."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from (*_texts(key), *_texts(item))
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)


def _printed_file(name):
    paper, _, artefact = name.partition("/")
    return PAPERS / paper / "claims" / f"{artefact}.csv"


@cache
def _rules(paper):
    path = PAPERS / paper / "claims" / "rules.yaml"
    return configuration.read_yaml(path) if path.exists() else {}
