"""Configuration: every error is one line that names key, value and what is allowed."""

import importlib
import re
import shutil
import sys
import typing
from itertools import cycle, pairwise
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import yaml

from reproduction import datasets, metrics, models, peers, registry, storage
from reproduction.datasets import loader
from reproduction.metrics import metric
from reproduction.parameters import problem
from reproduction.peers import function_of
from reproduction.planning import configuration as config
from reproduction.planning import recipes
from reproduction.planning.workflow import Workflow
from reproduction.recorded import TIE_ORDERS
from splitcredit import measures, to_forest
from splitcredit.kernels.tree_shap.explain import ALGORITHMS
from splitcredit.kernels.walks.oob import CORRECTIONS
from splitcredit.models.rescaling import CURVES
from splitcredit.prediction_gap.greedy import ARITHMETICS


@pytest.mark.parametrize("preset", ["quick", "tiny"])
def test_presets_are_valid(preset):
    over = config.read_yaml(config.CONFIG / "presets" / f"{preset}.yaml")
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
def test_a_configuration_is_accepted_or_one_line_says_what_is_wrong(over, line, monkeypatch):
    own = config.own()
    # Its 2400 points would take half of the time of each case.
    own["experiments"]["gajewski2025_grid_search"]["sweep"][0]["grid"]["model.subsample"] = [0.5]
    monkeypatch.setattr(config, "own", lambda: own)
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
def test_defaults_fit_their_annotations_and_no_choice_is_any_text(kind, name):
    """Where the docstring lists choices, a misspelled one must not wait for its job."""
    listed = re.findall(r"^ {4}(\w+) : \{\"", FUNCTIONS[kind](name).__doc__ or "", re.MULTILINE)
    for parameter in recipes.taken(kind, name).values():
        if parameter.default is not parameter.empty:
            assert problem(parameter.annotation, parameter.default) == ""
        assert parameter.name not in listed or choices(parameter.annotation)


TIES = {model.rpartition("_")[2] for model in TIE_ORDERS.read()["model"]}
CHOICES = [
    ("data", "titanic", "shuffled", "FEATURES"),
    ("metric", "clustering_r2", "random", "RANDOM"),
    ("metric", "randomized_error", "features", "FEATURES"),
    ("importance", "mdi", "normalize", "NORMALIZE"),
    ("importance", "mdi_oob", "rows", "ROWS"),
    ("importance", "mdi_oob", "divide_by", "DIVISORS"),
    ("importance", "oob_attributions", "attribution", "ATTRIBUTIONS"),
    ("importance", "oob_attributions", "rows", "ROWS"),
    ("importance", "oob_attributions", "weigh_by", "WEIGHTS"),
    ("importance", "penalized_gini", "preset", "PRESETS"),
    ("importance", "penalized_gini", "weights", "ROWS"),
    ("importance", "penalized_gini", "correction", CORRECTIONS),
    ("importance", "pg2_greedy", "arithmetic", ARITHMETICS),
    ("importance", "sage", "loss", "LOSSES"),
    ("importance", "sage", "imputer", "IMPUTERS"),
    ("importance", "sage", "algorithm", "ALGORITHMS"),
    ("importance", "tree_shap", "algorithm", ALGORITHMS),
    ("importance", "tree_shap_interventional", "model_output", {"raw", *CURVES}),
    ("importance", "pg2_greedy", "ties", TIES),
]


@pytest.mark.parametrize(("kind", "name", "parameter", "constant"), CHOICES)
def test_choices_in_annotations_are_those_that_the_code_knows(kind, name, parameter, constant):
    """The constant is one of the module of the function, if it is given by its name."""
    module = sys.modules[FUNCTIONS[kind](name).__module__]
    values = getattr(module, constant) if isinstance(constant, str) else constant
    annotation = recipes.signature(kind, name, "")[parameter].annotation
    assert choices(annotation) - {""} == set(values)


def choices(hint):
    """The values of every ``Literal`` in an annotation."""
    parts = set(typing.get_args(hint))
    return parts if typing.get_origin(hint) is typing.Literal else set().union(*map(choices, parts))


@pytest.mark.parametrize("name", models.ESTIMATORS)
def test_defaults_of_estimators_are_allowed(name):
    defaults = models.unfitted({"estimator": name}).get_params()
    recipe = {k: v for k, v in defaults.items() if k in recipes.signature("model", name, "m")}
    recipes.check_recipe("model", {"estimator": name, **recipe, "random_state": 0}, "m")


BAGGED = [
    {"estimator": name, **given}
    for name in models.ESTIMATORS
    for given in ({}, {"bootstrap": True}, {"bootstrap": False})
    if given.keys() <= models.parameters(name)
]


@pytest.mark.parametrize("recipe", BAGGED, ids=str)
def test_models_that_are_offered_as_bagged_know_their_bags(recipe):
    """The converter's answer is the one that measures get."""
    X = np.random.default_rng(0).normal(size=(60, 3))
    forest = to_forest(models.fit(recipe, X, (X[:, 0] > 0).astype(int)), X_train=X)
    assert ("bootstrap" in models.offers(recipe)) == (forest.inbag is not None)


def test_every_word_that_a_measure_requires_is_known():
    """Every model of a recipe meets the words that are for the library's users."""
    words = set(models.REQUIREMENTS) | {"impurity", "refit", "score", "gains", "prediction"}
    for name in OF_KIND["importance"]:
        assert set(recipes.constant("importance", name, "REQUIRES")) <= words, name


