"""Jobs through the launcher: they end as they do without it, and nothing of them stays behind."""

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from reproduction import launcher, storage

pytestmark = pytest.mark.skipif(
    sys.platform != "linux",
    reason="The launcher forks on Linux only, and jobs start by themselves elsewhere; use Linux.",
)
ROOT = Path(__file__).resolve().parents[1]
RUN = {
    "key": "of_led",
    "data_key": "led",
    "data": {"dataset": "led"},
    "model": {"estimator": "ExtraTreesClassifier", "n_estimators": 2, "max_depth": 2},
    "repeat": 0,
}


def children(process):
    return Path(f"/proc/{process}/task/{process}/children").read_text().split()


def wait_until(holds):
    """Wait for half a minute at most; the caller says what should hold by then."""
    end = time.monotonic() + 30
    while not holds() and time.monotonic() < end:
        time.sleep(0.02)
    assert holds()


@pytest.fixture(scope="module")
def running():
    """The number of the process of a launcher."""
    with started() as process:
        yield process


@contextlib.contextmanager
def started():
    """A launcher, which ends with the block if nothing has ended it before."""
    before = set(children(os.getpid()))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(launcher.SOCKET, "")
        for name in launcher.ONE_THREAD:
            patch.delenv(name, raising=False)
        alive = launcher.start(launcher.FEW_JOBS)
        path = Path(os.environ[launcher.SOCKET])
        (process,) = set(children(os.getpid())) - before
        wait_until(path.exists)
        yield process
        os.close(alive)
        wait_until(lambda: not path.parent.exists())


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_nothing_is_left_of_a_launcher_that_a_signal_ends(number, request):
    """As the one that ends all processes of a run."""
    # Where the tests run under nohup, the launcher would ignore it, too.
    handler = signal.signal(number, signal.SIG_DFL)
    request.addfinalizer(lambda: signal.signal(number, handler))
    with started() as process:
        folder = Path(os.environ[launcher.SOCKET]).parent
        os.kill(int(process), number)
        wait_until(lambda: not folder.exists())


@pytest.fixture
def plan(tmp_path):
    storage.write_json(tmp_path / "plan.json", [RUN])
    return tmp_path / "plan.json"


def data_job(plan, out):
    return ["--threads", "1", "data", "--plan", str(plan), "--out", str(out)]


@pytest.mark.long
def test_a_job_through_the_launcher_writes_the_same_bytes(running, plan, tmp_path, capfd):
    assert launcher.run(data_job(plan, tmp_path / "launched.npz")) == 0
    assert capfd.readouterr().out.endswith("finished\n")
    direct = [sys.executable, "-m", "reproduction", *data_job(plan, tmp_path / "alone.npz")]
    environment = {**os.environ, launcher.SOCKET: "", "PYTHONPATH": str(ROOT / "src")}
    subprocess.run(direct, env=environment, check=True, stdout=subprocess.DEVNULL)
    assert (tmp_path / "launched.npz").read_bytes() == (tmp_path / "alone.npz").read_bytes()


def test_a_job_reads_its_own_sources_and_not_those_of_the_launcher(
    running, plan, tmp_path, monkeypatch, capfd
):
    source = tmp_path / "src"
    shutil.copytree(ROOT / "src" / "reproduction", source / "reproduction")
    main = source / "reproduction" / "__main__.py"
    main.write_text(main.read_text().replace('FINISHED = "finished"', 'FINISHED = "ended"'))
    monkeypatch.syspath_prepend(source)
    assert launcher.run(data_job(plan, tmp_path / "data.npz")) == 0
    assert capfd.readouterr().out.endswith("ended\n")


def test_a_job_that_fails_fails_with_its_message(running, plan, tmp_path, capfd):
    storage.write_json(plan, [RUN | {"data": {"dataset": "nothing"}}])
    assert launcher.run(data_job(plan, tmp_path / "none.npz")) == 1
    assert "unknown data set 'nothing'" in capfd.readouterr().err
    assert launcher.run(["--threads", "1", "data", "--no_such_option"]) == 2


