"""Configuration: every error is one line that names key, value and what is allowed."""

import importlib
import re
import shutil
import sys
import typing
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import yaml

from reproduction import datasets, metrics, models, peers, registry
from reproduction.datasets import loader
from reproduction.metrics import metric
from reproduction.parameters import Count, ImportanceName, Share, TieOrder, named, problem
from reproduction.peers import function_of
from reproduction.planning import checks
from reproduction.planning import configuration as config
from reproduction.planning.workflow import Workflow
from reproduction.recorded import TIE_ORDERS
from splitcredit import measures
from splitcredit.kernels.tree_shap.explain import ALGORITHMS
from splitcredit.kernels.walks.oob import CORRECTIONS
from splitcredit.models.rescaling import CURVES
from splitcredit.prediction_gap.greedy import ARITHMETICS

ROOT = Path(__file__).resolve().parents[3]
SCHEMA = ROOT / "workflow" / "schemas" / "config.schema.yaml"


def load(over):
    return config.load(over)


@pytest.mark.parametrize("preset", ["quick", "tiny"])
def test_presets_are_valid(preset):
    over = config.read_yaml(ROOT / "config" / "presets" / f"{preset}.yaml")
    assert load(over)["preset"] == preset
    assert load({})["preset"] == "full"


@pytest.mark.parametrize(
    ("over", "message"),
    [
        ({"sed": 1}, r"^unknown key sed; allowed are artefacts, batch_size, "),
        ({"preset": "huge"}, r"preset: 'huge' is not allowed; allowed are tiny, quick, full"),
        ({"paper_scale": "yes"}, r"paper_scale: 'yes' is not allowed; expected true or false"),
        (
            {"models": {"m": {"estimator": "ExtraTrees"}}},
            r"models.m.estimator: unknown estimator 'ExtraTrees': available are Decision",
        ),
        (
            {"models": {"m": {"estimator": "ExtraTreesClassifier", "trees": 5}}},
            r"models.m.trees: ExtraTreesClassifier has no such parameter; allowed are bootstrap",
        ),
        (
            {"models": {"extra_trees": {"n_estimators": 0}}},
            r"models.extra_trees.n_estimators: 0 is not allowed: The 'n_estimators' parameter of",
        ),
        (
            {"models": {"extra_trees": {"n_estimators": "many"}}},
            r"n_estimators: 'many' is not allowed: The .* must be an int in the range \[1, inf\)",
        ),
        (
            {"datasets": {"d": {"dataset": "mnist"}}},
            r"datasets.d.dataset: unknown data set 'mnist': available are ad_data",
        ),
        (
            {"datasets": {"digits": {"row": 3}}},
            r"datasets.digits.row: digits has no such parameter .did you mean rows..; allowed",
        ),
        (
            {"importances": {"x": {"importance": "shap"}}},
            r"importances.x.importance: unknown method 'shap': available are air",
        ),
        (
            {"metrics": {"row_correlation": {"score": "signed"}}},
            r"metrics.row_correlation.score: row_correlation has no such .* .did you mean scores",
        ),
        (
            {"experiments": {"sutera2021_local": {"metrics": ["nothing"]}}},
            r"experiments.sutera2021_local.metrics: 'nothing' is not in metrics; there are",
        ),
        (
            {"sweeps": ["nothing"]},
            r"sweeps: 'nothing' is not in experiments; there are",
        ),
        (
            {"experiments": {"sutera2021_local": {"sweep": []}}},
            r"experiments.sutera2021_local.sweep: \[\] should be non-empty",
        ),
        (
            {"experiments": {"e": {"importances": ["saabas"], "metrics": ["row_correlation"]}}},
            r"experiments.e: sweep is missing; allowed are importances",
        ),
        (
            {"artefacts": {"sutera2021/table4": {"inputs": ["nowhere/row_correlation"]}}},
            r"artefacts.sutera2021/table4.inputs: 'nowhere' is not in experiments; there are",
        ),
        (
            {"artefacts": {"sutera2021/table9": {"title": "x", "figures": True}}},
            r"artefacts.sutera2021/table9: unknown key figures; allowed are datasets, inputs",
        ),
    ],
)
def test_errors_are_one_line_naming_key_value_and_what_is_allowed(over, message):
    with pytest.raises(config.ConfigError, match=message) as caught:
        load(over)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "over", "message"),
    [
        (
            "sutera2021/costs",
            {"parameters": {"treess": 5}},
            "parameters.treess: no such parameter; allowed are loss_rows, repeats, trees",
        ),
        (
            "sutera2021/costs",
            {"parameters": {"trees": "x"}},
            "parameters.trees: 'x' is not allowed; expected a whole number",
        ),
        (
            "sutera2021/convergence",
            {"parameters": {"trees": "x"}},
            "parameters.trees: 'x' is not allowed; expected a list",
        ),
        (
            "sutera2021/table4",
            {"parameters": {"inputs": 1}},
            "parameters.inputs: no such parameter; allowed are none",
        ),
        # Its function is imported.
        (
            "sutera2021/agreement",
            {"parameters": {"trees": 1}},
            "parameters.trees: no such parameter; allowed are none",
        ),
        (
            "sutera2021/table4",
            {"recorded": "r.csv"},
            "recorded: its table takes none; leave it out",
        ),
        (
            "sutera2021/table4",
            {"datasets": ["led"]},
            "datasets: its table takes none; leave it out",
        ),
        (
            "loecher2022/figure3",
            {"recorded": "s.csv"},
            "recorded: no file 's.csv'; there are author.csv, r.csv",
        ),
        ("sutera2021/table1", {"statements": ["s01"]}, "statements: table1.py decides none"),
        (
            "sutera2021/table4",
            {"statements": ["s20", "s99"]},
            "statements: sutera2021 has no 's99'; there are s01, s02, ",
        ),
    ],
)
def test_what_an_artefact_asks_of_its_code_is_checked_before_the_first_job(name, over, message):
    with pytest.raises(config.ConfigError) as caught:
        load({"artefacts": {name: over}})
    assert str(caught.value).startswith(f"artefacts.{name}.{message}")
    assert "\n" not in str(caught.value)


