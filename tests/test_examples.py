"""Every function of the reference has hints and an example, which gives what it shows."""

import ast
import doctest
import importlib
import inspect
import re
import types
from pathlib import Path

import pytest

import splitcredit
from splitcredit import importances

API = Path(__file__).resolve().parents[1] / "docs" / "api"
MODULES = r"^\.\. automodule:: (splitcredit\.\S+)\n   :members:(.*)$"
NAMES = r"^\.\. auto(?:function|class):: (\S+)\.(\w+)$"


def documented():
    """Functions and classes that the reference documents, by their full names."""
    text = "\n".join(page.read_text() for page in sorted(API.glob("*.md")))
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


def test_the_reference_documents_functions_and_classes():
    kinds = [inspect.isclass(value) for value in DOCUMENTED.values()]
    assert sum(kinds) >= 10 and len(kinds) - sum(kinds) >= 30


@pytest.mark.parametrize("name", [n for n, v in DOCUMENTED.items() if inspect.isfunction(v)])
def test_every_function_of_the_reference_has_an_example(name):
    assert re.search(r"Examples\n *-{8}\n *>>> ", DOCUMENTED[name].__doc__), name


@pytest.mark.parametrize("name", [n for n, v in DOCUMENTED.items() if inspect.isfunction(v)])
def test_every_function_has_hints_for_what_it_takes_and_returns(name):
    """Those of measures say what the configuration may hold, and are read by the planning."""
    signature = inspect.signature(DOCUMENTED[name])
    assert signature.return_annotation is not inspect.Signature.empty
    if not name.startswith("splitcredit.importances."):
        for parameter in signature.parameters.values():
            assert parameter.annotation is not inspect.Parameter.empty, parameter.name


def functions_and_methods():
    """Functions of the reference, and the public methods of its classes, by their full names."""
    for name, value in DOCUMENTED.items():
        if inspect.isfunction(value):
            yield name, value
        for method, function in vars(value).items() if inspect.isclass(value) else ():
            function = getattr(function, "__func__", function)  # of a class method
            if inspect.isfunction(function) and not method.startswith("_"):
                yield f"{name}.{method}", function


@pytest.mark.parametrize(("name", "function"), list(functions_and_methods()))
def test_docstrings_of_the_reference_describe_every_parameter_and_what_is_returned(name, function):
    text = inspect.getdoc(function)
    parameters = [p for p in inspect.signature(function).parameters if p not in ("self", "cls")]
    if parameters:
        section = re.search(r"^Parameters\n-+\n((?:.|\n)*?)(?=^\w+\n-+$|\Z)", text, re.M)
        entries = " ".join(re.findall(r"^(\S.*)$", section[1], re.M)) if section else ""
        assert [p for p in parameters if not re.search(rf"\b{p}\b", entries)] == [], name
        assert re.search(r"^(Returns|Yields)\n-+$", text, re.M), name


@pytest.mark.parametrize("name", [n for n in DOCUMENTED if ".importances." in n])
def test_docstrings_of_measures_state_units_and_source(name):
    text = inspect.getdoc(DOCUMENTED[name])
    if name.endswith(".importances"):
        assert "As for `importance`" in text
        return
    assert re.search(r"\b(19|20)\d\d\b|(lundberg|sutera|loecher|gajewski)20\d\d", text), name
    returned = re.search(r"^Returns\n-+\n((?:.|\n)*?)\n\n", text, re.M)[1]
    assert re.search(r"units?\b|per row|places", returned), name


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


@pytest.mark.parametrize("module", HOMES)
def test_examples_in_docstrings_give_what_they_show(module):
    results = doctest.testmod(importlib.import_module(module))
    assert results.attempted > 0 and results.failed == 0


def test_the_worked_example_of_a_measure_has_the_docstring_that_measures_need(monkeypatch):
    page = (API.parent / "extend.md").read_text(encoding="utf-8")
    module = types.ModuleType("worked_example")
    exec(re.search(r"^```python\n(.*?)^```", page, re.M | re.S)[1], module.__dict__)
    monkeypatch.setattr(importances, "split_count", module, raising=False)
    name = "splitcredit.importances.split_count.importance"
    monkeypatch.setitem(DOCUMENTED, name, module.importance)
    test_every_function_of_the_reference_has_an_example(name)
    test_every_function_has_hints_for_what_it_takes_and_returns(name)
    test_docstrings_of_the_reference_describe_every_parameter_and_what_is_returned(
        name, module.importance
    )
    test_docstrings_of_measures_state_units_and_source(name)
    results = doctest.testmod(module)
    assert results.attempted > 0 and results.failed == 0