def test_a_users_file_does_not_name_the_run_after_a_preset(tmp_path):
    """The report and the reasons of verdicts name the preset, whatever was laid on it."""
    quick = config.read_yaml(config.CONFIG / "presets" / "quick.yaml")
    users, copied = tmp_path / "mine.yaml", tmp_path / "copy.yaml"
    for preset in ("tiny", "full"):
        users.write_text(f"preset: {preset}\nsweeps: []\n")
        with pytest.raises(config.ConfigError, match=f"{users}: the key preset .* PRESET={preset}"):
            config.load(config.merge(quick, config.read_yaml(users)), [users])
    # A preset's own file may lie elsewhere.
    copied.write_text((config.CONFIG / "presets" / "quick.yaml").read_text())
    assert config.load(quick, [copied])["preset"] == "quick"


@pytest.mark.parametrize(
    ("text", "parameters", "message"),
    [
        ("\ufeffa,b,sick\n1,2,3\n", {"target": "sik"}, "target: {} has no column sik; it"),
        ("a;y\n1;2\n", {"target": "y", "separator": ";"}, None),
        ("a,y\n1,2\n", {"target": "y", "features": ["a", "c"]}, "features: {} has no column c; it"),
        # The job names the separator.
        ("a;y\n1;2\n", {"target": "y"}, None),
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


def test_a_package_that_a_recipe_needs_is_named_before_the_first_job(tmp_path, monkeypatch):
    (tmp_path / "mine.parquet").write_bytes(b"")
    parquet = {"dataset": "parquet_file", "path": str(tmp_path / "mine.parquet"), "target": "y"}
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(config.ConfigError, match=r"^datasets.mine.dataset: .*pyarrow, .*: pip"):
        config.load({"datasets": {"mine": parquet}})
    monkeypatch.setattr("importlib.util.find_spec", lambda name: name)
    config.load({"datasets": {"mine": parquet}})


@pytest.mark.parametrize(
    ("section", "module", "message"),
    [
        ("datasets", "def laod(): pass\n", "mine.py cannot be used: .* no attribute 'load'"),
        ("metrics", "", "mine.py cannot be used: .* no attribute 'compute'"),
        ("metrics", "def compute(attributions)\n", "mine.py, line 1: expected ':'"),
        ("datasets", "def load(rows: Cuont = 1): pass\n", "name 'Cuont' is not defined"),
        ("datasets", "from reproduction.parameters import Cuont\n", "cannot import name 'Cuont'"),
    ],
)
def test_a_module_that_cannot_be_used_is_named_before_the_first_job(
    tmp_path, monkeypatch, section, module, message
):
    """Red if an error in a user's own module ends in a traceback that does not name it."""
    (tmp_path / "mine.py").write_text(module)
    package = importlib.import_module(f"reproduction.{section}")
    monkeypatch.setattr(package, "__path__", [*package.__path__, str(tmp_path)])
    monkeypatch.delitem(sys.modules, f"{package.__name__}.mine", raising=False)
    registry._names.cache_clear()
    with pytest.raises(config.ConfigError, match=message):
        config.load({section: {"mine": {section.removesuffix("s"): "mine"}}})
    registry._names.cache_clear()


def test_a_mapping_may_take_over_another_one(tmp_path):
    """By YAML's key ``<<``, which is given once; other keys may not be given twice."""
    file = tmp_path / "mine.yaml"
    file.write_text("a: &a\n  x: 1\n  y: 2\nb: &b\n  <<: *a\n  x: 3\nc:\n  <<: *b\n")
    content = {"a": {"x": 1, "y": 2}, "b": {"x": 3, "y": 2}, "c": {"x": 3, "y": 2}}
    assert config.read_yaml(file) == content


# Each key holds the one before ten times.
_TENFOLD = (f"{y}: &{y} [{', '.join([f'*{x}'] * 10)}]" for x, y in pairwise("abcdefghi"))
_BOMB = "\n".join(["a: &a [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]", *_TENFOLD])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: 1\nb: 2\na: 3\n", r"duplicate key 'a' in lines 1 and 3: keep one of them"),
        ("a: &a {x: 1}\nb:\n  <<: *a\n  y: 1\n  y: 2\n", "duplicate key 'y' in lines 4 and 5"),
        ("a: [1\n", r"not valid YAML in line 2"),
        ("- 1\n", r"expected keys and values at the top level"),
        ("batch_size: 010", r"010 in line 1 has base 8 in YAML, 8: write the number without"),
        ("? [a, b]\n: 1", r"the key .* in line 1 is not allowed; expected text"),
        ("a: " + "[" * 2000 + "]" * 2000, r"nested too deep|values, or nested deeper"),
        ("a: &a [*a]", r"values, or nested deeper than 100"),
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


def incomparable(over):
    judging = Workflow(over).judging(SimpleNamespace(artefact="loecher2022/table1"))
    return judging[judging.index("--incomparable") + 1] if "--incomparable" in judging else ""


def test_the_scale_is_that_of_the_merged_values():
    """Red if small results are held against print because another file calls the run full."""
    smaller = [{"grid": {"data": "noisy_features", "model": "random_forest"}}]
    quick = config.read_yaml(config.CONFIG / "presets" / "quick.yaml")
    full = config.read_yaml(config.CONFIG / "config.yaml")
    assert incomparable({"models": {"mine": {"estimator": "XGBRegressor"}}}) == ""
    for over, reason in (
        ({"experiments": {"loecher2022_noisy": {"sweep": smaller}}}, "loecher2022_noisy"),
        ({"models": {"random_forest": {"n_estimators": 7}}}, "settings differ"),
        (config.merge(quick, full), " "),
    ):
        assert reason in incomparable(over)
