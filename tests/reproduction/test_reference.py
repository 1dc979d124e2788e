"""The reference run in the repository: what is kept of a run, and what an archive has besides."""

import hashlib
import tarfile
from pathlib import Path

import pytest

from reproduction import storage
from scripts import script

ROOT = Path(__file__).resolve().parents[2]
REFERENCE = ROOT / "docs" / "reference"
CLAIM = {
    "verdict": "equal",
    "cause": "",
    "paper": "p",
    "artefact": "t",
    "variant": "v",
    "cell": "n",
}
REPORT = (
    f'<tr><th scope="row">Commit</th><td class="text">{"0123456789" * 4}, with changes</td></tr>'
)


@pytest.fixture
def project(tmp_path):
    """A small project with a finished run, of which one page shows one of two pictures."""
    results = tmp_path / "results"
    for name in ("claims.csv", "claims_timing.csv"):
        storage.write_rows(results / name, [CLAIM | {"data": "the paper's"}], [*CLAIM, "data"])
    for name in ("tables/p/t", "tables/p/large", "timing/tables/p/speed"):
        storage.write_rows(results / f"{name}.csv", [{"k": 1}] * (9 if "large" in name else 1), "k")
    for name in ("figures/p/t.png", "figures/p/t.svg", "figures/p/large.png"):
        storage.write_text(results / name, name)
    storage.write_text(results / "report.html", REPORT)
    storage.write_text(results / "verdict.txt", "equal: 1")
    storage.write_text(results / "logs" / "data.log", "a path of this machine")
    storage.write_rows(results / "tables" / "trust" / "rule.csv", [{"k": 2}], "k")
    (tmp_path / "src" / "splitcredit" / "views" / "auditing").mkdir(parents=True)
    page = "![t](reference/figures/p/t.png)\n<!-- claims -->\n<!-- /claims -->\nThere are\n0.5 t.\n"
    storage.write_text(tmp_path / "docs" / "results.md", page)
    sentence = "docs/results.md: [\"There are {{ cell('p/t', column='k') | digits(1) }} t\"]\n"
    storage.write_text(tmp_path / "docs" / "numbers_in_pages.yaml", sentence)
    storage.write_text(tmp_path / "docs" / "reference" / "tables" / "p" / "old.csv", "k\n")
    return tmp_path


@pytest.fixture
def take(project, monkeypatch):
    module = script("tools/take_reference.py")
    monkeypatch.setattr(module, "ROOT", project)
    monkeypatch.setattr(module, "RESULTS", project / "results")
    monkeypatch.setattr(module, "REFERENCE", project / "docs" / "reference")
    monkeypatch.setattr(module, "LARGEST", 10)
    monkeypatch.setattr(module, "trust_page", lambda: "a page")
    return module


def test_the_reference_keeps_claims_small_tables_and_the_pictures_of_pages(project, take):
    take.main()
    reference = project / "docs" / "reference"
    assert {p.relative_to(reference).as_posix() for p in reference.rglob("*") if p.is_file()} == {
        "claims.csv",
        "claims_timing.csv",
        "tables.sha256",
        "tables/p/t.csv",
        "tables/trust/rule.csv",
        "timing/tables/p/speed.csv",
        "figures/p/t.png",
    }
    assert (project / "docs" / "trust.md").read_text() == "a page"
    rule = project / "src" / "splitcredit" / "views" / "auditing" / "rule.csv"
    assert rule.read_bytes() == (reference / "tables" / "trust" / "rule.csv").read_bytes()
    content = (project / "results" / "tables" / "p" / "large.csv").read_bytes()
    line = f"{hashlib.sha256(content).hexdigest()}  tables/p/large.csv\n"
    assert (reference / "tables.sha256").read_text() == line
    page = (project / "docs" / "results.md").read_text()
    assert "| p/t | v | 2 | 2 |" in page and page.endswith("There are\n1.0 t.\n")


def test_a_picture_that_a_page_shows_and_the_run_lacks_ends_before_anything_is_deleted(
    project, take
):
    (project / "results" / "figures" / "p" / "t.png").unlink()
    with pytest.raises(SystemExit, match=r"t\.png is shown by a page, and this run did not make"):
        take.main()
    assert (project / "docs" / "reference" / "tables" / "p" / "old.csv").exists()


def test_a_reduced_run_is_no_reference(project, take):
    """An archive of small sizes that is taken for the results of the papers."""
    claims = [CLAIM | {"cause": "preset quick: sizes are not those of the paper"}]
    storage.write_rows(project / "results" / "claims.csv", claims, CLAIM)
    with pytest.raises(SystemExit, match="those of the preset quick"):
        take.main()
    with pytest.raises(SystemExit, match="holds a run of the preset quick"):
        script("tools/archive_reference.py").main(project / "results", project / "build")


def test_the_archive_has_all_pictures_and_names_its_commit_and_no_user(project):
    archive = script("tools/archive_reference.py")
    path = archive.main(project / "results", project / "build")
    assert path.name == "reference-0123456789-changed.tar.gz"
    with tarfile.open(path) as packed:
        entries = packed.getmembers()
    names = {entry.name.partition("/")[2] for entry in entries}
    assert {"report.html", "claims.csv", "tables/p/large.csv", "figures/p/large.png"} < names
    assert not any("logs" in name for name in names)
    assert {(entry.uname, entry.uid, entry.mtime) for entry in entries} == {("", 0, 0)}


def test_every_picture_of_the_reference_is_shown_by_a_page():
    """Others make every clone larger and belong in the archive."""
    pictures = {p.relative_to(REFERENCE).as_posix() for p in REFERENCE.rglob("*.png")}
    assert pictures == set(script("tools/take_reference.py").shown())
    assert {p.suffix for p in REFERENCE.rglob("*") if p.is_file()} == {".csv", ".png", ".sha256"}
