"""Plan which runs of an experiment go into which job.

A run that has been given to a batch stays in it; new runs make new batches. A batch is named after
its runs, and its plan file never changes. So adding a value to a sweep adds jobs and changes none,
and results, which do not depend on the batch, stay. A batch with a run that is no longer wanted
stays if it was made, and else is planned anew: that run may be what made it fail.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from reproduction import storage
from reproduction.planning import sweep


@dataclass(frozen=True)
class Plan:
    """Plan of one experiment: its points, and the runs of each batch."""

    points: list[sweep.Point]
    batches: dict[str, list[sweep.Run]]

    @cached_property
    def batch_of(self) -> dict[str, str]:
        """Batch of each run, by the run's key."""
        return {run.key: name for name, runs in self.batches.items() for run in runs}

    @cached_property
    def points_of(self) -> dict[str, list[sweep.Point]]:
        """Points of each batch, by its name."""
        points: dict[str, list[sweep.Point]] = {name: [] for name in self.batches}
        for point in self.points:
            points[self.batch_of[point.run.key]].append(point)
        return points

    def recipes(self, batch: str = "", stage: str = "metrics") -> list[dict]:
        """Recipes behind the jobs of a stage: of one batch, or of all."""
        runs = self.batches[batch] if batch else itertools.chain(*self.batches.values())
        found = [run.data for run in runs]
        for point in self.points_of[batch] if batch else self.points:
            if stage != "data_and_models":
                found += [recipe for _, recipe in point.importances.values()]
            if stage == "metrics":
                found += [recipe for _, recipe in point.metrics.values()]
        # Points share what they compute.
        return list({id(recipe): recipe for recipe in found}.values())

    def importances(self, batch: str) -> dict[str, dict]:
        """Recipes of the importances of a batch, by file name."""
        return {f: r for p in self.points_of[batch] for f, r in p.importances.values()}

    def metrics(self, batch: str) -> dict[str, tuple[dict, dict[str, str]]]:
        """By the file name of a metric: its recipe, and the files of the importances it reads."""
        return {
            file: (recipe, {name: f for name, (f, _) in point.importances.items()})
            for point in reversed(self.points_of[batch])
            for file, recipe in point.metrics.values()
        }


def make(config: dict, name: str, results="results") -> Plan:
    """Plan of one experiment; batches made before have ``plans/NAME/BATCH.json`` in the results."""
    points = sweep.expand(config, name)
    wanted = {point.run.key for point in points}
    batches = {}
    for path in sorted(Path(results, "plans", name).glob("*.json")):
        runs, keys = _read(path)
        was_made = Path(results, "metrics", name, path.stem).is_dir()
        if keys <= wanted or (was_made and keys & wanted):
            batches[path.stem] = runs
    planned = {run.key for runs in batches.values() for run in runs}
    new_points = [point for point in points if point.run.key not in planned]
    for runs in sweep.batches(new_points, config["batch_size"]):
        batches[storage.digest(sorted(run.key for run in runs))] = runs
    return Plan(points, batches)


def read(config: dict, name: str, files) -> Plan:
    """Read the plan of an experiment whose batches have these plan files, as `make` wrote it."""
    batches = {Path(file).stem: _read(file)[0] for file in files}
    return Plan(sweep.expand(config, name), batches)


def _read(path):
    """Runs of a batch, and their keys."""
    runs = [sweep.Run(**run) for run in storage.read_json(path)]
    return runs, {run.key for run in runs}
