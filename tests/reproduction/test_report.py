"""The report of a run: every claim, figure and caption, in one file that opens alone."""

import gzip
import html.parser
import platform
import re
import socket
from pathlib import Path
from types import SimpleNamespace

import pytest
from matplotlib.figure import Figure

from reproduction import storage
from reproduction.claims import COLUMNS
from reproduction.figures import save, style
from reproduction.planning import configuration
from reproduction.planning.workflow import Workflow
from reproduction.report import figure_files, manifest, page, sweeps, texts
from reproduction.report.numbers import MissingNumber, Numbers

ROOT = Path(__file__).resolve().parents[2]
REFERENCE = ROOT / "docs" / "reference"
PAPERS = sorted({path.parent.name for path in REFERENCE.glob("**/tables/*/*.csv")})
FIGURE, TABLE, TIMED = "sutera2021/figure7", "sutera2021/table4", "sutera2021/costs"
SVG = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 800 400"><path d="M0 0h800v400"/></svg>'


def claim(name, cell, **columns):
    """A row of the claims table."""
    paper, _, artefact = name.partition("/")
    row = dict.fromkeys(COLUMNS, "") | {"data": "the paper's", "basis": "rounding"}
    row |= {"paper": paper, "artefact": artefact, "variant": "published", "cell": cell}
    return row | {"printed": "0.5", "ours": "0.7", "verdict": "differs"} | columns


CLAIMS = [
    claim(TABLE, "name=<b>&", cause="the cause & its <test>", test="tests/x.py::y"),
    claim(TABLE, "name=other", ours="0.51234", verdict="within", tolerance="0.1"),
    claim(TABLE, "name=lost", verdict="unexplained"),
    claim(TABLE, "name=whole", printed="1599", ours="1599.0", verdict="equal"),
    claim(FIGURE, "s43", printed="A statement", ours="measured: 3", verdict="holds"),
    claim(TIMED, "s22", printed="A statement on time", ours="ratio: 2", verdict="undecided"),
]


@pytest.fixture(scope="module")
def config():
    return configuration.load({})


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """The files of a run with one figure, one table and one artefact whose values are times."""
    tmp_path = tmp_path_factory.mktemp("results")
    storage.write_text(tmp_path / "figures" / f"{FIGURE}.svg", SVG)
    storage.write_text(tmp_path / "timing" / "figures" / f"{TIMED}.svg", SVG)
    rows = [{"quantity": "a number of ours", "value": "1.23456"}]
    for name in (TABLE, FIGURE, "gajewski2025/models"):
        storage.write_rows(tmp_path / "tables" / f"{name}.csv", rows, ["quantity", "value"])
    storage.write_text(tmp_path / "timing/jobs/tables/a/b.tsv", "s\tcpu_time\n2.5\t1\n")
    storage.write_text(tmp_path / "timing/jobs/timing/tables/a/c.tsv", "s\tcpu_time\n-\t1\n")
    log = "used 1.500 s of processor time, 120 MB of memory\nfinished\n"
    storage.write_text(tmp_path / "logs" / "tables" / "a" / "b.log", log)
    return tmp_path


def rendered(results, config, claims=CLAIMS, **sections):
    """The report of these files."""
    return page.render(
        claims,
        config,
        sorted(results.rglob("*.svg")),
        sorted(results.rglob("*.csv")),
        manifest=manifest.of_run(config, 2),
        versions=manifest.versions(),
        seconds=manifest.seconds_by_rule(results),
        **sections,
    )


@pytest.fixture(scope="module")
def report(results, config):
    """The report of a run that made only these files."""
    return rendered(results, config)


