"""The jobs of a configuration without Snakemake: what each needs, makes, and how much work it has.

Snakemake takes milliseconds for each job that it only looks at; here a sweep of a hundred thousand
jobs is planned in seconds. A test holds the two against each other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import SimpleNamespace

from reproduction.planning import work
from reproduction.planning.places import PICTURES
from reproduction.storage import canonical


@dataclass(slots=True)
class Job:
    """One job.

    Parameters
    ----------
    rule, name : str
        `name` tells the jobs of a rule apart, as in the path of the log; it may be empty.
    kind : str
        What the job computes, e.g. the importance. Jobs of a kind have the same cost of a unit of
        work.
    inputs, outputs : sequence of str
        Files that jobs make.
    work : dict of str to float, or callable
        Work by its unit; for a job with a batch, a function of the `work.Size` of a run.
    memory : dict of str to float
        What grows in memory, by its unit.
    batch : Batch, optional
        The runs that the job takes one after another.
    timed : bool
        Whether its values are times. Then a table takes all cores.
    """

    rule: str
    name: str
    kind: str
    inputs: Sequence[str]
    outputs: Sequence[str]
    work: dict[str, float] | Callable = field(default_factory=dict)
    memory: dict[str, float] = field(default_factory=dict)
    batch: Batch | None = None
    timed: bool = False

    @property
    def parts(self) -> list[tuple[int, str, dict[str, float]]]:
        """Runs of equal size: how many, the names of their data and model, and the work of one.

        A job without a batch is one run.
        """
        if self.batch is None:
            return [(1, "", self.work)]
        return [(count, of, self.work(size)) for (of, size), count in self.batch.groups.items()]

    @property
    def alone(self) -> bool:
        """Whether the job takes all cores."""
        return self.timed and self.rule == "tables"

    @property
    def log(self) -> Path:
        """The file that the job prints to."""
        place = f"{self.rule}/{self.name}" if self.name else self.rule
        return Path(f"results/logs/{'timing/' if self.timed else ''}{place}.log")


class Batch:
    """The runs of a batch, those of equal size together.

    Parameters
    ----------
    runs : list of reproduction.planning.sweep.Run

    Attributes
    ----------
    groups : Counter of (str, work.Size)
        Number of runs by the names of data and model, and by size.
    of_run : dict of str to (str, work.Size)
        By the key of the run.
    data : dict of str to (int, int)
        Rows and features of each data set, by its key.
    """

    def __init__(self, runs):
        self.of_run, self.data = {}, {}
        sizes: dict[str, work.Size] = {}
        for run in runs:
            text = canonical([run.data, run.model])
            if text not in sizes:
                sizes[text] = work.size(run.data, run.model)
            size = sizes[text]
            self.of_run[run.key] = names(run.key), size
            self.data[run.data_key] = size.features * (size.rows + size.explained)
        self.groups = Counter(self.of_run.values())

    def kept(self, amount: Callable) -> dict[str, float]:
        """What all runs together keep in memory."""
        amounts: Counter = Counter()
        for (_, size), count in self.groups.items():
            amounts.update({unit: count * value for unit, value in amount(size).items()})
        return dict(amounts)

    def largest(self, amount: Callable) -> dict[str, float]:
        """What the largest run holds in memory."""
        maxima: dict[str, float] = {}
        for _, size in self.groups:
            for unit, value in amount(size).items():
                maxima[unit] = max(maxima.get(unit, 0), value)
        return maxima


def names(run: str) -> str:
    """Names of the data and model of a run, by its key: ``led+extra_trees``."""
    data, model = (part.partition("@")[0] for part in run.split("+")[:2])
    return f"{data}+{model}"


def of_workflow(flow, experiment: str | None = None) -> Iterator[Job]:
    """Jobs of a workflow, each after those that it needs.

    Parameters
    ----------
    flow : reproduction.planning.workflow.Workflow
    experiment : str, optional
        Only the jobs of this experiment; by default, those of everything.
    """
    if experiment is not None:
        metrics = flow.config["experiments"][experiment]["metrics"]
        yield from _with_kernels(flow, _experiment(flow, experiment, metrics))
        return
    experiments = flow.config["experiments"]
    metrics_of = {name: list(experiments[name]["metrics"]) for name in flow.config["sweeps"]}
    for name in flow.required:
        for input_name in flow.artefacts[name].get("inputs", []):
            experiment, _, metric = input_name.partition("/")
            if metric not in metrics_of.setdefault(experiment, []):
                metrics_of[experiment].append(metric)
    planned = [job for e, metrics in metrics_of.items() for job in _experiment(flow, e, metrics)]
    planned += [job for name in flow.required for job in _artefact(flow, name)]
    yield from _with_kernels(flow, planned)
    judgments = {timed: flow.judgments(timed) for timed in (True, False)}
    claims = ["results/claims.csv", "results/claims.md"]
    yield _plain("claims", "", judgments[False], claims)
    timing = "results/claims_timing.csv"
    yield _plain("timings", "", judgments[True], [timing])
    report = "results/report.html"
    gathered = [claims[0], timing, *flow.pictures(), *flow.tables()]
    yield _plain("report", "", gathered, [report])
    needed = [claims[0], timing, report, *flow.everything()]
    yield _plain("check", "", needed, ["results/verdict.txt"])


def _plain(rule, name, inputs, outputs, kind="", **options):
    return Job(rule, name, kind, inputs, outputs, **options)


def of_models(name: str, batch: Batch, runs, inputs=(), outputs=()) -> Job:
    """The job that fits the models of a batch."""
    kind = _only({estimator(run.model) for run in runs})
    memory = batch.kept(work.memory_of_model) | batch.largest(work.peak_of_model)
    return Job("models", name, kind, inputs, outputs, work.of_model, memory, batch)


def of_importance(name: str, batch: Batch, recipe: dict, inputs=(), outputs=()) -> Job:
    """The job of one importance of a batch."""
    memory = batch.kept(partial(work.memory_of_importance, recipe))
    memory |= batch.largest(work.peak_of_model)
    amount = partial(work.of_importance, recipe)
    return Job("importances", name, recipe["importance"], inputs, outputs, amount, memory, batch)


def of_metric(name: str, batch: Batch, recipe: dict, n: int, inputs=(), outputs=()) -> Job:
    """The job of one metric of a batch that reads `n` importances."""
    memory = batch.kept(partial(work.memory_of_metric, recipe, n))
    memory |= batch.largest(partial(work.peak_of_metric, recipe))
    amount = partial(work.of_metric, recipe, n)
    return Job("metrics", name, recipe["metric"], inputs, outputs, amount, memory, batch)


def estimator(model: dict) -> str:
    """Kind of a model: the ways in which XGBoost grows trees have costs of their own."""
    return " ".join(filter(None, [model["estimator"], model.get("tree_method")]))


def _only(kinds):
    """The kind of a job whose runs may differ."""
    return kinds.pop() if len(kinds) == 1 else "several"


def _with_kernels(flow, planned):
    """The jobs, after those that compile their kernels."""
    planned = list(planned)
    needed = dict.fromkeys(file for job in planned for file in job.inputs)
    for file in needed:
        if file.startswith("results/kernels/"):
            part = Path(file).stem
            yield _plain("kernels", part, [], [file], kind=part)
    yield from planned


def _experiment(flow, experiment, metrics) -> Iterator[Job]:
    """Jobs of some metrics of an experiment."""
    plan = flow.plan(experiment)
    batches = {name: Batch(runs) for name, runs in plan.batches.items()}
    folder = {s: f"results/{s}/{experiment}" for s in ("plans", "data", "models", "importances")}
    for name in batches:
        yield _plain("plans", f"{experiment}/{name}", [], [f"{folder['plans']}/{name}.json"])
    points = f"results/points/{experiment}.json"
    plans = [f"{folder['plans']}/{name}.json" for name in batches]
    size = {"points": float(len(plan.points))}
    yield Job("points", experiment, "", plans, [points], size)
    files = {metric: plan.metric_files(metric) for metric in metrics}
    pairs = dict.fromkeys(pair for files_of in files.values() for pair in files_of)
    made: set = set()
    kernels: dict[tuple[str, str], list[str]] = {}

    def compiled(stage, file):
        if (stage, file) not in kernels:
            markers = getattr(flow, f"{stage}_compiled")
            wildcards = SimpleNamespace(experiment=experiment, importance=file, metric=file)
            kernels[stage, file] = markers(wildcards)
        return kernels[stage, file]

    for name, file in pairs:
        recipe, computed = plan.metrics[file]
        batch, n = batches[name], len(computed)
        place = f"{experiment}/{name}"
        data, models = f"{folder['data']}/{name}.npz", f"{folder['models']}/{name}.npz"
        wildcards = SimpleNamespace(experiment=experiment, batch=name, metric=file)
        takes_forest = bool(flow.metric_models(wildcards))
        if name not in made:
            made.add(name)
            plan_file = [f"{folder['plans']}/{name}.json"]
            values = {"values": float(sum(batch.data.values()))}
            kind = _only({run.data["dataset"] for run in plan.batches[name]})
            yield Job("data", place, kind, plan_file, [data], values, values)
        if (computed or takes_forest) and models not in made:
            made.add(models)
            yield of_models(place, batch, plan.batches[name], [data], [models])
        inputs = [data, *([models] if takes_forest else [])]
        for importance in computed.values():
            output = f"{folder['importances']}/{name}/{importance}.npz"
            inputs.append(output)
            if output in made:
                continue
            made.add(output)
            needed = [*compiled("importance", importance), models, data]
            measure = plan.importances[importance]
            yield of_importance(f"{place}/{importance}", batch, measure, needed, [output])
        needed, output = [*compiled("metric", file), *inputs], f"results/metrics/{place}/{file}.csv"
        yield of_metric(f"{place}/{file}", batch, recipe, n, needed, [output])
    for metric, files_of in files.items():
        tables = [f"results/metrics/{experiment}/{name}/{file}.csv" for name, file in files_of]
        output = f"results/experiments/{experiment}/{metric}.csv"
        place = f"{experiment}/{metric}"
        yield Job(
            "experiments",
            place,
            flow.config["metrics"][metric]["metric"],
            [points, *tables],
            [output],
            size,
            size,
        )


def _artefact(flow, name) -> Iterator[Job]:
    """Jobs of an artefact: table, figure, judgment."""
    paper, _, artefact = name.partition("/")
    wildcards = SimpleNamespace(paper=paper, artefact=artefact)
    timed = flow.timed(name)
    table = flow.path("tables", name, "csv")
    inputs = [*flow.table_compiled(wildcards), *flow.artefact_inputs(wildcards)]
    amount = work.of_artefact(name, flow.artefacts[name].get("parameters", {}))
    yield Job("tables", name, name, inputs, [table], amount, timed=timed)
    if name in flow.figures:
        pictures = [flow.path("figures", name, kind) for kind in PICTURES]
        yield _plain("figures", name, [table], pictures, kind=name, timed=timed)
    if name in flow.judged:
        judgment = flow.path("judgments", name, "json")
        yield _plain("judgments", name, [table], [judgment], kind=name, timed=timed)
