"""Notebooks: they run without results of one's own, and stored outputs are those of the code."""

import base64
import hashlib
import json
import re
from pathlib import Path

import matplotlib
import nbformat
import pandas as pd
import pytest

from scripts import script

ROOT = Path(__file__).resolve().parents[2]
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


def stored(notebook):
    return [output for cell in code(notebook) for output in cell["outputs"]]


def small(*sources):
    """A notebook of code cells."""
    cells = [{"cell_type": "code", "source": [source], "outputs": []} for source in sources]
    return {"cells": cells, "metadata": {}}


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_stored_outputs_are_those_of_the_code_and_of_the_reference_run(path, execute):
    notebook = read(path)
    nbformat.validate(notebook)
    assert [cell["execution_count"] for cell in code(notebook)] == [
        *range(1, len(code(notebook)) + 1)
    ]
    reference = (ROOT / "docs" / "reference" / "claims.csv").read_bytes()
    assert notebook["metadata"]["executed"] == {
        "code": execute.of_code(notebook),
        "claims": hashlib.sha256(reference).hexdigest(),
    }, "run make reference"
    assert {output["output_type"] for output in stored(notebook)} == {
        "stream",
        "execute_result",
        "display_data",
    }
    pictures = [
        o["data"]["image/png"] for o in stored(notebook) if "image/png" in o.get("data", {})
    ]
    assert len(pictures) >= 3
    assert all(base64.b64decode(p).startswith(b"\x89PNG") for p in pictures)


def test_counts_in_words_are_those_of_the_tables():
    """Red if a sentence speaks of all where the table has exceptions."""

    def said(paper, pattern):
        cells = read(ROOT / "notebooks" / f"{paper}.ipynb")["cells"]
        words = " ".join("".join(c["source"]) for c in cells if c["cell_type"] == "markdown")
        return [float(n) for n in re.search(pattern, " ".join(words.split())).groups()]

    def table(name):
        return pd.read_csv(ROOT / "docs" / "reference" / "tables" / f"{name}.csv")

    rows = table("gajewski2025/table4").query("variant == 'saved_models' and ranking != 'shap'")
    behind, ahead = rows["lead_high"] < 0, rows["lead_low"] > 0
    assert said("gajewski2025", r"It does so in (\d+) of the (\d+) settings") == [
        behind.sum(),
        len(rows),
    ]
    assert (rows.loc[ahead, "ranking"] == "greedy_sigma1.0").all()
    assert ahead.sum() == 2 and (~ahead & ~behind).sum() == 1
    rows = table("gajewski2025/table2").query("variant == 'described' and k == 1")
    (percent,) = said("gajewski2025", r"another one in (\d+) % of the rows or more")
    assert round(100 * (1 - rows["value"].max())) == percent
    rows = table("gajewski2025/table2").query("variant == 'described'")
    held, of = said("gajewski2025", r"There it always falls .* each holds in (\d+) of (\d+) cases")
    for axis, other, sign in (("k", "sigma", -1), ("sigma", "k", 1)):
        by_case = rows.pivot(index=["model", "dataset", other], columns=axis, values="value")
        follows = (sign * by_case.diff(axis=1).iloc[:, 1:] > 0).all(axis=1)
        assert follows["bigger"].all()
        assert [follows["single"].sum(), len(follows["single"])] == [held, of]
    groups = table("sutera2021/table4").query("statistic == 'mean'").groupby("correlation")["value"]
    pearson, spearman = said("sutera2021", r"above (0\.\d+), .*above (0\.\d+) by Spearman")
    for low, limit in ((groups.min()["pearson"], pearson), (groups.min()["spearman"], spearman)):
        assert limit < low < limit + 0.01
    rows = table("sutera2021/table4").query("statistic == 'mean' and correlation == 'pearson'")
    means = rows.pivot(index=["dataset", "versus"], columns="variant", values=["low", "high"])
    apart = means["low", "described"] > means["high", "published"]
    assert said("sutera2021", "On digits and breast cancer, and for Saabas on wine and iris") == []
    by_saabas = {("wine", "saabas"), ("iris", "saabas")}
    by_both = {(d, v) for d in ("digits", "breast_cancer") for v in ("saabas", "tree_shap")}
    assert set(apart[apart].index) == by_saabas | by_both


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


def test_outputs_are_what_is_printed_the_last_value_and_the_open_figures(execute, tmp_path):
    notebook = small(
        "import pandas\nprint('a line')\npandas.DataFrame({'x': [1]})",
        "from matplotlib import pyplot as plt\nax = plt.subplots()[1]",
        "value = 3",
        "value + len(plt.get_fignums())",
    )
    execute.execute(notebook, tmp_path / "small.ipynb")
    first, picture, nothing, last = (cell["outputs"] for cell in notebook["cells"])
    assert first[0] == {"output_type": "stream", "name": "stdout", "text": ["a line\n"]}
    assert first[1]["execution_count"] == 1
    assert "<td>1</td>" in "".join(first[1]["data"]["text/html"])
    assert list(picture[0]["data"]) == ["image/png", "text/plain"]
    assert nothing == [] and last[0]["data"] == {"text/plain": ["3"]}
    same_notebook = json.loads(json.dumps(notebook))
    execute.execute(same_notebook, tmp_path / "small.ipynb")
    assert same_notebook == notebook


def test_a_cell_that_fails_ends_the_run_and_is_named(execute, tmp_path):
    with pytest.raises(ZeroDivisionError) as caught:
        execute.execute(small("1", "1 / 0"), tmp_path / "wrong.ipynb")
    assert str(caught.traceback[-1].path).endswith("wrong.ipynb, cell 2")


def test_changed_code_has_another_digest_and_changed_outputs_have_not(execute):
    bare, filled = small("1"), small("1")
    filled["cells"][0]["outputs"] = [{"output_type": "stream"}]
    assert execute.of_code(bare) == execute.of_code(filled) != execute.of_code(small("2"))
