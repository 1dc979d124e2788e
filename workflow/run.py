"""Run Snakemake, for the Makefile: check the configuration files and clear a dead run's lock first.

    python workflow/run.py [--configfile FILE]... ARGUMENTS

Each ``--configfile`` is laid on the one before it. All other arguments are Snakemake's.
"""

import os
import platform
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "src"))

from reproduction.planning.configuration import ConfigError, read_yaml  # noqa: E402

LOCKS = Path(".snakemake/locks")
# Name of the machine of the last run: on a shared file system another one's may be alive.
HOST = Path(".snakemake/host_of_last_run")


def main(arguments) -> None:
    """Replace this process by Snakemake, or say in one line why not."""
    files = []
    while arguments[:1] == ["--configfile"]:
        files.append(arguments[1])
        arguments = arguments[2:]
    try:
        for file in files:
            read_yaml(file)
    except ConfigError as error:
        sys.exit(f"configuration: {error}")
    _check_cores(arguments)
    if LOCKS.is_dir() and any(LOCKS.iterdir()):
        unlock()
    HOST.parent.mkdir(exist_ok=True)
    HOST.write_text(platform.node(), encoding="utf-8")
    overlay = ["--configfile", *files] if files else []
    # The next option ends the list of files.
    os.execvp("snakemake", ["snakemake", *overlay, *arguments])


def _check_cores(arguments):
    """Refuse a number of cores with which Snakemake would wait forever."""
    if "--cores" in arguments[:-1]:
        cores = arguments[arguments.index("--cores") + 1]
        if cores != "all" and not (cores.isdecimal() and int(cores) > 0):
            sys.exit(f"cores: {cores!r} is neither a whole number above 0 nor all")


def unlock() -> None:
    """Remove the locks of a run that was killed; end with one line if a run may be alive."""
    others = running()
    if others is None:
        sys.exit(
            "this directory is locked by another run of Snakemake. If none is running, it was "
            "killed: remove its lock with: snakemake --unlock"
        )
    if others:
        sys.exit(f"another run of Snakemake works in this directory: process {others[0]}")
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
    here = Path.cwd()
    others = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_bytes().split(b"\0")
            in_use = (process / "cwd").resolve() == here
        except OSError:
            continue  # It has ended, or is another user's.
        if in_use and any(word.endswith(b"snakemake") for word in words[:2]):
            others.append(int(process.name))
    return others


if __name__ == "__main__":
    main(sys.argv[1:])
