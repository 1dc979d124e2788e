"""Planning: the same jobs as Snakemake's, and costs that follow from what jobs have logged."""

import contextlib
import json
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from reproduction import cost_model, datasets, usage
from reproduction.__main__ import main
from reproduction.planning import (
    configuration,
    costs,
    jobs,
    records,
    schedule,
    signatures,
    sweep,
    work,
)
from reproduction.planning.jobs import Job
from reproduction.planning.workflow import Workflow
from reproduction.storage import pack

ROOT = Path(__file__).resolve().parents[1]
TINY = configuration.read_yaml(ROOT / "config" / "presets" / "tiny.yaml")
START, RUN, RATE = 1.5, 0.02, 3e-6


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    """All jobs, planned in an empty folder: results of a run in the checkout keep their batches."""
    with contextlib.chdir(tmp_path_factory.mktemp("tiny")):
        return list(jobs.of_workflow(Workflow(TINY)))


def run(repeat, rows=100, trees=10):
    """A run of drawn data and a forest."""
    return sweep.Run(
        key=f"led_sampled@n_samples={rows},repeat={repeat}+extra_trees@{trees}+{repeat}",
        data_key=f"led_sampled@n_samples={rows},repeat={repeat}",
        data={"dataset": "led_sampled", "n_samples": rows},
        model={"estimator": "ExtraTreesClassifier", "n_estimators": trees},
        repeat=repeat,
    )


def logged(folder, name, runs):
    """A job of local MDI that took `START`, and `RUN` and `RATE` times trees, rows and depth a run.

    The ten displays of led are ten leaves.
    """
    job = jobs.of_importance(name, jobs.Batch(runs), {"importance": "local_mdi"})
    sizes = {r.key: r.model["n_estimators"] * r.data["n_samples"] for r in runs}
    took = {key: RUN + RATE * size * np.log2(10) for key, size in sizes.items()}
    lines = [f"{key} took {seconds:.4f} s" for key, seconds in took.items()]
    total = START + sum(took.values())
    lines += [f"used {total:.3f} s of processor time, 200 MB of memory", "finished"]
    (folder / job.log).parent.mkdir(parents=True, exist_ok=True)
    (folder / job.log).write_text("\n".join(lines) + "\n")
    return job, total


