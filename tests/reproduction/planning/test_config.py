"""Configuration: every error is one line that names key, value and what is allowed."""

import importlib
import re
import shutil
import sys
import typing
from collections.abc import Sequence
from itertools import cycle, pairwise
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import yaml

from reproduction import datasets, metrics, models, peers, registry, storage
from reproduction.datasets import loader
from reproduction.metrics import metric
from reproduction.parameters import Count, ImportanceName, Share, TieOrder, named, problem
from reproduction.peers import function_of
from reproduction.planning import configuration as config
from reproduction.planning import recipes
from reproduction.planning.workflow import Workflow
from reproduction.recorded import TIE_ORDERS
from splitcredit import measures
from splitcredit.kernels.tree_shap.explain import ALGORITHMS
from splitcredit.kernels.walks.oob import CORRECTIONS
from splitcredit.models.rescaling import CURVES
from splitcredit.prediction_gap.greedy import ARITHMETICS

ROOT = Path(__file__).resolve().parents[3]
SCHEMA = ROOT / "workflow" / "schemas" / "config.schema.yaml"


@pytest.mark.parametrize("preset", ["quick", "tiny"])
def test_presets_are_valid(preset):
    over = config.read_yaml(ROOT / "config" / "presets" / f"{preset}.yaml")
    assert config.load(over)["preset"] == preset
    assert config.load({})["preset"] == "full"


# Configurations, each with the line that refuses it, in which "..." stands for what is left out.
# What has no line is accepted.
ROWS = storage.read_rows(Path(__file__).with_name("configurations.csv"))
# Names, of every section in turn, and a path that is too long to be read in a table.
NAMES = ["../x", "a b", "a;b", "$(x)", "a\n", "", "_a", "1a", "a/b", "ä", "m" * 300]
SECTIONS = ["experiments", "datasets", "models", "importances", "metrics"]
MORE = [
    ({section: {name: {}}}, f"{section}: {name!r} is not allowed; expected a name of a letter, ...")
    for section, name in zip(cycle(SECTIONS), NAMES, strict=False)
]
NO_FILE = {"dataset": "csv_file", "path": "x" * 5000, "target": "y"}
MORE.append(({"datasets": {"d": NO_FILE}}, "datasets.d.path: xxx...: no such file ..."))


@pytest.mark.parametrize(
    ("over", "line"),
    [*((yaml.safe_load(row["configuration"]), row["line"]) for row in ROWS), *MORE],
)
def test_a_configuration_is_accepted_or_one_line_says_what_is_wrong(over, line):
    if not line:
        config.load(over)
        return
    with pytest.raises(config.ConfigError) as caught:
        config.load(over)
    expected = ".*".join(map(re.escape, line.split("...")))
    assert re.fullmatch(expected, str(caught.value)), caught.value


FUNCTIONS = {"data": loader, "importance": function_of, "metric": metric}
OF_KIND = {"data": datasets.available(), "metric": metrics.available()}
OF_KIND["importance"] = [*measures.names(), *peers.available()]
EVERY = [(kind, name) for kind in FUNCTIONS for name in OF_KIND[kind]]


@pytest.mark.parametrize(("kind", "name"), EVERY)
def test_defaults_fit_their_annotations(kind, name):
    for parameter in recipes.taken(kind, name).values():
        if parameter.default is not parameter.empty:
            assert problem(parameter.annotation, parameter.default) == ""


CHOICES = [
    (loader, "titanic", "shuffled", "FEATURES"),
    (metric, "clustering_r2", "random", "RANDOM"),
    (metric, "randomized_error", "features", "FEATURES"),
    (function_of, "mdi", "normalize", "NORMALIZE"),
    (function_of, "mdi_oob", "rows", "ROWS"),
    (function_of, "mdi_oob", "divide_by", "DIVISORS"),
    (function_of, "oob_attributions", "attribution", "ATTRIBUTIONS"),
    (function_of, "oob_attributions", "rows", "ROWS"),
    (function_of, "oob_attributions", "weigh_by", "WEIGHTS"),
    (function_of, "penalized_gini", "preset", "PRESETS"),
    (function_of, "penalized_gini", "weights", "ROWS"),
    (function_of, "penalized_gini", "correction", CORRECTIONS),
    (function_of, "pg2_greedy", "arithmetic", ARITHMETICS),
    (function_of, "sage", "loss", "LOSSES"),
    (function_of, "sage", "imputer", "IMPUTERS"),
    (function_of, "sage", "algorithm", "ALGORITHMS"),
    (function_of, "tree_shap", "algorithm", ALGORITHMS),
    (function_of, "tree_shap_interventional", "model_output", {"raw", *CURVES}),
]


