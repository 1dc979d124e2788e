"""Command line: ``python -m reproduction STAGE ...``, one job of one stage of the workflow."""

from __future__ import annotations

import argparse
import errno
import importlib
import os
import resource
import sys
import traceback

from reproduction import cache_folder
from reproduction.storage import TableError

STAGES = {
    "kernels": "compile the kernels",
    "data_and_models": "load or draw the data sets of one batch and fit its models",
    "importances": "compute the importances of one batch",
    "metrics": "compute the metrics of one batch",
    "sweeps": "gather all metrics of one experiment into one table, and draw its figure",
    "artefacts": "make table, figure and judgment of one artefact",
    "claims": "gather all judgments into the claims tables",
    "report": "write the report of the run: figures, verdicts and how they were made",
    "unfinished": "write claims table and report of what a failed run has made",
    "check": "fail if a value differs from print without a known cause",
}

# Last line but one of the log of a job, which the report reads: Snakemake's benchmarks miss what
# lies between their last look at a job and its end.
USED = "used {:.2f} s of processor time, {} MB of memory"
# Line before it: the key of the sources and settings that the outputs are of.
KEY = "key {}"
# Last line that a job prints, so that its log shows whether it ended well.
FINISHED = "finished"
# Errors of a disk, or of a user's part of it, that is full.
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def main(arguments=None) -> int:
    """Run one job; returns the exit status."""
    parser = argparse.ArgumentParser(prog="reproduction", description=__doc__.split(":")[0])
    parser.add_argument("--threads", type=int, default=1, help="threads of the kernels (default 1)")
    parser.add_argument("--key", default="", help="of sources and settings, for the log")
    commands = parser.add_subparsers(dest="stage", required=True, metavar="STAGE")
    for name, text in STAGES.items():
        commands.add_parser(name, help=text, add_help=False)
    common, job_arguments = parser.parse_known_args(arguments)
    set_environment(common.threads)
    module = importlib.import_module(f"reproduction.stages.{common.stage}")
    job = argparse.ArgumentParser(prog=f"reproduction {common.stage}", description=module.__doc__)
    module.add_arguments(job)
    try:
        module.run(job.parse_args(job_arguments))
    except Exception as error:
        is_of_table = isinstance(error, TableError)
        if not is_of_table:
            traceback.print_exc()
        # The report quotes the last line of the log of a job that did not finish. Behind the first
        # line of an error of XGBoost there are addresses of its code.
        reason = (str(error).splitlines() or [""])[0]
        if isinstance(error, OSError) and error.errno in _FULL:
            reason += ": make room, and the same command goes on from here"
        kind = "" if is_of_table else f"{type(error).__name__}: "
        print(f"{common.stage}: {kind}{reason}", file=sys.stderr)
        return 1
    if common.key:
        print(KEY.format(common.key))
    print(USED.format(*_used()))
    print(FINISHED, flush=True)
    return 0


def _used():
    """Seconds of processor time of this process and its children, and megabytes at most."""
    both = [resource.getrusage(scope) for scope in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    unit = 2**20 if sys.platform == "darwin" else 2**10
    return sum(r.ru_utime + r.ru_stime for r in both), max(r.ru_maxrss for r in both) // unit


def set_environment(threads: int) -> None:
    """Set what numba and the BLAS of numpy read when they are loaded.

    Threads, unless they are set: by default there would be one for every core. And the folder of
    compiled kernels.
    """
    for variable in ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ.setdefault(variable, str(threads))
    cache_folder.choose()


if __name__ == "__main__":
    sys.exit(main())
