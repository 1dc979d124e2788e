"""One paper of the tiny pipeline through a real SLURM of three nodes, all on this machine.

    python .ci/slurm.py RESULTS

Run from a checkout without results. RESULTS is a folder of results of the same checkout, made
without SLURM: all files of the paper must have the same bytes, and every node must have worked.
Then a job is canceled, and one is killed for its memory: each time the run must end with SLURM's
word about it and leave no half a file. A job whose first attempt is killed must succeed with more
memory at the second, and the last run must find nothing to make.

Needs Debian's slurm-wlm and munge, and root: the steps of jobs find SLURM by /etc/slurm/slurm.conf.
"""

from __future__ import annotations

import collections
import contextlib
import os
import platform
import re
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
ARGUMENTS = "--slurm-status-command squeue"
ARGUMENTS += " --slurm-init-seconds-before-status-checks 2 --jobs 6"
# None of these is a result: times, the report, which has times, logs, the folder's guide, markers.
APART = ("timing", "report.html", "logs", "README.md", "claims_timing.csv", "verdict.txt")
# All stages in few jobs: without groups each of them starts a Snakemake of its own.
PAPER = "lundberg2017"
# One artefact of it, whose table needs no experiment.
TARGET = "lundberg2017/figure1"
TABLE = Path(f"results/tables/{TARGET}.csv")

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
# The least loaded node first, so that few jobs reach all nodes.
SelectTypeParameters=CR_Core_Memory,CR_LLN
SchedulerParameters=batch_sched_delay=0,sched_interval=2,bf_interval=2
ReturnToService=2
KillWait=2
# squeue remembers jobs that ended for so long.
MinJobAge=3600
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/filetxt
JobCompLoc={place}/ended.txt
NodeName=n[1-{nodes}] NodeHostname={host} NodeAddr=127.0.0.1 Port=[{first}-{last}] \\
  CPUs=2 RealMemory=16000 State=UNKNOWN
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
    if ETC.exists() and ETC.resolve().parent.parent != place.parent:
        sys.exit(f".ci/slurm.py: {ETC} is there already: this machine has a SLURM of its own")
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
            wait("the jobs to end", lambda: queried("squeue", "-o", "%i") == 0, seconds=20)
        daemons = []
        for file in (*place.glob("slurmd.*.pid"), *place.glob("*d.pid")):
            with contextlib.suppress(ProcessLookupError, ValueError):
                daemons.append(int(file.read_text()))
                os.kill(daemons[-1], signal.SIGTERM)
        wait("the daemons to end", lambda: not any(map(alive, daemons)))
        ETC.unlink()


def alive(process: int) -> bool:
    """Whether a process runs; one that has ended may wait for its parent's look."""
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


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


def make(target, more="", meanwhile=lambda: None, seconds=2400):
    """Make a target through SLURM; returns the exit code and everything that make prints.

    `meanwhile` is called while it runs.
    """
    settings = ["PRESET=tiny", "PROFILE=slurm", f"ARGUMENTS={ARGUMENTS} {more}"]
    with tempfile.TemporaryFile("w+") as output:
        process = subprocess.Popen(
            ["make", target, *settings], stdout=output, stderr=output, start_new_session=True
        )
        try:
            meanwhile()
            code = process.wait(timeout=seconds)
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
            output.seek(0)
            # What Snakemake does not show on the screen is in its own log.
            logs = sorted(Path(".snakemake/log").glob("*.log"), key=lambda p: p.stat().st_mtime)
            text = output.read() + "".join(log.read_text() for log in logs[-1:])
            if sys.exc_info()[0]:
                print(text[-6000:])
        return code, text


def files(results: Path) -> dict[str, bytes]:
    """All results by their path."""
    paths = [p for p in results.rglob("*") if p.is_file()]
    names = {p.relative_to(results): p for p in paths}
    return {str(n): p.read_bytes() for n, p in names.items() if n.parts[0] not in APART}