@pytest.mark.parametrize(("find", "name", "parameter", "constant"), CHOICES)
def test_choices_in_annotations_are_those_that_the_code_knows(find, name, parameter, constant):
    """The constant is one of the module of the function, if it is given by its name."""
    function = find(name)
    hint = typing.get_type_hints(function)[parameter]
    is_name = isinstance(constant, str)
    values = getattr(sys.modules[function.__module__], constant) if is_name else constant
    assert choices(hint) - {""} == set(values)


def choices(hint):
    """The values of every ``Literal`` in an annotation."""
    parts = set(typing.get_args(hint))
    return parts if typing.get_origin(hint) is typing.Literal else set().union(*map(choices, parts))


def test_the_orders_of_ties_in_the_annotation_are_those_that_are_recorded():
    kinds = {model.rpartition("_")[2] for model in TIE_ORDERS.read()["model"]}
    assert choices(TieOrder) == kinds


@pytest.mark.parametrize(("kind", "name"), EVERY)
def test_no_choice_is_annotated_as_any_text(kind, name):
    """Where the docstring lists choices, a misspelled one must not wait for its job."""
    names = re.findall(r"^ {4}(\w+) : \{\"", FUNCTIONS[kind](name).__doc__ or "", re.MULTILINE)
    taken = recipes.taken(kind, name)
    assert [n for n in names if not choices(taken[n].annotation)] == []


@pytest.mark.parametrize("name", models.ESTIMATORS)
def test_defaults_of_estimators_are_allowed(name):
    defaults = models.unfitted({"estimator": name}).get_params()
    recipe = {k: v for k, v in defaults.items() if k in recipes.signature("model", name, "m")}
    recipes.check_recipe("model", {"estimator": name, **recipe, "random_state": 0}, "m")


@pytest.mark.parametrize(
    ("annotation", "fits", "not_these"),
    [
        (typing.Any, [1, "a", None], []),
        (np.ndarray, [1, "a"], []),
        (int, [-1, 0], [1.0, True, "1", None]),
        (float, [-1, 0.5], [True, "1", float("nan"), float("inf")]),
        (bool, [True], [1, "yes"]),
        (str | None, ["", None], [1]),
        (list[str], [[], ["a"], ("a",)], ["a", [1]]),
        (tuple[float, ...], [[], [1, 2, 3]], [1, ["a"]]),
        (tuple[str, int], [["a", 1]], [["a"], ["a", 1, 1], [1, "a"]]),
        (Sequence[Count | None], [[1, None]], [[0]]),
        (typing.Literal["a", "b"], ["a"], [0, "c", []]),
        (typing.Annotated[int, ">= 2, < 4"], [2, 3], [1, 4, 2.5]),
        (typing.Literal["a"] | Share, ["a", 0.5, 1], ["b", 0.0]),
        (dict, [{}], [[]]),
    ],
)
def test_values_fit_annotations_or_do_not(annotation, fits, not_these):
    assert [problem(annotation, value) for value in fits] == [""] * len(fits)
    for value in not_these:
        assert " is not allowed; " in problem(annotation, value)


def test_names_of_importances_are_found_inside_values():
    pairs = list[tuple[ImportanceName, ImportanceName]]
    assert named(pairs, [["a", "b"], ["c", "a"]], ImportanceName) == ["a", "b", "c", "a"]
    outcomes = Sequence[typing.Literal["label"] | ImportanceName]
    assert named(outcomes, ["label", "a"], ImportanceName) == ["a"]
    assert named(list[ImportanceName] | None, None, ImportanceName) == []
    assert named(list[str], ["a"], ImportanceName) == []


@pytest.mark.parametrize("preset", ["tiny", "full"])
def test_a_users_file_does_not_name_the_run_after_a_preset(tmp_path, preset):
    """The report and the reasons of verdicts name the preset, whatever was laid on it."""
    users, quick = tmp_path / "mine.yaml", ROOT / "config" / "presets" / "quick.yaml"
    users.write_text(f"preset: {preset}\nsweeps: []\n")
    with pytest.raises(config.ConfigError) as caught:
        config.load(config.merge(config.read_yaml(quick), config.read_yaml(users)), [quick, users])
    expected = (
        f"{users}: the key preset names a run, and this is not the file of the preset {preset}"
    )
    assert str(caught.value).startswith(expected)
    assert str(caught.value).endswith(f"choose the preset by make PRESET={preset}")
    # A preset's own file may lie elsewhere.
    copied = tmp_path / "copy.yaml"
    copied.write_text(quick.read_text())
    assert config.load(config.read_yaml(copied), [copied])["preset"] == "quick"


