"""No stale result: the key of a job covers every module that the job loads when it runs."""

import ast
import json
import os
import re
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import pytest

from reproduction import storage
from reproduction.launcher import LIBRARIES, ONE_THREAD
from reproduction.planning import sources
from reproduction.planning.configuration import merge, read_yaml
from reproduction.planning.places import CONFIG, SRC
from reproduction.planning.workflow import Workflow, _paths

ROOT = Path(__file__).resolve().parents[1]
# Loads the libraries of others once, and runs each job of its input in a process forked from it,
# which prints the job's status and the modules of ours that are loaded at its end.
RUN = """
import importlib, json, os, sys
for name in json.loads(sys.argv[1]):
    importlib.import_module(name)
for words in sys.stdin:
    if not os.fork():
        from reproduction.__main__ import main
        status = main(json.loads(words))
        packages = ("splitcredit", "reproduction")
        ours = [m.__file__ for name, m in list(sys.modules.items()) if name.startswith(packages)]
        print("LOADED", status, json.dumps(sorted(set(filter(None, ours)))), flush=True)
        os._exit(0)
    os.wait()
    print("ENDED", flush=True)
"""
TINY = {
    "preset": "tiny",
    "paper_scale": False,
    "models": {"single": {"max_depth": 2}},
    "metrics": {"pgi2": {"reference": "greedy_sigma0.3"}},
    "experiments": {
        "of_sources": {
            "importances": ["saabas", "air", "saabas_treeinterpreter"],
            "metrics": ["global_scores"],
            "sweep": [
                {
                    "zip": {
                        "data": ["led_sampled"],
                        "model": ["random_forest"],
                        "model.n_estimators": 2,
                    }
                }
            ],
        },
        "of_splits": {
            "importances": ["greedy_sigma0.3"],
            "metrics": ["model_card", "pgi2"],
            "sweep": [
                {
                    "grid": {
                        "data": ["red_wine"],
                        "data.n_test": 2,
                        "model": ["single"],
                        "model.max_depth": 2,
                    }
                }
            ],
        },
    },
}


@pytest.fixture(scope="module")
def workflow():
    return Workflow(merge(read_yaml(CONFIG / "presets" / "tiny.yaml"), TINY))


@pytest.fixture(scope="module")
def loaded(tmp_path_factory):
    """Runs one job in a folder of its own: the files of ours that it has loaded."""
    folder = tmp_path_factory.mktemp("jobs")
    command = [sys.executable, "-c", RUN, json.dumps(LIBRARIES)]
    one_thread = {"PYTHONPATH": str(SRC), **ONE_THREAD}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    environment = {**os.environ, **one_thread}
    with subprocess.Popen(command, cwd=folder, env=environment, text=True, **pipes) as runner:

        def run(*words):
            print(json.dumps(words), file=runner.stdin, flush=True)
            lines = list(iter(runner.stdout.readline, "ENDED\n"))
            reports = [line.split(" ", 2) for line in lines if line.startswith("LOADED ")]
            assert [status for _, status, _ in reports] == ["0"], "".join(lines)
            return {Path(file).resolve() for file in json.loads(reports[0][2])}

        run.folder = folder
        yield run
        runner.stdin.close()


