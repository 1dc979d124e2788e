"""Pages and settings that stand beside the code say what is there."""

import re
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml

import splitcredit
from reproduction.planning.places import PAPERS

ROOT = Path(__file__).resolve().parents[1]
PAGES = [
    *ROOT.glob("*.md"),
    *(p for f in ("config", "data", "docs", "notebooks") for p in (ROOT / f).rglob("*.md")),
]
MAKEFILE = (ROOT / "Makefile").read_text()
WORKFLOW = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text())


def anchors(page):
    """The names by which headings of a page can be linked to."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(), re.M)
    return {re.sub(r"[^\w\- ]", "", h.lower()).replace(" ", "-") for h in headings}


def links(page):
    """What a page links to inside the project."""
    targets = re.findall(r"\]\(([^)\s]+)\)", page.read_text())
    return [target for target in targets if "://" not in target]


def test_the_readme_links_to_other_pages():
    """If none were found, the next test would look at nothing."""
    linked = {target.partition("#")[0] for target in links(ROOT / "README.md")}
    assert len([path for path in linked if path.endswith(".md")]) >= 3


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.relative_to(ROOT).as_posix())
def test_links_of_a_page_lead_to_files_and_headings_of_the_project(page):
    for target in links(page):
        path, _, heading = target.partition("#")
        file = page.parent / path if path else page
        assert file.exists(), target
        assert not heading or heading in anchors(file), target


def test_continuous_integration_calls_targets_of_the_makefile_on_pythons_that_fit():
    (job,) = WORKFLOW["jobs"].values()
    calls = [step["run"] for step in job["steps"] if "run" in step]
    assert calls == ["make test-all", "make lint", "make quick", "make notebooks"]
    for call in calls:
        assert re.search(rf"^{call.removeprefix('make ')}:", MAKEFILE, re.M), call
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    lowest = project["requires-python"].removeprefix(">=")
    newest = re.findall(r"python3\.\d+", (ROOT / "workflow" / "environment.sh").read_text())[-1]
    assert job["strategy"]["matrix"]["python"] == [lowest, newest.removeprefix("python")]


def test_make_help_names_every_variable_and_how_to_make_a_part():
    """Variables are of no use to those who do not read the Makefile."""
    run = subprocess.run(["make", "help"], cwd=ROOT, text=True, capture_output=True, check=True)
    variables = set(re.findall(r"^([A-Z]+) \?=", MAKEFILE, re.M)) | {"PYTHON", "INSTALLER"}
    assert len(variables) > 5
    for variable in variables:
        assert re.search(rf"\b{variable}=", run.stdout), variable
    assert "make PAPER/ARTEFACT" in run.stdout


def test_make_reproduce_ends_with_the_place_of_the_report():
    """Snakemake ends with the names of all files; a dry run makes none."""

    def last_line(*arguments):
        command = ["make", "--no-print-directory", "-n", "reproduce", *arguments]
        run = subprocess.run(command, cwd=ROOT, text=True, capture_output=True, check=True)
        return run.stdout.splitlines()[-1]

    assert last_line() == "echo results/report.html"
    assert "report.html" not in last_line("ARGUMENTS=-n")


def test_the_page_on_clusters_quotes_slurm_in_its_own_spelling():
    """Readers search their logs for the message: the spelling is not ours to change."""
    script = (ROOT / ".ci" / "slurm.py").read_text()
    messages = re.findall(r'disturbed\("[^"]+", "([^"]+)"', script)
    assert "CANCELLED AT" in messages
    page = (ROOT / "docs" / "cluster.md").read_text()
    for message in messages:
        assert message in page, message


def test_hooks_of_pre_commit_are_checks_of_make_lint():
    recipe = re.search(r"^lint:.*\n((?:\t.*\n)+)", MAKEFILE, re.M)[1]
    lines = recipe.replace('"', "").split("\n")
    checks = [line.strip().removesuffix(" Snakefile workflow") for line in lines]
    (local,) = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())["repos"]
    for hook in local["hooks"]:
        command = hook["entry"].removesuffix(" --force-exclude")
        assert command.replace(".venv/bin", "$(BIN)") in checks, hook["id"]


def test_every_paper_is_among_the_references_of_the_citation():
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text())["references"]
    by_paper = {f"{r['authors'][0]['family-names'].lower()}{r['year']}": r for r in cited}
    accounts = {p.parent.name: yaml.safe_load(p.read_text()) for p in PAPERS.glob("*/account.yaml")}
    assert by_paper.keys() == accounts.keys()
    for paper, account in accounts.items():
        citation = " ".join(account["citation"].lower().split())
        assert by_paper[paper]["url"] == account["url"]
        assert by_paper[paper]["title"].lower() in citation
        for author in by_paper[paper]["authors"]:
            assert f"{author['given-names']} {author['family-names']}".lower() in citation


def test_the_package_says_which_papers_its_keys_mean():
    """A reader of help() meets the keys in every docstring."""
    for citation in yaml.safe_load((ROOT / "CITATION.cff").read_text())["references"]:
        key = f"{citation['authors'][0]['family-names'].lower()}{citation['year']}"
        (entry,) = re.findall(rf"^- {key}: ((?:.|\n)*?)\.$", splitcredit.__doc__, re.M)
        entry = " ".join(entry.split())
        assert citation["title"] in entry
        assert citation["url"].rpartition("/")[2] in entry
        assert f"`{key}`" in (ROOT / "README.md").read_text()


def test_pages_and_sources_have_american_spelling():
    """Statements of the papers are in words of this project, and stand in its report."""
    british = re.compile(
        r"\w*(?:(?:random|normal|standard|optim|minim|maxim|organ|recogn|general)is(?:e|ation|ing)"
        r"|favour|behaviour|colour|neighbour|labelled|modelling|centred)\w*",
        re.I,
    )
    kinds = ("*.py", "*.smk", "*.yaml", "*.csv", "*.html")
    places = [ROOT / folder for folder in ("src", "workflow", "config", "benchmarks")]
    texts = [*PAGES, *(path for place in places for kind in kinds for path in place.rglob(kind))]
    assert len(texts) > 300
    names = {"standardised_split", "randomised_error"}  # of earlier recipes, which seeds depend on
    for path in texts:
        assert set(british.findall(path.read_text(encoding="utf-8"))) <= names, path


def test_forms_for_issues_have_fields_with_names_of_their_own():
    forms = [p for p in (ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml") if p.stem != "config"]
    assert {p.stem for p in forms} == {"bug", "model", "discrepancy"}
    for path in forms:
        form = yaml.safe_load(path.read_text())
        assert form.keys() >= {"name", "description", "body"}, path.name
        ids = [field["id"] for field in form["body"] if field["type"] != "markdown"]
        assert len(ids) == len(set(ids)), path.name
        assert all(field["attributes"] for field in form["body"]), path.name


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


@pytest.mark.parametrize("wing", sorted((ROOT / "src/splitcredit/kernels").glob("*/__init__.py")))
def test_a_gain_that_the_guide_of_a_wing_names_stands_on_the_page_of_benchmarks(wing):
    """A sentence with a ratio of times names the page, and the page has the ratio, rounded."""
    text = " ".join(wing.read_text().split())
    gain = r"[^.]*?(?:\d\.)?\d+ (?:times as|% (?:slower|faster|less)).*?\.(?= |$)"
    gains = re.findall(gain, text)
    page = (ROOT / "docs" / "benchmarks.md").read_text()
    ratios = [float(ratio) for ratio in re.findall(r"([\d.]+\d)x", page)]
    for gain in gains:
        assert "``docs/benchmarks.md``" in gain, gain
        for number in re.findall(r"(\d+\.\d+) times as", gain):
            digits = len(number.partition(".")[2])
            assert float(number) in {round(ratio, digits) for ratio in ratios}
