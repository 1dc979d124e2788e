"""Settings before numba is imported, compiled kernels before workers start, figures closed."""

import os
import sys

import pytest

# The tests compare one thread with two, on any machine: also with one core.
os.environ.setdefault("NUMBA_NUM_THREADS", "2")


def pytest_configure(config):
    """Compile the kernels once; else every worker of a parallel run would do it by itself."""
    if getattr(config.option, "numprocesses", None) and not hasattr(config, "workerinput"):
        from splitcredit.kernels.warm_up import warm_up

        warm_up(processes=os.cpu_count())


def pytest_collection_modifyitems(items):
    """Run the longest tests first: no worker should be left with them when the others are done."""
    items.sort(key=lambda item: item.path.name != "test_workflow.py")


@pytest.fixture(autouse=True)
def close_figures():
    """Close what a test has drawn: pyplot keeps all, and warns at a number that tests add up to."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
