"""Compile one part of the kernels into the cache, so that no other job pays for it."""

from __future__ import annotations

import os

from reproduction import storage


def add_arguments(parser):
    """Arguments of the job."""
    parser.add_argument("--part", required=True)
    parser.add_argument("--out", required=True)


def run(arguments):
    """Do the job."""
    from splitcredit.kernels.warm_up import compile_part

    # Forests of scikit-learn and XGBoost compare in single precision. A job that explains a model
    # of LightGBM compiles the other kernels that it needs.
    compile_part(arguments.part, ["float32"])
    folder = os.path.basename(os.environ["NUMBA_CACHE_DIR"])
    storage.write_text(arguments.out, f"compiled into {folder}\n")
