"""Plans: which runs of an experiment go into which job.

A run that has been given to a batch stays in it; new runs make new batches. A batch that holds a
run that is no longer wanted is planned anew if one of its jobs never succeeded. A batch is named
after its runs, and its plan file never changes. So adding a value to a sweep adds jobs and changes
none, and results, which do not depend on the batch, stay.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from reproduction import storage
from reproduction.planning import sweep
from reproduction.planning.errors import ConfigError
from reproduction.planning.recipes import check_recipe


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

    def index(self) -> list[dict]:
        """The points, each with its run, the batch of the run, and the files of its metrics."""
        return [
            {
                "axes": p.axes,
                "run": p.run.key,
                "batch": self.batch_of[p.run.key],
                "metrics": {name: file for name, (file, _) in p.metrics.items()},
            }
            for p in self.points
        ]


def make(config: dict, name: str, folder) -> Plan:
    """Plan of one experiment.

    Parameters
    ----------
    config : dict
        Complete configuration, see `configuration.load`.
    name : str
    folder : path
        ``results/plans/NAME``: holds the plan files of the batches that were made before,
        ``BATCH.json``. These stay, unless they hold a run that no point wants, and an importance
        or a metric of the batch was never made, or the data set or the model of that run is gone.
    """
    points = sweep.expand(config, name)
    by_run: dict[str, list[sweep.Point]] = {}
    for point in points:
        by_run.setdefault(point.run.key, []).append(point)
    batches = {}
    for path in sorted(Path(folder).glob("*.json")):
        runs = [sweep.Run(**run) for run in storage.read_json(path)]
        keys = {run.key for run in runs}
        points_of = [point for key in keys for point in by_run.get(key, [])]
        stays = keys <= by_run.keys() or (_was_made(path, points_of) and _can_be_made(runs, by_run))
        if points_of and stays:
            batches[path.stem] = runs
    old_keys = {run.key for runs in batches.values() for run in runs}
    new_points = [p for p in points if p.run.key not in old_keys]
    for runs in sweep.batches(new_points):
        batches[storage.digest(sorted(run.key for run in runs))] = runs
    return Plan(points=points, batches=batches)


def _was_made(plan, points):
    """Whether all importances and metrics of a batch were made that its points want.

    In one that was not, a run that fails and that no point wants would fail forever. The times of
    the job tell as well: Snakemake deletes a result before it makes it anew, and plans are made
    again by the jobs of that run.
    """
    results = plan.parents[2]
    files = {("importances", f"{file}.npz") for p in points for file, _ in p.importances.values()}
    files |= {("metrics", f"{file}.csv") for p in points for file, _ in p.metrics.values()}

    def is_there(stage, file):
        place = Path(stage, plan.parent.name, plan.stem, file)
        times = results / "timing" / "jobs" / place.with_name(f"{file[:-4]}.tsv")
        return (results / place).is_file() or times.is_file()

    return all(is_there(stage, file) for stage, file in files)


def _can_be_made(runs, by_run):
    """Whether what the runs that no point wants anymore are made of still exists."""
    try:
        for run in runs:
            if run.key not in by_run:
                check_recipe("data", run.data, run.key)
                check_recipe("model", run.model, run.key)
    except ConfigError:
        return False
    return True
