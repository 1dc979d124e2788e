"""The workflow as a user meets it: targets, errors, what reruns, and equal bytes."""

import json
import os
import re
import shutil
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import yaml

from reproduction import storage
from reproduction.planning import configuration
from reproduction.planning.workflow import Workflow
from snakemake_runs import snakemake_runs
from splitcredit.results import attribution

ROOT = Path(__file__).resolve().parents[3]
PATH = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
ENVIRONMENT = {**os.environ, "PATH": PATH}
STAGES = {"kernels", "data_and_models", "importances", "metrics", "artefacts"}
STAGES |= {"artefacts_without_figure", "claims", "report", "check"}
# The jobs of a batch.
BATCHES = ("data_and_models", "importances", "metrics")
NEEDED = ("Snakefile", "workflow", "config", "data", "src", "environment.yml", "requirements.lock")
MINI = {
    "importances": ["local_mdi", "saabas"],
    "metrics": ["row_correlation_summary"],
    "sweep": [
        {
            "grid": {
                "metric.row_correlation_summary.pairs": [[["local_mdi", "saabas"]]],
                "data": "led_sampled",
                "data.noise": [0.0, 0.1],
                "model": "extra_trees",
                "model.n_estimators": [2, 3],
                "model.max_features": [1, 7],
            },
            "batch_size": 8,
        }
    ],
}

# On data whose file a test has damaged.
UNREAD = {"data": "red_wine", "model": "regression_forest", "model.n_estimators": 2}
UNREAD["metric.row_correlation_summary.pairs"] = [[["local_mdi", "saabas"]]]
NO_FILE = "datasets: {mine: {dataset: csv_file, path: mine.csv, target: y}}"
TINY = ("--configfile", "config/presets/tiny.yaml")


@pytest.fixture
def project(tmp_path):
    """A copy of the workflow with one small experiment, ``mini``."""
    return copy_to(tmp_path)


def copy_to(folder, left_out=("*.egg-info", "splitcredit")):
    """Copy these parts of the project, and write the experiment.

    Without a library of its own a copy uses that of the environment, whose compiled kernels are
    there: numba keeps machine code by the place of the sources.
    """
    for name in NEEDED:
        source = ROOT / name
        if source.is_dir():
            # With the byte code of our modules: they need not be compiled anew in each copy.
            shutil.copytree(source, folder / name, ignore=shutil.ignore_patterns(*left_out))
        else:
            shutil.copy(source, folder / name)
    write_experiment(folder, MINI)
    return folder


def write_experiment(project, experiment):
    text = yaml.safe_dump(experiment, sort_keys=False)
    (project / "config" / "experiments" / "mini.yaml").write_text(text)


@pytest.fixture(scope="module")
def snakemake(tmp_path_factory):
    """Runs snakemake in a copy; the result has all that it printed in stdout."""

    def run(project, *arguments, check=True, profile=True):
        options = ["--workflow-profile", "workflow/profiles/default"] if profile else []
        cores = [] if "--cores" in arguments else ["--cores", "1"]
        process = fork(project, [*options, *cores, *arguments], ENVIRONMENT)
        assert not check or process.returncode == 0, process.stdout
        return process

    with snakemake_runs(tmp_path_factory.mktemp("printed") / "output.txt") as fork:
        yield run


def jobs_of(output):
    """Numbers of jobs by rule, from the table that snakemake prints."""
    table = output.partition("Job stats")[2].partition("Reasons:")[0]
    rows = re.findall(r"^ *(\w[\w ]*?) +(\d+) *$", table, re.MULTILINE)
    return {rule.replace(" ", "_"): int(count) for rule, count in rows}


def files_below(folder):
    """Times of all files, but those of Snakemake and the byte code that Python keeps."""
    files = (path for path in folder.rglob("*") if path.is_file())
    caches = {".snakemake", "__pycache__"}
    return {path: path.stat().st_mtime_ns for path in files if not caches & {*path.parts}}