def expect(condition, message, text=""):
    """End with the message, and with what the run printed, unless the condition holds."""
    if not condition:
        sys.exit(f"{text[-6000:]}\n.ci/slurm.py: {message}")
    print(f"  {message.replace(' must ', ' did ')} (after {time.monotonic() - BEGIN:.0f} s)")


def submitted(text) -> int:
    """Number of jobs that a run submitted."""
    return len(set(re.findall(r"has been submitted with SLURM jobid (\d+)", text)))


def ended(place: Path) -> tuple[collections.Counter, collections.Counter]:
    """How many jobs ended in each state, and on each node."""
    text = (place / "ended.txt").read_text()
    return tuple(collections.Counter(re.findall(rf"\b{n}=(\S+)", text)) for n in KEYS)


KEYS = ("JobState", "NodeList")


def main(local: Path, place: Path):
    """Run, compare, disturb, and run again."""
    whole(local, place)
    disturb(local)
    print("  ended as {}, on {}".format(*(dict(counts) for counts in ended(place))))


def whole(local: Path, place: Path):
    """The paper, from no results."""
    code, text = make(PAPER)
    expect(code == 0, "the run through SLURM must finish", text)
    print(f"  {submitted(text)} jobs were submitted")
    states, nodes = ended(place)
    expect(set(states) == {"COMPLETED"}, f"all of them must complete: {dict(states)}")
    expect(len(nodes) == NODES, f"all nodes must work: {dict(nodes)}")
    compare(local)


def disturb(local: Path):
    """One artefact again, whose job is ended early; then what is missing."""
    once = "--retries 0"
    disturbed("a canceled job", "CANCELLED AT", once, cancel)
    disturbed("a job killed for its memory", "Exceeded job memory limit", f"{once} {memory(50)}")
    code, text = make(TARGET, more=memory("50 if attempt == 1 else 1000 * attempt"))
    killed = text.count("Exceeded job memory limit") > 0
    expect(code == 0 and killed, "the second attempt must succeed with more memory", text)
    code, text = make(PAPER)
    expect(code == 0, "the last run must find all made", text)
    expect(submitted(text) == 0, f"it must submit nothing: {submitted(text)}", text)
    compare(local)


def cancel():
    """Cancel a job as soon as one runs."""
    wait("a job", lambda: queried("squeue", "-t", "R", "-o", "%i") > 0, seconds=300)
    subprocess.run(["scancel", "--user=root"], check=True)


def memory(amount) -> str:
    """Arguments that give the jobs of an artefact an amount of memory."""
    rules = ("artefacts", "artefacts_without_figure")
    return "--set-resources " + " ".join(f"'{rule}:mem_mb={amount}'" for rule in rules)


def compare(local: Path):
    """End unless the results equal those in another folder."""
    # After a failure claims are gathered of what there is, which a whole run gathers of all.
    one, other = ({n: b for n, b in files(f).items() if "/" in n} for f in (local, Path("results")))
    made = {n for n in one if n.startswith((f"tables/{PAPER}/", f"figures/{PAPER}/"))}
    unlike = sorted(n for n in made | set(other) if one.get(n) != other.get(n))
    expect(
        made and not unlike, f"{len(other)} results must equal those of the local run {unlike[:5]}"
    )


def disturbed(name, words, more, meanwhile=lambda: None):
    """A run whose job is ended early, which the log of the job has to say."""
    TABLE.unlink(missing_ok=True)
    code, text = make(TARGET, more=more, meanwhile=meanwhile)
    expect(code != 0 and words in text, f"{name} must end the run with a word about it", text)
    left = [p.name for p in TABLE.parent.glob(f"*{TABLE.stem}*")]
    expect(not left, f"{name} must leave no half a file {left}")


if __name__ == "__main__":
    BEGIN = time.monotonic()
    sys.stdout.reconfigure(line_buffering=True)
    # So that the daemons are ended too if this process is.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(".ci/slurm.py: ended by a signal"))
    with tempfile.TemporaryDirectory() as folder, cluster(Path(folder)):
        main(Path(sys.argv[1]).resolve(), Path(folder))