def recipe(section, key, **recipe):
    """A configuration with one recipe, named d."""
    return {section: {"d": {key: recipe.pop("of_file"), **recipe}}}


def drawn(**parameters):
    return recipe("datasets", "dataset", of_file="led_sampled", **parameters)


def measured(name, **parameters):
    return recipe("importances", "importance", of_file=name, **parameters)


def forest(**parameters):
    return recipe("models", "estimator", of_file="ExtraTreesClassifier", **parameters)


def boosted(**parameters):
    return recipe("models", "estimator", of_file="XGBRegressor", **parameters)


def correlated(**parameters):
    return recipe("metrics", "metric", of_file="row_correlation", **parameters)


WHOLE = "a whole number of at least 1"
PROBABILITY = "a number of at least 0 and at most 1"
BAD_VALUES = [
    (drawn(n_samples=-5), f"datasets.d.n_samples: -5 is not allowed; expected {WHOLE}"),
    (drawn(n_samples=0), f"datasets.d.n_samples: 0 is not allowed; expected {WHOLE}"),
    (drawn(n_samples=2.5), f"datasets.d.n_samples: 2.5 is not allowed; expected {WHOLE}"),
    (drawn(n_samples=True), f"datasets.d.n_samples: true is not allowed; expected {WHOLE}"),
    (drawn(n_samples=None), f"datasets.d.n_samples: null is not allowed; expected {WHOLE}"),
    (drawn(noise=2), f"datasets.d.noise: 2 is not allowed; expected {PROBABILITY}"),
    (drawn(noise="text"), f"datasets.d.noise: 'text' is not allowed; expected {PROBABILITY}"),
    (
        drawn(random_state=2**32),
        "datasets.d.random_state: 4294967296 is not allowed; expected a whole number of at least 0 "
        "and at most 4294967295",
    ),
    (
        recipe("datasets", "dataset", of_file="ad_data", target="age"),
        "datasets.d.target: 'age' is not allowed; expected 'Class' or 'tau'",
    ),
    (
        recipe("datasets", "dataset", of_file="ad_data", share=0),
        "datasets.d.share: 0 is not allowed; expected a number above 0 and at most 1",
    ),
    (
        recipe("datasets", "dataset", of_file="standardized_split", of="mnist"),
        "datasets.d.of: 'mnist' is not a data set; there are ad_data",
    ),
    (
        forest(max_features=1.5),
        "models.d.max_features: 1.5 is not allowed: The 'max_features' parameter of ExtraTreesClas",
    ),
    (forest(min_samples_split=1), "must be an int in the range [2, inf) or a float in the range"),
    (forest(folds=1), "models.d.folds: 1 is not allowed; expected a whole number of at least 2"),
    (
        forest(ccp_alpha="1e-6"),
        "'1e-6' is not allowed (this is text: a number has no "
        "quotes, and a decimal point as in 1.0e-6; numbers within --config name='{...}' are text, "
        "so put them into a file for --configfile)",
    ),
    (forest(class_weight={0: 2.0}), "models.d.class_weight: the key 0 is not allowed; expected"),
    (boosted(subsample=0), "models.d.subsample: 0 is not allowed; expected a number above 0"),
    (
        boosted(tree_method="gpu"),
        "models.d.tree_method: 'gpu' is not allowed: Invalid Input: 'gpu', valid val",
    ),
    (
        correlated(scores="a\nb"),
        "metrics.d.scores: 'a\\nb' is not allowed; expected 'signed' or 'absolute'",
    ),
    (
        correlated(pairs=["saabas", "mdi"]),
        "metrics.d.pairs: ['saabas', 'mdi'] is not allowed; expected a list, each a list of 2",
    ),
    (
        measured("oob_attributions", rows="obb"),
        "importances.d.rows: 'obb' is not allowed; expected 'inbag' or 'oob'",
    ),
    (
        measured("sage", loss="entropy"),
        "importances.d.loss: 'entropy' is not allowed; expected 'cross_entropy' or 'mse' or null",
    ),
    (
        measured("penalized_gini", preset="pg_13"),
        "importances.d.preset: 'pg_13' is not allowed; expected 'pg_10' or 'pg_hat_10' or",
    ),
    (
        measured("pg2_greedy", sigma=-0.1),
        "importances.d.sigma: -0.1 is not allowed; expected a number of at least 0",
    ),
    (
        measured("pg2_greedy", sigma=0.1, ties="larger"),
        "importances.d.ties: 'larger' is not allowed; expected 'single' or 'bigger' or a list",
    ),
    (
        measured("tree_shap_shap", output=-1),
        "importances.d.output: -1 is not allowed; expected 'predicted' or a whole number of at",
    ),
    ({"datasets": {7: {"dataset": "iris"}}}, "datasets: the key 7 is not allowed; expected text"),
    ({True: 1}, "the key True is not allowed; expected text"),
    (
        recipe("datasets", "dataset", of_file="csv_file", path="~nobody-of-this-name/x.csv"),
        "no such file",
    ),
    (recipe("datasets", "dataset", of_file="csv_file", path="x" * 5000), ": no such file"),
    *(
        (
            recipe("datasets", "dataset", of_file="standardized_split", of=name),
            f"datasets.d.of: {name} needs {needed}, which cannot be given here; name another",
        )
        for name, needed in (("csv_file", "path, target"), ("standardized_split", "of"))
    ),
    *(
        (recipe("metrics", "metric", of_file=name, **{parameter: []}), "[] is not allowed; exp")
        for name, parameter in (
            *(("pgi2", "sigmas"), ("removed_error", "ks"), ("local_scores", "samples")),
            *(("agreement", "pairs"), ("sampling_error", "counts")),
            *(("global_scores", "importances"), ("topk_agreement", "ks")),
            *(("clustering_r2", "linkages"), ("clustering_r2", "outcomes")),
            *(("row_correlation", "pairs"), ("relevance_auc", "among")),
        )
    ),
    *(
        (recipe("metrics", "metric", of_file=name, **{parameter: value}), "is there twice: name")
        for name, parameter, value in (
            ("global_scores", "importances", ["saabas", "saabas"]),
            ("row_correlation", "pairs", [["saabas", "mdi"], ["mdi", "saabas"], ["saabas", "mdi"]]),
            ("topk_agreement", "ks", [1, 2, 1]),
            ("pgi2", "sigmas", [0.3, 1, 1.0]),
        )
    ),
    (measured("pg2_greedy", ties=[]), "importances.d.ties: [] is not allowed; expected at least"),
    (
        recipe("datasets", "dataset", of_file="csv_file", features=[]),
        "datasets.d.features: [] is not allowed; expected at least one value",
    ),
    ({"datasets": {"d": None}}, "datasets.d: null is not allowed; expected keys and values"),
]