@pytest.mark.long
def test_reading_the_workflow_shows_targets_and_jobs_and_writes_nothing(snakemake, project):
    before = files_below(project)
    names = snakemake(project, "--list", *TINY).stdout.split()
    for artefact in configuration.artefacts():
        assert artefact.replace("/", "_") in names
        assert artefact.partition("/")[0] in names
    assert {"all", "experiment_mini", "claims"} <= set(names)
    with_front = jobs_of(snakemake(project, "-n", *TINY).stdout)
    without_front = jobs_of(snakemake(project, "-n", "-s", "workflow/Snakefile", *TINY).stdout)
    # Both have a default target that makes everything.
    assert with_front.pop("reproduce") == without_front.pop("all") == 1
    assert with_front == without_front and with_front["claims"] == 1
    assert STAGES <= set(with_front)
    # To start a job takes longer than most small ones, and on a cluster minutes.
    assert jobs_of(snakemake(project, "-n").stdout)["total"] <= 220
    snakemake(project, "--lint", *TINY, check=False)
    assert files_below(project) == before


@pytest.mark.long
def test_the_workflow_runs_from_any_directory_as_a_module_of_another(snakemake, tmp_path):
    """As the catalog has it: paths of the project are its own, results are where one works."""
    (tmp_path / "Snakefile").write_text(
        f"""
configfile: "mine.yaml"
module splitcredit:
    snakefile: "{ROOT / "workflow" / "Snakefile"}"
    config: config
use rule * from splitcredit as splitcredit_*
rule mine:
    default_target: True
    input: rules.splitcredit_sutera2021_table2.input
"""
    )
    here = tmp_path / "here"
    here.mkdir()
    (here / "mine.yaml").write_text("paper_scale: false\n")
    arguments = ("-s", str(tmp_path / "Snakefile"), "--directory", str(here))
    snakemake(tmp_path, *arguments, profile=False)
    judged = storage.read_json(here / "results" / "judgments" / "sutera2021" / "table2.json")
    assert {row["verdict"] for row in judged} == {"equal"}
    assert "Nothing to be done" in snakemake(tmp_path, *arguments, profile=False).stdout


@pytest.mark.parametrize(
    ("arguments", "text", "message"),
    [
        (["--config", "sed=3"], "{}", ": unknown key sed; allowed are artefacts"),
        (["--config", "preset=big"], "{}", ": preset: 'big' is not allowed; allowed are tiny, qui"),
        ([], "preset: tiny\npreset: quick\n", "mine.yaml: duplicate key 'preset' in lines 1 and 2"),
        ([], NO_FILE, ": datasets.mine.path: mine.csv: no such file"),
    ],
)
def test_bad_configuration_is_one_readable_line(snakemake, project, arguments, text, message):
    (project / "mine.yaml").write_text(text)
    target = ("-n", "sutera2021_table2", "--configfile", "mine.yaml")
    process = snakemake(project, *target, *arguments, check=False)
    assert process.returncode == 1
    assert re.search(f"configuration.*{re.escape(message)}", process.stdout)
    assert "Traceback" not in process.stdout


@pytest.mark.long
def test_a_failed_job_costs_what_depends_on_it_and_the_page_says_why(snakemake, project):
    table = project / "data" / "red_wine.csv.gz"
    table.write_bytes(table.read_bytes()[:5000])
    sweeps = {"sweep_made": MINI, "sweep_failed": {**MINI, "sweep": [{"grid": UNREAD}]}}
    (project / "mine.yaml").write_text(yaml.safe_dump({"experiments": sweeps, "sweeps": [*sweeps]}))
    verdict = project / "results" / "verdict.txt"
    verdict.parent.mkdir()
    verdict.write_text("of the run before")
    targets = ("gajewski2025_models", "sutera2021_table2", *(f"experiment_{n}" for n in sweeps))
    overlay = (*TINY, "mine.yaml")
    process = snakemake(project, *targets, *overlay, check=False)
    assert process.returncode == 1
    page = (project / "results" / "report.html").read_text()
    assert 'id="sweep_made"' in page and 'id="sweep_failed"' not in page
    assert "1 of 2 sweeps were not made" in page
    assert not verdict.exists()
    assert "red_wine.csv.gz cannot be read" in page and "restore the file" in page
    # What does not depend on it was made, and is judged on the page.
    assert (project / "results" / "judgments" / "sutera2021" / "table2.json").exists()
    rows = storage.read_rows(project / "results" / "claims.csv")
    assert {row["artefact"] for row in rows} == {"table2"}
    # Something is missing, or the page would stay if the next run made what was there before.
    assert not (project / "results" / "claims.md").exists()

    # With the table back, the same command makes the rest, and what was made beside another table.
    shutil.copy(ROOT / "data" / "red_wine.csv.gz", table)
    jobs = jobs_of(snakemake(project, "-n", *targets, *overlay).stdout)
    assert jobs["artefacts_without_figure"] == 2

    # One of them alone, too: the page went on saying that it was missing.
    assert "gajewski2025/models" in incomplete(project)
    snakemake(project, "gajewski2025_models", *overlay)
    assert "gajewski2025/models" not in incomplete(project)
    assert "sutera2021/table1" in incomplete(project)


