"""A copy of the project, in which a tool changes something, runs the rest, and compares results."""

from __future__ import annotations

import hashlib
import os
import shutil
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# Left out at the top of the project, where a room of the library may have the same name below.
AT_TOP = shutil.ignore_patterns(".venv*", ".git", ".snakemake", "results", "build")
# First folders of results that depend on the clock or on how often a run was started.
APART = ("logs", "timing", "report.html")


def copied(project, *left_out) -> Path:
    """Copy the project without results, environments and what else is named, to a new folder."""
    anywhere = shutil.ignore_patterns("__pycache__", "*.egg-info", *left_out)

    def ignored(folder, names):
        at_top = AT_TOP(folder, names) if Path(folder) == ROOT else set()
        return anywhere(folder, names) | at_top

    shutil.copytree(ROOT, project, ignore=ignored)
    return project


def tiny_run(python, cores, *options, over=()) -> tuple[list, dict]:
    """Command and environment of a tiny run, by the environment that a Python belongs to.

    Files of configuration that are named by `over` are laid on the tiny preset.
    """
    command = [python.with_name("snakemake"), *options, "--configfile"]
    command += ["config/presets/tiny.yaml", *over, "--workflow-profile"]
    command += ["workflow/profiles/default", "--cores", str(cores)]
    path = f"{python.parent}{os.pathsep}{os.environ['PATH']}"
    return command, {**os.environ, "PATH": path}


def digests(project, pattern="[!.]*", apart=APART) -> dict[str, str]:
    """SHA-256 of every result that is not in a folder apart, by its path; "" of a folder.

    Names that begin with a dot are those of files that are being written.
    """
    results = project / "results"
    paths = {path.relative_to(results): path for path in results.rglob(pattern)}
    return {
        str(name): hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
        for name, path in paths.items()
        if name.parts[0] not in apart
    }
