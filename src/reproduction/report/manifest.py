"""The manifest of a run: versions, processor, commit, configuration, and seconds by rule.

It names no user, no host and no path, so that a report can be passed on.
"""

from __future__ import annotations

import csv
import math
import os
import platform
import re
import subprocess
from importlib import metadata
from pathlib import Path

import splitcredit
from reproduction import storage

_ROOT = Path(__file__).resolve().parents[3]
_PACKAGES = (
    "splitcredit",
    "numpy",
    "scipy",
    "pandas",
    "numba",
    "scikit-learn",
    "xgboost-cpu",
    "lightgbm",
    "shap",
    "treeinterpreter",
    "matplotlib",
    "snakemake",
)


def of_run(config: dict, cores) -> dict[str, str]:
    """Configuration, commit, system and cores of the run, as pairs of a name and a text."""
    commit = _commit()
    return {
        "Preset": config["preset"],
        "Hash of the configuration": storage.digest(config, 16),
        **({"Commit": commit} if commit else {}),
        "Python": platform.python_version(),
        "System": f"{platform.system()}, {platform.machine()}",
        "Processor": _processor() or "unknown",
        "Cores of the machine": str(os.cpu_count()),
        **({"Cores given to Snakemake": str(cores)} if cores else {}),
    }


def versions() -> dict[str, str]:
    """Installed versions of the packages that the numbers depend on."""
    installed = {"splitcredit": splitcredit.__version__}
    for name in _PACKAGES[1:]:
        try:
            installed[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            installed[name] = "not installed"
    return installed


def seconds_by_rule(folder="results") -> list[dict]:
    """Jobs, wall seconds, CPU seconds and the largest memory of each rule, the slowest rule first.

    The folder of results has ``timing/jobs`` (Snakemake's benchmarks: wall seconds) and ``logs``
    (CPU and memory).
    """
    benchmarks = Path(folder) / "timing" / "jobs"
    rules: dict[str, dict] = {}
    for path in sorted(benchmarks.rglob("*.tsv")):
        place = path.relative_to(benchmarks).with_suffix("")
        name = next(part for part in place.parts if part != "timing")
        no_jobs = {"rule": name, "jobs": 0, "wall": 0.0, "cpu": 0.0, "megabytes": 0}
        row = rules.setdefault(name, no_jobs)
        seconds, megabytes = _used(Path(folder, "logs", f"{place}.log"))
        row["jobs"] += 1
        row["wall"] += _wall(path)
        row["cpu"] += seconds
        row["megabytes"] = max(row["megabytes"], megabytes)
    return sorted(rules.values(), key=lambda row: -row["wall"])


def without_places(text: str) -> str:
    """A message without the folders of this machine: the project is ``.``, the home is ``~``."""
    for folder, sign in ((str(Path.cwd()), "."), (str(_ROOT), "."), (str(Path.home()), "~")):
        # A home such as / is part of every path.
        if len(folder) > 1:
            text = re.sub(re.escape(folder) + r"(?=[/\s:'\"]|$)", sign, text)
    return text


def _used(log):
    """Seconds of processor time and megabytes of a job, from its log."""
    text = log.read_text(encoding="utf-8", errors="replace") if log.is_file() else ""
    found = re.search(r"^used ([\d.]+) s of processor time, (\d+) MB", text, re.MULTILINE)
    return (float(found[1]), int(found[2])) if found else (0.0, 0)


def _wall(path):
    with open(path, encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    try:
        seconds = float(rows[-1]["s"]) if rows else 0.0
    except (KeyError, ValueError):
        return 0.0
    return seconds if math.isfinite(seconds) else 0.0


def _commit():
    """Commit of the checkout, with a remark if files differ from it; empty without git."""
    words = ["describe", "--always", "--abbrev=40", "--exclude=*", "--dirty=, with changes"]
    command = ["git", "-C", str(_ROOT), *words]
    try:
        described = subprocess.run(command, text=True, capture_output=True, check=True, timeout=20)
    except (OSError, subprocess.SubprocessError):
        return ""
    return described.stdout.strip() if (_ROOT / ".git").exists() else ""


def _processor():
    """Type of the processor: on Linux its model, elsewhere the name that Python knows."""
    information = Path("/proc/cpuinfo")
    if information.is_file():
        names = re.findall(r"^model name\s*:\s*(.+)$", information.read_text(), re.MULTILINE)
        if names:
            return names[0]
    return platform.processor()