def snakemake_jobs(folder):
    """Number of jobs by rule of a dry run in an empty folder."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    profile = ROOT / "workflow" / "profiles" / "default"
    command = ["snakemake", "--snakefile", str(ROOT / "Snakefile"), "--dry-run", "--configfile"]
    command += [str(ROOT / "config" / "presets" / "tiny.yaml"), "--workflow-profile", str(profile)]
    process = subprocess.run(
        command, cwd=folder, env={**os.environ, "PATH": path}, text=True, capture_output=True
    )
    assert process.returncode == 0, process.stderr
    table = process.stdout.partition("Job stats:")[2].partition("total")[0]
    return {name: int(n) for name, n in re.findall(r"^(\w+) +(\d+)$", table, re.MULTILINE)}


@pytest.mark.long
def test_the_plan_has_the_jobs_that_snakemake_has(tiny, tmp_path):
    """Red if a stage is left out, or an importance that two metrics read is counted twice."""
    expected = snakemake_jobs(tmp_path)
    # The target itself is no work.
    assert expected.pop("reproduce") == 1
    assert Counter(job.rule for job in tiny) == expected


def test_every_job_comes_after_those_that_it_needs(tiny):
    makers = {}
    for number, job in enumerate(tiny):
        for file in job.outputs:
            assert makers.setdefault(file, number) == number, f"two jobs make {file}"
    for number, job in enumerate(tiny):
        assert all(makers[file] < number for file in job.inputs if file in makers), job
        without_maker = [f for f in job.inputs if f.startswith("results/") and f not in makers]
        assert not without_maker, f"nobody makes {without_maker}"


def test_rates_come_back_from_logs(tmp_path, monkeypatch):
    """Red if seconds of runs and jobs are swapped, or work is counted in other units."""
    monkeypatch.chdir(tmp_path)
    logged_jobs = [
        logged(tmp_path, f"b{i}", [run(10 * i + r, rows, trees) for r in range(4)])
        for i, (rows, trees) in enumerate([(100, 10), (400, 10), (100, 300), (1000, 50)])
    ]
    rows = cost_model.fit(cost_model.observations(job for job, _ in logged_jobs))
    fitted = costs.Costs(rows)
    for job, seconds in logged_jobs:
        assert fitted.seconds(job) == pytest.approx(seconds, rel=0.1)
        assert fitted.megabytes(job) == pytest.approx(200, rel=0.1)
        assert fitted.start(job) == pytest.approx(START, rel=0.1)
    # Ten times as many trees, and as many rows, as were measured.
    large_job, seconds = logged(tmp_path, "large", [run(99, 10_000, 3000)])
    assert fitted.seconds(large_job) == pytest.approx(seconds, rel=0.2)


def test_a_kind_that_was_never_measured_costs_what_is_typical_of_its_rule(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    job, _ = logged(tmp_path, "one", [run(r) for r in range(3)])
    fitted = costs.Costs(cost_model.fit(cost_model.observations([job])))
    unmeasured = jobs.of_importance("other", job.batch, {"importance": "mine"})
    assert fitted.measured(job) and not fitted.measured(unmeasured)
    assert fitted.seconds(unmeasured) == pytest.approx(fitted.seconds(job), rel=0.2)


def test_a_log_without_its_last_lines_says_nothing(tmp_path):
    log = tmp_path / "job.log"
    log.write_text("a+b+1 took 0.5 s\n")
    assert usage.read(log) is None and usage.read(tmp_path / "none.log") is None


def test_a_job_logs_what_it_used(capsys, tmp_path):
    plan_file = tmp_path / "plan.json"
    assert main(["plans", "--runs", *pack([]), "--out", str(plan_file)]) == 0
    (tmp_path / "log").write_text(capsys.readouterr().out)
    logged_usage = usage.read(tmp_path / "log")
    assert logged_usage.seconds > 0 and logged_usage.megabytes > 1 and logged_usage.runs == {}


def test_twice_the_repeats_are_twice_the_work():
    def seconds(repeats):
        experiment = {"importances": ["local_mdi"], "metrics": ["global_scores"]}
        axes = {"data": "led_sampled", "model": "extra_trees"}
        axes["repeat"] = {"first": 1, "last": repeats}
        experiment["sweep"] = [{"grid": axes, "batch_size": 10}]
        flow = Workflow({**TINY, "experiments": {**TINY["experiments"], "e": experiment}})
        return sum(
            costs.reference().runs(job)
            for job in jobs.of_workflow(flow, "e")
            if job.batch is not None
        )

    assert seconds(20) > 0
    assert seconds(40) == pytest.approx(2 * seconds(20), rel=1e-9)


def test_sizes_are_those_of_the_data():
    """Red if a data set has other rows or features than planning believes."""
    config = configuration.load({})
    for recipe in config["datasets"].values():
        data = datasets.load(recipe)
        expected = len(data.training.X), len(data.explained.X), data.X.shape[1]
        assert work.shape(recipe) == expected, recipe
    titanic = {"dataset": "titanic", "share": 0.8, "random_state": 0}
    assert work.shape(titanic)[0] == len(datasets.load(titanic).X)
    wine = {"dataset": "standardized_split", "of": "red_wine", "n_test": 7}
    assert work.shape(wine)[1] == 7


def test_a_csv_file_has_the_size_of_its_text(tmp_path):
    file = tmp_path / "own.csv"
    file.write_text("a,b,y\n" + "1,2,3\n" * 12)
    assert work.shape({"dataset": "csv_file", "path": str(file), "target": "y"}) == (12, 12, 2)


def test_work_is_known_of_what_there_is():
    """Red if an importance, a metric, an artefact or a data set is renamed here alone."""
    assert set(work._IMPORTANCES) <= set(signatures.names("importance"))
    assert set(work._METRICS) <= set(signatures.names("metric"))
    assert set(work._ARTEFACTS) <= set(configuration.artefacts())
    drawn_otherwise = {"csv_file", "parquet_file", "standardized_split"}
    assert set(work.SHAPES) == set(signatures.names("dataset")) - drawn_otherwise


@pytest.mark.parametrize(
    ("model", "trees", "leaves", "tried"),
    [
        ({"estimator": "RandomForestClassifier"}, 100, 100, np.sqrt(7)),
        ({"estimator": "RandomForestRegressor", "max_features": 0.5}, 100, 100, 3.5),
        ({"estimator": "ExtraTreesClassifier", "max_features": 3, "max_depth": 4}, 100, 16, 3),
        ({"estimator": "DecisionTreeClassifier", "max_leaf_nodes": 5}, 1, 5, 7),
        ({"estimator": "XGBRegressor", "n_estimators": 7}, 7, 64, 7),
        ({"estimator": "XGBRegressor", "subsample": 0.1, "max_depth": 9}, 100, 10, 7),
        ({"estimator": "LGBMClassifier"}, 100, 31, 7),
    ],
)
def test_trees_have_as_many_leaves_as_depth_and_rows_allow(model, trees, leaves, tried):
    size = work.size({"dataset": "led_sampled", "n_samples": 100, "noise": 0.1}, model)
    assert (size.trees, size.leaves, size.tried) == pytest.approx((trees, leaves, tried))


def test_led_has_no_more_leaves_than_displays():
    data, model = {"dataset": "led_sampled", "n_samples": 500}, {"estimator": "XGBRegressor"}
    deep = {**model, "max_depth": 20}
    assert work.size(data, deep).leaves == 10
    assert work.size({**data, "noise": 0.1}, deep).leaves == 128


def test_folds_are_fits_without_a_part_of_the_rows():
    data, model = {"dataset": "led_sampled", "n_samples": 100}, {"estimator": "XGBRegressor"}
    size = work.size(data, {**model, "folds": 5, "n_estimators": 10})
    assert (size.rows, size.explained, size.fitted, size.trees) == (80, 100, 50, 10)


def test_jobs_run_side_by_side_when_their_inputs_are_there():
    """By hand: 1 and 2 in parallel, 3 after 1, and one that takes all cores at the end."""
    four_jobs = [
        Job("data", "1", "", [], ["a"]),
        Job("data", "2", "", [], ["b"]),
        Job("models", "3", "", ["a"], ["c"]),
        Job("tables", "4", "", ["there"], ["d"], timed=True),
    ]
    seconds, megabytes = [1.0, 3.0, 1.0, 5.0], [10.0, 20.0, 40.0, 5.0]
    on_two_cores = schedule.simulate(four_jobs, seconds, megabytes, 2)
    assert (on_two_cores.wall, on_two_cores.chain, on_two_cores.megabytes) == (8.0, 5.0, 60.0)
    # Two, then one are ready, then the third and the last.
    assert on_two_cores.looks == 5
    on_one_core = schedule.simulate(four_jobs, seconds, megabytes, 1)
    assert (on_one_core.wall, on_one_core.megabytes) == (10.0, 40.0)


def test_models_are_not_wanted_once_what_reads_them_is_there(tmp_path, monkeypatch):
    """They are deleted after their last use, and made anew with all that reads them."""
    monkeypatch.chdir(tmp_path)
    three_jobs = [
        Job("models", "b", "", [], ["m"]),
        Job("importances", "b/1", "", ["m"], ["x"]),
        Job("importances", "b/2", "", ["m"], ["y"]),
    ]
    Path("x").touch()
    assert records.finished(None, three_jobs) == [False, False, False]
    Path("y").touch()
    assert records.finished(None, three_jobs) == [True, True, True]


def test_what_is_made_of_a_result_that_is_missing_is_to_do(tmp_path, monkeypatch):
    """Tables of another preset counted as made: their own inputs were still to be computed."""
    monkeypatch.chdir(tmp_path)
    Path("table").touch()
    two_jobs = [Job("data", "e/b", "", [], ["data"]), Job("check", "", "", ["data"], ["table"])]
    assert records.finished(None, two_jobs) == [False, False]


def test_make_plan_prints_totals_and_writes_nothing(tmp_path):
    command = [sys.executable, str(ROOT / "workflow" / "plan.py"), "--cores", "4"]
    command += ["--configfile", str(ROOT / "config" / "presets" / "tiny.yaml")]
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}

    def planned(*options):
        return subprocess.run(
            [*command, *options], cwd=tmp_path, env=environment, text=True, capture_output=True
        )

    process = planned()
    assert process.returncode == 0, process.stderr
    assert re.search(r"^wall .* on 4 cores", process.stdout, re.MULTILINE), process.stdout
    assert not list(tmp_path.iterdir())
    refused = planned("--experiment", "sutera")
    assert refused.returncode == 1
    assert refused.stderr.startswith("configuration: no experiment 'sutera'; there are ")
    assert len(refused.stderr.splitlines()) == 1


def test_the_costs_of_the_project_cover_what_it_runs(tiny):
    """Red if an importance or metric was added and its costs were not measured.

    That there are rates does not say that they are right: after a run, `make plan` prints the
    seconds that were measured beside those that they predict.
    """
    project_costs, measured = costs.reference(), ("models", "importances", "metrics")
    unknown = {job.kind for job in tiny if job.rule in measured and not project_costs.measured(job)}
    assert unknown == set()


def test_observations_are_plain_json(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    job, _ = logged(tmp_path, "one", [run(1)])
    measured = cost_model.observations([job])
    assert json.loads(json.dumps(measured)) == measured
