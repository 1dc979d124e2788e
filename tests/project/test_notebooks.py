"""Notebooks: they run without results of one's own, and stored outputs are those of the code."""

import base64
import hashlib
import json

import matplotlib
import nbformat
import pandas as pd
import pytest

from scripts import ROOT, script

NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
PAPERS = [path for path in NOTEBOOKS if path.stem != "own_model"]


@pytest.fixture
def execute():
    """The module, with options that cells set undone at the end."""
    with matplotlib.rc_context(), pd.option_context("display.max_colwidth", 50):
        yield script("notebooks/execute.py")


def read(path):
    return json.loads(path.read_text(encoding="utf-8"))


def code(notebook):
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_stored_outputs_are_those_of_the_code_and_of_the_reference_run(path, execute):
    notebook = read(path)
    nbformat.validate(notebook)
    counts = [cell["execution_count"] for cell in code(notebook)]
    assert counts == [*range(1, len(counts) + 1)]
    reference = (ROOT / "docs" / "reference" / "claims.csv").read_bytes()
    assert notebook["metadata"]["executed"] == {
        "code": execute.of_code(notebook),
        "claims": hashlib.sha256(reference).hexdigest(),
    }, "run make reference"
    data = [o.get("data", {}) for cell in code(notebook) for o in cell["outputs"]]
    plots = [one["image/png"] for one in data if "image/png" in one]
    assert len(plots) >= 3
    assert all(base64.b64decode(plot).startswith(b"\x89PNG") for plot in plots)


@pytest.mark.long
@pytest.mark.parametrize("path", PAPERS, ids=lambda p: p.stem)
def test_a_notebook_of_a_paper_runs_on_the_reference_where_there_are_no_results(
    path, execute, tmp_path
):
    (tmp_path / "docs").symlink_to(ROOT / "docs")
    (tmp_path / "notebooks").mkdir()
    notebook = read(path)
    execute.execute(notebook, tmp_path / "notebooks" / path.name)
    kinds = [[o["output_type"] for o in cell["outputs"]] for cell in code(notebook)]
    assert kinds == [[o["output_type"] for o in cell["outputs"]] for cell in code(read(path))]
