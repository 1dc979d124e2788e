"""Settings before numba is imported, compiled kernels before tests start, figures closed."""

import gc
import os
import shutil
import sys
import tempfile
from pathlib import Path

import pytest

from reproduction import cache_folder

# The tests compare one thread with two, on any machine: also with one core.
os.environ.setdefault("NUMBA_NUM_THREADS", "2")
cache_folder.choose()
KERNELS = pytest.StashKey[str]()


def pytest_configure(config):
    """Let the workers of a parallel run share the compiling of the kernels.

    No test starts before every worker has done its part: xdist waits until all have collected.
    """
    if hasattr(config, "workerinput"):
        # More threads than cores wait for each other in loops, as the workers have all cores.
        os.environ.setdefault("OMP_NUM_THREADS", "1")
        compile_what_is_left(Path(config.workerinput["kernels"]))


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node):
    """Tell a worker the folder in which the parts are noted that some worker has taken."""
    stash = node.config.stash
    if KERNELS not in stash:
        stash[KERNELS] = tempfile.mkdtemp(prefix="splitcredit-tests-")
    node.workerinput["kernels"] = stash[KERNELS]


def pytest_unconfigure(config):
    """Remove this folder."""
    if KERNELS in config.stash:
        shutil.rmtree(config.stash[KERNELS])


def compile_what_is_left(folder):
    """Compile the parts that no other worker has taken, one after the other."""
    from splitcredit.views.warm_up import CALLS, compile_part

    for part in CALLS:
        try:
            (folder / part).touch(exist_ok=False)
        except FileExistsError:
            continue
        compile_part(part)


def pytest_collection_modifyitems(items):
    """Run the longest tests first: no worker should be left with them when the others are done."""
    items.sort(key=lambda item: item.path.name != "test_workflow.py")


def pytest_collection_finish():
    """Keep the garbage collector from the modules that are loaded: no test drops them."""
    gc.freeze()


@pytest.fixture(autouse=True)
def close_figures():
    """Close what a test has drawn: pyplot keeps all, and warns at a number that tests add up to."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