@pytest.fixture(scope="module")
def jobs(workflow, loaded):
    """By kind of job: the modules named in its key, and the files that it loaded."""
    by_kind = {}
    for experiment in TINY["experiments"]:
        planned = workflow.plan(experiment)
        (batch,) = planned.batches
        wildcards = SimpleNamespace(experiment=experiment, batch=batch)
        plan = f"plans/{experiment}/{batch}.json"
        paths = loaded("plans", "--runs", *workflow.runs(wildcards), "--out", plan)
        by_kind["plans", experiment] = ("reproduction.stages.plans",), paths
        words = ["--experiment", experiment, "--definition", *workflow.definition(wildcards)]
        words += ["--plans", f"plans/{experiment}", "--out", "points.json"]
        paths = loaded("points", *words)
        by_kind["points", experiment] = ("reproduction.stages.points",), paths
        place = ["--plan", plan]
        paths = loaded("data", *place, "--out", "data.npz")
        by_kind["data", experiment] = workflow.data_modules(wildcards), paths
        files = ["--data", "data.npz"]
        paths = loaded("models", *place, *files, "--out", "models.npz")
        by_kind["models", experiment] = ("reproduction.stages.models",), paths
        for importance in planned.importances:
            wildcards.importance = importance
            words = ["--models", "models.npz", "--recipe", workflow.importance_recipe(wildcards)]
            paths = loaded("importances", *place, *files, *words, "--out", f"{importance}.npz")
            by_kind["importances", importance] = workflow.importance_modules(wildcards), paths
        for metric in planned.metrics:
            wildcards.metric = metric
            names = workflow.metric_names(wildcards)
            words = ["--models", "models.npz", "--recipe", workflow.metric_recipe(wildcards)]
            words += ["--names", *names, "--importances", *(f"{name}.npz" for name in names)]
            (loaded.folder / batch).mkdir(exist_ok=True)
            paths = loaded("metrics", *place, *files, *words, "--out", f"{batch}/{metric}.csv")
            by_kind["metrics", metric] = workflow.metric_modules(wildcards), paths
            words = [
                "--points",
                "points.json",
                "--metric",
                metric,
                "--directory",
                ".",
                "--out",
                "e.csv",
            ]
            paths = loaded("experiments", *words)
            by_kind["experiments", metric] = ("reproduction.stages.experiments",), paths
    for artefact in ("sutera2021/table3", "gajewski2025/theorem1", "loecher2022/figure1"):
        paper, name = artefact.split("/")
        wildcards = SimpleNamespace(paper=paper, artefact=name)
        small = {"cases": 2, "draws": 20, "trees": [2, 3]} if name == "theorem1" else {}
        options = json.loads(workflow.artefact_parameters(wildcards)) | small
        words = ["--artefact", artefact, "--parameters", json.dumps(options), "--out", "table.csv"]
        by_kind["tables", artefact] = (
            workflow.table_modules(wildcards),
            loaded("tables", *words),
        )
        if artefact in workflow.figures:
            words = ["--artefact", artefact, "--table", "table.csv"]
            paths = loaded("figures", *words, "--out", "f.svg", "f.png", "f.pdf")
            by_kind["figures", artefact] = workflow.figure_modules(wildcards), paths
        words = ["--artefact", artefact, "--table", "table.csv", "--out", "judged.json"]
        words += ["--rules", workflow.claim_rules(wildcards)]
        words += ["--evidence", workflow.evidence(wildcards)]
        words += ["--incomparable", "a test"]
        printed, statements = workflow.printed(wildcards), workflow.stated(wildcards)
        words += ["--printed", str(ROOT / printed[0])] if printed else []
        words += ["--statements", str(ROOT / statements[0])] if statements else []
        words += ["--decided", *workflow.decided(wildcards)]
        if small:  # Its statements need the full table.
            continue
        if printed or statements:
            paths = loaded("judgments", *words)
            by_kind["judgments", artefact] = workflow.judgment_modules(wildcards), paths
    words = ["--judged", "judged.json", "--table", "c.csv", "--summary", "c.md"]
    by_kind["claims", ""] = ("reproduction.stages.claims",), loaded("claims", *words)
    words = ["--configuration", *storage.pack(workflow.config), "--claims", "c.csv"]
    words += ["--out", "r.html"]
    by_kind["report", ""] = ("reproduction.stages.report",), loaded("report", *words)
    words = ["--judged", "judged.json", "--out", "t.csv"]
    by_kind["timings", ""] = ("reproduction.stages.timings",), loaded("timings", *words)
    words = ["--claims", "c.csv", "--report", "r.html", "--log", "check.log", "--out", "v.txt"]
    by_kind["check", ""] = ("reproduction.stages.check",), loaded("check", *words)
    return by_kind


@pytest.mark.long
def test_the_key_of_every_kind_of_job_covers_what_the_job_loads(jobs):
    for kind, (modules, paths) in jobs.items():
        uncovered = paths - sources.sources("reproduction.__main__", *modules)
        assert not uncovered, f"{kind}: {sorted(str(p.relative_to(SRC)) for p in uncovered)}"


def changed(text):
    """The module with one more statement."""
    return text + "\n_EDITED = 1\n"


@cache
def commented(text):
    """The module with a comment and a blank line before its last statement."""
    last = ast.parse(text).body[-1]
    start = min([last.lineno, *(d.lineno for d in getattr(last, "decorator_list", []))]) - 1
    lines = text.splitlines(keepends=True)
    return "".join([*lines[:start], "# A comment.\n\n", *lines[start:]])


