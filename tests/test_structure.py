"""Structure: imports go one way, every job knows its sources, locks and environment agree."""

import ast
import json
import re
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml

from splitcredit import __version__, papers
from splitcredit.kernels import warm_up
from splitcredit.kernels.parts import PARTS
from splitcredit.pipeline import config
from splitcredit.pipeline.sources import digest, sources

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "splitcredit"

# Each may import those before it, not those after.
ORDER = [
    ["storage", "registry", "seeds", "theory", "claims"],
    ["forest", "attribution", "cross_fitted"],
    ["convert", "kernels"],
    ["datasets", "models"],
    ["importances", "faithfulness"],
    ["metrics"],
    ["figures", "claims_page"],
    ["papers"],
    ["pipeline", "jobs", "__main__"],
]
LEVEL = {name: level for level, names in enumerate(ORDER) for name in names}
# `Forest.predict` and `kernels.warm_up` close small loops, inside functions.
ALLOWED = {("forest", "kernels")}


def imports():
    for path in sorted(SOURCE.rglob("*.py")):
        room = path.relative_to(SOURCE).parts[0].removesuffix(".py")
        for node in ast.walk(ast.parse(path.read_text())):
            names = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                base = node.module or ""
                names = [f"{base}.{a.name}" if base == "splitcredit" else base for a in node.names]
            for name in names:
                parts = name.split(".")
                if parts[0] == "splitcredit" and len(parts) > 1 and room != "__init__":
                    yield path.relative_to(SOURCE), room, parts[1]


def test_imports_go_one_way():
    for path, room, wanted in imports():
        assert wanted in LEVEL, f"{path}: give {wanted} a place in ORDER"
        allowed = LEVEL[wanted] <= LEVEL[room] or (room, wanted) in ALLOWED
        assert allowed, f"{path} imports {wanted}, which comes after {room}"


def test_only_kernels_and_their_jobs_know_numba():
    for path in SOURCE.rglob("*.py"):
        if "numba" in path.read_text():
            assert path.parent.name in ("kernels", "jobs", "importances", "splitcredit"), path
        if path.parent.name != "kernels":
            assert not re.search(r"^\s*(import|from) numba", path.read_text(), re.M), path


def test_sources_follow_imports_and_leave_the_rest_out(monkeypatch):
    monkeypatch.chdir(ROOT)
    found = sources("splitcredit.jobs.explain", "splitcredit.importances.saabas")
    assert "src/splitcredit/kernels/saabas.py" in found
    assert "src/splitcredit/kernels/nodes.py" in found
    assert "src/splitcredit/kernels/tree_shap.py" not in found
    assert "src/splitcredit/importances/tree_shap.py" not in found
    assert not any("papers" in f or "metrics" in f for f in found)


def test_digest_depends_on_the_text_of_the_sources_alone(tmp_path, monkeypatch):
    modules = "splitcredit.jobs.explain", "splitcredit.importances.saabas"
    here = digest(*modules)
    assert here == digest.__wrapped__(*modules) != digest("splitcredit.jobs.explain")
    monkeypatch.chdir(tmp_path)
    assert digest.__wrapped__(*modules) == here


def test_every_kernel_that_is_called_is_of_one_part_and_every_part_is_compiled():
    kernels = SOURCE / "kernels"
    parallel = {p.stem for p in kernels.glob("*.py") if "@kernel(parallel=True)" in p.read_text()}
    named = [module for own in PARTS.values() for module in own]
    reached = {Path(p).stem for p in sources(*(f"splitcredit.kernels.{m}" for m in named))}
    assert len(named) == len(set(named)) and parallel <= reached
    assert list(warm_up.CALLS) == list(PARTS)
    with pytest.raises(ValueError, match="no part 'all': there are patterns"):
        warm_up.compile_part("all")


def test_sources_of_an_unknown_module_are_refused():
    with pytest.raises(ModuleNotFoundError, match=r"splitcredit\.nothing"):
        sources("splitcredit.nothing")


def test_every_artefact_has_code_and_every_code_an_artefact():
    configured = config.read_yaml(ROOT / "config" / "full.yaml")["artefacts"]
    assert sorted(configured) == papers.available()
    for name, artefact in configured.items():
        assert hasattr(papers.artefact(name), "draw") == artefact.get("figure", False), name


def test_locks_hold_what_the_project_pins_and_name_no_host():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    lock = (ROOT / "requirements.lock").read_text()
    locked = dict(re.findall(r"^([a-z0-9-]+)==(\S+)", lock, re.M))
    groups = [project["dependencies"], *project["optional-dependencies"].values()]
    for requirement in (r for group in groups for r in group):
        name, _, version = re.sub(r"\[.*\]", "", requirement).partition("==")
        name = re.split(r"[<>=!~ ]", name)[0].lower()
        assert name in locked, f"{name}: run make lock"
        assert not version or locked[name] == version, f"{requirement}: run make lock"
    for file in ("requirements.lock", "requirements-tools.lock"):
        text = (ROOT / file).read_text()
        assert "://" not in text, file
        assert "--index" not in text and "--find-links" not in text, file
        for block in re.split(r"\n(?=\S)", text.strip()):
            assert "--hash=sha256:" in block, f"{file}: {block.splitlines()[0]} has no hash"
    tools = dict(
        re.findall(r"^([a-z0-9-]+)==(\S+)", (ROOT / "requirements-tools.lock").read_text(), re.M)
    )
    assert tools["setuptools"] == locked["setuptools"]


def test_versions_agree():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert project["version"] == __version__ == citation["version"]


def test_no_public_name_is_without_a_docstring():
    for path in SOURCE.rglob("*.py"):
        tree = ast.parse(path.read_text())
        assert ast.get_docstring(tree), path
        for node in tree.body:
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and not node.name.startswith("_"):
                assert ast.get_docstring(node), f"{path}: {node.name}"


@pytest.mark.parametrize("path", sorted((ROOT / "notebooks").glob("*.ipynb")), ids=lambda p: p.stem)
def test_notebooks_run_on_the_reference_run_and_hold_no_output(path, tmp_path, monkeypatch):
    for name in ("config", "docs"):
        (tmp_path / name).symlink_to(ROOT / name)
    monkeypatch.chdir(tmp_path)
    names = {}
    for cell in json.loads(path.read_text())["cells"]:
        if cell["cell_type"] == "code":
            assert cell["outputs"] == [] and cell["execution_count"] is None
            exec("".join(cell["source"]), names)


@pytest.mark.parametrize("preset", ["quick", "full"])
def test_make_gives_the_target_to_snakemake_and_not_to_an_option(preset):
    """``--configfile`` and ``--quiet`` take several values, a target behind them included."""
    command = ["make", "-n", "sutera2021/table4", f"PRESET={preset}", "ARGUMENTS=--quiet all"]
    done = subprocess.run(command, cwd=ROOT, text=True, capture_output=True, check=True)
    assert "--cores all sutera2021_table4\n" in done.stdout