@pytest.mark.parametrize(("over", "message"), BAD_VALUES)
def test_a_bad_value_is_one_line_with_its_place_and_what_is_allowed(over, message):
    with pytest.raises(config.ConfigError) as caught:
        load(over)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
    assert not str(caught.value).startswith("configuration")


@pytest.mark.parametrize(
    "over",
    [
        drawn(n_samples=1, noise=1, random_state=2**32 - 1),
        recipe("datasets", "dataset", of_file="digits", rows=None),
        forest(max_features=0.5, min_samples_split=2, class_weight="balanced", folds=2),
        boosted(max_depth=0, subsample=1, missing=-1, learning_rate=None),
        correlated(pairs=[["saabas", "mdi"]]),
        measured("pg2_greedy", sigma=0, ties=[[0, 1], [1, 0]], output="a name"),
        measured("penalized_gini", preset="ufi", weights=None, min_child_oob=0),
    ],
)
def test_values_at_the_ends_of_their_ranges_are_allowed(over):
    load(over)


@pytest.mark.parametrize(
    ("name", "parameter"),
    [
        *(("clustering_r2", "importances"), ("clustering_r2", "random")),
        *(("clustering_r2", "groups"), ("row_correlation_summary", "thresholds")),
    ],
)
def test_a_list_may_be_empty_where_its_module_says_so(name, parameter):
    load(recipe("metrics", "metric", of_file=name, **{parameter: []}))


