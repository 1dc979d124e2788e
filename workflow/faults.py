"""Kill a run at random moments, resume it by the same command, and compare: `make faults`.

Every kill is one of four: of the whole process group, of Snakemake alone, of one job (all by
SIGKILL), or an interrupt as by Ctrl-C. After each one no file that has its final name may be cut,
and no process may be left. A run that came to its end must have the bytes of one that was never
killed. Exit status 1 if something else is found.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

import psutil

ROOT = Path(__file__).resolve().parents[1]
NEEDED = ("Snakefile", "workflow", "config", "data", "src", "environment.yml", "requirements.lock")
# What depends on the clock or on how often a run was started.
NOT_COMPARED = ("logs", "timing", "report.html")
KINDS = ("group", "scheduler", "job", "interrupt")
PATIENCE = 120  # seconds for the jobs of a killed Snakemake to end


def main() -> int:
    """Do as many kills as asked; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--target", default="sutera2021", help="of Snakemake; all: everything")
    arguments = parser.parse_args()
    chance, found = random.Random(arguments.seed), []
    with tempfile.TemporaryDirectory(prefix="faults ") as folder:
        project = copied(Path(folder))
        begin = time.monotonic()
        if finished(run(project, arguments.target)) != 0:
            sys.exit("the run without a kill failed: see above")
        seconds, expected = time.monotonic() - begin, digests(project)
        shutil.rmtree(project / "results")
        for number in range(arguments.kills):
            kind = KINDS[number % len(KINDS)]
            process = run(project, arguments.target)
            time.sleep(chance.uniform(0.0, 0.6 * seconds))
            was_running = kill(process, kind, chance)
            found += [f"kill {number} ({kind}): {fault}" for fault in faults(project)]
            if kind in ("group", "scheduler"):
                finished(run(project, arguments.target, "--unlock"))
            print(f"kill {number + 1}: {kind}{'' if was_running else ', nothing ran'}", flush=True)
            if not was_running or number == arguments.kills - 1:
                status = finished(run(project, arguments.target))
                other = {k for k, _ in expected.items() ^ digests(project).items()}
                found += [f"run after kill {number}: status {status}"] if status else []
                found += [f"run after kill {number}: other bytes in {name}" for name in other]
                shutil.rmtree(project / "results")
    print("\n".join([*found, f"{arguments.kills} kills, {len(found)} faults"]))
    return 1 if found else 0


def copied(folder):
    """A copy of the project without results.

    The library is that of the environment: numba keeps machine code by the place of the sources.
    """
    project = folder / "pröject"
    project.mkdir()
    without_library = shutil.ignore_patterns("splitcredit", "*.egg-info")
    for name in NEEDED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, project / name, ignore=without_library)
        else:
            shutil.copy(ROOT / name, project / name)
    return project


def run(project, target, *options):
    """Start Snakemake in a process group of its own."""
    command = [Path(sys.executable).with_name("snakemake"), *([] if target == "all" else [target])]
    command += ["--configfile", "config/presets/tiny.yaml", "--workflow-profile"]
    command += ["workflow/profiles/default", "--cores", "2", *options]
    with open(project / "output", "w", encoding="utf-8") as output:
        return subprocess.Popen(
            command, cwd=project, stdout=output, stderr=subprocess.STDOUT, start_new_session=True
        )


def finished(process):
    """Exit status of a run, at its end."""
    return process.wait()


def kill(process, kind, chance):
    """Kill by one of the kinds, and wait for the end; whether there was anything to kill."""
    if process.poll() is not None:
        return False
    jobs = [p for p in psutil.Process(process.pid).children(recursive=True) if is_job(p)]
    if kind == "group":
        os.killpg(process.pid, signal.SIGKILL)
    elif kind == "scheduler":
        process.kill()
    elif kind == "interrupt":
        os.killpg(process.pid, signal.SIGINT)
    elif jobs:
        chance.choice(jobs).kill()
    process.wait()
    return True


def is_job(process):
    """Whether a process is a job of a run."""
    try:
        return "reproduction" in process.cmdline()
    except psutil.Error:
        return False


def faults(project):
    """What is wrong in the folder of a run that was killed, in words."""
    end = time.monotonic() + PATIENCE
    while (left := processes(project)) and time.monotonic() < end:
        time.sleep(0.2)
    yield from (f"process {p.pid} is left" for p in left)
    for path in (project / "results").rglob("*"):
        if path.suffix == ".npz" and not is_whole(path):
            yield f"{path.name} is cut"
        digest = path.with_name(f"{path.name}.sha256")
        if digest.exists() and path.suffix in (".csv", ".json") and sha256(path) != read(digest):
            yield f"{path.name} is cut"


def processes(project):
    """Processes that work in the folder."""
    found = []
    for process in psutil.process_iter():
        try:
            if Path(process.cwd()).is_relative_to(project):
                found.append(process)
        except (psutil.Error, OSError):
            continue
    return found


def is_whole(path):
    """Whether an archive can be read to its end."""
    try:
        with zipfile.ZipFile(path) as archive:
            return archive.testzip() is None
    except (zipfile.BadZipFile, EOFError):
        return False


def read(digest):
    """The digest in a file of `storage`."""
    return digest.read_text(encoding="utf-8")[:64]


def sha256(path):
    """Digest of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def digests(project):
    """Digest of every result that does not depend on the clock, by its path."""
    results = project / "results"
    paths = (path for path in results.rglob("[!.]*") if path.is_file())
    names = {path.relative_to(results): path for path in paths}
    return {str(n): sha256(p) for n, p in names.items() if n.parts[0] not in NOT_COMPARED}


if __name__ == "__main__":
    sys.exit(main())
