"""Full disks, folders that cannot be written, two runs at once, and what else surrounds a run."""

import errno
import os
import resource
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from test_workflow import ENVIRONMENT, ROOT, copy_to, edit

from reproduction import __main__, storage
from reproduction.planning import configuration, sweep, workflow
from reproduction.stages import check
from splitcredit.results.attribution import Importance

COMMAND = [str(Path(sys.executable).with_name("snakemake")), "sutera2021_table2", "--cores", "1"]
COMMAND += ["--workflow-profile", "workflow/profiles/default"]


@pytest.fixture
def full_disk():
    """No file may be larger than 100 kB, as if the disk were full then."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, before)


LONG = np.arange(99_999.0)


@pytest.mark.parametrize(
    ("write", "content"),
    [
        (storage.write_table, [pd.DataFrame({"a": LONG})]),
        (storage.write_json, [["text"] * 99_999]),
        (storage.write_text, ["text" * 99_999]),
        (storage.write_rows, [[{"a": 1}] * 99_999, ["a"]]),
        (storage.write_bundle, [{"k": Importance(LONG, tuple(map(str, range(99_999))), "m")}]),
    ],
)
def test_a_full_disk_leaves_no_file_cut(tmp_path, full_disk, write, content):
    """Red if a file gets its name before it is whole."""
    path = tmp_path / "file"
    path.write_text("of an earlier run")
    with pytest.raises(OSError):
        write(path, *content)
    assert path.read_text() == "of an earlier run"
    assert [p.name for p in tmp_path.iterdir()] == ["file"]


def test_the_last_line_of_a_job_on_a_full_disk_has_the_remedy(tmp_path, monkeypatch, capsys):
    def run(arguments):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(check, "run", run)
    monkeypatch.setattr(check, "add_arguments", lambda parser: None)
    assert __main__.main(["check"]) == 1
    last = capsys.readouterr().err.splitlines()[-1]
    assert last.startswith("check: OSError: [Errno 28] No space left on device")
    assert last.endswith("make room, and the same command goes on from here")


def test_results_that_cannot_be_written_are_one_line(tmp_path, monkeypatch):
    """Root may write anywhere, so that the answer of the system is replaced."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path).name != "results")
    assert workflow.unwritable() == ""
    Path("results").mkdir()
    assert workflow.unwritable().startswith("results cannot be written")
    Path("results").rmdir()
    Path("results").write_text("")
    assert workflow.unwritable().startswith("results is no folder")


@pytest.fixture
def project(tmp_path):
    """A copy of the workflow in a folder with blanks and letters that are not ASCII."""
    folder = tmp_path / "my wörk"
    folder.mkdir()
    return copy_to(folder)


def run(project, env=ENVIRONMENT, **options):
    shown = {"capture_output": True, "text": True, "cwd": project, "env": env}
    done = subprocess.run(COMMAND, **shown, **options)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.long
def test_a_strange_home_umask_path_and_clock_change_no_result(project, tmp_path):
    """Red if a foreign package is imported, a home or open rights are needed, or clocks compared.

    The library of this copy is that of the environment; in a checkout it lies beside the other.
    """
    (tmp_path / "foreign" / "reproduction").mkdir(parents=True)
    (tmp_path / "foreign" / "reproduction" / "__init__.py").write_text("raise SystemExit('no')")
    variables = {k: v for k, v in ENVIRONMENT.items() if k not in ("HOME", "XDG_CACHE_HOME")}
    variables |= {"PYTHONPATH": str(tmp_path / "foreign")}
    shown = {"env": variables, "umask": 0o077}
    status, text = run(project, **shown)
    assert status == 0, text
    judged = project / "results" / "judgments" / "sutera2021" / "table2.json"
    assert {row["verdict"] for row in storage.read_json(judged)} == {"equal"}
    # A clock that was set back: all results are of tomorrow.
    tomorrow = time.time() + 86400
    for path in (project / "results").rglob("*"):
        os.utime(path, (tomorrow, tomorrow))
    assert "Nothing to be done" in run(project, **shown)[1]
    before = judged.read_bytes()
    edit(project, "sutera2021", "table2", "EDITED = True")
    # Snakemake says what is wrong, and keeps nothing that it could take for newer than it is.
    status, text = run(project, **shown)
    assert status == 1 and "clock skew" in text and not judged.exists()
    for path in (project / "results").rglob("*"):
        os.utime(path)
    status, text = run(project, **shown)
    assert status == 0 and judged.read_bytes() == before, text


WAITS = """
import functools, pathlib, time
_compute = compute

@functools.wraps(_compute)
def compute(*arguments, **options):
    while not pathlib.Path("go").exists():
        time.sleep(0.1)
    return _compute(*arguments, **options)
"""


@pytest.mark.long
def test_a_second_run_says_that_there_is_a_first(project):
    """By Snakemake's own lock; red if both write the same files."""
    edit(project, "sutera2021", "table2", WAITS)
    with subprocess.Popen(COMMAND, cwd=project, env=ENVIRONMENT, stdout=-3, stderr=-3) as first:
        while not list((project / ".snakemake").glob("locks/*")):
            assert first.poll() is None
            time.sleep(0.05)
        status, text = run(project)
        (project / "go").touch()
        assert first.wait() == 0
    assert status == 1 and "Traceback" not in text
    assert "Directory cannot be locked" in text and "--unlock" in text
    assert "Nothing to be done" in run(project)[1]


@pytest.mark.parametrize("name", ["../x", "sutera2021/../../x", "..", "~"])
def test_no_name_of_a_configuration_leads_out_of_the_results(name):
    """Red if a name becomes part of a path before it is checked."""
    led = {"importances": ["mdi"], "metrics": ["scores"], "sweep": [{"grid": {"data": "led"}}]}
    kinds = {section: {name: {key: "x"}} for section, key in sweep.KINDS.values()}
    kinds |= {"experiments": {name: led}, "artefacts": {name: {"title": "x"}}, "sweeps": [name]}
    overs = [{section: value} for section, value in kinds.items()]
    overs += [{"artefacts": {"sutera2021/table2": {k: name}}} for k in ("module", "recorded")]
    for over in overs:
        with pytest.raises(configuration.ConfigError):
            configuration.load(over)


def test_no_file_is_read_as_a_pickle_or_code():
    """Red with any call that runs what a file holds; numba's cache is the one that does."""
    forbidden = ("pickle.load", "allow_pickle=True", "joblib.load", "yaml.unsafe_load", "eval(")
    forbidden += ("exec(", "yaml.UnsafeLoader", "yaml.FullLoader", "marshal.load")
    found = [
        (path.name, word)
        for path in [*(ROOT / "src").rglob("*.py"), *(ROOT / "workflow").rglob("*.py")]
        for word in forbidden
        if word in path.read_text().replace("literal_eval(", "")
    ]
    assert found == []
