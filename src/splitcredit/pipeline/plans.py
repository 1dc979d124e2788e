"""Plan files: which runs go into which job, kept between calls.

A run that has been given to a batch stays in it; new runs make new batches. So adding a value to
a sweep adds jobs and changes none, and results, which do not depend on the batch, stay.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from splitcredit import storage
from splitcredit.pipeline import sweep


@dataclass(frozen=True)
class Plan:
    """What the workflow must make for one experiment.

    Parameters
    ----------
    points : list of Point
    batches : dict of str to list of Run
        Runs of each job, by the name of its plan file.
    """

    points: list[sweep.Point]
    batches: dict[str, list[sweep.Run]]

    @property
    def batch_of(self) -> dict[str, str]:
        """Batch of each run, by the run's key."""
        return {run.key: name for name, runs in self.batches.items() for run in runs}

    def importance(self, file: str) -> dict:
        """Recipe of a measure by its file name."""
        return self._recipes("importances")[file]

    def metric(self, file: str) -> tuple[dict, dict[str, str]]:
        """Recipe of a metric by its file name, and the files of the importances it reads."""
        for point in self.points:
            for found, recipe in point.metrics.values():
                if found == file:
                    return recipe, {name: f for name, (f, _) in point.importances.items()}
        raise KeyError(file)

    def metric_files(self, name: str) -> list[tuple[str, str]]:
        """(batch, file) of every result of one metric, each once, in the order of the points."""
        batch_of = self.batch_of
        pairs = [(batch_of[p.run.key], p.metrics[name][0]) for p in self.points]
        return list(dict.fromkeys(pairs))

    def _recipes(self, section):
        return {f: r for p in self.points for f, r in getattr(p, section).values()}


def make(config: dict, directory) -> dict[str, Plan]:
    """Plans of all experiments; writes the plan files that are not there yet.

    Parameters
    ----------
    config : dict
        Complete configuration, see `splitcredit.pipeline.config.load`.
    directory : path
        Where plan files are kept: ``EXPERIMENT/BATCH.json`` holds the runs of a job, and
        ``EXPERIMENT.json`` the points of the experiment.
    """
    return {name: _plan(config, name, Path(directory)) for name in config["experiments"]}


def _plan(config, name, directory):
    points = sweep.expand(config, name)
    wanted = {p.run.key for p in points}
    batches = {}
    for path in sorted((directory / name).glob("*.json")):
        runs = [sweep.Run(**run) for run in storage.read_json(path)]
        if wanted & {run.key for run in runs}:
            batches[path.stem] = runs
    known = {run.key for runs in batches.values() for run in runs}
    new = [p for p in points if p.run.key not in known]
    for runs in sweep.batches(config, name, new):
        batch = storage.digest(sorted(run.key for run in runs))
        batches[batch] = runs
        storage.write_json(directory / name / f"{batch}.json", [run.to_json() for run in runs])
    plan = Plan(points=points, batches=batches)
    _write_if_new(directory / f"{name}.json", _index(plan))
    return plan


def _index(plan):
    batch_of = plan.batch_of
    return [
        {
            "axes": p.axes,
            "run": p.run.key,
            "batch": batch_of[p.run.key],
            "metrics": {name: file for name, (file, _) in p.metrics.items()},
        }
        for p in plan.points
    ]


def _write_if_new(path, content):
    if not path.exists() or storage.read_json(path) != content:
        storage.write_json(path, content)