@pytest.mark.parametrize(
    ("text", "parameters", "message"),
    [
        ("\ufeffa,b,sick\n1,2,3\n", {"target": "sik"}, "target: {} has no column sik; it"),
        ("a;y\n1;2\n", {"target": "y", "separator": ";"}, None),
        ("a,y\n1,2\n", {"target": "y", "features": ["a", "c"]}, "features: {} has no column c; it"),
        ("\ufeffa,y\n1,2\n", {"target": "a"}, None),
        # The job names the separator.
        ("a;y\n1;2\n", {"target": "y"}, None),
        ("", {"target": "y"}, None),
    ],
)
def test_a_column_that_a_csv_lacks_is_named_before_any_job(tmp_path, text, parameters, message):
    """It was named by a job, in the middle of a hundred lines, and a dry run said nothing."""
    path = tmp_path / "mine.csv"
    path.write_text(text, encoding="utf-8")
    over = {"datasets": {"d": {"dataset": "csv_file", "path": str(path), **parameters}}}
    if message is None:
        config.load(over)
    else:
        with pytest.raises(config.ConfigError) as caught:
            config.load(over)
        assert str(caught.value).startswith(f"datasets.d.{message.format(path)}")


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(config.ConfigError, match=r"none.yaml: no such file or directory"):
        config.read_yaml(tmp_path / "none.yaml")
    # A preset that is misspelled is one file of a folder: the message lists the others.
    with pytest.raises(config.ConfigError, match=r"quik.yaml: .*; its folder has quick.yaml, tiny"):
        config.read_yaml(config.CONFIG / "presets" / "quik.yaml")


def test_hidden_files_of_editors_are_no_experiments(tmp_path, monkeypatch):
    """Emacs keeps a link to nowhere while a file is edited; nothing could run as long."""
    shutil.copytree(config.CONFIG, tmp_path / "config")
    (tmp_path / "config" / "experiments" / ".#mine.yaml").symlink_to("user@host.1")
    monkeypatch.setattr(config, "CONFIG", tmp_path / "config")
    assert ".#mine" not in config.load({})["experiments"]


def test_merge_replaces_lists_and_keeps_the_rest():
    merged = config.merge({"a": {"b": [1, 2], "c": 3}}, {"a": {"b": [4]}})
    assert merged == {"a": {"b": [4], "c": 3}}


def test_every_key_of_the_schema_is_explained():
    text = (ROOT / "config" / "README.md").read_text()
    schema = yaml.safe_load(SCHEMA.read_text())["properties"]
    keys = set(schema) | set(schema["artefacts"]["additionalProperties"]["properties"])
    experiment = schema["experiments"]["additionalProperties"]["properties"]
    keys |= set(experiment) | set(experiment["sweep"]["items"]["properties"])
    for key in keys:
        assert f"`{key}" in text or f".{key}`" in text, key


def test_a_package_that_a_recipe_needs_is_named_before_the_first_job(tmp_path, monkeypatch):
    (tmp_path / "mine.parquet").write_bytes(b"")
    parquet = {"dataset": "parquet_file", "path": str(tmp_path / "mine.parquet"), "target": "y"}
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(config.ConfigError, match=r"^datasets.mine.dataset: .*pyarrow, .*: pip"):
        config.load({"datasets": {"mine": parquet}})
    monkeypatch.setattr("importlib.util.find_spec", lambda name: name)
    config.load({"datasets": {"mine": parquet}})


