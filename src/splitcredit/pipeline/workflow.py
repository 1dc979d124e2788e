"""What the rules ask: inputs, parameters and sources of each job, from configuration and plans.

The methods that take `wildcards` are input and parameter functions of the rules in
``workflow/rules``.
"""

from __future__ import annotations

import json
from pathlib import Path

from splitcredit.pipeline import config as configuration
from splitcredit.pipeline import plans
from splitcredit.pipeline.sources import sources

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
        self.figures = [name for name, a in self.artefacts.items() if a.get("figure")]
        self.judged = [
            name
            for name, artefact in self.artefacts.items()
            if artefact.get("statements") or self._printed_file(name).exists()
        ]

    @staticmethod
    def job(*modules):
        """Source files of a job, as inputs of its rule: an edit then reruns it."""
        return sources("splitcredit.__main__", *(f"splitcredit.{m}" for m in modules))

    # Data

    def data_sources(self, wildcards):
        """Sources of the data sets of a batch."""
        runs = self.plans[wildcards.experiment].batches[wildcards.batch]
        names = sorted({run.data["dataset"] for run in runs})
        return self.job("jobs.data", *(f"datasets.{name}" for name in names))

    # Importances

    def importance_recipe(self, wildcards):
        """Recipe of a measure, as JSON."""
        return json.dumps(self.plans[wildcards.experiment].importance(wildcards.importance))

    def importance_sources(self, wildcards):
        """Sources of a measure."""
        recipe = self.plans[wildcards.experiment].importance(wildcards.importance)
        return self.job("jobs.explain", f"importances.{recipe['measure']}")

    # Metrics

    def metric_recipe(self, wildcards):
        """Recipe of a metric, as JSON."""
        return json.dumps(self.plans[wildcards.experiment].metric(wildcards.metric)[0])

    def metric_sources(self, wildcards):
        """Sources of a metric."""
        recipe, _ = self.plans[wildcards.experiment].metric(wildcards.metric)
        return self.job("jobs.measure", f"metrics.{recipe['metric']}")

    def metric_names(self, wildcards):
        """Names of the importances that a metric reads."""
        return list(self.plans[wildcards.experiment].metric(wildcards.metric)[1])

    def metric_inputs(self, wildcards):
        """Files of the importances that a metric reads, in the order of `metric_names`."""
        files = self.plans[wildcards.experiment].metric(wildcards.metric)[1].values()
        folder = f"results/importances/{wildcards.experiment}/{wildcards.batch}"
        return [f"{folder}/{file}.npz" for file in files]

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
        wanted = self._artefact(wildcards).get("datasets", [])
        recipes = {name: self.config["datasets"][name] for name in wanted}
        return json.dumps({"recipes": recipes} if recipes else {})

    def table_sources(self, wildcards):
        """Sources of an artefact's table."""
        wanted = self._artefact(wildcards).get("datasets", [])
        names = [self.config["datasets"][name]["dataset"] for name in wanted]
        return self.job("jobs.table", self._module(wildcards), *(f"datasets.{n}" for n in names))

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

    def titles(self):
        """Titles of all artefacts, as JSON."""
        return json.dumps({name: a["title"] for name, a in self.artefacts.items()})

    # Targets

    def outputs(self, name):
        """All files of one artefact."""
        files = [f"results/tables/{name}.csv"]
        if name in self.figures:
            files += [f"results/figures/{name}.svg", f"results/figures/{name}.png"]
        if name in self.judged:
            files.append(f"results/claims/{name}.json")
        return files

    def targets(self):
        """Names of artefacts, papers and experiments, and the files that each stands for."""
        found = {}
        for name in self.artefacts:
            paper, artefact = name.split("/")
            found[f"{paper}_{artefact}"] = self.outputs(name)
            found[paper] = [*found.get(paper, []), *self.outputs(name)]
        for name, experiment in self.config["experiments"].items():
            tables = [f"results/experiments/{name}/{m}.csv" for m in experiment["metrics"]]
            found[f"experiment_{name}"] = tables
        return found

    @staticmethod
    def _claims(wildcards):
        path = Path(CLAIMS, f"{wildcards.paper}.yaml")
        return configuration.read_yaml(path) if path.exists() else {}

    def _artefact(self, wildcards):
        return self.artefacts[f"{wildcards.paper}/{wildcards.artefact}"]

    @staticmethod
    def _module(wildcards):
        return f"papers.{wildcards.paper}.{wildcards.artefact}"

    @staticmethod
    def _printed_file(name):
        return Path(CLAIMS, f"{name.replace('/', '_')}.csv")
