"""The reference run in the repository: what is kept of a run, and what an archive has besides."""

import tarfile

import pytest

from reproduction import storage
from scripts import ROOT, script

REFERENCE = ROOT / "docs" / "reference"
CLAIM = {"verdict": "equal", "cause": "", "paper": "p", "artefact": "t", "variant": "v"}
CLAIM |= {"cell": "n", "data": "the paper's"}
COMMIT = '<tr><th scope="row">Commit</th><td class="text">{}, with changes</td></tr>'


@pytest.fixture
def project(tmp_path):
    """A small project with a finished run, of which one page shows one of two figures."""
    for name in ("claims", "claims_timing"):
        storage.write_rows(tmp_path / "results" / f"{name}.csv", [CLAIM], CLAIM)
    tables = {"tables/p/t": 1, "tables/p/large": 9, "timing/tables/p/speed": 1}
    for name, n_rows in (tables | {"tables/trust/rule": 1, "tables/trust/scores": 1}).items():
        storage.write_rows(tmp_path / "results" / f"{name}.csv", [{"k": 1}] * n_rows, "k")
    texts = {f"results/figures/p/{name}": name for name in ("t.png", "t.svg", "large.png")}
    texts |= {
        "results/report.html": COMMIT.format("0123456789" * 4),
        "results/verdict.txt": "equal: 1",
        "results/logs/data.log": "a path of this machine",
        "results/logs/metrics/e/0.log": "used 3.00 s of processor time, 5 MB of memory",
        "results/timing/jobs/metrics/e/0.tsv": "s\n4\n",
        "docs/reference/tables/p/old.csv": "k\n",
        "docs/results.md": "![t](reference/figures/p/t.png)\n<!-- claims -->\n<!-- /claims -->\n"
        "There are\n0.5 t.\n",
        "docs/reproduce.md": "<!-- rules -->\n<!-- /rules -->\n",
        "docs/numbers_in_pages.yaml": "docs/results.md: "
        "[\"There are {{ cell('p/t', column='k') | digits(1) }} t\"]\n",
    }
    for name, text in texts.items():
        storage.write_text(tmp_path / name, text)
    return tmp_path


def test_the_reference_keeps_claims_small_tables_and_the_figures_of_pages(project, monkeypatch):
    take, reference = script("tools/take_reference.py"), project / "docs" / "reference"
    places = {"ROOT": project, "RESULTS": project / "results", "REFERENCE": reference}
    for name, value in (places | {"LARGEST": 10, "trust_page": lambda: "a page"}).items():
        monkeypatch.setattr(take, name, value)
    # A figure that a page shows and the run lacks ends it before anything is deleted.
    figure = (project / "results" / "figures" / "p" / "t.png").rename(project / "t.png")
    with pytest.raises(SystemExit, match=r"t\.png is shown by a page, and this run did not make"):
        take.main()
    assert (reference / "tables" / "p" / "old.csv").exists()
    figure.rename(project / "results" / "figures" / "p" / "t.png")
    take.main()
    kept = {p.relative_to(reference).as_posix() for p in reference.rglob("*") if p.is_file()}
    assert kept == {
        *("claims.csv", "claims_timing.csv", "tables.sha256", "figures/p/t.png"),
        *("tables/p/t.csv", "timing/tables/p/speed.csv"),
        *(f"tables/trust/{name}" for name in ("rule.csv", "scores.csv", "scores.csv.gz")),
    }
    assert (reference / "tables.sha256").read_text().endswith("  tables/p/large.csv\n")
    page = (project / "docs" / "results.md").read_text()
    assert "| p/t | v | 2 | 2 |" in page and page.endswith("There are\n1.0 t.\n")
    times = (project / "docs" / "reproduce.md").read_text()
    assert "| metrics | 1 | 3 s | 100% |" in times


def test_the_archive_has_all_figures_and_names_its_commit_and_no_user(project):
    path = script("tools/archive_reference.py").main(project / "results", project / "build")
    assert path.name == "reference-0123456789-changed.tar.gz"
    with tarfile.open(path) as packed:
        entries = packed.getmembers()
    names = {entry.name.partition("/")[2] for entry in entries}
    assert {"report.html", "claims.csv", "tables/p/large.csv", "figures/p/large.png"} < names
    assert not any("logs" in name for name in names)
    assert {(entry.uname, entry.uid, entry.mtime) for entry in entries} == {("", 0, 0)}


def test_every_figure_of_the_reference_is_shown_by_a_page():
    """Others make every clone larger and belong in the archive."""
    figures = {p.relative_to(REFERENCE).as_posix() for p in REFERENCE.rglob("*.png")}
    assert figures == set(script("tools/take_reference.py").shown())
