"""Keys of jobs: an edit of what a job may use changes its key, and nothing else does."""

import shutil
from types import SimpleNamespace

import pytest

from reproduction.planning import sources
from reproduction.planning.places import ROOT
from reproduction.planning.workflow import PARTS, Workflow

# What each rule is keyed by: those that follow a part of the sources in the flow.
KEYS = {
    "models": PARTS["data_and_models"],
    "metrics": PARTS["metrics"],
    "artefacts": (*PARTS["artefacts"], "papers/sutera2021"),
    "report": (*PARTS["report"], "papers/sutera2021", "papers/loecher2022"),
}


@pytest.fixture(autouse=True)
def forget():
    """Digests are kept for the life of a process."""
    yield
    clear()


def clear():
    for function in vars(sources).values():
        if hasattr(function, "cache_clear"):
            function.cache_clear()


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """A copy of the sources, from which keys are made."""
    ignore = shutil.ignore_patterns("__pycache__", "*.egg-info")
    shutil.copytree(ROOT / "src", tmp_path / "src", ignore=ignore)
    shutil.copytree(ROOT / "data", tmp_path / "data")
    shutil.copy(ROOT / "requirements.lock", tmp_path)
    monkeypatch.setattr(sources, "ROOT", tmp_path)
    return tmp_path


def keys():
    clear()
    return {rule: sources.key(*parts) for rule, parts in KEYS.items()}


@pytest.mark.parametrize(
    ("file", "expected"),
    [
        ("src/splitcredit/kernels/nodes.py", {"models", "metrics", "artefacts"}),
        ("src/splitcredit/new.py", {"models", "metrics", "artefacts"}),
        ("src/reproduction/datasets/led.py", {"models", "metrics", "artefacts"}),
        ("src/reproduction/stages/importances.py", {"models", "metrics", "artefacts"}),
        ("src/reproduction/seeds.py", {"models", "metrics", "artefacts"}),
        ("data/red_wine.csv.gz", {"models", "metrics", "artefacts"}),
        ("src/reproduction/metrics/gaps.py", {"metrics", "artefacts"}),
        ("src/reproduction/papers/sutera2021/table4.py", {"artefacts", "report"}),
        ("src/reproduction/papers/sutera2021/claims/table4.csv", {"artefacts", "report"}),
        ("src/reproduction/papers/loecher2022/table1.py", {"report"}),
        ("src/reproduction/papers/__init__.py", {"artefacts", "report"}),
        ("src/reproduction/figures/splitcredit.mplstyle", {"artefacts", "report"}),
        ("src/reproduction/claims.py", {"artefacts", "report"}),
        ("src/reproduction/report/templates/style.css", {"report"}),
        ("src/reproduction/planning/workflow.py", set()),
        ("data/README.md", set()),
        ("src/splitcredit/.#editor.py", set()),
        ("requirements.lock", set(KEYS)),
    ],
)
def test_an_edit_changes_the_keys_of_what_may_use_it(checkout, file, expected):
    """Red if a folder is in no part, so that its edits would leave old results."""
    before = keys()
    path = checkout / file
    more = b"\nnumpy==0.0\n" if path.name == "requirements.lock" else b"\n# edited\n"
    path.write_bytes((path.read_bytes() if path.exists() else b"") + more)
    after = keys()
    assert {rule for rule in KEYS if before[rule] != after[rule]} == expected


def test_what_is_no_source_changes_no_key(checkout):
    """Compiled code, as numba keeps it beside the sources; hashes of packages; the place."""
    before = keys()
    folder = checkout / "src" / "splitcredit" / "kernels" / "__pycache__"
    folder.mkdir()
    (folder / "nodes.nbi").write_text("compiled")
    lock = checkout / "requirements.lock"
    lock.write_text(lock.read_text().replace("--hash=sha256:", "--hash=sha256:0"))
    assert keys() == before
    sources.ROOT = ROOT
    assert keys() == before


def of_mine(**recipe):
    """Key of the models of an experiment on a data set of the user's."""
    clear()
    experiment = {"importances": ["saabas"], "metrics": ["global_scores"]}
    experiment["sweep"] = [{"grid": {"data": "mine", "model": "extra_trees"}}]
    flow = Workflow({"datasets": {"mine": recipe}, "experiments": {"e": experiment}})
    (batch,) = flow.plan("e").batches
    return flow.key("data_and_models")(SimpleNamespace(experiment="e", batch=batch))


def test_the_rows_of_a_users_file_belong_to_the_key_and_its_date_does_not(tmp_path, monkeypatch):
    """Snakemake sees dates alone, and a file may be replaced by an older one."""
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "mine.csv").write_text("a,y\n1,2\n")
    recipe = {"dataset": "csv_file", "path": "~/mine.csv", "target": "y"}
    before = of_mine(**recipe)
    (tmp_path / "mine.csv").touch()
    assert of_mine(**recipe) == before
    (tmp_path / "mine.csv").write_text("a,y\n1,3\n")
    assert of_mine(**recipe) != before
