"""Pages and settings that stand beside the code say what is there."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("benchmarks", "config", "data", "docs", "notebooks")
PAGES = [*ROOT.glob("*.md"), *(page for f in FOLDERS for page in (ROOT / f).rglob("*.md"))]


def anchors(page):
    """The names by which headings of a page can be linked to."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(), re.M)
    return {re.sub(r"[^\w\- ]", "", h.lower()).replace(" ", "-") for h in headings}


def links(page):
    """What a page links to inside the project."""
    targets = re.findall(r"\]\(([^)\s]+)\)", page.read_text())
    return [target for target in targets if "://" not in target]


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.relative_to(ROOT).as_posix())
def test_links_of_a_page_lead_to_files_and_headings_of_the_project(page):
    for target in links(page):
        path, _, heading = target.partition("#")
        file = page.parent / path if path else page
        assert file.exists(), target
        assert not heading or heading in anchors(file), target


def test_attributes_of_git_leave_every_file_as_it_is():
    """Line ends that are normalized would change the SHA-256 of tables and models."""
    if not (ROOT / ".git").exists():
        pytest.skip("This folder is no repository of git; run the test in a clone of it.")
    process = subprocess.run(
        ["git", "ls-files", "--eol"], cwd=ROOT, text=True, capture_output=True, check=True
    )
    lines = [line.split() for line in process.stdout.splitlines()]
    assert {line[0] for line in lines} <= {"i/lf", "i/-text", "i/none"}
    assert {line[2] for line in lines if line[0] == "i/-text"} <= {"attr/-text"}
