"""Real data for tests that need the originals, from the default data directories of this checkout.

The originals are not ours to commit, and tests do not use the network. Where no directory has a
file, no made-up rows could take its place in a test of known facts about it: the test is skipped
and says so. What loaders do is tested on files made on the spot as well, everywhere.
"""

from pathlib import Path

import pytest

from splitcredit import datasets
from splitcredit.datasets import _places, _routes

ROOT = Path(__file__).resolve().parents[1]


def look_here(monkeypatch):
    """Search the default directories only, until the test ends."""
    folders = tuple(str(ROOT / folder) for folder in _places.DIRECTORIES)
    monkeypatch.setattr(_places.settings, "directories", folders)
    monkeypatch.setattr(_places.settings, "routes", ("directory",))


def load(name, **parameters):
    """The data set, or the test ends as skipped."""
    try:
        return datasets.load({"dataset": name, **parameters})
    except _routes.NotAvailableError as error:
        reason = "this test is of the original file, which is not committed and not downloaded"
        pytest.skip(f"{reason}: {error.line}")
