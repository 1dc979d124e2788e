"""Command line: ``splitcredit JOB ...``, the jobs that the workflow is made of."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
import traceback

JOBS = {
    "data": "load or draw one data set",
    "fit": "fit the models of one batch and convert them to Forests",
    "explain": "compute one measure for the models of one batch",
    "measure": "compute one metric from the importances of one batch",
    "collect": "gather one metric of an experiment into one table",
    "table": "compute the table of one artefact",
    "figure": "draw one artefact",
    "judge": "hold the printed values of one artefact against ours",
    "claims": "gather all judgements into the claims table and page",
    "check": "fail if a value differs from print without a known cause",
    "timings": "gather the judgements that depend on the clock",
    "warm-up": "compile the kernels",
}

# Last line of what a job prints, so that its log shows whether it ended well.
FINISHED = "finished"


def main(arguments=None) -> int:
    """Run one job; returns the exit status."""
    parser = argparse.ArgumentParser(prog="splitcredit", description=__doc__.split(":")[0])
    parser.add_argument("--threads", type=int, default=1, help="threads of the kernels (default 1)")
    commands = parser.add_subparsers(dest="job", required=True, metavar="JOB")
    for name, text in JOBS.items():
        commands.add_parser(name, help=text, add_help=False)
    known, rest = parser.parse_known_args(arguments)
    # Before numba and the BLAS of numpy are loaded, or they start a thread for every core.
    for variable in ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ.setdefault(variable, str(known.threads))
    module = importlib.import_module(f"splitcredit.jobs.{known.job.replace('-', '_')}")
    job = argparse.ArgumentParser(prog=f"splitcredit {known.job}", description=module.__doc__)
    module.add_arguments(job)
    try:
        module.run(job.parse_args(rest))
    except Exception as error:
        traceback.print_exc()
        # The claims page quotes the last line of the log of a job that did not finish.
        print(f"{known.job}: {type(error).__name__}: {error}", file=sys.stderr)
        return 1
    print(FINISHED, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
