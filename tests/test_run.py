"""The front of Snakemake that the Makefile calls: configuration files, and locks left behind."""

import importlib.util
import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from reproduction import storage
from reproduction.planning import configuration, plans
from snakemake_runs import snakemake_runs

RUN = Path(__file__).resolve().parents[1] / "workflow" / "run.py"
LINUX = pytest.mark.skipif(
    not Path("/proc/self/cwd").exists(), reason="processes are found by /proc, which is Linux's"
)


def run(folder, *arguments):
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        [sys.executable, str(RUN), *arguments],
        cwd=folder,
        env={**os.environ, "PATH": path},
        text=True,
        capture_output=True,
    )


@pytest.fixture(scope="module")
def forked(tmp_path_factory):
    """Runs of Snakemake that start fast: ``forked(folder, arguments, environment)``."""
    with snakemake_runs(tmp_path_factory.mktemp("printed") / "output.txt") as fork:
        yield fork


@pytest.fixture
def run_forked(forked, monkeypatch, capfd):
    """As `run`, with Snakemake forked where run.py would start it: in its place, or for a list."""
    spec = importlib.util.spec_from_file_location("run", RUN)
    front = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(front)

    def list_of(command, **how):
        assert command[0] == "snakemake" and how == {"text": True, "capture_output": True}
        return forked(Path.cwd(), command[1:], dict(os.environ))

    def replaced(file, command):
        assert file == command[0] == "snakemake"
        process = forked(Path.cwd(), command[1:], dict(os.environ))
        print(process.stdout)
        sys.exit(process.returncode)

    # Of the module alone: the forked runs are started by subprocess too.
    monkeypatch.setattr(front, "subprocess", SimpleNamespace(run=list_of))
    monkeypatch.setattr(front.os, "execvp", replaced)

    def call(folder, *arguments):
        monkeypatch.chdir(folder)
        with pytest.raises(SystemExit) as end:
            front.main(list(arguments))
        # A text is what Python prints on standard error before it ends with status 1.
        message = f"{end.value.code}\n" if isinstance(end.value.code, str) else ""
        printed, errors = capfd.readouterr()
        status = 1 if message else end.value.code
        return SimpleNamespace(returncode=status, stdout=printed, stderr=errors + message)

    return call


@pytest.fixture
def lock(tmp_path):
    """The lock of a run of Snakemake in the folder."""
    path = tmp_path / ".snakemake" / "locks" / "0.output.lock"
    path.parent.mkdir(parents=True)
    path.write_text("results/claims.csv\n")
    (tmp_path / ".snakemake" / "host_of_last_run").write_text(platform.node())
    return path


@LINUX
def test_the_lock_of_a_run_that_was_killed_is_removed(tmp_path, lock):
    process = run(tmp_path, "--version")
    assert process.returncode == 0 and not lock.exists()
    assert "removed the lock of a run that was killed" in process.stderr


def test_the_lock_of_a_run_on_another_machine_stays(tmp_path, lock):
    (tmp_path / ".snakemake" / "host_of_last_run").write_text("another")
    process = run(tmp_path, "--version")
    assert process.returncode == 1 and lock.exists()
    assert "remove its lock with: snakemake --unlock" in process.stderr


@LINUX
@pytest.mark.parametrize(
    ("file", "options"), [("snakemake", ["snakemake"]), ("snakemake.py", ["-m", "snakemake"])]
)
def test_the_lock_of_a_run_that_is_alive_stays(tmp_path, lock, file, options):
    (tmp_path / file).write_text("import time; time.sleep(60)\n")
    other_run = subprocess.Popen([sys.executable, *options], cwd=tmp_path)
    try:
        process = run(tmp_path, "--version")
    finally:
        other_run.kill()
        other_run.wait()
    assert process.returncode == 1 and lock.exists()
    assert process.stderr == (
        f"another run of Snakemake works in this directory: process {other_run.pid}\n"
    )


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "configuration: mine.yaml: no such file or directory\n"),
        (b"preset: \xff\xfe\n", "configuration: mine.yaml: not UTF-8 text\n"),
        (b"a: [\n", "configuration: mine.yaml: not valid YAML in line 2\n"),
    ],
)
def test_a_configuration_file_that_cannot_be_read_is_one_line(tmp_path, content, message):
    if content is not None:
        (tmp_path / "mine.yaml").write_bytes(content)
    process = run(tmp_path, "--configfile", "mine.yaml", "--version")
    assert (process.returncode, process.stderr) == (1, message)