def incomplete(project):
    """What the page of a run names as not made."""
    page = (project / "results" / "report.html").read_text()
    return page.partition('id="incomplete"')[2].partition("</table>")[0]


def edit(project, paper, artefact, text):
    """Add lines to the code of an artefact."""
    code = project / "src" / "reproduction" / "papers" / paper / f"{artefact}.py"
    code.write_text(f"{code.read_text()}\n\n{text}\n")


@pytest.mark.long
def test_the_page_of_a_failed_run_shows_nothing_of_other_sources_or_settings(snakemake, project):
    """Tables of these lay in their places, so the page showed them and named none missing.

    Without ``--keep-going`` a failed job stops a run as an interrupt does.
    """
    snakemake(project, "sutera2021_table2", "sutera2021_convergence", *TINY)
    edit(project, "sutera2021", "table2", "EDITED = True")
    other = {"artefacts": {"sutera2021/convergence": {"parameters": {"trees": [5, 20]}}}}
    (project / "other.yaml").write_text(yaml.safe_dump(other))
    (project / "data" / "red_wine.csv.gz").write_bytes(b"")
    targets = ("gajewski2025_models", "sutera2021_table2", "--prioritize", "gajewski2025_models")
    arguments = (*targets, *TINY, "other.yaml")
    process = snakemake(project, *arguments, check=False, profile=False)
    assert process.returncode == 1 and "rule artefacts" not in process.stdout
    missing = incomplete(project)
    assert "sutera2021/table2" in missing and "sutera2021/convergence" in missing
    assert storage.read_rows(project / "results" / "claims.csv") == []

    # A sweep that fails leaves the report of another run alone.
    page = project / "results" / "report.html"
    before = page.read_bytes()
    write_experiment(project, {**MINI, "sweep": [{"grid": UNREAD}]})
    assert snakemake(project, "experiment_mini", check=False).returncode == 1
    assert page.read_bytes() == before


def test_keys_of_artefacts_are_the_same_where_the_configuration_comes_packed():
    """Else the page of a failed run names as missing what was made: 46 of 63 artefacts."""
    flow = Workflow({})
    unpacked = Workflow(json.loads(storage.unpack(flow.packed())))
    for name in flow.required:
        place = SimpleNamespace(artefact=name)
        assert unpacked.key("artefacts")(place) == flow.key("artefacts")(place), name


def test_the_key_of_an_artefact_is_another_with_every_setting_behind_it():
    """Else a report after a failure takes results of other settings for those of its run."""
    name, experiment = "sutera2021/table4", "sutera2021_local"

    def key(**over):
        return Workflow(over).key("artefacts")(SimpleNamespace(artefact=name))

    swept = {"grid": {"data": "led", "model": "extra_trees", "model.n_estimators": 3}}
    behind = [
        {"models": {"extra_trees": {"n_estimators": 7}}},
        {"metrics": {"row_correlation_summary": {"thresholds": [0.5]}}},
        {"experiments": {experiment: {"sweep": [swept]}}},
        {"paper_scale": False},
    ]
    keys = [key(), *(key(**over) for over in behind)]
    assert len(set(keys)) == len(keys)
    assert key(experiments={experiment: {"figure": False}}) == keys[0]


FAILS_ONCE = """
from functools import wraps
from pathlib import Path
_compute, _draw = compute, draw

@wraps(_compute)
def compute(*arguments, **options):
    with Path("computed").open("a") as file:
        file.write("once ")
    return _compute(*arguments, **options)

def draw(rows):
    if not Path("drawn").exists():
        raise ValueError("no figure today")
    return _draw(rows)
"""


