"""Structure: imports go one way, every job knows its sources, locks and environment agree."""

import ast
import graphlib
import re
import subprocess
import tomllib

import pytest
import yaml

from reproduction import papers, registry
from reproduction.planning import configuration
from reproduction.planning.places import LIBRARY, ROOT, SRC
from reproduction.planning.workflow import Workflow
from splitcredit import __version__

TREES = {path: ast.parse(path.read_text()) for path in sorted(SRC.rglob("*.py"))}

# Each may import those before it, not those after. The library knows nothing of the reproduction.
ORDER = {
    "splitcredit": [
        ["rows"],
        ["results", "kernels"],
        ["models"],
        ["prediction_gap"],
        ["measures"],
        ["api"],
        ["views"],
        ["__main__"],
    ],
    "reproduction": [
        ["registry", "storage", "seeds", "parameters", "theory", "claims"],
        ["cache_folder"],
        ["cross_fitted", "marked"],
        ["datasets", "recorded", "models", "peers"],
        ["metrics"],
        ["figures", "claims_summary"],
        ["papers"],
        ["report"],
        ["planning", "stages", "__main__"],
    ],
}
LEVEL = {
    house: {name: level for level, names in enumerate(rooms) for name in names}
    for house, rooms in ORDER.items()
}


def imports(house):
    """(path, room, imported house, imported room) of every import of ours in a house."""
    for path, tree in TREES.items():
        own_house, *parts = path.relative_to(SRC).parts
        room = parts[0].removesuffix(".py")
        for node in ast.walk(tree) if own_house == house else ():
            names = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                base = node.module or ""
                names = [f"{base}.{a.name}" if base in ORDER else base for a in node.names]
            for name in names:
                parts = name.split(".")
                if parts[0] in ORDER and room != "__init__":
                    yield path.relative_to(SRC), room, parts[0], parts[1] if parts[1:] else ""


@pytest.mark.parametrize("house", ORDER)
def test_imports_go_one_way(house):
    for path, room, wanted_house, wanted_room in imports(house):
        if wanted_house != house:
            assert house == "reproduction", f"{path}: the library imports the reproduction"
            continue
        if wanted_room not in LEVEL[house]:
            # A name of the package itself, which it takes from a room.
            names = "", "to_forest", "explain", "Attribution", "Forest", "Importance", "__version__"
            assert wanted_room in names, path
            continue
        is_before = LEVEL[house][wanted_room] <= LEVEL[house][room]
        assert is_before, f"{path} imports {wanted_room}, which comes after {room}"


def test_no_modules_import_each_other_in_a_circle():
    """Within a room, too. What a function imports does not count; the next test is of it."""
    graph = {}
    for path, tree in TREES.items():
        for node in tree.body:
            if isinstance(node, ast.ImportFrom):
                for name in node.names:
                    module = SRC / node.module.replace(".", "/") / name.name
                    known = [module.with_suffix(".py"), module / "__init__.py"]
                    known += [module.parent.with_suffix(".py"), module.parent / "__init__.py"]
                    found = next((p for p in known if p.exists()), path)
                    graph.setdefault(path, set()).update({found} - {path})
    tuple(graphlib.TopologicalSorter(graph).static_order())  # CycleError names the circle


def test_no_function_of_the_library_imports_another_module_of_it():
    """But where the module loads scikit-learn, which nobody needs who has no model of it."""
    for path, tree in TREES.items():
        nodes = ast.walk(tree) if LIBRARY in path.parents else ()
        functions = [node for node in nodes if isinstance(node, ast.FunctionDef)]
        for node in (inner for function in functions for inner in ast.walk(function)):
            if isinstance(node, ast.ImportFrom) and node.module.startswith("splitcredit"):
                names = [f"{node.module}.{name.name}" for name in node.names]
                assert all("._sklearn" in name for name in names), f"{path}: {names}"


def test_only_kernels_know_numba():
    for path in SRC.rglob("*.py"):
        if LIBRARY / "kernels" not in path.parents:
            assert not re.search(r"^\s*(import|from) numba", path.read_text(), re.M), path


def test_only_formats_know_other_libraries_of_trees():
    """Red if another module asks which library a model is of."""
    names = "xgboost|lightgbm|catboost|gpboost|ngboost"
    for path in LIBRARY.rglob("*.py"):
        if LIBRARY / "models/formats" not in path.parents:
            assert not re.search(rf"[\"'](?:{names})\b|import (?:{names})", path.read_text()), path


def test_every_artefact_has_code_and_every_code_an_artefact():
    configured = configuration.artefacts()
    assert sorted(configured) == papers.available()
    with_figure = {n for n in configured if hasattr(papers.artefact(n), "draw")}
    assert with_figure == set(Workflow({}).figures)
    for paper in {name.partition("/")[0] for name in configured}:
        modules = {papers.module_of(name) for name in configured if name.startswith(f"{paper}/")}
        assert set(registry.names(f"reproduction.papers.{paper}")) == modules, paper


def test_locks_hold_what_the_project_pins_and_name_no_host():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    lock = (ROOT / "requirements.lock").read_text()
    locked = dict(re.findall(r"^([a-z0-9-]+)==(\S+)", lock, re.M))
    groups = [settings["project"]["dependencies"], *settings["dependency-groups"].values()]
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
    for path, tree in TREES.items():
        assert ast.get_docstring(tree), path
        for node in tree.body:
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and not node.name.startswith("_"):
                assert ast.get_docstring(node), f"{path}: {node.name}"


@pytest.mark.parametrize("preset", ["quick", "full"])
def test_make_gives_the_target_to_snakemake_and_not_to_an_option(preset):
    """``--configfile`` and ``--quiet`` take several values, a target behind them included."""
    command = ["make", "-n", "sutera2021/table4", f"PRESET={preset}", "ARGUMENTS=--quiet all"]
    process = subprocess.run(command, cwd=ROOT, text=True, capture_output=True, check=True)
    assert re.search(r"--(workflow-profile|cores) \S+ sutera2021_table4$", process.stdout, re.M)


def test_no_function_takes_more_than_eight_arguments_by_position():
    """But kernels, whose arrays numba passes one by one, and explainers, in the order of shap."""
    for path, tree in TREES.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef) and node.args.args:
                is_kernel = any("kernel(" in ast.unparse(d) for d in node.decorator_list)
                names = [a.arg for a in node.args.args if a.arg != "self"]
                assert is_kernel or len(names) <= 8, f"{path}: {node.name}"
