"""Run Snakemake for the Makefile, after three steps of its own.

It checks the names that were given to make, removes the lock of a run that was killed, and says so
if results have no records of how they were made.

    python workflow/run.py [--target NAME | --experiment NAME] [--configfile FILE]... ARGUMENTS

A target is a rule, a paper or an artefact, PAPER/NAME. Each ``--configfile`` is laid on the one
before it. All other arguments are Snakemake's.
"""

import difflib
import os
import platform
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "src"))

from reproduction.planning.configuration import ConfigError, artefacts, read_yaml  # noqa: E402
from reproduction.planning.places import CONFIG  # noqa: E402

PROFILES = ROOT / "workflow" / "profiles"
LOCKS = Path(".snakemake/locks")
RECORDS = Path(".snakemake/metadata")
# Name of the machine of the last run: on a shared file system another one's may be alive.
HOST = Path(".snakemake/host_of_last_run")


def main(arguments) -> None:
    """Replace this process by Snakemake, or say in one line why not."""
    options: dict[str, list[str]] = {"--target": [], "--experiment": [], "--configfile": []}
    while arguments and arguments[0] in options:
        options[arguments[0]].append(arguments[1])
        arguments = arguments[2:]
    files = options["--configfile"]
    overlay = ["--configfile", *files] if files else []
    try:
        contents = [read_yaml(file) for file in files]
    except ConfigError as error:
        sys.exit(f"configuration: {error}")
    _check_cores(arguments)
    _check_profile(arguments)
    for name in options["--experiment"]:
        _check_experiment(name, contents)
    for name in options["--target"]:
        _check_target(name, contents, overlay)
    targets = [name.replace("/", "_") for name in options["--target"]]
    targets += [f"experiment_{name}" for name in options["--experiment"]]
    if LOCKS.is_dir() and any(LOCKS.iterdir()):
        unlock()
    _warn_of_missing_records()
    HOST.parent.mkdir(exist_ok=True)
    HOST.write_text(platform.node(), encoding="utf-8")
    # The next option ends the list of files, and targets are last, or an option would take them.
    os.execvp("snakemake", ["snakemake", *overlay, *arguments, *targets])


def _warn_of_missing_records():
    """Say that results have no records of how they were made, as where they alone were copied."""
    has_records = RECORDS.is_dir() and any(RECORDS.iterdir())
    if Path("results/data").is_dir() and not has_records:
        print(
            "results/ has no records of the sources and settings that it was made with, so what "
            "has changed since is not made anew. Records are in .snakemake/: copy it along with "
            "results/, or delete both with: make clean",
            file=sys.stderr,
        )


def _check_cores(arguments):
    """Refuse a number of cores with which Snakemake would wait forever."""
    if "--cores" in arguments[:-1]:
        cores = arguments[arguments.index("--cores") + 1]
        if cores != "all" and not (cores.isdecimal() and int(cores) > 0):
            sys.exit(f"cores: {cores!r} is neither a whole number above 0 nor all")


def _check_profile(arguments):
    """Refuse a profile that does not exist, of which Snakemake says where it looked."""
    if "--workflow-profile" in arguments[:-1]:
        profile = Path(arguments[arguments.index("--workflow-profile") + 1])
        if not profile.is_dir():
            names = ", ".join(sorted(path.name for path in PROFILES.iterdir()))
            sys.exit(f"PROFILE={profile.name}: no such profile; there are {names}")


def _check_experiment(name, contents):
    """Refuse an experiment that neither the project nor a file of the user's has."""
    names = _known(
        "experiments", [path.stem for path in CONFIG.glob("experiments/[!.]*.yaml")], contents
    )
    if name not in names:
        problem = f"no experiment {name!r}" if name else "no experiment is named"
        sys.exit(f"{problem}: make sweep EXPERIMENT=NAME takes one of {', '.join(names)}")


def _check_target(name, contents, overlay):
    """Refuse a target that is neither an artefact, a paper nor a rule of Snakemake's list."""
    names = _known("artefacts", artefacts(), contents)
    papers = sorted({artefact.partition("/")[0] for artefact in names})
    if name in (*names, *papers):
        return
    # Reading the workflow takes seconds: only for what is not known by then.
    listing = ["snakemake", *overlay, "--list-target-rules"]
    process = subprocess.run(listing, text=True, capture_output=True)
    if process.returncode or name.replace("/", "_") in process.stdout.split():
        return  # Where the workflow cannot be read, Snakemake says why.
    of_paper = [
        artefact for artefact in names if artefact.partition("/")[0] == name.partition("/")[0]
    ]
    closest = difflib.get_close_matches(name, [*names, *papers, *process.stdout.split()], 1)
    hint = f"did you mean {closest[0]}? " if closest else ""
    remedy = f"there are {', '.join(of_paper or papers)}; make help lists the other targets"
    sys.exit(f"no target {name!r}: {hint}{remedy}")


def _known(section, names, contents):
    """Names of a section of the configuration: those of the project and of the user's files."""
    sections = [content.get(section) for content in contents]
    # What is no mapping is refused with all else that the workflow checks.
    return sorted({*names, *(name for part in sections if isinstance(part, dict) for name in part)})


def unlock() -> None:
    """Remove the locks of a run that was killed; end with one line if a run may be alive."""
    processes = running()
    if processes is None:
        sys.exit(
            "this directory is locked by another run of Snakemake. If none is running, it was "
            "killed: remove its lock with: snakemake --unlock"
        )
    if processes:
        sys.exit(f"another run of Snakemake works in this directory: process {processes[0]}")
    for lock in LOCKS.iterdir():
        lock.unlink()
    print("removed the lock of a run that was killed", file=sys.stderr)


def running() -> list[int] | None:
    """Processes of Snakemake in this directory.

    None if nobody can tell: without /proc, or if the last run was another machine's.
    """
    here_last = HOST.is_file() and HOST.read_text(encoding="utf-8") == platform.node()
    if not here_last or not Path("/proc/self/cwd").exists():
        return None
    folder = Path.cwd()
    processes = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            line = (process / "cmdline").read_bytes()
            in_use = (process / "cwd").resolve() == folder
        except OSError:
            continue  # It has ended, or is another user's.
        by_file = any(word.endswith(b"snakemake") for word in line.split(b"\0")[:2])
        if in_use and (by_file or b"\0-m\0snakemake\0" in line):
            processes.append(int(process.name))
    return processes


if __name__ == "__main__":
    main(sys.argv[1:])