@pytest.mark.long
def test_results_without_their_records_are_named(tmp_path):
    """Copied alone to another machine, they stayed whatever had changed since, without a word."""
    (tmp_path / "results" / "data").mkdir(parents=True)
    process = run(tmp_path, "--version")
    assert process.returncode == 0
    assert process.stderr.startswith("results/ has no records of the sources and settings that it")
    records = tmp_path / ".snakemake" / "metadata"
    records.mkdir(parents=True)  # As a dry run leaves it.
    assert run(tmp_path, "--version").stderr == process.stderr
    (records / "of_a_file").touch()
    assert run(tmp_path, "--version").stderr == ""


def test_all_files_reach_snakemake_and_the_target_is_no_file(tmp_path):
    """Snakemake's ``--configfile`` takes several values, a target behind it included."""
    (tmp_path / "Snakefile").write_text('rule all:\n    input: config["a"] + config["b"]\n')
    for name in "ab":
        (tmp_path / f"{name}.yaml").write_text(f"{name}: {name}.txt\n")
    (tmp_path / "a.txtb.txt").touch()
    files = ["--configfile", "a.yaml", "--configfile", "b.yaml"]
    process = run(tmp_path, *files, "-n", "--cores", "1", "all")
    assert process.returncode == 0, process.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["--experiment", ""],
            "no experiment is named: make sweep EXPERIMENT=NAME takes one of gajewski2025_agree",
        ),
        (
            ["--experiment", "sutera2021_loca", "--configfile", "mine.yaml"],
            "no experiment 'sutera2021_loca': make sweep EXPERIMENT=NAME takes one of gajewski",
        ),
        (
            ["--target", "sutera2021/tabel4"],
            "no target 'sutera2021/tabel4': did you mean sutera2021/table4? there are sutera2021/",
        ),
        (
            ["--target", "nothing_near"],
            "no target 'nothing_near': there are gajewski2025, loecher2022, lundberg2017, sutera20",
        ),
        (
            ["--workflow-profile", "workflow/profiles/nosuch"],
            "PROFILE=nosuch: no such profile; there are default, slurm\n",
        ),
    ],
)
def test_what_does_not_exist_is_one_line_with_what_there_is(
    run_forked, tmp_path, arguments, message
):
    (tmp_path / "mine.yaml").write_text("experiments: {mine: {}}\n")
    shutil.copy(RUN.parents[1] / "Makefile", tmp_path)
    (tmp_path / "Snakefile").write_text("rule claims:\n")
    process = run_forked(tmp_path, *arguments)
    assert process.returncode == 1
    assert process.stderr.startswith(message) and process.stderr.count("\n") == 1
    assert ("mine, " in process.stderr) == ("mine.yaml" in arguments)


@pytest.mark.parametrize(
    ("arguments", "target"),
    [
        (["--experiment", "mine", "--configfile", "mine.yaml"], "experiment_mine"),
        (["--experiment", "sutera2021_local"], "experiment_sutera2021_local"),
        (["--target", "sutera2021/table4", "--configfile", "mine.yaml"], "sutera2021_table4"),
        (["--target", "sutera2021"], "sutera2021"),
        pytest.param(["--target", "claims"], "claims", marks=pytest.mark.long),
    ],
)
def test_a_target_stands_behind_all_options(run_forked, tmp_path, arguments, target):
    (tmp_path / "mine.yaml").write_text("experiments: {mine: {}}\n")
    names = ("experiment_mine", "experiment_sutera2021_local", "sutera2021_table4", "sutera2021")
    rules = [f"rule {name}:\n    shell: 'echo'\n" for name in ("claims", *names)]
    (tmp_path / "Snakefile").write_text("\n\n".join(rules))
    # The one that lists the rules first, and so starts Snakemake twice, does so in truth.
    run_front = run if target == "claims" else run_forked
    process = run_front(tmp_path, *arguments, "-n", "--cores", "1")
    assert process.returncode == 0, process.stderr
    assert f"\nrule {target}:" in process.stdout + process.stderr


def test_an_interrupted_write_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "table.txt"
    storage.write_text(path, "old")
    with pytest.raises(RuntimeError), storage.atomic(path) as temporary:
        temporary.write_text("half")
        assert path.read_text() == "old"
        raise RuntimeError
    assert path.read_text() == "old" and list(tmp_path.iterdir()) == [path]


