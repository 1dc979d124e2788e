"""The documentation site: a page a measure, whose frame, code and plot agree; a full reference.

`make docs` builds the site and refuses warnings; nothing here needs Sphinx.
"""

import re

import numpy as np
import pytest
from latex2mathml import converter

import splitcredit
from reproduction import marked, registry
from scripts import ROOT, script

DOCS = ROOT / "docs"
PLOTS = script("tools/take_plots.py")


@pytest.fixture(scope="module")
def example():
    return PLOTS.example_names()


def test_frames_of_the_pages_are_those_of_the_table_of_methods():
    for page, (mark, frame) in PLOTS.frames(splitcredit.methods()).items():
        assert marked.between(_text(page), mark) == frame, "run python tools/take_plots.py"


@pytest.mark.long
@pytest.mark.parametrize("page", PLOTS.pages(splitcredit.methods()))
def test_the_code_of_a_page_runs_and_gives_what_its_plots_show(page, example):
    """Plots hold their numbers to six digits; the basis of 1e-5 is one unit of the sixth."""
    plots = list(PLOTS.drawn(page, example))
    assert plots
    for plot, ax in plots:
        computed, stored = PLOTS.numbers(ax), PLOTS.stored_numbers(plot)
        assert len(stored) >= 5, "the plot shows something"
        largest = np.abs(stored).max()
        np.testing.assert_allclose(computed, stored, rtol=1e-5, atol=1e-5 * largest)


def test_the_reference_has_every_public_name_and_every_module_of_measures():
    pages = [*(DOCS / "api").glob("*.md"), *(DOCS / "measures").glob("*.md")]
    text = "".join(page.read_text() for page in pages)
    for name in splitcredit.__all__:
        assert re.search(rf":: splitcredit\.{name}$", text, re.M), name
    for package in ("measures", "prediction_gap"):
        for name in registry.names(f"splitcredit.{package}"):
            assert f":: splitcredit.{package}.{name}\n" in text, name


def test_quadrature_of_the_derivation_is_the_definition():
    """The page compares the two itself."""
    (snippet,) = re.findall(r"^```python\n(.*?)^```", _text("theory/derivations.md"), re.M | re.S)
    assert "assert_allclose(by_quadrature" in snippet
    exec(snippet, {})


def test_equations_become_mathml_without_words_that_the_converter_does_not_know():
    """It passes an unknown command on as text, with its backslash."""
    pages = [DOCS / "theory" / "derivations.md", *(DOCS / "measures").glob("*.md")]
    text = "".join(page.read_text(encoding="utf-8") for page in pages)
    equations = re.findall(r"\$\$(.+?)\$\$|(?<!\$)\$([^$\n]+)\$", text, re.S)
    assert len(equations) > 50
    for pair in equations:
        equation = "".join(pair)
        assert "\\" not in converter.convert(equation), equation


def test_the_worked_examples_of_a_measure_and_a_data_set_do_what_their_page_says(example):
    snippets = re.findall(r"^```python\n(.*?)^```", _text("extend.md"), re.M | re.S)
    measure, dataset = {}, {}
    exec(snippets[0], measure)
    forest = splitcredit.to_forest(example["model"])
    counts = measure["split_count"](example["model"]).values
    of_trees = [
        np.bincount(t.tree_.feature[t.tree_.feature >= 0], minlength=5) for t in example["model"]
    ]
    np.testing.assert_array_equal(counts, np.sum(of_trees, axis=0))
    assert counts.sum() == (forest.left >= 0).sum()
    exec(snippets[1], dataset)
    data = dataset["load"](n_samples=30, n_features=4)
    assert data.X.shape == (30, 4) and (data.X[:, data.relevant[0]] == data.y).all()


def _text(page):
    return (DOCS / page).read_text(encoding="utf-8")
