"""Make one experiment in several ways, and compare the bytes of its tables: `make same-bytes`.

    python tools/same_bytes.py [--target TARGET] [PYTHON ...]

Each way differs from the first in one thing, and makes the tiny preset from nothing. PYTHON is that
of an environment with another version (`make environment VENV=... PYTHON=...`). That a run on SLURM
has the bytes of a local one is tested by `.ci/slurm.py`. Exit status 1 if a table differs.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from project_copy import APART, copied, digests, tiny_run

# Eight models in one to eight batches.
TARGET = "experiment_sutera2021_local_seeds"
# Cores, threads of a job, and models in a batch, if not as configured.
WAYS = {"1 core": (1, 1, 0), "2 cores": (2, 1, 0), "2 threads": (2, 2, 0)}
WAYS |= {f"batches of {n}": (2, 1, n) for n in (1, 5, 20)}
# Tables of single batches; the experiments gather them.
NOT_COMPARED = (*APART, "kept", "claims_timing.csv", "metrics")
THREADS = ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")


def main() -> int:
    """Print a line for each way; the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--target", default=TARGET, help="of Snakemake; all: everything")
    parser.add_argument("pythons", nargs="*", type=Path)
    arguments = parser.parse_args()
    ways = [(name, Path(sys.executable), *way) for name, way in WAYS.items()]
    for python in arguments.pythons:
        version = subprocess.run([python, "-V"], capture_output=True, text=True, check=True)
        ways.append((version.stdout.strip(), python.absolute(), 2, 1, 0))
    first, found = None, 0
    print(f"{'way':20}{'tables':>8}{'with other bytes':>20}", flush=True)
    for name, *way in ways:
        digests = made(arguments.target, *way)
        first = first or digests
        others = sorted({path for path, _ in first.items() ^ digests.items()})
        print(f"{name:20}{len(digests):8}{len(others):20}  {' '.join(others)}", flush=True)
        found += len(others)
    return int(found > 0)


def made(target, python, cores, threads, batch):
    """Digest of every table of a run, by its path."""
    with tempfile.TemporaryDirectory(prefix="same bytes ") as folder:
        # The library is that of the environment: numba keeps machine code by the place of sources.
        project = copied(Path(folder) / "project", "splitcredit")
        for path in (project / "config").rglob("*.yaml") if batch else ():
            text = re.sub(r"\bbatch_size: \d+", f"batch_size: {batch}", path.read_text())
            path.write_text(text)
        command, environment = tiny_run(python, cores, *([] if target == "all" else [target]))
        command += ["--quiet", "all"]
        environment |= dict.fromkeys(THREADS, str(threads))
        if subprocess.run(command, cwd=project, env=environment).returncode:
            sys.exit(f"{python}, {cores} cores: the run failed, see above")
        return digests(project, "*.csv", NOT_COMPARED)


if __name__ == "__main__":
    sys.exit(main())
