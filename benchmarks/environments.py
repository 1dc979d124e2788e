"""Environments of the peers, each with the versions it needs: python benchmarks/environments.py

They lie in .venv-peers/NAME (or under PEER_ENVIRONMENTS) and hold only what peers/NAME.txt pins.
An interpreter is looked up as pythonX.Y, or named by PEER_PYTHON_XY=/path/to/python. What
cannot be installed is left out, and the benchmark says so and why.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
FOLDER = Path(os.environ.get("PEER_ENVIRONMENTS", HERE.parent / ".venv-peers"))

PYTHONS = {"current": "3.12", "fasttreeshap": "3.10", "fasttreeshap_fixed": "3.10"}


class NotInstalledError(Exception):
    """An environment cannot be built here; the message says why."""


def python_of(name) -> Path:
    """Interpreter of an environment, which is built first if it is missing or out of date.

    NotInstalledError says why that is not possible here.
    """
    folder = FOLDER / name
    interpreter = find_interpreter(PYTHONS[name])
    requirements = HERE / "peers" / f"{name}.txt"
    stamp = hashlib.sha256(requirements.read_bytes() + os.fsencode(interpreter)).hexdigest()
    complete = folder / ".complete"
    if not complete.exists() or complete.read_text() != stamp:
        print(f"building {folder} with {interpreter}", flush=True)
        shutil.rmtree(folder, ignore_errors=True)
        for command in install(interpreter, folder, requirements):
            _run(command)
        complete.write_text(stamp)
    return folder / "bin" / "python"


def find_interpreter(version) -> str:
    """Path of a Python of that version (``"3.12"``): a variable's, or the one on PATH."""
    variable = f"PEER_PYTHON_{version.replace('.', '')}"
    candidate = os.environ.get(variable) or shutil.which(f"python{version}")
    if candidate is None:
        raise NotInstalledError(f"no python{version} found: name one with {variable}")
    question = "import sys; print('%d.%d' % sys.version_info[:2])"
    process = subprocess.run(
        [candidate, "-c", question], capture_output=True, text=True, check=False
    )
    if process.stdout.strip() != version:
        raise NotInstalledError(f"{candidate} is no Python {version}: name one with {variable}")
    return candidate


def install(interpreter, folder, requirements) -> list[list[str]]:
    """Commands that make an environment, by uv if our own has it; the pins are complete."""
    uv = Path(sys.executable).with_name("uv")
    python = str(folder / "bin" / "python")
    pins = ["--quiet", "--no-deps", "-r", str(requirements)]
    if uv.exists():
        return [
            [str(uv), "venv", "--quiet", "--python", interpreter, str(folder)],
            [str(uv), "pip", "install", "--python", python, *pins],
        ]
    return [
        [interpreter, "-m", "venv", str(folder)],
        [python, "-m", "pip", "--disable-pip-version-check", "install", *pins],
    ]


def _run(command):
    process = subprocess.run(command, capture_output=True, text=True, check=False)
    if process.returncode:
        lines = process.stderr.strip().splitlines() or ["no message"]
        raise NotInstalledError(f"{Path(command[0]).name} failed: {lines[-1]}")


def main():
    """Build all that can be built."""
    for name in PYTHONS:
        try:
            python_of(name)
        except NotInstalledError as reason:
            print(f"{name}: not installed here: {reason}")


if __name__ == "__main__":
    main()