CACHED = ("_closure", "_imported", "_digest_of", "_versions", "digest")
# Where modules and files are found.
PLACES = ("_find", "_entries", "_within_folder")


@pytest.fixture(autouse=True)
def forget():
    """What a test has made of edited files is not there for the next."""
    yield
    for name in (*CACHED, *PLACES):
        getattr(sources, name).cache_clear()


def keys(jobs, monkeypatch, paths=(), edit=None):
    """Keys of all jobs with these files edited: they are read anew, the others once for all."""
    text_of = sources.text_of

    def but_the_edited(function):
        return lambda p: (function.__wrapped__ if p in paths else function)(p)

    with monkeypatch.context() as patch:
        patch.setattr(sources, "text_of", lambda p: edit(text_of(p)) if p in paths else text_of(p))
        for name in ("_imported", "_digest_of"):
            patch.setattr(sources, name, but_the_edited(getattr(sources, name)))
        for function in (sources._closure, sources.digest):
            function.cache_clear()
        return {
            kind: sources.digest("reproduction.__main__", *modules)
            for kind, (modules, _) in jobs.items()
        }


@pytest.mark.long
def test_an_edit_of_any_module_moves_the_keys_of_the_jobs_that_load_it(jobs, monkeypatch):
    before = keys(jobs, monkeypatch)
    for path in sorted(SRC.rglob("*.py")):
        users = {kind for kind, (_, paths) in jobs.items() if path in paths}
        after = keys(jobs, monkeypatch, {path}, changed)
        kinds_moved = {kind for kind in jobs if after[kind] != before[kind]}
        assert users <= kinds_moved, f"{path.relative_to(SRC)}: {sorted(users - kinds_moved)}"


def test_an_edit_moves_every_key_behind_it(workflow, monkeypatch):
    """Snakemake does not miss the data of a batch whose metrics are there."""
    experiment = "gajewski2025_bigger"
    plan = workflow.plan(experiment)
    batch = next(b for b, runs in plan.batches.items() if runs[0].data["of"] == "red_wine")
    place = {"experiment": experiment, "batch": batch}
    table = SimpleNamespace(paper="gajewski2025", artefact="models")

    def keys_behind():
        for name in CACHED:
            getattr(sources, name).cache_clear()
        return {
            "data": workflow.data_key(SimpleNamespace(**place)),
            "models": workflow.model_key(SimpleNamespace(**place)),
            "importances": workflow.importance_key(
                SimpleNamespace(**place, importance="greedy_sigma0.3")
            ),
            "metrics": workflow.metric_key(SimpleNamespace(**place, metric="model_card")),
            "experiments": workflow.experiment_key(SimpleNamespace(experiment=experiment)),
            "tables": workflow.table_key(table),
            "judgments": workflow.judgment_key(table),
        }

    before, text_of = keys_behind(), sources.text_of.__wrapped__
    path = SRC / "reproduction" / "datasets" / "red_wine.py"
    edit = {path: changed(text_of(path))}
    monkeypatch.setattr(sources, "text_of", lambda p: edit.get(p) or text_of(p))
    after = keys_behind()
    assert [stage for stage in before if before[stage] == after[stage]] == []


def test_a_file_of_the_users_that_is_replaced_by_an_older_one_moves_every_key(tmp_path):
    """Snakemake compares dates; as for sources, the content must reach every key behind it."""
    path = tmp_path / "mine.csv"
    path.write_text("a,y\n1,2\n")
    recipe = {"dataset": "csv_file", "path": str(path), "target": "y"}
    metrics = ["global_scores"]
    sweep = [{"grid": {"data": "mine", "model": "extra_trees"}}]
    spec = {"importances": ["saabas"], "metrics": metrics, "sweep": sweep}
    artefacts = {
        "gajewski2025/appendix_a": {"datasets": ["mine"]},
        "loecher2022/figure2": {"inputs": ["of_mine/global_scores"]},
    }
    flow = Workflow(
        {"datasets": {"mine": recipe}, "experiments": {"of_mine": spec}, "artefacts": artefacts}
    )
    plan = flow.plan("of_mine")
    (batch,), (importance,), (metric,) = plan.batches, plan.importances, plan.metrics
    place = SimpleNamespace(experiment="of_mine", batch=batch, importance=importance, metric=metric)
    names = [name.split("/") for name in artefacts]
    tables = [SimpleNamespace(paper=paper, artefact=artefact) for paper, artefact in names]

    def all_keys():
        stages = ("data", "model", "importance", "metric", "experiment", "sweep_table")
        keys_of = {stage: getattr(flow, f"{stage}_key")(place) for stage in stages}
        keys_of |= {f"table {table.artefact}": flow.table_key(table) for table in tables}
        return keys_of | {"judgment": flow.judgment_key(tables[0])}

    before = all_keys()
    assert all_keys() == before
    path.write_text("a,y\n3,4\n")
    os.utime(path, (0, 0))
    after = all_keys()
    assert [stage for stage in before if before[stage] == after[stage]] == []


