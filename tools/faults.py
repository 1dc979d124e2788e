"""Kill a run at random moments, resume it by the same command, and compare: `make faults`.

Every kill is one of four: of the whole process group, of Snakemake alone, of one job (all by
SIGKILL), or an interrupt as by Ctrl-C. After each one, every file that has its final name must
have the bytes that it has in a run that was never killed, and no process may be left. The same
command then goes on, and is killed again; when a run comes to its end, all results must have these
bytes, and there may be no other file or folder. Exit status 1 if something else is found.
"""

from __future__ import annotations

import argparse
import collections
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil

from project_copy import copied, digests, tiny_run
from reproduction.planning import configuration

# What is written of an unfinished run, and tables that are kept until their figure is drawn.
UNFINISHED = ("claims.csv", "claims_timing.csv", "kept/")
KINDS = ("group", "scheduler", "job", "interrupt")
PATIENCE = 120  # seconds for the jobs of a killed Snakemake to end

# A table, a figure and a sweep: every kind of job.
ARTEFACTS = ("lundberg2017/figure1", "sutera2021/table2")
SWEEP = {
    "importances": ["local_mdi", "saabas"],
    "metrics": ["global_scores"],
    "sweep": [{"grid": {"data": "led", "model": "extra_trees", "model.max_features": [1, 7]}}],
}


def main() -> int:
    """Do as many kills as asked; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    chance, found = random.Random(arguments.seed), []
    kills, ends = collections.Counter(), 0
    with tempfile.TemporaryDirectory(prefix="faults ") as folder:
        project = prepared(Path(folder))
        # The first run compiles the kernels, and keeps the models for comparison.
        finish(run(project, "--notemp"), project)
        expected = digests(project)
        wipe(project)
        begin = time.monotonic()
        finish(run(project), project)
        seconds, at_end = time.monotonic() - begin, digests(project)
        print(f"a run that is not killed takes {seconds:.0f} s")
        wipe(project)
        while True:
            kind = KINDS[kills.total() % len(KINDS)]
            process = run(project)
            if kills.total() < arguments.kills and kill(process, kind, seconds, chance):
                kills[kind] += 1
                label = f"kill {kills.total()} ({kind})"
                found += [f"{label}: {fault}" for fault in after_kill(project, expected)]
                if kind in ("group", "scheduler"):
                    finish(run(project, "--unlock"), project)
                print(label, flush=True)
                continue
            status = process.wait()
            ends += 1
            label = f"the run after kill {kills.total()}"
            found += [f"{label} ends with status {status}"] if status else []
            other = sorted({name for name, _ in at_end.items() ^ digests(project).items()})
            found += [f"{label} has other bytes in {name}, or only one has it" for name in other]
            wipe(project)
            if kills.total() >= arguments.kills:
                break
    print("\n".join(found))
    print(*(f"{kind:<10} {kills[kind]:>4} kills" for kind in KINDS), sep="\n")
    print(f"{ends} runs came to their end; {len(found)} faults")
    return 1 if found else 0


def prepared(folder):
    """A copy of the project with the configuration.

    The library is that of the environment: numba keeps machine code by the place of the sources.
    """
    project = copied(folder / "pröject", "splitcredit")
    others = set(configuration.artefacts()) - set(ARTEFACTS)
    over = {
        "artefacts": {name: {"optional": True} for name in others},
        "experiments": {"killed": SWEEP},
        "sweeps": ["killed"],
    }
    (project / "killed.yaml").write_text(json.dumps(over), encoding="utf-8")
    return project


def run(project, *options):
    """Start Snakemake in a process group of its own."""
    command, environment = tiny_run(Path(sys.executable), 2, *options, over=["killed.yaml"])
    with open(project / "output", "w", encoding="utf-8") as output:
        return subprocess.Popen(
            command,
            cwd=project,
            env=environment,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )


def finish(process, project):
    """Wait for the end of a run that nobody kills; SystemExit with its output if it fails."""
    if process.wait():
        sys.exit((project / "output").read_text(encoding="utf-8"))


def wipe(project):
    """Delete results, and what Snakemake knows of them."""
    for name in ("results", ".snakemake"):
        shutil.rmtree(project / name)


def kill(process, kind, seconds, chance):
    """Kill at a random moment by one of the kinds, and wait; whether there was anything to kill."""
    moment = time.monotonic() + chance.uniform(0.0, seconds)
    while time.monotonic() < moment or (kind == "job" and not jobs_of(process)):
        if process.poll() is not None:
            return False
        time.sleep(0.02)
    if kind == "group":
        os.killpg(process.pid, signal.SIGKILL)
    elif kind == "scheduler":
        process.kill()
    elif kind == "interrupt":
        os.killpg(process.pid, signal.SIGINT)
    else:
        chance.choice(jobs_of(process)).kill()
    # After the end of one job, Snakemake goes on with those that do not need it.
    process.wait()
    return True


def jobs_of(process):
    """Processes that are a job of a run."""
    found = []
    try:
        for child in psutil.Process(process.pid).children(recursive=True):
            if "reproduction" in child.cmdline():
                found.append(child)
    except psutil.Error:  # One that has just ended.
        pass
    return found


def after_kill(project, expected):
    """What is wrong in the folder of a run that was killed, in words."""
    end = time.monotonic() + PATIENCE
    while (left := processes_in(project)) and time.monotonic() < end:
        time.sleep(0.2)
    yield from (f"process {process.pid} is left" for process in left)
    for name, digest in digests(project).items():
        if digest != expected.get(name) and not f"{name}/".startswith(UNFINISHED):
            yield f"{name} is not that of a whole run"


def processes_in(project):
    """Processes that work in the folder."""
    found = []
    for process in psutil.process_iter():
        try:
            if Path(process.cwd()).is_relative_to(project):
                found.append(process)
        except (psutil.Error, OSError):
            continue
    return found


if __name__ == "__main__":
    sys.exit(main())
