"""What the rules ask: inputs, parameters and keys of each job, from configuration and plans.

The methods that take `wildcards` are input and parameter functions of the rules in
``workflow/rules``. Plans are made when a rule first asks for one, and nothing is written.
"""

from __future__ import annotations

import difflib
import inspect
import json
import os
import re
import shlex
from functools import cache
from pathlib import Path
from types import SimpleNamespace

from reproduction import papers
from reproduction.__main__ import FINISHED, KEY
from reproduction.planning import checks, configuration, facets, plans, sources, sweep
from reproduction.planning.places import ON_PAGES, PAPERS, PICTURES, relative
from reproduction.storage import digest, pack


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
        self.figures = [n for n in self.artefacts if hasattr(papers.artefact(n), "draw")]
        self.plan = cache(lambda name: plans.make(self.config, name))
        self.own = configuration.own()
        # Artefacts that Snakemake asked the inputs of: those of its run.
        self.asked: set[str] = set()

    def one_of(self, section, drawn=None):
        """Pattern of the names of a section, or only of those with a figure, or without."""
        names = list(self.config[section])
        if drawn is not None:
            has = self.figures if section == "artefacts" else self._drawn_sweeps(names)
            names = [name for name in names if (name in has) == drawn]
        return "|".join(map(re.escape, names))

    @staticmethod
    def growing(amount):
        """A resource: so much at the first attempt, twice and three times as much at the next."""

        def at(wildcards, attempt):
            return amount * attempt

        return at

    # Data, models, importances and metrics of a batch. The key of a job covers the sources of those
    # before it: models are temporary, and Snakemake asks nothing of a file that is not there.

    @staticmethod
    def kernels_key():
        """Key of the compiled kernels."""
        return sources.key("library")

    def runs(self, wildcards):
        """Runs of a batch, packed."""
        return pack([run.to_json() for run in self._batch(wildcards)])

    def unfitted(self, wildcards):
        """Argument of a batch whose models no importance and no metric takes."""
        is_read = self.importances(wildcards) or self.takes_forest(wildcards)
        return "" if is_read else "--unfitted"

    def model_key(self, wildcards):
        """Key of the data sets and models of a batch."""
        return sources.key("library", "stages", files=self.data_files(wildcards))

    def data_files(self, wildcards):
        """Files of the user's that the data sets of a batch come from."""
        return _paths(run.data for run in self._batch(wildcards))

    def _batch(self, wildcards):
        return self.plan(wildcards.experiment).batches[wildcards.batch]

    def importances(self, wildcards):
        """Recipes of the importances of a batch, by file name."""
        return self.plan(wildcards.experiment).importances(wildcards.batch)

    def packed_importances(self, wildcards):
        """The same, packed."""
        return pack(self.importances(wildcards))

    def importance_key(self, wildcards):
        """Key of the importances of a batch."""
        files = [*self.data_files(wildcards), *_paths(self.importances(wildcards).values())]
        return sources.key("library", "stages", files=files)

    def metrics(self, wildcards):
        """Metrics of a batch by file name: recipe, and the files of importances by their names."""
        return self.plan(wildcards.experiment).metrics(wildcards.batch)

    def packed_metrics(self, wildcards):
        """The same, packed; as text, which keeps the order of the importances: that of the rows."""
        return pack(json.dumps(self.metrics(wildcards)))

    def metric_key(self, wildcards):
        """Key of the metrics of a batch."""
        recipes = [recipe for recipe, _ in self.metrics(wildcards).values()]
        files = [*self.data_files(wildcards), *_paths(self.importances(wildcards).values())]
        return sources.key("library", "stages", "metrics", files=[*files, *_paths(recipes)])

    def metric_importances(self, wildcards):
        """Folder of the importances of a batch, if it has any."""
        folder = f"results/importances/{wildcards.experiment}/{wildcards.batch}"
        return [folder] if self.importances(wildcards) else []

    def metric_models(self, wildcards):
        """The models of a batch, if a metric takes the forest."""
        file = f"results/models/{wildcards.experiment}/{wildcards.batch}.npz"
        return [file] if self.takes_forest(wildcards) else []

    def takes_forest(self, wildcards):
        """Whether a metric of a batch takes the forest."""
        recipes = [recipe for recipe, _ in self.metrics(wildcards).values()]
        return any("forest" in checks.taken("metric", recipe["metric"]) for recipe in recipes)

    # Experiments and sweeps

    def definition(self, wildcards):
        """An experiment and the recipes that it names, packed."""
        return pack(self._definition(wildcards.experiment))

    def _definition(self, name, config=None):
        config = self.config if config is None else config
        experiment = dict(config["experiments"][name])
        # How it is drawn changes no point.
        experiment.pop("figure", None)
        texts = set(_texts(experiment))
        recipes = {
            section: {n: r for n, r in config[section].items() if n in texts}
            for section, _ in sweep.KINDS.values()
        }
        # As text, which keeps the order of the axes: it is that of the points.
        return json.dumps({"experiments": {name: experiment}, **recipes})

    def batches_of(self, pattern):
        """Input function: the files of all batches of an experiment, by a pattern of their path."""

        def files(wildcards):
            names = self.plan(wildcards.experiment).batches
            return [pattern.format(e=wildcards.experiment, b=name) for name in names]

        return files

    def experiment_key(self, wildcards):
        """Key of the tables of an experiment."""
        return self._experiments_key([wildcards.experiment])

    def _experiments_key(self, names, *parts, files=()):
        used = {file for name in names for file in self._files_of_experiment(name)}
        return sources.key("library", "stages", "metrics", *parts, files=[*sorted(used), *files])

    def _files_of_experiment(self, name):
        plan = self.plan(name)
        recipes = [run.data for runs in plan.batches.values() for run in runs]
        for point in plan.points:
            recipes += [recipe for _, recipe in point.importances.values()]
            recipes += [recipe for _, recipe in point.metrics.values()]
        return _paths({id(recipe): recipe for recipe in recipes}.values())

    def sweep_metrics(self, wildcards):
        """Metrics of an experiment."""
        return self.config["experiments"][wildcards.experiment]["metrics"]

    def sweep_key(self, wildcards):
        """Key of table and figure of a sweep: sources and settings of all that is behind them."""
        key = self._experiments_key([wildcards.experiment], "papers", "report")
        own = self._definition(wildcards.experiment), self.sweep_figure(wildcards)
        return digest([key, *own])

    def sweep_figure(self, wildcards):
        """Settings of the figure of an experiment, as JSON."""
        return json.dumps(facets.complete(self.config, wildcards.experiment))

    # Artefacts

    def artefact_names(self, wildcards):
        """Inputs of an artefact, as EXPERIMENT/METRIC."""
        return self.artefacts[wildcards.artefact].get("inputs", [])

    def artefact_inputs(self, wildcards):
        """Folders of the experiments that they are of."""
        self.asked.add(wildcards.artefact)
        return [f"results/experiments/{name}" for name in self._experiments(wildcards)]

    def _experiments(self, wildcards):
        names = self.artefact_names(wildcards)
        return list(dict.fromkeys(name.partition("/")[0] for name in names))

    def artefact_parameters(self, wildcards):
        """Parameters of an artefact's ``compute``, as JSON."""
        artefact = self.artefacts[wildcards.artefact]
        options = dict(artefact.get("parameters", {}))
        if artefact.get("datasets"):
            options["recipes"] = self._datasets(wildcards)
        if artefact.get("recorded"):
            paper = wildcards.artefact.partition("/")[0]
            options["recorded"] = relative(PAPERS / paper / "recorded" / artefact["recorded"])
        if (
            "importances"
            in inspect.signature(papers.artefact(wildcards.artefact).compute).parameters
        ):
            options["importances"] = self.config["importances"]
        return json.dumps(options)

    def artefact_key(self, wildcards):
        """Key of an artefact: sources and settings of all that is behind it."""
        paper = wildcards.artefact.partition("/")[0]
        files = _paths(self._datasets(wildcards).values())
        experiments = self._experiments(wildcards)
        key = self._experiments_key(experiments, "papers", f"papers/{paper}", files=files)
        own = [f(wildcards) for f in (self.artefact_names, self.artefact_parameters, self.judging)]
        return digest([key, wildcards.artefact, own, [*map(self._definition, experiments)]])

    def _datasets(self, wildcards):
        """Recipes of the data sets that the table of an artefact reads directly."""
        names = self.artefacts[wildcards.artefact].get("datasets", [])
        return {name: self.config["datasets"][name] for name in names}

    def judging(self, wildcards):
        """How an artefact is judged, beside the evidence in its paper: arguments of the job."""
        artefact, arguments = self.artefacts[wildcards.artefact], []
        if artefact.get("statements"):
            arguments += ["--decided", *artefact["statements"]]
        if artefact.get("scaled") and (reason := self._other_scale(wildcards)):
            arguments += ["--incomparable", reason]
        arguments += ["--stand_in"] if "stand_in" in artefact else []
        return [*arguments, *(["--timed"] if self.timed(wildcards.artefact) else [])]

    def _other_scale(self, wildcards):
        """Why an artefact is not at the scale of the paper; none if it is.

        That a configuration calls itself so is not enough: another file may lie beneath it.
        """
        if not self.config["paper_scale"]:
            return f"preset {self.config['preset']}: sizes are not those of the paper"
        names = self._experiments(wildcards)
        changed = [
            n
            for n in names
            if n not in self.own["experiments"]
            or self._definition(n) != self._definition(n, self.own)
        ]
        key = wildcards.artefact
        if self.artefacts[key].get("parameters") != self.own["artefacts"][key].get("parameters"):
            changed.append(f"artefacts.{key}.parameters")
        return f"settings differ from the paper's: {', '.join(changed)}" if changed else ""

    def paper(self, wildcards):
        """Category of a figure in Snakemake's own report."""
        return wildcards.artefact.partition("/")[0]

    def labels(self, wildcards):
        """What Snakemake's own report shows beside a figure."""
        _, _, name = wildcards.artefact.partition("/")
        return {"artefact": name, "what it shows": self.artefacts[wildcards.artefact]["title"]}

    # Claims and report

    def timed(self, name):
        """Whether the values of an artefact are times."""
        return self.artefacts[name].get("timed", False)

    def path(self, folder, name, kind):
        """One file of an artefact; what depends on the clock lies apart."""
        return f"results/{'timing/' if self.timed(name) else ''}{folder}/{name}.{kind}"

    def judgments(self, timed, names=None):
        """Judgments of the artefacts whose values are times, or of the others; no optional ones."""
        names = self.required if names is None else names
        return [self.path("judgments", n, "json") for n in names if self.timed(n) == timed]

    @staticmethod
    def claims_key():
        """Key of the claims tables."""
        return sources.key("papers", "report")

    @staticmethod
    def report_key():
        """Key of the report."""
        of_papers = sorted(path.parent.name for path in PAPERS.glob("*/artefacts.yaml"))
        return sources.key("papers", "report", *(f"papers/{name}" for name in of_papers))

    def packed(self, wildcards=None):
        """The configuration, packed; as text, which keeps its order, for the keys of artefacts."""
        return pack(json.dumps(self.config))

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

    def sweep_pictures(self, names=None, kinds=ON_PAGES):
        """Pictures of sweeps, by default of those that the report shows."""
        drawn = self._drawn_sweeps(self.config["sweeps"] if names is None else names)
        return [f"results/experiments/{name}.{kind}" for name in drawn for kind in kinds]

    def _drawn_sweeps(self, names):
        return [name for name in names if facets.complete(self.config, name)]

    # After a failure

    def report_is_older(self):
        """Whether there is a report from before this run made one of its artefacts."""
        report = Path("results/report.html")
        tables = [Path(self.path("tables", name, "csv")) for name in self.asked]
        return report.exists() and any(
            table.stat().st_mtime > report.stat().st_mtime for table in tables if table.exists()
        )

    @staticmethod
    def report_is_of_a_failed_run():
        """Whether there is a report and no verdict: the check of its run did not end well."""
        return Path("results/report.html").exists() and not Path("results/verdict.txt").exists()

    def after_failure(self, cores):
        """Command that writes the report from what was made, for Snakemake to format."""
        words = ["python", "-m", "reproduction", "unfinished", "--cores", str(cores)]
        command = shlex.join([*words, "--configuration", *self.packed()])
        return f"{command} > results/logs/unfinished.log 2>&1".replace("{", "{{").replace("}", "}}")

    def incomplete(self):
        """Artefacts that are not made, each with the log of the job that failed and its reason."""
        return [
            {"artefact": name, **unfinished}
            for name in self.required
            if (unfinished := _unfinished(self._steps(name)))
        ]

    def incomplete_sweeps(self):
        """Sweeps of the report that are not made, as `incomplete` has artefacts."""
        return [
            {"sweep": name, **unfinished}
            for name in self.config["sweeps"]
            if (unfinished := _unfinished(self._steps_of_sweep(name)))
        ]

    def _steps(self, name):
        """(outputs, log, key) of every job behind an artefact, in the order of the flow.

        Only the last one has a key: it covers those before.
        """
        wildcards = SimpleNamespace(artefact=name)
        for experiment in self._experiments(wildcards):
            yield from self._steps_of_experiment(experiment)
        log = f"results/logs/{'timing/' if self.timed(name) else ''}artefacts/{name}.log"
        yield self.outputs(name), log, self.artefact_key(wildcards)

    def _steps_of_sweep(self, name):
        yield from self._steps_of_experiment(name)
        outputs = [*self.sweep_tables([name]), *self.sweep_pictures([name])]
        key = self.sweep_key(SimpleNamespace(experiment=name))
        yield outputs, f"results/logs/sweeps/{name}.log", key

    def _steps_of_experiment(self, name):
        for batch in self.plan(name).batches:
            for stage in ("data_and_models", "importances", "metrics"):
                yield [], f"results/logs/{stage}/{name}/{batch}.log", ""
        yield [], f"results/logs/experiments/{name}.log", ""

    # Targets

    def everything(self):
        """All files of all artefacts but the optional ones, and of the sweeps of the report."""
        files = [file for name in self.required for file in self.outputs(name)]
        return [*files, *self.sweep_tables(), *self.sweep_pictures()]

    def outputs(self, name):
        """All files of one artefact."""
        pictures = PICTURES if name in self.figures else ()
        return [
            self.path("tables", name, "csv"),
            *(self.path("figures", name, kind) for kind in pictures),
            self.path("judgments", name, "json"),
        ]

    def targets(self):
        """Names of artefacts, papers and experiments, and the files that each stands for."""
        files: dict = {}
        for name in self.artefacts:
            files[name.replace("/", "_")] = self.outputs(name)
            if name in self.required:
                paper = name.partition("/")[0]
                files[paper] = [*files.get(paper, []), *self.outputs(name)]
        for name in self.config["experiments"]:
            folder = f"results/experiments/{name}"
            pictures = self.sweep_pictures([name], PICTURES)
            files[f"experiment_{name}"] = [folder, f"{folder}.csv", *pictures]
        return files

    def unknown(self, target) -> str:
        """The error line for a target that does not exist; empty for others, and for options."""
        names = self.targets()
        if target in names or target.startswith("-") or not target:
            return ""
        near = difflib.get_close_matches(target, names, 1)
        shown = {name.replace("/", "_"): name for name in self.artefacts}
        question = f" (did you mean {shown.get(near[0], near[0])}?)" if near else ""
        return f"{target} is no paper, artefact or experiment{question}"


def unwritable() -> str:
    """Why no result can be written here, with the remedy; empty if it can."""
    results = Path("results")
    if results.exists() and not results.is_dir():
        return "results is no folder: move the file away"
    folder = results if results.exists() else Path()
    if os.access(folder, os.W_OK | os.X_OK):
        return ""
    return (
        f"{folder.name or folder.resolve()} cannot be written: change its rights, or let results "
        "lie elsewhere by Snakemake's --directory"
    )


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


def _unfinished(steps):
    """Log and reason of the first of these jobs that failed; None if all is made, of these keys.

    An earlier run may have left outputs of other sources or settings, whose logs have another key.
    """
    is_made = True
    for outputs, log, key in steps:
        lines = _lines(log)
        if lines and lines[-1] != FINISHED:
            return {"log": log, "reason": lines[-1]}
        is_made &= all(Path(output).exists() for output in outputs)
        is_made &= not key or KEY.format(key) in lines[-3:]
    return None if is_made else {"log": "", "reason": "none of its jobs failed, but not all ran"}


def _lines(log):
    """Lines of the log of a job; none if it never started."""
    path = Path(log)
    if not path.is_file():
        return []
    lines = path.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    return lines or ["the job was stopped before it printed anything"]


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
