"""Command line: ``python -m reproduction STAGE ...``, one job of one stage of the workflow."""

from __future__ import annotations

import sys
import time

from reproduction import launcher, run_lock

STAGES = {
    "plans": "write the plan of one batch",
    "points": "write the points of one experiment",
    "data": "load or draw the data sets of one batch",
    "kernels": "compile one part of the kernels",
    "models": "fit the models of one batch and convert them to Forests",
    "importances": "compute one importance for the models of one batch",
    "metrics": "compute one metric for the models of one batch",
    "experiments": "gather one metric of an experiment into one table",
    "sweep_tables": "gather all metrics of one experiment into one table",
    "sweep_figures": "draw the figure of one experiment",
    "tables": "compute the table of one artefact",
    "figures": "draw one artefact",
    "judgments": "hold the printed values and statements of one artefact against ours",
    "claims": "gather all judgments into the claims table",
    "timings": "gather the judgments of values that are times",
    "report": "write the report of the run: figures, verdicts and how they were made",
    "costs": "fit the cost model to what jobs have logged",
    "check": "fail if a value differs from print without a known cause",
}

# Last line that a job prints, so that its log shows whether it ended well.
FINISHED = "finished"


def main(arguments=None) -> int:
    """Run one job; returns the exit status."""
    began = time.time()
    # These are not imported above, because most processes of a run with a launcher do not use them.
    import argparse
    import importlib
    import os
    import traceback

    from reproduction import cache_folder, usage

    parser = argparse.ArgumentParser(prog="reproduction", description=__doc__.split(":")[0])
    parser.add_argument("--threads", type=int, default=1, help="threads of the kernels (default 1)")
    commands = parser.add_subparsers(dest="stage", required=True, metavar="STAGE")
    for name, text in STAGES.items():
        commands.add_parser(name, help=text, add_help=False)
    common, job_arguments = parser.parse_known_args(arguments)
    # Before numba and the BLAS of numpy are loaded, or they start a thread for every core.
    for variable in ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ.setdefault(variable, str(common.threads))
    cache_folder.choose()
    module = importlib.import_module(f"reproduction.stages.{common.stage}")
    job = argparse.ArgumentParser(prog=f"reproduction {common.stage}", description=module.__doc__)
    module.add_arguments(job)
    try:
        module.run(job.parse_args(job_arguments))
    except Exception as error:
        traceback.print_exc()
        # The report quotes the last line of the log of a job that did not finish.
        print(f"{common.stage}: {type(error).__name__}: {error}", file=sys.stderr)
        return 1
    print(usage.spent())
    print(usage.clock(began))
    print(FINISHED, flush=True)
    return 0


if __name__ == "__main__":
    run_lock.end_with_run()
    status = launcher.run(sys.argv[1:])
    sys.exit(main() if status is None else status)