PAPER = Path("src/reproduction/papers/loecher2022")
FIGURE3 = SimpleNamespace(paper="loecher2022", artefact="figure3")
SWEEP = SimpleNamespace(experiment="sweep_pgi2")


@pytest.mark.parametrize(
    ("file", "key", "arguments"),
    [
        (
            PAPER / "claims/table1.csv",
            "judgment_key",
            [SimpleNamespace(paper="loecher2022", artefact="table1")],
        ),
        (PAPER / "claims/statements.csv", "judgment_key", [FIGURE3]),
        (PAPER / "recorded/r.csv", "table_key", [FIGURE3]),
        (Path("src/reproduction/figures/splitcredit.mplstyle"), "figure_key", [FIGURE3]),
        (Path("src/reproduction/figures/splitcredit.mplstyle"), "sweep_figure_key", [SWEEP]),
        (PAPER / "captions.yaml", "report_key", []),
        (Path("src/reproduction/report/templates/style.css"), "report_key", []),
    ],
)
def test_a_file_of_the_project_that_is_replaced_by_an_older_one_moves_its_key(
    workflow, monkeypatch, file, key, arguments
):
    """Of an input that is older than the output Snakemake takes no notice."""
    before = getattr(workflow, key)(*arguments)
    content = sources._content.__wrapped__

    def replaced(path, size, date):
        return "other" if (Path.cwd() / path) == ROOT / file else content(path, size, date)

    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(sources, "_content", replaced)
    assert getattr(workflow, key)(*arguments) != before


@pytest.mark.long
def test_a_comment_moves_no_key(jobs, monkeypatch):
    before = keys(jobs, monkeypatch)
    paths = set().union(*(of_job for _, of_job in jobs.values()))
    assert keys(jobs, monkeypatch, paths, commented) == before


def test_a_changed_table_moves_the_key_of_its_data_sets_alone(workflow, monkeypatch, tmp_path):
    recipes = ({"dataset": "red_wine"}, {"dataset": "titanic"})
    (tmp_path / "data").mkdir()
    for path in (ROOT / "data").glob("*.csv.gz"):
        (tmp_path / "data" / path.name).write_bytes(path.read_bytes())

    def both():
        sources._digest_of.cache_clear()
        sources.digest.cache_clear()
        return [sources.digest(*sources.named(recipe)) for recipe in recipes]

    monkeypatch.setattr(sources, "ROOT", tmp_path)
    before = both()
    (tmp_path / "data" / "red_wine.csv.gz").write_bytes(b"other")
    after = both()
    assert (before[0] != after[0], before[1] == after[1]) == (True, True)


def test_a_changed_configuration_moves_the_key_of_a_module_that_reads_it(monkeypatch, tmp_path):
    """The settings of gajewski2025 read recipes and printed iterations from where they stand."""
    path = SRC / "reproduction" / "papers" / "gajewski2025" / "_settings.py"
    before = sources._digest_of.__wrapped__(path)
    shutil.copytree(CONFIG, tmp_path / "config")
    monkeypatch.setattr(sources, "CONFIG", tmp_path / "config")
    assert sources._digest_of.__wrapped__(path) == before
    with open(tmp_path / "config" / "config.yaml", "a") as file:
        file.write("# changed\n")
    assert sources._digest_of.__wrapped__(path) != before