@pytest.mark.parametrize(
    ("package", "module", "message"),
    [
        ("datasets", "def laod(): pass\n", "mine.py cannot be used: .* no attribute 'load'"),
        ("metrics", "", "mine.py cannot be used: .* no attribute 'compute'"),
        ("peers", "", "mine.py cannot be used: no function"),
        ("metrics", "def compute(attributions)\n", "mine.py, line 1: expected ':'"),
        ("datasets", "def load(rows: Cuont = 1): pass\n", "name 'Cuont' is not defined"),
        ("datasets", "import nothing_of_this_name\n", "No module named 'nothing_of_this_name'"),
        ("datasets", "from reproduction.parameters import Cuont\n", "cannot import name 'Cuont'"),
    ],
)
def test_a_module_that_cannot_be_used_is_named_before_the_first_job(
    tmp_path, monkeypatch, package, module, message
):
    """Red if an error in a user's own module ends in a traceback that does not name it."""
    (tmp_path / "mine.py").write_text(module)
    package = importlib.import_module(f"reproduction.{package}")
    monkeypatch.setattr(package, "__path__", [*package.__path__, str(tmp_path)])
    monkeypatch.delitem(sys.modules, f"{package.__name__}.mine", raising=False)
    for cached in (registry._names, recipes.taken, recipes._signature):
        cached.cache_clear()
    kinds = {"datasets": "data", "metrics": "metric", "peers": "importance"}
    kind = kinds[package.__name__.rpartition(".")[2]]
    with pytest.raises(config.ConfigError, match=message) as caught:
        recipes.signature(kind, "mine", "place")
    assert "\n" not in str(caught.value)
    registry._names.cache_clear()


def test_a_mapping_may_take_over_another_one(tmp_path):
    """By YAML's key ``<<``, which is given once; other keys may not be given twice."""
    file = tmp_path / "mine.yaml"
    file.write_text("a: &a\n  x: 1\n  y: 2\nb: &b\n  <<: *a\n  x: 3\nc:\n  <<: *b\n")
    content = config.read_yaml(file)
    assert content == {"a": {"x": 1, "y": 2}, "b": {"x": 3, "y": 2}, "c": {"x": 3, "y": 2}}
    file.write_text("a: &a {x: 1}\nb:\n  <<: *a\n  y: 1\n  y: 2\n")
    with pytest.raises(config.ConfigError, match="duplicate key 'y' in lines 4 and 5"):
        config.read_yaml(file)


def test_numbers_within_an_option_of_snakemake_are_text():
    """Or the remedy for a number that is text sends people the wrong way."""
    from snakemake.cli import parse_config

    assert parse_config(["models={d: {max_depth: 7}}"]) == {"models": {"d": {"max_depth": "7"}}}


# Each key holds the one before ten times.
_TENFOLD = (f"{y}: &{y} [{', '.join([f'*{x}'] * 10)}]" for x, y in pairwise("abcdefghi"))
_BOMB = "\n".join(["a: &a [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]", *_TENFOLD])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: 1\nb: 2\na: 3\n", r"duplicate key 'a' in lines 1 and 3: keep one of them"),
        ("m:\n  x: 1\n  x: 1\n", r"duplicate key 'x' in lines 2 and 3"),
        ("a: [1\n", r"not valid YAML in line 2"),
        ("- 1\n", r"expected keys and values at the top level"),
        ("batch_size: 010", r"010 in line 1 has base 8 in YAML, 8: write the number without"),
        ("? [a, b]\n: 1", r"the key .* in line 1 is not allowed; expected text"),
        ("a: " + "[" * 2000 + "]" * 2000, r"too deep in each other|values, or more than"),
        ("a: &a [*a]", r"values, or more than 100 in each other"),
        (_BOMB, r"more than 1000000 values"),
    ],
)
def test_a_file_that_is_no_mapping_or_says_something_else_to_yaml_is_refused(
    tmp_path, text, message
):
    """Red if 010 is 8 without a word, or ten lines of aliases take all memory."""
    (tmp_path / "c.yaml").write_text(text)
    with pytest.raises(config.ConfigError, match=rf"c\.yaml: .*{message}") as caught:
        config.read_yaml(tmp_path / "c.yaml")
    assert "\n" not in str(caught.value)


def incomparable(over, name="loecher2022/table1"):
    judging = Workflow(over).judging(SimpleNamespace(artefact=name))
    return judging[judging.index("--incomparable") + 1] if "--incomparable" in judging else ""


def test_the_scale_is_that_of_the_merged_values():
    """Red if small results are held against print because another file calls the run full."""
    assert (
        incomparable({}) == "" == incomparable({"models": {"mine": {"estimator": "XGBRegressor"}}})
    )
    small = {
        "experiments": {
            "loecher2022_noisy": {
                "sweep": [{"grid": {"data": "noisy_features", "model": "random_forest"}}]
            }
        }
    }
    assert "loecher2022_noisy" in incomparable(small)
    assert "settings differ" in incomparable({"models": {"random_forest": {"n_estimators": 7}}})
    quick = config.read_yaml(ROOT / "config" / "presets" / "quick.yaml")
    full = config.read_yaml(ROOT / "config" / "config.yaml")
    assert incomparable(config.merge(quick, full)) != ""
