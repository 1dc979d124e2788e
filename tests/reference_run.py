"""The papers, for tests that hold each against the reference run."""

from pathlib import Path

import pytest

from reproduction.planning import configuration

REFERENCE = Path(__file__).resolve().parents[1] / "docs" / "reference"


def _parameter(paper):
    """Only a full run can make what the tests compare with: without it they are skipped."""
    is_missing = not list(REFERENCE.glob(f"**/tables/{paper}"))
    reason = f"the reference lacks {paper}: make reference, after a full run"
    return pytest.param(paper, marks=pytest.mark.skipif(is_missing, reason=reason))


PAPERS = list(map(_parameter, dict.fromkeys(n.split("/")[0] for n in configuration.artefacts())))