def test_a_key_does_not_depend_on_where_the_project_lies(monkeypatch, tmp_path):
    """Files were in the order of their absolute paths: another folder was another key."""
    (tmp_path / "m").mkdir()
    module = tmp_path / "m" / "ours.py"
    module.write_text('NAMES = "beside.csv", "config.yaml"\n')
    (tmp_path / "m" / "beside.csv").write_text("1\n")
    monkeypatch.setattr(sources, "SRC", tmp_path / "m")
    keys = []
    for place in (tmp_path / "a", tmp_path / "z"):
        place.mkdir()
        (place / "config.yaml").write_text("a: 1\n")
        (place / "mine.py").write_text("import ours\n")
        monkeypatch.setattr(sources, "CONFIG", place)
        monkeypatch.chdir(place)
        for name in (*CACHED, *PLACES):
            getattr(sources, name).cache_clear()
        keys.append(sources.digest("mine"))
    assert keys[0] == keys[1]


@pytest.mark.parametrize(
    ("old", "new", "moves"),
    [(r"(?m)^numpy==[\d.]+", "numpy==9.9.9", True), ("--hash=sha256:.", "--hash=sha256:_", False)],
)
def test_another_version_of_a_package_in_the_lock_moves_every_key(
    monkeypatch, tmp_path, old, new, moves
):
    """After make lock nothing was to be done: results and verdicts were those of other versions."""
    stages = sorted(path.stem for path in (SRC / "reproduction" / "stages").glob("[a-z]*.py"))

    def digests():
        for name in CACHED:
            getattr(sources, name).cache_clear()
        return [sources.digest(f"reproduction.stages.{stage}") for stage in stages]

    before, text = digests(), (ROOT / "requirements.lock").read_text()
    edited = re.sub(old, new, text)
    assert edited != text
    (tmp_path / "requirements.lock").write_text(edited)
    monkeypatch.setattr(sources, "LOCK", tmp_path / "requirements.lock")
    assert {b != a for b, a in zip(before, digests(), strict=True)} == {moves}


def test_hidden_files_of_editors_are_no_converters(monkeypatch, tmp_path):
    (tmp_path / "__init__.py").write_text("")
    (tmp_path / "lightgbm.py").write_text("")
    (tmp_path / ".#lightgbm.py").symlink_to("user@host.1")
    monkeypatch.setattr(sources, "_CONVERTERS", tmp_path)
    paths = sources._imported.__wrapped__(tmp_path / "__init__.py")
    assert sorted(path.name for path in paths) == ["__init__.py", "lightgbm.py"]


def test_the_folder_of_a_new_paper_needs_no_init(monkeypatch, tmp_path):
    """As docs/extend.md has it: reading the workflow ended with a traceback."""
    paper = tmp_path / "reproduction" / "new2027"
    paper.mkdir(parents=True)
    files = [tmp_path / "reproduction" / "__init__.py", paper / "table1.py"]
    for path in files:
        path.write_text("")
    monkeypatch.setattr(sources, "SRC", tmp_path)
    for name in PLACES:
        getattr(sources, name).cache_clear()
    assert sources.sources("reproduction.new2027.table1") == set(files)


@pytest.mark.parametrize(
    "statement",
    [
        "from reproduction.metrics import _helper",
        "from reproduction.metrics._helper import FACTOR",
        "from ._helper import FACTOR",
        "from . import _helper",
        "from ..metrics import _helper",
        "from reproduction.metrics import (  # a bracket) in a comment\n    _helper,\n)",
        "from reproduction.metrics import \\\n    _helper",
        "import reproduction.metrics._helper",
        "import numpy as np; from reproduction.metrics import _helper",
        "import sys; import reproduction.metrics._helper as helper",
        "FACTOR = 2;from reproduction.metrics import _helper",
        "try: from reproduction.metrics import _helper\nexcept ImportError: pass",
        "def factor(): import reproduction.metrics._helper",
        "from._helper import FACTOR",
        "\f\nfrom reproduction.metrics import _helper",
        "HELPER = importlib.import_module('reproduction.metrics._helper')",
        'def factor(): return import_module(\n    "._helper", package=__package__\n).FACTOR',
        "HELPER = __import__(name='reproduction.metrics._helper')",
    ],
)
def test_every_form_of_an_import_is_followed(statement, monkeypatch, tmp_path):
    """A helper of a metric that was imported by a leading dot: its edits left the old results."""
    metrics = tmp_path / "reproduction" / "metrics"
    metrics.mkdir(parents=True)
    names = "reproduction/__init__.py metrics/__init__.py metrics/_helper.py".split()
    files = [tmp_path / "reproduction" / name.removeprefix("reproduction/") for name in names]
    for path in files:
        path.write_text("")
    (metrics / "mine.py").write_text(f"def compute():\n    pass\n\n\n{statement}\n")
    monkeypatch.setattr(sources, "SRC", tmp_path)
    for name in PLACES:
        getattr(sources, name).cache_clear()
    assert sources.sources("reproduction.metrics.mine") == {*files, metrics / "mine.py"}


