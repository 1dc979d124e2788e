"""Jobs of a run that is killed end with it, and the next run waits for them."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

SRC = Path(__file__).resolve().parents[1] / "src"
pytestmark = pytest.mark.skipif(
    sys.platform == "win32",
    reason="Runs lock a file by fcntl, which Windows does not have; use Linux or macOS.",
)
# A run that starts one job, in a shell as Snakemake does, and waits for it.
RUN = """
import subprocess, sys
from reproduction import run_lock
run_lock.hold("lock")
print("held", flush=True)
subprocess.run(["bash", "-c", '"$0" -c "$1"; exit 1', sys.executable, sys.argv[1]])
"""
JOB = "from reproduction import run_lock; run_lock.end_with_run(); import os, time; {}"
SLEEPS = JOB.format("print(os.getpid(), flush=True); time.sleep(60)")


def started(folder, job):
    """A run that has locked the file; what its job prints follows."""
    environment = {**os.environ, "PYTHONPATH": str(SRC)}
    process = subprocess.Popen(
        [sys.executable, "-c", RUN, job],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout.readline() == "held\n"
    return process


def is_alive(number):
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return False
    return True


def wait_until(holds):
    """Wait for half a minute at most; the caller says what should hold by then."""
    end = time.monotonic() + 30
    while not holds() and time.monotonic() < end:
        time.sleep(0.02)
    assert holds()


def test_a_job_ends_with_a_run_that_is_killed(tmp_path):
    """The shell between them does not end, and nobody tells the job."""
    with started(tmp_path, SLEEPS) as run:
        job = int(run.stdout.readline())
        assert is_alive(job)
        run.kill()
        try:
            wait_until(lambda: not is_alive(job))
        finally:
            if is_alive(job):
                os.kill(job, signal.SIGKILL)


def test_a_run_waits_for_a_job_of_an_earlier_one_and_says_so(tmp_path):
    """The job of the first run goes on after SIGTERM, and ends when a file is there."""
    # A signal handler must not print: Python raises an error if it interrupts another print.
    waits = 'answer = b"SIGTERM" + os.linesep.encode();'
    waits += "signal.signal(signal.SIGTERM, lambda *_: os.write(1, answer));"
    waits += 'print("started", flush=True);'
    waits += "any(time.sleep(0.02) for _ in iter(lambda: os.path.exists(chr(101)), True))"
    job = JOB.replace("import os", "import signal, os").format(waits.replace("'", '"'))
    with started(tmp_path, job) as first:
        assert first.stdout.readline() == "started\n"
        first.kill()
        line = first.stdout.readline()
        assert line == "SIGTERM\n", line or first.stderr.read()
        command = [sys.executable, "-c", RUN, "pass"]
        environment = {**os.environ, "PYTHONPATH": str(SRC)}
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        with subprocess.Popen(command, cwd=tmp_path, env=environment, **pipes) as second:
            message = second.stderr.readline()
            (tmp_path / "e").touch()
            assert second.stdout.readline() == "held\n"
    assert message == "waiting until the jobs of an earlier run have ended\n"


def test_a_run_that_ends_leaves_the_next_one_nothing_to_wait_for(tmp_path):
    for _ in range(2):
        with started(tmp_path, JOB.format("print(os.environ[run_lock.FILE])")) as run:
            assert run.stdout.read() == f"{tmp_path / 'lock'}\n"
            assert run.stderr.read() == ""


def test_a_job_without_a_run_is_not_watched(monkeypatch):
    """As under another executor, or by hand."""
    from threading import active_count

    from reproduction import run_lock

    monkeypatch.delenv(run_lock.FILE, raising=False)
    before = active_count()
    run_lock.end_with_run()
    assert active_count() == before
