"""Plans: which runs of an experiment go into which job.

A run that has been given to a batch stays in it; new runs make new batches. So adding a value to
a sweep adds jobs and changes none, and results, which do not depend on the batch, stay.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from reproduction import storage
from reproduction.planning import sweep


@dataclass(frozen=True)
class Plan:
    """What the workflow must make for one experiment.

    Parameters
    ----------
    points : list of Point
    batches : dict of str to list of Run
        Runs of each job, by the name of the batch.
    """

    points: list[sweep.Point]
    batches: dict[str, list[sweep.Run]]

    @cached_property
    def batch_of(self) -> dict[str, str]:
        """Batch of each run, by the run's key."""
        return {run.key: name for name, runs in self.batches.items() for run in runs}

    @cached_property
    def importances(self) -> dict[str, dict]:
        """Recipes of the importances, by file name."""
        return {f: r for p in self.points for f, r in p.importances.values()}

    @cached_property
    def metrics(self) -> dict[str, tuple[dict, dict[str, str]]]:
        """By the file name of a metric: its recipe, and the files of the importances it reads."""
        return {
            file: (recipe, {name: f for name, (f, _) in point.importances.items()})
            for point in reversed(self.points)
            for file, recipe in point.metrics.values()
        }

    def metric_files(self, name: str) -> list[tuple[str, str]]:
        """(batch, file) of every result of one metric, each once, in the order of the points."""
        pairs = [(self.batch_of[p.run.key], p.metrics[name][0]) for p in self.points]
        return list(dict.fromkeys(pairs))

    def to_json(self) -> dict:
        """As stored in the plan file: ``batches`` and ``points``."""
        return {
            "batches": {
                name: [run.to_json() for run in runs] for name, runs in self.batches.items()
            },
            "points": [
                {
                    "axes": p.axes,
                    "run": p.run.key,
                    "batch": self.batch_of[p.run.key],
                    "metrics": {name: file for name, (file, _) in p.metrics.items()},
                }
                for p in self.points
            ],
        }


def make(config: dict, name: str, file) -> Plan:
    """Plan of one experiment.

    Parameters
    ----------
    config : dict
        Complete configuration, see `configuration.load`.
    name : str
    file : path
        The plan file, if there is one: its batches are kept.
    """
    points = sweep.expand(config, name)
    wanted = {p.run.key for p in points}
    batches = {}
    if Path(file).is_file():
        for batch, runs in storage.read_json(file)["batches"].items():
            if wanted & {run["key"] for run in runs}:
                batches[batch] = [sweep.Run(**run) for run in runs]
    known = {run.key for runs in batches.values() for run in runs}
    new = [p for p in points if p.run.key not in known]
    for runs in sweep.batches(config, name, new):
        batches[storage.digest(sorted(run.key for run in runs))] = runs
    return Plan(points=points, batches=batches)


def write(config: dict, name: str, file) -> None:
    """Write the plan file of one experiment; batches that are there stay."""
    storage.write_json(file, make(config, name, file).to_json())
