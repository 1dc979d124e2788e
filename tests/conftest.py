"""Settings that must stand before numba is imported, and compiled kernels before workers start."""

import os

# The tests compare one thread with two, on any machine: also with one core.
os.environ.setdefault("NUMBA_NUM_THREADS", "2")


def pytest_configure(config):
    """Compile the kernels once; else every worker of a parallel run would do it by itself."""
    if getattr(config.option, "numprocesses", None) and not hasattr(config, "workerinput"):
        from splitcredit.kernels.warm_up import warm_up

        warm_up(processes=os.cpu_count())