@pytest.mark.long
def test_the_table_of_an_artefact_whose_figure_fails_is_kept_and_not_computed_again(
    snakemake, project
):
    """Snakemake deletes what a job that fails has made, and a table may have taken long."""
    edit(project, "lundberg2017", "figure1", FAILS_ONCE)
    assert snakemake(project, "lundberg2017_figure1", check=False).returncode == 1
    table = project / "results" / "tables" / "lundberg2017" / "figure1.csv"
    kept = project / "results" / "kept" / "lundberg2017" / "figure1"
    (before,) = (path.read_bytes() for path in kept.glob("*.csv"))
    assert not table.exists()
    (project / "drawn").touch()
    snakemake(project, "lundberg2017_figure1")
    assert table.read_bytes() == before and not kept.exists()
    assert (project / "computed").read_text() == "once "


def test_texts_are_held_against_claims_only_where_nothing_of_their_paper_is_left_out():
    """Red if a run of fewer variants or artefacts fails for what the texts say of the others."""
    sweep = configuration.own()["experiments"]["sutera2021_local"]["sweep"]
    blocks = [{"grid": {**block["grid"], "variant": "published"}} for block in sweep]
    fewer_variants = {"experiments": {"sutera2021_local": {"sweep": blocks}}}
    fewer_artefacts = {"artefacts": {"sutera2021/table2": {"optional": True}}}
    whole = Workflow({}).whole_papers()
    assert {"sutera2021", "loecher2022"} <= set(whole)
    for over in (fewer_variants, fewer_artefacts):
        assert Workflow(over).whole_papers() == [name for name in whole if name != "sutera2021"]


@pytest.mark.long
def test_another_number_of_cores_reruns_nothing(snakemake, project):
    """The report names the number, and results depend on the configuration alone."""
    optional = {name: {"optional": True} for name in configuration.artefacts()}
    del optional["sutera2021/table2"]
    (project / "mine.yaml").write_text(yaml.safe_dump({"artefacts": optional}))
    overlay = ("check", "--configfile", "mine.yaml")
    snakemake(project, *overlay, "--cores", "1")
    page = (project / "results" / "report.html").read_text()
    assert "Cores given to Snakemake" in page
    assert "Nothing to be done" in snakemake(project, "-n", *overlay, "--cores", "2").stdout


@pytest.mark.long
def test_adding_a_value_computes_only_what_is_new_and_batches_do_not_matter(snakemake, project):
    first = jobs_of(snakemake(project, "experiment_mini").stdout)
    assert [first[n] for n in BATCHES] == [1, 1, 1]
    table = project / "results" / "experiments" / "mini.csv"
    before = table.read_bytes()
    assert "Nothing to be done" in snakemake(project, "experiment_mini").stdout

    axes = {**MINI["sweep"][0]["grid"], "model.max_features": [1, 2, 7]}
    write_experiment(project, {**MINI, "sweep": [{"grid": axes, "batch_size": 4}]})
    second = jobs_of(snakemake(project, "experiment_mini").stdout)
    # 2 levels of noise x 2 numbers of trees = 4 new runs, in one new batch.
    assert [second[n] for n in BATCHES] == [1, 1, 1]
    logs = (project / "results" / "logs" / "data_and_models" / "mini").glob("*.log")
    assert sum(log.read_text().count("fitted ") for log in logs) == 8 + 4
    after = table.read_bytes()
    assert set(before.splitlines()) < set(after.splitlines())

    # All anew, in other batches and on another number of cores: the same bytes.
    shutil.rmtree(project / "results")
    write_experiment(project, {**MINI, "sweep": [{"grid": axes, "batch_size": 7}]})
    snakemake(project, "experiment_mini", "--cores", "2")
    assert table.read_bytes() == after


