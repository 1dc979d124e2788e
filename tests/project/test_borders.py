"""Borders to other projects: no private part of them is imported or read."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCES = [path for place in ("src", "workflow", "tools") for path in ROOT.glob(f"{place}/**/*.py")]
# Modules whose names have no underscore, but which their projects change as they like.
INTERNAL = r"^(llvmlite|numba\.(core|cpython|extending|np)|snakemake\.(?!utils)\w+)\b"
# Documented in spite of the underscore: those of named tuples, and of `os`.
PUBLIC = {"_asdict", "_exit", "_fields", "_make", "_replace"}
# Private names that a file may use, as nothing public gives the same.
ALLOWED = {
    # Which rows a tree has drawn is public, but not out of how many.
    "_sklearn_means.py": {"_n_samples", "_n_samples_bootstrap"},
    # The trees, bins of categories and initial value of boosted trees are kept nowhere else.
    "_sklearn_sums.py": {
        *("_predictors", "_preprocessor", "_baseline_prediction", "_raw_predict_init"),
    },
    # The sum of the trees before the link: no public method gives it for all losses.
    "_sklearn_models.py": {
        *("_predictors", "_baseline_prediction", "_preprocessor", "_raw_predict"),
    },
}


def private_names(path):
    """Private parts of other projects that a file uses."""
    used = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) not in ("self", "cls"):
            used.add(node.attr)
        elif isinstance(node, ast.Constant) and path.name in ALLOWED:  # read by `getattr`
            used.update({node.value} & ALLOWED[path.name])
        elif isinstance(node, ast.Import | ast.ImportFrom):
            module = getattr(node, "module", None) or ""
            names = [f"{module}.{alias.name}".lstrip(".") for alias in node.names]
            if not names[0].startswith(("splitcredit", "reproduction", "__future__")):
                used.update(name for name in names if re.match(INTERNAL, name))
                used.update(part for name in names for part in name.split("."))
    is_private = re.compile(rf"_(?!_)|{INTERNAL}")
    return {name for name in used - PUBLIC if is_private.match(name)}


def test_no_private_part_of_another_project_is_used_but_those_that_are_listed():
    """Red if a release of another project may break this one without a word in its changelog."""
    used = {path: private_names(path) for path in SOURCES}
    assert {path.name: names for path, names in used.items() if names} == ALLOWED
