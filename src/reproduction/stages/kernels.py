"""Compile the kernels into the cache, so that no two jobs side by side compile the same."""

from __future__ import annotations

from reproduction import storage
from splitcredit.views.warm_up import CALLS, compile_part


def add_arguments(parser):
    """Arguments of the job."""
    parser.add_argument("--out", required=True)


def run(arguments):
    """Do the job."""
    # Forests of scikit-learn and XGBoost compare in single precision. A job that explains a model
    # of LightGBM compiles the other kernels that it needs.
    for part in CALLS:
        compile_part(part, ["float32"])
    storage.write_text(arguments.out, "compiled\n")
