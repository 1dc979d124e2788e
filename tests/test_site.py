"""The documentation site: a page a measure, whose frame, code and picture agree; a full reference.

`make docs` builds the site and refuses warnings; nothing here needs Sphinx.
"""

import importlib.util
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from latex2mathml import converter
from sklearn.ensemble import RandomForestRegressor

import splitcredit
from browser import needs_browser, written
from reproduction import marked
from splitcredit import importances, registry

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
METHODS = [method.name for method in splitcredit.methods()]
SECTIONS = ["Definition", "Units", "When to trust it", "Cost", "Example"]


def load(path):
    """Import a script of docs."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


PICTURES = load(DOCS / "take_pictures.py")
PAGES = [*METHODS, PICTURES.INTERACTIONS]


@pytest.fixture(scope="module")
def example():
    return PICTURES.example_names()


@pytest.fixture(autouse=True)
def no_figure_stays():
    yield
    PICTURES.pyplot.close("all")


def test_every_method_has_a_page_and_every_page_is_of_a_method():
    pages = {path.stem for path in (DOCS / "measures").glob("*.md")} - {"index"}
    assert pages == set(PAGES)
    toctree = re.search(r"```{toctree}\n:hidden:\n\n(.*?)\n```", _text("measures/index.md"), re.S)
    assert sorted(toctree[1].split()) == sorted(PAGES)


@pytest.mark.parametrize("name", PAGES)
def test_pages_of_measures_have_the_same_sections_an_equation_and_a_picture(name):
    text = _text(f"measures/{name}.md")
    assert re.findall(r"^## (.*)$", text, re.M) == SECTIONS
    definition, example = text.partition("## Units")[0], text.partition("## Example")[2]
    assert "$$" in definition
    assert f"](figures/{name}.png)" in example


@pytest.mark.parametrize("name", PAGES)
def test_pages_of_measures_say_where_their_symbols_and_the_model_of_the_example_are(name):
    """They stand on the page of all measures, and a reader may come by a search."""
    text = _text(f"measures/{name}.md")
    definition, example = text.partition("## Units")[0], text.partition("## Example")[2]
    assert "](index.md#symbols)" in definition
    assert "](index.md#the-example)" in example.partition("```python")[0]


def test_frames_of_the_pages_are_those_of_the_table_of_methods():
    for page, (mark, frame) in PICTURES.frames(splitcredit.methods()).items():
        assert marked.between(_text(page), mark) == frame, "run python docs/take_pictures.py"


@pytest.mark.long
@pytest.mark.parametrize("page", PICTURES.pages(splitcredit.methods()))
def test_the_code_of_a_page_runs_and_gives_what_its_pictures_show(page, example):
    """Pictures hold their numbers to six digits; the basis of 1e-5 is one unit of the sixth."""
    pictures = list(PICTURES.drawn(page, example))
    assert pictures
    for picture, ax in pictures:
        computed, stored = PICTURES.numbers(ax), PICTURES.stored_numbers(picture)
        assert len(stored) >= 5, "the picture shows something"
        largest = np.abs(stored).max()
        np.testing.assert_allclose(computed, stored, rtol=1e-5, atol=1e-5 * largest)


def test_what_the_pages_say_of_the_noise_in_the_example_holds(example):
    def values(name):
        names = {}
        list(PICTURES.drawn(f"measures/{name}.md", example, names))
        return dict(zip(names["X"].columns, names["importance"].values, strict=True))

    of_mdi = values("mdi")
    assert of_mdi["id"] > of_mdi["dose"]
    for name in ("ufi", "mdi_oob", "penalized_gini", "air", "mda", "oob_attributions"):
        scores = values(name)
        assert max(abs(scores["coin"]), abs(scores["id"])) < scores["sex"] < scores["dose"], name


def test_what_the_page_says_of_local_mdi_by_sex_holds(example):
    names = {}
    list(PICTURES.drawn("measures/local_mdi.md", example, names))
    sex = names["X_new"]["sex"].to_numpy()
    values = names["attribution"].values[:, names["X_new"].columns.get_loc("sex"), 0]
    assert 0.7 < (values[sex == 0] < 0).mean() < 0.8
    assert (values[sex == 1] > 0).all()


@pytest.mark.long
def test_the_points_of_a_line_of_gaps_have_its_pgi2_as_mean(example):
    names = {}
    ((_, ax),) = PICTURES.drawn("measures/pg2_greedy.md", example, names)
    assert "The mean of the points of a line is its PGI²." in _text("measures/pg2_greedy.md")
    for line in ax.lines:
        pgi2 = splitcredit.faithfulness(
            names["model"], names["rows"], line.get_label(), scale=names["scale"]
        )
        # The means are taken in another order: rounding.
        np.testing.assert_allclose(np.mean(line.get_ydata()), pgi2.mean(), rtol=1e-14)


def test_the_page_of_out_of_bag_attributions_says_which_functions_need_targets():
    X = np.random.default_rng(0).normal(size=(40, 3))
    y = X[:, 0] + X[:, 1]
    model, method = RandomForestRegressor(5, random_state=0).fit(X, y), "oob_attributions"
    assert "Only `importance` needs y, and only it takes `weigh_by`." in _text(
        f"measures/{method}.md"
    )
    for function in (splitcredit.explain, splitcredit.rank):
        function(model, X, method)
        with pytest.raises(TypeError, match="no parameter 'weigh_by'"):
            function(model, X, method, y=y, weigh_by="y")
    with pytest.raises(TypeError, match="needs y"):
        splitcredit.importance(model, X, method=method)
    splitcredit.importance(model, X, y, method, weigh_by="y")


def test_the_reference_has_every_public_name_and_every_module_of_measures():
    text = "".join(path.read_text() for path in (DOCS / "api").glob("*.md"))
    for name in splitcredit.__all__:
        assert re.search(rf":: splitcredit\.{name}$", text, re.M), name
    for package in ("importances", "gaps"):
        for name in registry.names(f"splitcredit.{package}"):
            assert f":: splitcredit.{package}.{name}\n" in text, name
    headings = re.findall(r"^## (\w+)$", _text("api/measures.md"), re.M)
    assert headings == importances.names()


def test_the_package_of_gaps_lists_all_of_its_modules():
    import splitcredit.gaps as package

    entries = re.findall(r"^- ((?:`\w+`(?:, )?)+):", package.__doc__, re.M)
    assert sorted(re.findall(r"\w+", " ".join(entries))) == registry.names("splitcredit.gaps")


def test_theory_has_the_guide_of_every_wing_of_the_kernels():
    text = "".join(path.read_text() for path in (DOCS / "theory").glob("*.md"))
    for guide in (ROOT / "src" / "splitcredit" / "kernels").glob("*/__init__.py"):
        assert f".. automodule:: splitcredit.kernels.{guide.parent.name}\n" in text


def test_quadrature_of_the_derivation_is_the_definition():
    """The page compares the two itself."""
    (snippet,) = re.findall(r"^```python\n(.*?)^```", _text("theory/derivations.md"), re.M | re.S)
    assert "assert_allclose(by_quadrature" in snippet
    exec(snippet, {})


def test_the_site_takes_links_to_folders_for_text_and_leaves_others_alone():
    links = load(DOCS / "site" / "links.py")
    text = "[a](sweeps/) [b](models.md) ![c](sweeps/x.png) [d](https://host/docs) [e](#top)"
    assert links.without_folders(text, DOCS) == text.replace("[a](sweeps/)", "a")


def test_equations_become_mathml_without_words_that_the_converter_does_not_know():
    """It passes an unknown command on as text, with its backslash."""
    text = "".join(map(_text, ["theory/derivations.md", *_measure_pages()]))
    equations = re.findall(r"\$\$(.+?)\$\$|(?<!\$)\$([^$\n]+)\$", text, re.S)
    assert len(equations) > 50
    for pair in equations:
        equation = "".join(pair)
        assert "\\" not in converter.convert(equation), equation


@needs_browser
@pytest.mark.skipif(
    shutil.which("fc-list") is None,
    reason="fc-list, which lists the fonts, is not installed; install fontconfig.",
)
def test_indices_of_equations_are_below_the_line_in_a_browser(tmp_path):
    """Red if a font without the table for equations is taken: x_S looks like xS then."""
    style = (DOCS / "site" / "static" / "site.css").read_text(encoding="utf-8")
    fonts = re.findall(r'"([^"]* Math[^"]*)"', style)
    installed = subprocess.run(["fc-list", ":", "family"], text=True, capture_output=True).stdout
    if not any(font in installed for font in fonts):
        pytest.skip(f"None of the fonts {fonts} is installed; install one of them.")
    equation = "<math><msub><mi>x</mi><mi>S</mi></msub></math>"
    script = """const [x, index] = Array.from(document.querySelectorAll("mi"),
      (node) => node.getBoundingClientRect().bottom);
    document.querySelector("pre").textContent = index - x;"""
    page = tmp_path / "page.html"
    page.write_text(
        '<!doctype html><meta charset="utf-8">'
        f"<style>{style} body {{ font-family: sans-serif; font-size: 100px; }}</style>"
        f"{equation}<pre></pre><script>{script}</script>",
        encoding="utf-8",
    )
    lowered = float(written(page, tmp_path / "browser"))
    # A font with the table lowers the index by some 20 pixels; the others leave it on the line.
    assert lowered > 10


def test_the_worked_examples_of_a_measure_and_a_data_set_do_what_their_page_says(example):
    snippets = re.findall(r"^```python\n(.*?)^```", _text("extend.md"), re.M | re.S)
    measure, dataset = {}, {}
    exec(snippets[0], measure)
    forest = splitcredit.to_forest(example["model"])
    counts = measure["importance"](example["model"]).values
    of_trees = [
        np.bincount(t.tree_.feature[t.tree_.feature >= 0], minlength=5) for t in example["model"]
    ]
    np.testing.assert_array_equal(counts, np.sum(of_trees, axis=0))
    assert counts.sum() == (forest.left >= 0).sum()
    exec(snippets[1], dataset)
    data = dataset["load"](n_samples=30, n_features=4)
    assert data.X.shape == (30, 4) and (data.X[:, data.relevant[0]] == data.y).all()


def _measure_pages():
    return [f"measures/{name}.md" for name in ["index", *PAGES]]


def _text(page):
    return (DOCS / page).read_text(encoding="utf-8")
