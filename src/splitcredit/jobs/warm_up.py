"""Compile every kernel into the cache, so that no other job pays for it."""

from __future__ import annotations

from splitcredit import storage


def add_arguments(parser):
    """Arguments of the job."""
    parser.add_argument("--processes", type=int, default=1, help="to compile in (default 1)")
    parser.add_argument("--out", required=True)


def run(arguments):
    """Do the job."""
    from splitcredit.kernels.compiled import cache_directory
    from splitcredit.kernels.warm_up import warm_up

    warm_up(processes=arguments.processes)
    storage.write_text(arguments.out, f"compiled into {cache_directory().name}\n")