@pytest.mark.parametrize("name", ["../x", "a b", "a;b", "$(x)", "a\n", "", "_a", "1a", "a/b", "ä"])
def test_names_follow_one_pattern(name):
    checks.check_name("greedy_sigma0.1-b", "importances")
    with pytest.raises(config.ConfigError) as caught:
        checks.check_name(name, "importances")
    expected = f"importances: the name {name!r} is not allowed; expected a letter, and then letters"
    assert str(caught.value).startswith(expected)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("section", ["experiments", "datasets", "models", "importances", "metrics"])
def test_names_of_every_section_are_checked(section):
    entry = next(iter(load({})[section].values()))
    load({section: {"some.other-name_1": entry}})
    with pytest.raises(config.ConfigError, match=rf"^{section}: the name '\.\./x' is not allowed"):
        load({section: {"../x": entry}})


FUNCTIONS = {"data": loader, "importance": function_of, "metric": metric}
NAMES = {"data": datasets.available(), "metric": metrics.available()}
NAMES["importance"] = [*measures.names(), *peers.available()]
EVERY = [(kind, name) for kind in FUNCTIONS for name in NAMES[kind]]


@pytest.mark.parametrize(("kind", "name"), EVERY)
def test_defaults_fit_their_annotations(kind, name):
    for parameter in checks.taken(kind, name).values():
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
    taken = checks.taken(kind, name)
    assert [n for n in names if not choices(taken[n].annotation)] == []


@pytest.mark.parametrize("name", models.ESTIMATORS)
def test_defaults_of_estimators_are_allowed(name):
    defaults = models.unfitted({"estimator": name}).get_params()
    recipe = {k: v for k, v in defaults.items() if k in checks.signature("model", name, "m")}
    checks.check_recipe("model", {"estimator": name, **recipe, "random_state": 0}, "m")


@pytest.mark.parametrize(
    ("name", "given", "word"),
    [
        ("XGBClassifier", {"max_depth": -3}, "should be greater equal to 0"),
        ("XGBRegressor", {"max_depth": "x"}, "expect int"),
        ("XGBRegressor", {"booster": "gblinear"}, "expected 'gbtree' or 'dart'"),
        ("XGBRegressor", {"objective": "x"}, "m.objective: 'x' is not allowed: Unknown objective"),
        ("XGBRegressor", {"max_bin": 1}, "must be equal to or greater than 2"),
        ("XGBRegressor", {"subsample": "0.5"}, "(this is text: a number has no quotes"),
        ("LGBMClassifier", {"num_leaves": 1}, "Check failed: (num_leaves) > (1)"),
        ("LGBMRegressor", {"learning_rate": -1}, "Check failed: (learning_rate) > (0.0)"),
        ("LGBMRegressor", {"n_estimators": 0}, "expected a whole number of at least 1"),
        ("RandomForestRegressor", {"criterion": "gini"}, "The 'criterion' parameter of Random"),
    ],
)
def test_what_a_library_refuses_is_refused_in_its_words_in_one_line(name, given, word):
    with pytest.raises(config.ConfigError) as caught:
        checks.check_recipe("model", {"estimator": name, **given}, "m")
    assert word in str(caught.value) and "\n" not in str(caught.value)


def test_what_depends_on_the_data_is_left_to_the_job():
    """A constraint for each feature, or random forests that need two parameters."""
    checks.check_recipe("model", {"estimator": "XGBRegressor", "monotone_constraints": [1]}, "m")
    checks.check_recipe("model", {"estimator": "LGBMRegressor", "boosting_type": "rf"}, "m")


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
        (typing.Literal[0, "a"], [0, "a"], [False, 0.0, "b", []]),
        (typing.Annotated[int, ">= 2, < 4"], [2, 3], [1, 4, 2.5]),
        (typing.Annotated[int, ">= 2"] | Share, [2, 0.5, 1.0], [1, 0.0]),
        (dict, [{}], [[]]),
    ],
)
def test_values_fit_annotations_or_do_not(annotation, fits, not_these):
    assert [problem(annotation, value) for value in fits] == [""] * len(fits)
    for value in not_these:
        assert "is not allowed; expected " in problem(annotation, value)