def test_what_a_killed_write_leaves_is_no_plan(tmp_path):
    """Every later run read the half that was left, and ended with a traceback."""
    axes = {"data": "iris", "model": "random_forest"}
    experiment = {"importances": ["mdi"], "metrics": ["scores"], "sweep": [{"grid": axes}]}
    config = configuration.load({"experiments": {"e": experiment}})
    killed = (
        "import os, pathlib; from reproduction import storage\n"
        "with storage.atomic('plans/0123456789.json') as temporary:\n"
        "    temporary.write_text('[{')\n"
        "    os.kill(os.getpid(), 9)"
    )
    assert subprocess.run([sys.executable, "-c", killed], cwd=tmp_path).returncode == -9
    (half,) = (tmp_path / "plans").iterdir()
    assert len(plans.make(config, "e", tmp_path / "plans").batches) == 1
    with storage.atomic(tmp_path / "plans" / "of_another.json") as written_now:
        written_now.write_text("[]")
        storage.remove_unfinished(tmp_path)
        assert written_now.exists() and not half.exists()


@pytest.mark.parametrize("cores", ["0", "-1", "two", "1.5"])
def test_a_number_of_cores_that_nothing_can_run_on_is_one_line(tmp_path, cores):
    """Snakemake would wait for a core forever."""
    process = run(tmp_path, "--version", "--cores", cores)
    assert process.returncode == 1
    assert process.stderr == f"cores: {cores!r} is neither a whole number above 0 nor all\n"


@pytest.mark.parametrize("given", ["", "here b/.venv"])
def test_a_blank_in_the_path_of_the_environment_splits_no_command_of_make(tmp_path, given):
    folder = tmp_path / "folder with" / "project"
    folder.mkdir(parents=True)
    makefile = shutil.copy(RUN.parents[1] / "Makefile", folder)
    targets = re.findall(r"^([a-z-]+): .*##", Path(makefile).read_text(), re.MULTILINE)
    settings = [f"VENV={tmp_path}/{given}"] if given else []
    runnable = [t for t in targets if t not in ("help", "quick", "clean")]
    command = ["make", "-n", *runnable, "EXPERIMENT=e", *settings]
    process = subprocess.run(command, cwd=folder, text=True, capture_output=True)
    assert process.returncode == 0, process.stderr
    words = shlex.split(process.stdout.replace("\\\n", ""))
    environment = f"{tmp_path}/{given}" if given else f"{folder}/.venv"
    assert len([word for word in words if word.startswith(f"{environment}/bin/")]) > 12
    assert [word for word in words if word.endswith(("/folder", "/here"))] == []


def test_make_clean_deletes_results_that_lie_elsewhere(tmp_path):
    """Of a link alone, find sees no more than the link."""
    shutil.copy(RUN.parents[1] / "Makefile", tmp_path)
    storage.write_text(tmp_path / "scratch" / "tables" / "p" / "t.csv", "")
    storage.write_text(tmp_path / "scratch" / "README.md", "")
    (tmp_path / "results").symlink_to("scratch")
    subprocess.run(["make", "clean"], cwd=tmp_path, check=True, capture_output=True)
    assert [path.name for path in (tmp_path / "scratch").iterdir()] == ["README.md"]
    assert (tmp_path / "results").is_symlink()


def test_make_clean_leaves_the_results_of_a_run_that_is_alive(tmp_path):
    """It took locks and results from under the run, which ended with a part of them."""
    shutil.copy(RUN.parents[1] / "Makefile", tmp_path)
    table = tmp_path / "results" / "tables" / "t.csv"
    storage.write_text(table, "")
    (tmp_path / ".snakemake").mkdir()
    lock = tmp_path / ".snakemake" / "splitcredit.lock"
    holding = f"from reproduction import run_lock; print(run_lock.hold({str(lock)!r})); input()"
    other_run = subprocess.Popen(
        [sys.executable, "-c", holding], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    clean = {"cwd": tmp_path, "text": True, "capture_output": True}
    clean["env"] = {**os.environ, "PATH": path}
    try:
        assert other_run.stdout.readline() == "True\n"
        process = subprocess.run(["make", "clean"], **clean)
        assert process.returncode and table.exists() and lock.exists()
        assert process.stderr.startswith("a run works in this directory: end it first\n")
    finally:
        other_run.communicate("\n")
    subprocess.run(["make", "clean"], check=True, **clean)
    assert not table.exists()