@pytest.mark.parametrize(
    "arguments",
    [
        ["--threads", "2", "models"],  # Libraries are loaded for one thread.
        ["--threads", "1", "plans"],  # Starts faster than it asks.
        ["plans"],
        [],
    ],
)
def test_jobs_that_the_launcher_is_not_for_run_by_themselves(running, arguments):
    assert launcher.run(arguments) is None


def test_a_job_runs_by_itself_where_the_launcher_has_ended(plan, monkeypatch, tmp_path):
    arguments = data_job(plan, tmp_path / "data.npz")
    monkeypatch.setenv(launcher.SOCKET, str(tmp_path / "gone"))
    assert launcher.run(arguments) is None
    monkeypatch.delenv(launcher.SOCKET)
    assert launcher.run(arguments) is None


def test_a_job_of_another_environment_runs_by_itself(running, plan, monkeypatch, tmp_path):
    """It has other packages than the launcher has loaded."""
    for name in launcher.ONE_THREAD:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(sys, "prefix", "/another/environment")
    assert launcher.run(data_job(plan, tmp_path / "data.npz")) is None


@contextlib.contextmanager
def long_job(launching, plan, folder):
    """A client whose job never ends, and the number of the process that does this job."""
    storage.write_json(plan, [RUN | {"model": RUN["model"] | {"n_estimators": 10**7}}])
    assert launcher.run(data_job(plan, folder / "data.npz")) == 0
    words = ["models", "--plan", str(plan), "--data", str(folder / "data.npz"), "--out", "m.npz"]
    command = [sys.executable, "-m", "reproduction", "--threads", "1", *words]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    asking = subprocess.Popen(
        command, cwd=folder, env=environment, stderr=subprocess.PIPE, text=True
    )
    with asking:
        try:
            # It has taken the job when it has gone where that is.
            wait_until(lambda: any(works_in(child, folder) for child in children(launching)))
            (job,) = (child for child in children(launching) if works_in(child, folder))
            yield asking, int(job)
        finally:
            asking.kill()


def works_in(process, folder):
    with contextlib.suppress(OSError):
        return Path(f"/proc/{process}/cwd").resolve() == folder
    return False


def test_a_job_ends_with_the_one_that_asked_for_it(running, plan, tmp_path):
    with long_job(running, plan, tmp_path) as (asking, _):
        asking.kill()
    wait_until(lambda: not children(running))
    assert not (tmp_path / "m.npz").exists()


def test_a_job_ends_with_one_that_was_killed_before_it_read_an_answer(monkeypatch):
    """The connection is reset then; the job went on to its end, for nobody."""
    ended = []
    monkeypatch.setattr(os, "kill", lambda process, number: ended.append((process, number)))
    asking, connection = socket.socketpair(socket.AF_UNIX)
    connection.sendall(launcher._TAKEN)
    asking.close()
    with connection:
        launcher._end_with(connection)
    assert ended == [(os.getpid(), signal.SIGTERM)]


@pytest.mark.long
def test_a_job_that_is_killed_has_failed(running, plan, tmp_path):
    with long_job(running, plan, tmp_path) as (asking, job):
        os.kill(job, signal.SIGKILL)
        message = asking.communicate(timeout=30)[1]
    assert asking.returncode == 1 and "the process of the job was killed" in message


def test_few_jobs_have_no_launcher():
    """To start one takes longer than it saves."""
    assert launcher.start(launcher.FEW_JOBS - 1) is None


def test_a_folder_whose_path_is_too_long_for_a_socket_has_no_launcher(monkeypatch, tmp_path):
    folder = tmp_path / ("long" * 30)
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    assert launcher.start(launcher.FEW_JOBS) is None
    assert list(folder.iterdir()) == []