def test_names_of_importances_are_found_inside_values():
    pairs = list[tuple[ImportanceName, ImportanceName]]
    assert named(pairs, [["a", "b"], ["c", "a"]], ImportanceName) == ["a", "b", "c", "a"]
    outcomes = Sequence[typing.Literal["label"] | ImportanceName]
    assert named(outcomes, ["label", "a"], ImportanceName) == ["a"]
    assert named(list[ImportanceName] | None, None, ImportanceName) == []
    assert named(list[str], ["a"], ImportanceName) == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: 1\nb: 2\na: 3\n", r"duplicate key 'a' in lines 1 and 3: keep one of them"),
        ("m:\n  x: 1\n  x: 1\n", r"duplicate key 'x' in lines 2 and 3"),
        ("a: [1\n", r"not valid YAML in line 2"),
        ("- 1\n", r"expected keys and values at the top level"),
    ],
)
def test_bad_yaml_is_named_with_its_file_and_line(tmp_path, text, message):
    path = tmp_path / "mine.yaml"
    path.write_text(text)
    with pytest.raises(config.ConfigError, match=f"mine.yaml: {message}"):
        config.read_yaml(path)


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
    over = recipe("datasets", "dataset", of_file="csv_file", path=str(path), **parameters)
    if message is None:
        load(over)
    else:
        with pytest.raises(config.ConfigError) as caught:
            load(over)
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
    for cached in (registry._names, checks.taken, checks._signature):
        cached.cache_clear()
    kinds = {"datasets": "data", "metrics": "metric", "peers": "importance"}
    kind = kinds[package.__name__.rpartition(".")[2]]
    with pytest.raises(config.ConfigError, match=message) as caught:
        checks.signature(kind, "mine", "place")
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
        ("batch_size: 010", r"010 in line 1 has base 8 in YAML, 8: write the number without"),
        ("? [a, b]\n: 1", r"the key .* in line 1 is not allowed; expected text"),
        ("a: " + "[" * 2000 + "]" * 2000, r"too deep in each other|values, or more than"),
        ("a: &a [*a]", r"values, or more than 100 in each other"),
        (_BOMB, r"more than 1000000 values"),
    ],
)
def test_a_file_that_yaml_reads_otherwise_or_never_ends_is_refused(tmp_path, text, message):
    """Red if 010 is 8 without a word, or ten lines of aliases take all memory."""
    (tmp_path / "c.yaml").write_text(text)
    with pytest.raises(config.ConfigError, match=rf"c\.yaml: .*{message}") as caught:
        config.read_yaml(tmp_path / "c.yaml")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("over", "message"),
    [
        ({"datasest": {}}, r"unknown key datasest \(did you mean datasets\?\); allowed are"),
        (
            {"sweeps": ["sweep_pgi"]},
            r"'sweep_pgi' is not in experiments \(did you mean sweep_pgi2\?\)",
        ),
        (
            {"models": {"extra_trees": {"n_estimator": 5}}},
            r"no such parameter \(did you mean n_estimators\?\); allowed are",
        ),
        (
            {"models": {"m" * 300: {"estimator": "XGBRegressor"}}},
            r"models: the name mmmm.* has 300 characters; at most 100",
        ),
        (
            {"datasets": {"t.csv": {"dataset": "iris"}}},
            r"'t.csv' is not allowed; it ends as a file",
        ),
        (
            {"artefacts": {"gajewski2025/timings": {"parameters": {"repeats": -1}}}},
            r"parameters.repeats: -1 is not allowed; expected a whole number of at least 1",
        ),
        (
            {"artefacts": {"gajewski2025/timings": {"parameters": {"trees": []}}}},
            r"parameters.trees: \[\] is not allowed; expected at least one value",
        ),
        (
            {"metrics": {"row_correlation_summary": {"thresholds": [5, -7]}}},
            r"thresholds: \[5, -7\] is not allowed; expected a list, each a number of at least -1",
        ),
    ],
)
def test_what_makes_no_sense_is_refused_with_what_is_near(over, message):
    with pytest.raises(config.ConfigError, match=message):
        load(over)


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