@pytest.mark.parametrize("folder", ["src", "."])
def test_a_package_of_the_users_is_followed(folder, monkeypatch, tmp_path):
    """In src or in the working directory jobs found it, and its edits left the old results."""
    monkeypatch.chdir(tmp_path)
    metric = tmp_path / "src" / "reproduction" / "mine.py"
    package = (tmp_path / folder).resolve() / "tools"
    metric.parent.mkdir(parents=True)
    package.mkdir()
    files = [metric, metric.with_name("__init__.py")]
    files += [package / name for name in ("__init__.py", "sums.py", "_more.py")]
    for path in files:
        path.write_text("")
    metric.write_text("import numpy as np\nfrom tools import sums\n")
    (package / "sums.py").write_text("from ._more import FACTOR\n")
    monkeypatch.setattr(sources, "SRC", tmp_path / "src")
    monkeypatch.setattr(sources, "LOCK", tmp_path / "none")
    for name in PLACES:
        getattr(sources, name).cache_clear()
    assert sources.sources("reproduction.mine") == set(files)
    assert len(sources.digest.__wrapped__("reproduction.mine")) == 16


def test_a_file_counts_whatever_a_loader_calls_it(tmp_path):
    """The key had the content of the parameter `path` alone, and edits left the old results."""
    file = tmp_path / "rows.txt"
    file.write_text("1 2")
    recipe = {"dataset": "mine", "file": str(file), "kind": "coin", "size": 3}
    missing = {"dataset": "csv_file", "path": str(tmp_path / "none.csv")}
    assert _paths([recipe, missing]) == sorted([str(file), missing["path"]])