@pytest.mark.long
def test_a_sweep_over_a_table_of_ones_own_ends_in_a_tidy_table_and_a_figure(snakemake, project):
    random = np.random.default_rng(0)
    rows = [f"{a:.3f},{b:.3f},{int(a + b > 0)}" for a, b in random.normal(size=(40, 2))]
    (project / "mine.csv").write_text("\n".join(["age,dose,sick", *rows]) + "\n")
    recipe = {"dataset": "csv_file", "path": "mine.csv", "target": "sick", "classes": True}
    grid = {"data": "mine", "model": "extra_trees", "model.n_estimators": [2, 5]}
    experiment = {
        "importances": ["saabas", "mdi"],
        "metrics": ["scores", "model_size"],
        "sweep": [{"grid": grid}],
    }
    content = {
        "datasets": {"mine": recipe},
        "metrics": {"model_size": {"metric": "mdi_by_depth"}},
        "experiments": {"of_mine": experiment},
    }
    (project / "mine.yaml").write_text(yaml.safe_dump(content))
    overlay = ("--configfile", "mine.yaml")
    snakemake(project, "experiment_of_mine", *overlay)
    folder = project / "results" / "experiments"
    all_rows = storage.read_rows(folder / "of_mine.csv")
    assert {row["metric"] for row in all_rows} == {"scores", "model_size"}
    tidy = [row for row in all_rows if row["metric"] == "scores"]
    assert {row["feature"] for row in tidy} == {"age", "dose"}
    assert {row["model.n_estimators"] for row in tidy} == {"2", "5"}
    assert (folder / "of_mine.png").stat().st_size > 5000
    # Another figure is only drawn, and another row of the table reruns what reads it.
    experiment["figure"] = {"x": "feature", "column": "model.n_estimators"}
    (project / "mine.yaml").write_text(yaml.safe_dump(content))
    planned_jobs = jobs_of(snakemake(project, "-n", "experiment_of_mine", *overlay).stdout)
    assert set(planned_jobs) == {"sweeps", "experiment_of_mine", "total"}
    with (project / "mine.csv").open("a") as file:
        file.write("0.5,0.5,1\n")
    planned_jobs = jobs_of(snakemake(project, "-n", "experiment_of_mine", *overlay).stdout)
    assert "data_and_models" in planned_jobs


@pytest.mark.long
def test_an_edited_kernel_changes_the_numbers_of_those_who_use_it(snakemake, tmp_path):
    """The edit is in a function inlined from another file, which numba's cache does not see."""
    project = copy_to(tmp_path, left_out=("*.egg-info",))
    pairs = {"metric.row_correlation_summary.pairs": [[["local_mdi", "saabas"]]]}
    grid = {"data": "led", "model": "extra_trees", "model.n_estimators": 5, **pairs}
    experiment = {**MINI, "sweep": [{"grid": grid}]}
    write_experiment(project, experiment)
    (batch,) = Workflow({"experiments": {"mini": experiment}}).plan("mini").batches
    target = f"results/importances/mini/{batch}"
    # Compiling all other kernels beforehand would only cost time here.
    (project / "results").mkdir()
    (project / "results" / "kernels.txt").touch()
    arguments = (target, "--allowed-rules", "data_and_models", "importances")
    snakemake(project, *arguments)
    (before,) = storage.read_bundle(project / target / "local_mdi.npz", attribution).values()

    nodes = project / "src" / "splitcredit" / "kernels" / "nodes.py"
    text = nodes.read_text()
    edited = text.replace("return x <= nodes[k].threshold", "return x > nodes[k].threshold")
    assert edited != text
    nodes.write_text(edited)
    jobs = jobs_of(snakemake(project, *arguments).stdout)
    assert jobs["importances"] == 1
    (after,) = storage.read_bundle(project / target / "local_mdi.npz", attribution).values()
    assert not np.array_equal(before.values, after.values)

    # A change elsewhere, here in a metric, concerns nobody.
    metric = project / "src" / "reproduction" / "metrics" / "correlations.py"
    metric.write_text(metric.read_text() + "\n# edited\n")
    assert "Nothing to be done" in snakemake(project, *arguments).stdout


def test_what_an_artefact_gathers_is_the_same_once_its_batches_are_made(tmp_path, monkeypatch):
    """Red if a second call makes an artefact of several batches anew."""
    monkeypatch.chdir(tmp_path)
    name = "lundberg2017_clustering"
    before = Workflow({})
    batches = before.plan(name).batches
    assert [*batches] != sorted(batches)
    for batch, runs in batches.items():
        plan = tmp_path / "results" / "plans" / name / f"{batch}.json"
        storage.write_json(plan, [run.to_json() for run in runs])
        (tmp_path / "results" / "metrics" / name / batch).mkdir(parents=True)
    assert Workflow({}).gathered([name]) == before.gathered([name])
