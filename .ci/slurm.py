"""The tiny pipeline through a real SLURM of three nodes, all on this machine.

    python .ci/slurm.py RESULTS

Run from a checkout; RESULTS is the folder of results of the same checkout, made without SLURM: all
files must have the same bytes. Then a job is canceled, and one is killed for its memory: each time
the run must fail with the state in its message, and the same command must finish what is missing.

Needs Debian's slurm-wlm and munge, and root: the steps of jobs find SLURM by /etc/slurm/slurm.conf.
"""

from __future__ import annotations

import contextlib
import os
import platform
import secrets
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

NODES = 3
PORT = 17000
ETC = Path("/etc/slurm/slurm.conf")
# Without accounting sacct knows nothing, and a test need not wait long for the first look.
ARGUMENTS = "--slurm-no-account --slurm-status-command squeue"
ARGUMENTS += " --slurm-init-seconds-before-status-checks 2 --jobs 6"
# Neither of them is a result: times, logs, and the folder's own guide.
APART = ("timing", "logs", "README.md", "claims_timing.csv", "verdict.txt", "kernels")

CONFIGURATION = """
ClusterName=ci
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={port}
AuthType=auth/munge
CryptoType=crypto/munge
AuthInfo=socket={place}/munge.socket
SlurmUser=root
SlurmdUser=root
StateSaveLocation={place}/state
SlurmdSpoolDir={place}/spool.%n
SlurmctldPidFile={place}/slurmctld.pid
SlurmdPidFile={place}/slurmd.%n.pid
SlurmctldLogFile={place}/slurmctld.log
SlurmdLogFile={place}/slurmd.%n.log
# No control groups: processes are found in /proc, and memory is looked at every second.
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=1
JobAcctGatherParams=OverMemoryKill
MpiDefault=none
SlurmdParameters=config_overrides
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SchedulerParameters=batch_sched_delay=0,sched_interval=2,bf_interval=2
ReturnToService=2
KillWait=2
# squeue remembers jobs that ended for so long.
MinJobAge=3600
AccountingStorageType=accounting_storage/none
NodeName=n[1-{nodes}] NodeHostname={host} NodeAddr=127.0.0.1 Port=[{first}-{last}] \\
  CPUs=2 RealMemory=8000 State=UNKNOWN
PartitionName=main Nodes=n[1-{nodes}] Default=YES MaxTime=INFINITE DefMemPerCPU=500 State=UP
"""


@contextlib.contextmanager
def cluster(place: Path):
    """Three nodes with a controller, ended at the end; jobs first."""
    text = CONFIGURATION.format(
        host=platform.node().split(".")[0],
        port=PORT,
        first=PORT + 1,
        last=PORT + NODES,
        nodes=NODES,
        place=place,
    )
    (place / "slurm.conf").write_text(text)
    (place / "state").mkdir()
    key = place / "munge.key"
    key.write_bytes(secrets.token_bytes(1024))
    key.chmod(0o600)
    ETC.parent.mkdir(exist_ok=True)
    if ETC.exists() and not ETC.is_symlink():
        sys.exit(f"{ETC} is there already: this machine has a SLURM of its own")
    ETC.unlink(missing_ok=True)
    ETC.symlink_to(place / "slurm.conf")
    munge = [f"--{n}={place}/munge.{e}" for n, e in (("key-file", "key"), ("socket", "socket"))]
    munge += [f"--{n}-file={place}/munged.{n}" for n in ("pid", "log", "seed")]
    try:
        subprocess.run(["munged", "--force", *munge], check=True)
        subprocess.run(["slurmctld", "-f", ETC, "-c"], check=True)
        for node in range(1, NODES + 1):
            (place / f"spool.n{node}").mkdir()
            subprocess.run(["slurmd", "-f", ETC, "-N", f"n{node}"], check=True)
        wait("the nodes", lambda: queried("sinfo", "-N", "-t", "idle", "-o", "%N") == NODES)
        yield
    finally:
        subprocess.run(["scancel", "--user=root"], check=False)
        with contextlib.suppress(TimeoutError):
            wait("the jobs to end", lambda: queried("squeue") == 0, seconds=20)
        for file in (*place.glob("slurmd.*.pid"), *place.glob("*d.pid")):
            with contextlib.suppress(ProcessLookupError, ValueError):
                os.kill(int(file.read_text()), signal.SIGTERM)
        ETC.unlink()


def queried(*command) -> int:
    """Number of lines that a command of SLURM prints."""
    done = subprocess.run([*command, "--noheader"], capture_output=True, text=True, check=False)
    return len(done.stdout.split())


def wait(what, ready, seconds=60):
    """Until it is so, or TimeoutError."""
    end = time.monotonic() + seconds
    while not ready():
        if time.monotonic() > end:
            raise TimeoutError(f"waited {seconds} s for {what}")
        time.sleep(0.5)


def make(*targets, more=""):
    """The tiny pipeline, or a part of it, through SLURM; returns exit code and all that it says."""
    with start(*targets, more=more) as process:
        text = process.communicate(timeout=1800)[0]
    return process.returncode, text


def start(*targets, more=""):
    """The same, without waiting for its end."""
    settings = ["PRESET=tiny", "PROFILE=slurm", f"ARGUMENTS={ARGUMENTS} {more}"]
    return subprocess.Popen(
        ["make", *(targets or ["reproduce"]), *settings],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def files(results: Path) -> dict[str, bytes]:
    """All results by their path."""
    paths = [p for p in results.rglob("*") if p.is_file()]
    names = {p.relative_to(results): p for p in paths}
    return {str(n): p.read_bytes() for n, p in names.items() if n.parts[0] not in APART}


def expect(condition, message, text=""):
    """End with the message, and what the run said, unless the condition holds."""
    if not condition:
        sys.exit(f"{text[-6000:]}\n.ci/slurm.py: {message}")
    print(f"  {message.replace(' must ', ' did ')}", flush=True)


def main(local: Path):
    """Run, compare, disturb."""
    code, text = make()
    expect(code == 0, "the run through SLURM must finish", text)
    submitted = text.count("has been submitted with SLURM jobid")
    print(f"  {submitted} jobs were submitted", flush=True)
    own, other = files(local), files(Path("results"))
    unlike = sorted(n for n in own | other if own.get(n) != other.get(n))
    expect(not unlike, f"{len(own)} results must equal those of the local run {unlike[:5]}")

    table = Path("results/tables/lundberg2017/figure1.csv")
    before = table.read_bytes()
    for name, disturb, state in (
        ("a canceled job", cancel, "CANCELLED"),
        ("a job killed for its memory", starve, "OUT_OF_MEMORY"),
    ):
        table.unlink()
        code, text = disturb()
        expect(code != 0 and state in text, f"{name} must end the run with {state}", text)
        expect(not table.exists(), f"{name} must leave no half a file")
        code, text = make("lundberg2017/figure1")
        expect(code == 0, f"the same command must finish after {name}", text)
        expect(table.read_bytes() == before, f"the table after {name} must have the same bytes")


def cancel():
    """A run whose job is canceled as soon as it is there."""
    with start("lundberg2017/figure1", more="--retries 0") as process:
        wait("a job", lambda: queried("squeue", "-o", "%i") > 0, seconds=120)
        subprocess.run(["scancel", "--user=root"], check=True)
        text = process.communicate(timeout=600)[0]
    return process.returncode, text


def starve():
    """A run whose job gets too little memory."""
    return make("lundberg2017/figure1", more="--retries 0 --set-resources tables:mem_mb=20")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder, cluster(Path(folder)):
        main(Path(sys.argv[1]))