class Elements(html.parser.HTMLParser):
    """Start tags with their attributes, the cells of the tables of verdicts, and all text."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.rows, self.text, self.ids, self._cell = [], [], [], {}, None
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.tags.append((tag, attributes))
        if "id" in attributes:
            assert attributes["id"] not in self.ids, f"two elements are {attributes['id']}"
            self.ids[attributes["id"]] = tag
        if tag == "tr":
            self._in_verdicts = "data-verdict" in attributes
            if self._in_verdicts:
                self.rows.append([attributes["data-verdict"]])
        if tag == "td" and self._in_verdicts:
            self.rows[-1].append("")
            self._cell = True

    def handle_endtag(self, tag):
        if tag == "td":
            self._cell = None

    def handle_data(self, data):
        self.text.append(data)
        if self._cell:
            self.rows[-1][-1] += data.strip()


def test_every_claim_is_a_row_of_the_tables_of_verdicts(report):
    rows = Elements(report).rows
    shown = sorted((row[0], row[4]) for row in rows)
    assert shown == sorted((c["verdict"], c["printed"]) for c in CLAIMS)
    by_verdict = {row[0]: row for row in rows}
    assert by_verdict["differs"][3] == "name <b>&"
    # As many digits as print has, and some more of those that are no whole numbers.
    assert (by_verdict["within"][5], by_verdict["equal"][5]) == ("0.512", "1599")


def test_every_judged_value_is_shown_with_its_artefact(report):
    for name in (TABLE, FIGURE, TIMED):
        card = report.partition(f'<section class="card" id="{name}"')[2].partition("</section>")[0]
        own = [row for row in CLAIMS if f"{row['paper']}/{row['artefact']}" == name]
        assert card.count('<span class="badge') >= len(own)
        assert all(row["printed"] in card for row in own)
    # A table of which nothing is judged, and that no figure shows.
    assert report.count("a number of ours") == 1
    assert "the cause &amp; its &lt;test&gt;" in report and "tests/x.py::y" in report


def test_the_first_screen_says_what_was_reproduced_and_tables_of_many_rows_are_folded(report):
    standing = report.partition('<ul class="standings">')[2].partition("</ul>")[0]
    assert ">reproduced in part</span>" in standing
    words = "1 of 2 claims in words reproduced, 1 open; 2 of 4 printed values reproduced, 2 not."
    assert words in " ".join(standing.split())
    opened = [a for tag, a in Elements(report).tags if tag == "details" and "open" in a]
    assert len(opened) == 1
    assert '<details class="verdicts"><summary><span class="badge unexplained">' in report


def test_every_figure_has_an_alternative_text_and_a_caption(report):
    elements = Elements(report)
    images = [attributes for tag, attributes in elements.tags if tag == "img"]
    assert len([a for a in images if len(a["alt"]) > 40]) == 2
    # The figure of the window that enlarges them is empty until a click.
    assert [a for a in images if not a["alt"]] == [images[-1]]
    assert sum(tag == "figcaption" for tag, _ in elements.tags) == 2
    text = " ".join("".join(elements.text).split())
    assert texts.captions("sutera2021")["figure7"]["marks"][:60] in text
    # One whose numbers are in no table of the run says so, and no more.
    assert "The numbers of this text are not in the tables of this run." in text
    assert "expected one" not in text and "was not made" not in text


def test_the_report_refers_to_no_other_file_and_its_links_lead_somewhere(report):
    elements = Elements(report)
    for tag, attributes in elements.tags:
        for key in ("src", "srcset", "data", "action", "poster"):
            assert attributes.get(key, "data:").startswith("data:"), (tag, attributes)
        reference = attributes.get("href", "#")
        # A link to a file of the checkout loads nothing.
        own = r"\.\./(src|config|tests|data)/|(timing/)?(logs|tables|claims)"
        assert re.match("data:|#" if tag == "link" else f"https://|#|{own}", reference), reference
        if reference.startswith("../"):
            assert (ROOT / "results" / reference).resolve().is_file() or "tests/x.py" in reference
    assert "@import" not in report and "url(" not in report
    references = {attributes.get("href", "") for _, attributes in elements.tags}
    targets = {reference[1:] for reference in references if reference.startswith("#")}
    assert {TABLE, FIGURE, TIMED} <= targets <= elements.ids.keys()


def test_the_report_names_no_user_no_host_and_no_folder(results, config, monkeypatch):
    monkeypatch.setattr(platform, "node", lambda: "the-host")
    monkeypatch.setattr(socket, "gethostname", lambda: "the-host")
    for name in ("USER", "LOGNAME", "HOSTNAME"):
        monkeypatch.setenv(name, "the-user")
    text = rendered(results, config)
    for place in (str(ROOT), str(results), str(Path.home()) + "/", "the-host", "the-user"):
        assert place not in text
    monkeypatch.chdir(results)
    message = f"fit: '{ROOT}/data/x.csv' of {Path.home()}/y: no such file: {ROOT}"
    cleaned = manifest.without_places(message)
    assert str(ROOT) not in cleaned and str(Path.home()) + "/" not in cleaned
    assert "./data/x.csv" in cleaned and "no such file" in cleaned


def test_a_run_that_is_incomplete_or_scaled_down_says_so(results, config, report):
    unmade = [{"artefact": TABLE, "log": "results/logs/fit.log", "reason": "fit: ValueError: <no>"}]
    # Titles of a user are shown as they are written: a template can call anything.
    titled = {TABLE: {**config["artefacts"][TABLE], "title": "{{ 6 * 7 }}"}}
    small = {**config, "preset": "quick", "paper_scale": False}
    small["artefacts"] = config["artefacts"] | titled
    text = rendered(results, small, CLAIMS[-2:], incomplete=unmade)
    n_artefacts = len([a for a in config["artefacts"].values() if not a.get("optional")])
    for words in (
        f"incomplete: 1 of {n_artefacts} artefacts were not made",
        "fit: ValueError: &lt;no&gt;",
        "results/logs/fit.log",
        "not those of the papers",
        "{{ 6 * 7 }}",
    ):
        assert words in text and words not in report
    assert "without a known cause</h2>" not in text
    assert "1 of the values differ without a known" in report


def test_seconds_are_added_up_by_rule(results):
    (row,) = manifest.seconds_by_rule(results)
    assert row == {"rule": "tables", "jobs": 2, "wall": 2.5, "cpu": 1.5, "megabytes": 120}


def test_the_smaller_file_of_a_figure_is_shown_at_its_own_size(tmp_path):
    with style():
        figure = Figure(figsize=(5, 2.5))
        figure.subplots()
        for kind in ("svg", "png"):
            save(figure, tmp_path / f"a.{kind}")
    # Letters have their own size, as an inch has 96 pixels on a page.
    for names in (["a.svg"], ["a.png"], ["a.png", "a.svg"]):
        figure = figure_files.embed([tmp_path / name for name in names])
        assert (figure["width"], figure["height"]) == (480, 240)
    smaller = min(("png", "svg"), key=lambda kind: (tmp_path / f"a.{kind}").stat().st_size)
    assert f"image/{smaller}" in figure["uri"]
    # Of files without a unit a pixel is a pixel.
    header = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + bytes([0, 0, 2, 128, 0, 0, 1, 0])
    (tmp_path / "b.png").write_bytes(header)
    (tmp_path / "b.svg").write_text(SVG)
    for kind, size in (("png", (640, 256)), ("svg", (800, 400))):
        figure = figure_files.embed([tmp_path / f"b.{kind}"])
        assert (figure["width"], figure["height"]) == size
    with pytest.raises(ValueError, match=r"a\.pdf: a figure of the report is SVG or PNG"):
        figure_files.embed([tmp_path / "a.pdf"])


def test_every_artefact_has_a_caption_and_every_caption_an_artefact():
    with_figure, names = set(Workflow({}).figures), [*configuration.artefacts()]
    for name in names:
        paper, _, artefact = name.partition("/")
        caption = texts.captions(paper).get(artefact)
        assert caption, f"{name} has no caption: add it to papers/{paper}/captions.yaml"
        assert name not in with_figure or {"alt", "marks"} <= caption.keys(), name
        assert all(text.strip().endswith(".") for text in caption.values()), name
    papers = {name.partition("/")[0] for name in names}
    assert {*names} == {f"{paper}/{key}" for paper in papers for key in texts.captions(paper)}
    # Figures and tables of a paper stand in the order of their numbers.
    for kind in ("figure", "table"):
        for paper in papers:
            numbers = re.findall(rf"{paper}/{kind}(\d+)\b", " ".join(names))
            assert numbers == sorted(numbers, key=int), (paper, kind)


@pytest.fixture(scope="module")
def reference(config):
    """The numbers of the reference run."""
    paths = [p for place in ("", "timing/") for p in REFERENCE.glob(f"{place}tables/*/*.csv")]
    tables = {f"{path.parent.name}/{path.stem}": path for path in paths}
    files = [REFERENCE / name for name in ("claims.csv", "claims_timing.csv")]
    return Numbers(tables, [row for file in files for row in storage.read_rows(file)], config)


@pytest.mark.parametrize("paper", PAPERS)
def test_every_text_finds_its_numbers_in_a_full_run(reference, paper):
    """Red if a caption or a headline names a row that no table has."""
    for entry in texts.account(paper)["headlines"]:
        assert set(entry["shown_by"]) <= configuration.artefacts().keys(), entry
    for place, text in texts.spoken(paper):
        assert not re.search(r"[{}]|nan", reference.fill(text)), place


def test_numbers_come_from_the_rows_that_are_named(tmp_path):
    rows = [{"name": n, "n": str(k), "value": v} for n, k, v in (("a", 1, "0.25"), ("b", 3, "-2"))]
    storage.write_rows(tmp_path / "t.csv", rows, ["name", "n", "value"])
    sweep = [{"grid": {"repeat": {"first": 1, "last": 20}}}, {"grid": {"data": "led"}}]
    variants = {"published": {"metric.m.n_draws": 500}}
    experiments = {"of": {"sweep": sweep, "most_repeats": 4, "variants": variants}}
    judged = [claim("p/t", "name=a"), claim("p/t", "s01", verdict="holds")]
    numbers = Numbers({"p/t": tmp_path / "t.csv"}, judged, {"experiments": experiments})
    for text, expected in (
        ('{{ cell("p/t", name="a") | percent }}', "25 %"),
        ('{{ cell("p/t", name="b") | digits(1) }}', "−2.0"),
        ('{{ most("p/t") | short }} {{ least("p/t", name=["a", "b"]) | short }}', "0.25 −2"),
        ('{{ mean("p/t", by="n") | short }} {{ median("p/t") | short }}', "−1.44 −0.875"),
        ('{{ printed("p/t", "name=a") }} {{ repeats("of") }}', "0.5 4"),
        ('{{ setting("of", "published", "metric.m.n_draws") }}', "500"),
        ('{{ tally(["p/t"], "published") }}{{ tally(["p/t"], "published", "equal") }}', "10"),
        ('{{ stated("p") }}: {{ outcomes("p") }}', "1: 1 holds"),
    ):
        assert numbers.fill(text) == expected
    wrong = ('cell("p/t")', 'cell("p/u")', 'cell("p/t", name="c")', "models.none.n")
    for call in (*wrong, 'repeats("none")', 'printed("p/t", "name=b")'):
        with pytest.raises(MissingNumber):
            numbers.fill(f"{{{{ {call} }}}}")


def test_an_interval_is_over_repeats_and_not_over_rows(tmp_path):
    rows = [{"repeat": r, "value": v} for r, v in (("1", 0), ("1", 2), ("2", 2), ("3", 3))]
    storage.write_rows(tmp_path / "t.csv", rows, ["repeat", "value"])
    numbers = Numbers({"t": tmp_path / "t.csv"}, [], {})
    # Means 1, 2, 3: standard error 3 ** -0.5, and Student's t of two degrees of freedom is 4.303.
    assert numbers.fill('{{ interval("t") }}') == "2.00 ± 2.48"
    with pytest.raises(MissingNumber, match="an interval takes two repeats, there are 1"):
        numbers.fill('{{ interval("t", value="3") }}')


@pytest.fixture(scope="module")
def worked_sweeps(config, tmp_path_factory):
    """What the report shows of the stored tables of the worked sweeps."""
    names = configuration.read_yaml(ROOT / "config" / "sweeps.yaml")["sweeps"]
    home, tables = tmp_path_factory.mktemp("experiments"), []
    for name in names:
        packed = (ROOT / "docs" / "sweeps" / f"{name}.csv.gz").read_bytes()
        tables.append(home / f"{name}.csv")
        tables[-1].write_bytes(gzip.decompress(packed))
        storage.write_text(home / "experiments" / f"{name}.svg", SVG)
    return sweeps.sections(config, tables, sorted(home.rglob("*.svg")))


def test_the_report_shows_the_sweeps_of_the_configuration_with_all_their_numbers(
    results, config, worked_sweeps, report
):
    """Red if a finding names a measure or a setting that the sweep does not have."""
    assert '<section id="sweeps">' not in report
    assert [section["name"] for section in worked_sweeps] == list(texts.sweeps())
    elements = Elements(rendered(results, config, sweeps=worked_sweeps))
    text = " ".join(elements.text)
    for section in worked_sweeps:
        assert elements.ids[section["name"]] == "section" and len(section["findings"]) >= 3
        for filled in (*section["findings"], *section["caption"].values()):
            assert filled["text"] and not filled["missing"]
        assert all(finding["text"] in text for finding in section["findings"])
        assert f"make sweep EXPERIMENT={section['name']}" in text
    assert len([a for tag, a in elements.tags if tag == "img" and len(a["alt"]) > 40]) == 4


def test_sweeps_of_the_configuration_are_part_of_a_run():
    flow = Workflow({"sweeps": ["sweep_pgi2"]})
    files = [f"results/experiments/sweep_pgi2{end}" for end in (".csv", ".svg")]
    assert {files[0]} == set(flow.sweep_files("csv")) and files[1] in flow.sweep_files("svg")
    assert set(files) <= set(flow.everything()) and not set(files) & set(Workflow({}).everything())


def test_a_figure_in_snakemakes_own_report_has_its_name_and_title():
    labels = Workflow({}).labels(SimpleNamespace(artefact="sutera2021/figure7"))
    assert labels == {"artefact": "figure7", "what it shows": "correlations sample by sample"}