def test_files_in_a_list_and_in_a_folder_count(tmp_path, monkeypatch):
    """A loader of several files, or of a folder, kept its old results when one was edited."""
    monkeypatch.chdir(tmp_path)
    for name in ("a.csv", "parts/b.csv", "parts/more/c.csv", "results/d.csv"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("1")
    assert _paths([{"dataset": "mine", "files": ["a.csv", ["parts/b.csv"]]}]) == [
        "a.csv",
        "parts/b.csv",
    ]
    assert _paths([{"dataset": "mine", "folder": "parts"}]) == ["parts/b.csv", "parts/more/c.csv"]
    # The folder of the results, and all that hold it, change with every run.
    others = [{"separator": "."}, {"separator": "~"}, {"a": ".."}, {"a": "results"}, {"a": "/"}]
    assert _paths(others) == []


def test_a_file_that_an_importance_or_a_metric_names_moves_its_key_and_those_behind_it(tmp_path):
    """Files counted in recipes of data alone, so an edit of another left the old results."""
    file = tmp_path / "weights.csv"
    file.write_text("1")
    spec = {"importances": ["saabas"], "metrics": ["global_scores"]}
    spec["sweep"] = [{"grid": {"data": "led", "model": "extra_trees"}}]
    flow = Workflow({"experiments": {"of_mine": spec}})
    plan = flow.plan("of_mine")
    (batch,), (importance,), (metric,) = plan.batches, plan.importances, plan.metrics
    place = SimpleNamespace(experiment="of_mine", batch=batch, importance=importance, metric=metric)

    def moved(recipe):
        recipe["weights"] = str(file)
        keys = []
        for content in ("1", "2"):
            file.write_text(content)
            flow.experiment_files.cache_clear()
            stages = ("importance", "metric", "experiment")
            keys.append([getattr(flow, f"{stage}_key")(place) for stage in stages])
        del recipe["weights"]
        return [before != after for before, after in zip(*keys, strict=True)]

    assert moved(plan.importances[importance]) == [True, True, True]
    assert moved(plan.metrics[metric][0]) == [False, True, True]


@pytest.mark.parametrize(
    ("file", "words"),
    [
        *(("mine.csv", "'mine.csv'"), ("mine.csv", '"mine.csv"'), ("mine.txt", '"mine.txt"')),
        *(("lists/mine.json", '"lists/mine.json"'), ("mine.csv.gz", '"mine.csv.gz"')),
        *(("mine.v2.csv", '"mine.v2.csv"'), ("my table.csv", '"my table.csv"')),
        *(("mine.dat", '"mine.dat"'), ("mine.xlsx", '"mine.xlsx"'), ("mine.pkl", '"mine.pkl"')),
        *(("mine.arff", "'mine.arff'"), ("lists/mine.json", '"lists", "mine.json"')),
    ],
)
def test_a_file_that_a_module_names_is_part_of_its_key(file, words, tmp_path):
    """Of any type, packed or not, in either kind of quotes, by its path or by its parts."""
    module = tmp_path / "mine.py"
    module.write_text(f"PATH = Path(__file__).parent.joinpath({words})\n")
    file = tmp_path / file
    file.parent.mkdir(exist_ok=True)
    digests = []
    for content in ("1", "2"):
        file.write_text(content)
        digests.append(sources._digest_of.__wrapped__(module))
    assert digests[0] != digests[1]


def test_a_file_among_the_data_of_the_project_is_part_of_the_key_of_its_loader(
    tmp_path, monkeypatch
):
    """A loader may read a file there without declaring it as a table."""
    monkeypatch.setattr(sources, "ROOT", tmp_path)
    (tmp_path / "data").mkdir()
    (tmp_path / "mine.py").write_text('ROWS = FOLDER / "mine.csv"\n')
    digests = []
    for content in ("1", "2"):
        (tmp_path / "data" / "mine.csv").write_text(content)
        digests.append(sources._digest_of.__wrapped__(tmp_path / "mine.py"))
    assert digests[0] != digests[1]


def test_an_unknown_module_is_refused():
    with pytest.raises(ModuleNotFoundError, match=r"splitcredit\.nothing"):
        sources.sources("splitcredit.nothing")


# An edited file, and the stage whose job loads it: all keys from there on must change.
CHAIN = ("models", "importances", "metrics", "experiments", "tables", "figures", "sweep")
EDITED = {
    "reproduction/models.py": "models",
    "reproduction/stages/importances.py": "importances",
    "splitcredit/importances/pg2_greedy.py": "importances",
    "reproduction/metrics/model_card.py": "metrics",
}


@pytest.mark.long
@pytest.mark.parametrize("file", EDITED)
def test_an_edit_of_any_stage_changes_every_key_from_there_on(file, monkeypatch):
    """Models are temporary, so an edit of a fit is seen by the keys of later jobs only."""
    workflow = Workflow(merge(read_yaml(CONFIG / "presets" / "tiny.yaml"), TINY))
    experiment = "gajewski2025_bigger"
    plan = workflow.plan(experiment)
    place = {"experiment": experiment, "batch": next(iter(plan.batches))}
    name = "model_card" if file.endswith("model_card.py") else "topk_agreement"
    metric = next(m for m, (recipe, _) in plan.metrics.items() if recipe["metric"] == name)
    artefact = SimpleNamespace(paper="gajewski2025", artefact="table2")

    def keys_of_chain():
        for cached in CACHED:
            getattr(sources, cached).cache_clear()
        greedy = SimpleNamespace(**place, importance="greedy_sigma0.3")
        return {
            "models": workflow.model_key(SimpleNamespace(**place)),
            "importances": workflow.importance_key(greedy),
            "metrics": workflow.metric_key(SimpleNamespace(**place, metric=metric)),
            "experiments": workflow.experiment_key(SimpleNamespace(experiment=experiment)),
            "tables": workflow.table_key(artefact),
            "figures": workflow.figure_key(artefact),
            "sweep": workflow.sweep_figure_key(SimpleNamespace(experiment=experiment)),
        }

    before, text_of = keys_of_chain(), sources.text_of.__wrapped__
    edited = {SRC / file: text_of(SRC / file) + "\n_EDITED = 1\n"}
    monkeypatch.setattr(sources, "text_of", lambda path: edited.get(path) or text_of(path))
    after = keys_of_chain()
    behind = CHAIN[CHAIN.index(EDITED[file]) :]
    assert [stage for stage in behind if before[stage] == after[stage]] == []
