"""Every function of the reference has hints and an example, which gives what it shows."""

import ast
import doctest
import importlib
import inspect
import re
from pathlib import Path

import pytest
from sklearn.datasets import load_iris, make_friedman1
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

import splitcredit

DOCS = Path(__file__).resolve().parents[2] / "docs"
MODULES = r"^\.\. automodule:: (splitcredit\.\S+)\n   :members:(.*)$"
NAMES = r"^\.\. auto(?:function|class):: (\S+)\.(\w+)$"


def documented():
    """Functions and classes that the reference documents, by their full names."""
    pages = sorted([*(DOCS / "api").glob("*.md"), *(DOCS / "measures").glob("*.md")])
    text = "\n".join(page.read_text() for page in pages)
    objects = {}
    for module, name in re.findall(NAMES, text, re.M):
        objects[f"{module}.{name}"] = getattr(importlib.import_module(module), name)
    for name, members in re.findall(MODULES, text, re.M):
        module = importlib.import_module(name)
        member_names = re.findall(r"\w+", members)
        for member, value in vars(module).items():
            is_own = getattr(value, "__module__", None) == name and not member.startswith("_")
            if is_own and callable(value) and (not member_names or member in member_names):
                objects[f"{name}.{member}"] = value
    return objects


DOCUMENTED = documented()
HOMES = sorted({value.__module__ for value in DOCUMENTED.values()})


def functions():
    """Functions of the reference, and the public methods of its classes, by their full names."""
    for name, value in DOCUMENTED.items():
        if inspect.isfunction(value):
            yield name, value
        for method, function in vars(value).items() if inspect.isclass(value) else ():
            function = getattr(function, "__func__", function)  # of a class method
            if inspect.isfunction(function) and not method.startswith("_"):
                yield f"{name}.{method}", function


@pytest.mark.parametrize(("name", "function"), list(functions()))
def test_functions_describe_and_annotate_every_parameter_and_what_is_returned(name, function):
    """Those of measures say what the configuration may hold, and are read by the planning."""
    text, signature = inspect.getdoc(function), inspect.signature(function)
    parameters = [p for n, p in signature.parameters.items() if n not in ("self", "cls")]
    if not parameters:
        return
    section = re.search(r"^Parameters\n-+\n((?:.|\n)*?)(?=^\w+\n-+$|\Z)", text, re.M)
    entries = " ".join(re.findall(r"^(\S.*)$", section[1], re.M)) if section else ""
    assert [p.name for p in parameters if not re.search(rf"\b{p.name}\b", entries)] == []
    assert re.search(r"^(Returns|Yields)\n-+$", text, re.M)
    if name in DOCUMENTED:
        assert signature.return_annotation is not inspect.Signature.empty
        assert all(p.kind is not p.VAR_KEYWORD for p in parameters)
        if not name.startswith("splitcredit.measures."):
            assert [p.name for p in parameters if p.annotation is p.empty] == []


def test_type_checkers_see_every_public_name():
    """The names are imported when first used, so a stub has to list them."""
    stub = Path(splitcredit.__file__).with_suffix(".pyi")
    stub_names = set()
    for node in ast.parse(stub.read_text()).body:
        if isinstance(node, ast.ImportFrom) and node.module != "typing":
            for alias in node.names:
                imported = getattr(importlib.import_module(node.module), alias.name)
                assert imported is getattr(splitcredit, alias.asname), alias.asname
                stub_names.add(alias.asname)
        elif isinstance(node, ast.AnnAssign):
            stub_names.add(node.target.id)
    assert stub_names - {"__version__"} == set(splitcredit.__all__)
    assert stub.with_name("py.typed").exists()


def begin(X, y, model):
    """What examples begin with, as the first page of the reference says."""
    return {"splitcredit": splitcredit, "X": X, "y": y, "model": model.fit(X, y)}


@pytest.mark.parametrize("module", HOMES)
def test_examples_in_docstrings_give_what_they_show(module):
    if ".prediction_gap." in module:
        model = RandomForestRegressor(10, max_depth=4, random_state=0)
        begun = begin(*make_friedman1(200, 5, random_state=0), model)
    else:
        model = RandomForestClassifier(20, random_state=0)
        begun = begin(*load_iris(return_X_y=True, as_frame=True), model)
    results = doctest.testmod(importlib.import_module(module), extraglobs=begun)
    assert results.attempted > 0 and results.failed == 0
