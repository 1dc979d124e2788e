"""What the rules ask: inputs, parameters and keys of each job, from configuration and plans.

The methods that take `wildcards` are input and parameter functions of the rules in
``workflow/rules``. Plans are made when a rule first asks for one, and nothing is written.
"""

from __future__ import annotations

import inspect
import json
import os
import re
from functools import cache
from pathlib import Path

from reproduction import papers
from reproduction.planning import configuration, facets, plans, sources, sweep
from reproduction.planning.errors import nearest
from reproduction.planning.places import FIGURE_KINDS, ON_PAGES, PAPERS, relative
from reproduction.planning.recipes import taken
from reproduction.storage import digest, pack

# Parts of the sources that the jobs of a stage may use, see `sources`. Those of the stages before
# are among them: models are temporary, and Snakemake asks nothing of a file that is not there.
_MODELS = ("library", "stages")
_METRICS = (*_MODELS, "metrics")
PARTS = {
    "kernels": ("library",),
    "data_and_models": _MODELS,
    "importances": _MODELS,
    "metrics": _METRICS,
    "sweeps": (*_METRICS, "papers", "report"),
    "artefacts": (*_METRICS, "papers"),
    "claims": ("papers", "report"),
    "report": ("papers", "report"),
}


class Workflow:
    """The checked configuration, and the inputs and parameters of each job."""

    def __init__(self, config, files=()):
        """Take the configuration as Snakemake merged it, and the files it was merged from."""
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
            of = self.outputs if section == "artefacts" else self.sweep_outputs
            with_figure = {n for n in names if any(file.endswith(FIGURE_KINDS) for file in of(n))}
            names = [name for name in names if (name in with_figure) == drawn]
        return "|".join(map(re.escape, names))

    def key(self, stage):
        """Parameter function: digest of the sources, files and settings behind a job of a stage."""

        def of_job(wildcards):
            papers_of_job = [f"papers/{name}" for name in self._papers(stage, wildcards)]
            files = _paths(self._recipes(stage, wildcards))
            key = sources.key(*PARTS[stage], *papers_of_job, files=files)
            settings = self._settings(stage, wildcards)
            return digest([key, *settings]) if settings else key

        return of_job

    @staticmethod
    def _papers(stage, wildcards):
        """Papers whose code a job uses."""
        if stage == "report":
            return sorted(path.parent.name for path in PAPERS.glob("*/artefacts.yaml"))
        return [wildcards.artefact.partition("/")[0]] if stage == "artefacts" else []

    def _recipes(self, stage, wildcards):
        """Recipes behind a job, which may name files of the user's."""
        if stage == "artefacts":
            names = self.experiments_of(wildcards.artefact)
            behind = [recipe for name in names for recipe in self.plan(name).recipes()]
            return [*behind, *self._datasets(wildcards.artefact).values()]
        if stage == "sweeps":
            return self.plan(wildcards.experiment).recipes()
        if stage in ("data_and_models", "importances", "metrics"):
            return self.plan(wildcards.experiment).recipes(wildcards.batch, stage)
        return []

    def _settings(self, stage, wildcards):
        """Settings of a job and of those before it, for the log that the report reads."""
        if stage == "sweeps":
            return [self.definition(wildcards.experiment), self.figure(wildcards.experiment)]
        if stage != "artefacts":
            return []
        own = [f(wildcards) for f in (self.inputs, self.artefact_parameters, self.judging)]
        experiments = self.experiments_of(wildcards.artefact)
        return [wildcards.artefact, *own, *map(self.definition, experiments)]

    # Batches and experiments

    def runs(self, wildcards):
        """Runs of a batch, packed."""
        plan = self.plan(wildcards.experiment)
        return pack([run.to_json() for run in plan.batches[wildcards.batch]])

    def importances(self, wildcards):
        """Recipes of the importances of a batch, by file name."""
        return self.plan(wildcards.experiment).importances(wildcards.batch)

    def metrics(self, wildcards):
        """Metrics of a batch by file name: recipe, and the files of importances by their names."""
        return self.plan(wildcards.experiment).metrics(wildcards.batch)

    def takes_forest(self, wildcards):
        """Whether a metric of a batch takes the forest."""
        recipes = [recipe for recipe, _ in self.metrics(wildcards).values()]
        return any("forest" in taken("metric", recipe["metric"]) for recipe in recipes)

    def tables_of(self, experiments):
        """Plans of all batches of some experiments, and folders of their metrics."""
        patterns = "results/plans/{}/{}.json", "results/metrics/{}/{}"
        batches = [(name, batch) for name in experiments for batch in self.plan(name).batches]
        return [pattern.format(*batch) for pattern in patterns for batch in batches]

    def gathered(self, experiments):
        """Definitions of experiments and their batches, packed, for the tables of their metrics.

        Sorted, as batches that are made already come in another order than those of a first run.
        """
        return pack(
            {
                name: {
                    "definition": self.definition(name),
                    "batches": sorted(self.plan(name).batches),
                }
                for name in experiments
            }
        )

    def definition(self, name, config=None):
        """An experiment and the recipes that it names, as JSON."""
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

    def figure(self, name):
        """Settings of the figure of an experiment, as JSON."""
        return json.dumps(facets.complete(self.config, name))

    # Artefacts

    def inputs(self, wildcards):
        """Inputs of an artefact, as EXPERIMENT/METRIC."""
        return self.artefacts[wildcards.artefact].get("inputs", [])

    def artefact_inputs(self, wildcards):
        """Tables of the experiments that they are of."""
        self.asked.add(wildcards.artefact)
        return self.tables_of(self.experiments_of(wildcards.artefact))

    def whole_papers(self):
        """Papers of which the configuration leaves out no artefact and no variant."""
        own = self.own["artefacts"]
        less = {
            name.partition("/")[0]
            for name in own
            if (name not in self.required and not own[name].get("optional", False))
            or any(
                _variants(self.own, e) - _variants(self.config, e)
                for e in self.experiments_of(name)
            )
        }
        return sorted({name.partition("/")[0] for name in own} - less)

    def experiments_of(self, name):
        """Experiments that an artefact is made from."""
        inputs = self.artefacts[name].get("inputs", [])
        return list(dict.fromkeys(text.partition("/")[0] for text in inputs))

    def artefact_parameters(self, wildcards):
        """Parameters of an artefact's ``compute``, as JSON."""
        name = wildcards.artefact
        artefact, paper = self.artefacts[name], name.partition("/")[0]
        options = dict(artefact.get("parameters", {}))
        if artefact.get("datasets"):
            options["recipes"] = self._datasets(name)
        if artefact.get("recorded"):
            options["recorded"] = relative(PAPERS / paper / "recorded" / artefact["recorded"])
        if "importances" in inspect.signature(papers.artefact(name).compute).parameters:
            options["importances"] = self.config["importances"]
        return json.dumps(options)

    def _datasets(self, name):
        """Recipes of the data sets that the table of an artefact reads directly."""
        names = self.artefacts[name].get("datasets", [])
        return {name: self.config["datasets"][name] for name in names}

    def judging(self, wildcards):
        """How an artefact is judged, beside the evidence in its paper: arguments of the job."""
        artefact, arguments = self.artefacts[wildcards.artefact], []
        if artefact.get("statements"):
            arguments += ["--decided", *artefact["statements"]]
        if artefact.get("scaled") and (reason := self._other_scale(wildcards.artefact)):
            arguments += ["--incomparable", reason]
        arguments += ["--stand_in"] if "stand_in" in artefact else []
        return [*arguments, *(["--timed"] if artefact.get("timed") else [])]

    def _other_scale(self, artefact):
        """Why an artefact is not at the scale of the paper; none if it is.

        That a configuration calls itself so is not enough: another file may lie beneath it.
        """
        if not self.config["paper_scale"]:
            return f"preset {self.config['preset']}: sizes are not those of the paper"
        changed = [
            name
            for name in self.experiments_of(artefact)
            if name not in self.own["experiments"]
            or self.definition(name) != self.definition(name, self.own)
        ]
        given, own = (config["artefacts"][artefact] for config in (self.config, self.own))
        if given.get("parameters") != own.get("parameters"):
            changed.append(f"artefacts.{artefact}.parameters")
        return f"settings differ from the paper's: {', '.join(changed)}" if changed else ""

    def labels(self, wildcards):
        """What Snakemake's own report shows beside a figure."""
        _, _, name = wildcards.artefact.partition("/")
        return {"artefact": name, "what it shows": self.artefacts[wildcards.artefact]["title"]}

    # Files

    def packed(self, wildcards=None):
        """The configuration, packed; as text, which keeps its order, for the keys of artefacts."""
        return pack(json.dumps(self.config))

    def path(self, folder, name, kind):
        """One file of an artefact; what depends on the clock lies apart."""
        timing = "timing/" if self.artefacts[name].get("timed") else ""
        return f"results/{timing}{folder}/{name}.{kind}"

    def outputs(self, name):
        """All files of one artefact."""
        kinds = FIGURE_KINDS if name in self.figures else ()
        return [
            self.path("tables", name, "csv"),
            *(self.path("figures", name, kind) for kind in kinds),
            self.path("judgments", name, "json"),
        ]

    def files(self, kinds, names=None):
        """Files of some kinds of artefacts, by default of all that a run makes."""
        names = self.required if names is None else names
        return [file for name in names for file in self.outputs(name) if file.endswith(kinds)]

    def judgments(self, timed, names=None):
        """Judgments of the artefacts whose values are times, or of the others."""
        files = self.files("json", names)
        return [file for file in files if file.startswith("results/timing/") == timed]

    def sweep_outputs(self, name):
        """Table and figures of one sweep."""
        kinds = FIGURE_KINDS if facets.complete(self.config, name) else ()
        return [f"results/experiments/{name}.{kind}" for kind in ("csv", *kinds)]

    def sweep_files(self, kinds, names=None):
        """Files of some kinds of sweeps, by default of those that the report shows."""
        names = self.config["sweeps"] if names is None else names
        return [file for name in names for file in self.sweep_outputs(name) if file.endswith(kinds)]

    def everything(self):
        """All files of all artefacts but the optional ones, and what the report shows of sweeps."""
        return [*self.files(""), *self.sweep_files("csv"), *self.sweep_files(ON_PAGES)]

    def targets(self):
        """Names of artefacts, papers and experiments, and the files that each stands for."""
        files: dict = {}
        for name in self.artefacts:
            files[name.replace("/", "_")] = self.outputs(name)
            if name in self.required:
                paper = name.partition("/")[0]
                files[paper] = [*files.get(paper, []), *self.outputs(name)]
        for name in self.config["experiments"]:
            files[f"experiment_{name}"] = self.sweep_outputs(name)
        return files

    def unknown(self, target) -> str:
        """The error line for a target that does not exist; empty for others, and for options."""
        names = self.targets()
        if target in names or target.startswith("-") or not target:
            return ""
        shown = {name.replace("/", "_"): name for name in self.artefacts}
        near = nearest(target, [shown.get(name, name) for name in names])
        return f"{target} is no paper, artefact or experiment{near}"


def _variants(config, experiment):
    """Variants that the sweep of an experiment has."""
    blocks = config["experiments"].get(experiment, {"sweep": []})["sweep"]
    return {str(name) for block in blocks for name in sweep.axes_of(block).get("variant", [])}


def growing(amount):
    """A resource: so much at the first attempt, twice and three times as much at the next."""

    def at(wildcards, attempt):
        return amount * attempt

    return at


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
