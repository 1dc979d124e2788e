"""Sweeps and plans: what is to be computed, and that adding a value adds only what is new."""

import hashlib
import inspect
import json
import re
import subprocess
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

import splitcredit
from reproduction import metrics, storage
from reproduction.datasets import Dataset
from reproduction.planning import checks, facets, plans, sweep
from reproduction.planning import configuration as config
from reproduction.planning.workflow import Workflow
from reproduction.seeds import derive
from reproduction.stages import importances as importances_stage
from reproduction.stages import metrics as metrics_stage
from splitcredit import to_forest

ROOT = Path(__file__).resolve().parents[3]
FULL = config.read_yaml(ROOT / "config" / "config.yaml")
BASE = {"data": "led_sampled", "model": "extra_trees"}


def planned(configuration, results):
    """The plan of the experiment, its batches written to files as the jobs do."""
    plan = plans.make(configuration, "e", results)
    for batch, runs in plan.batches.items():
        storage.write_json(results / f"plans/e/{batch}.json", [run.to_json() for run in runs])
    return plan


def expanded(content):
    """The points of a sweep that is checked before."""
    checks.check_sweep(content, "e")
    return sweep.expand(content, "e")


def configured(*blocks, **experiment):
    settings = {
        "importances": ["local_mdi", "saabas", "tree_shap"],
        "metrics": ["row_correlation_summary"],
        "sweep": list(blocks),
        **experiment,
    }
    return {**FULL, "experiments": {"e": settings}}


def test_grid_is_every_combination_in_order():
    block = {"grid": {**BASE, "model.max_features": [1, 2], "repeat": {"first": 3, "last": 5}}}
    points = sweep.expand(configured(block), "e")
    combinations = [(p.axes["model.max_features"], p.axes["repeat"]) for p in points]
    assert combinations == [(1, 3), (1, 4), (1, 5), (2, 3), (2, 4), (2, 5)]
    assert points[0].run.model["max_features"] == 1
    assert points[0].run.model["n_estimators"] == 1000


def test_zip_goes_side_by_side():
    block = {"zip": {**BASE, "model.max_features": [1, 2], "data.n_samples": [10, 20]}}
    points = sweep.expand(configured(block), "e")
    combinations = [(p.run.model["max_features"], p.run.data["n_samples"]) for p in points]
    assert combinations == [(1, 10), (2, 20)]


def test_a_preset_keeps_the_first_repeats_of_every_block():
    blocks = [
        {"grid": {**BASE, "repeat": {"first": 3, "last": 9}, "model.max_features": [1, 2]}},
        {"zip": {**BASE, "repeat": [5, 5, 7, 8], "data.n_samples": [10, 20, 30, 40]}},
        {"grid": {**BASE, "data.noise": 0.1}},
    ]
    points = sweep.expand(configured(*blocks, most_repeats=2), "e")
    assert [p.axes.get("repeat") for p in points] == [3, 3, 4, 4, 5, 5, 7, None]
    all_runs = {p.run.key for p in sweep.expand(configured(*blocks), "e")}
    assert {p.run.key for p in points} < all_runs


def test_more_random_draws_keep_the_first_ones():
    axes = {
        **BASE,
        "model.max_features": {"integers": [1, 7]},
        "model.min_impurity_decrease": {"log_uniform": [1e-6, 1e-2]},
        "model.min_weight_fraction_leaf": {"uniform": [0, 0.1]},
        "model.criterion": ["entropy", "gini"],
    }
    three_draws, six_draws = (
        [p.axes for p in sweep.expand(configured({"random": {"draws": n, "axes": axes}}), "e")]
        for n in (3, 6)
    )
    assert six_draws[:3] == three_draws
    assert all(1e-6 <= a["model.min_impurity_decrease"] <= 1e-2 for a in six_draws)
    assert len({a["model.min_impurity_decrease"] for a in six_draws}) == 6


def test_settings_of_measures_and_metrics_share_the_fitted_model():
    block = {
        "grid": {
            **BASE,
            "metric.row_correlation_summary.scores": ["signed", "absolute"],
            "importance.saabas.output": ["predicted", 0],
        }
    }
    points = sweep.expand(configured(block), "e")
    assert len({p.run.key for p in points}) == 1
    assert {p.importances["saabas"][0] for p in points} == {
        "saabas@output=predicted",
        "saabas@output=0",
    }
    assert len({p.metrics["row_correlation_summary"][0] for p in points}) == 4
    assert len(sweep.batches(points, 25)) == 1


def test_variants_are_names_for_settings():
    variants = {"published": {"model.random_state": 0}, "described": {"model.random_state": 7}}
    block = {"grid": {**BASE, "variant": ["published", "described"]}}
    points = sweep.expand(configured(block, variants=variants), "e")
    assert [p.run.model["random_state"] for p in points] == [0, 7]
    assert [p.axes["variant"] for p in points] == ["published", "described"]


def test_a_block_does_not_set_what_its_variant_sets():
    """That of the block counted: rows of all variants were the same, under other names."""
    variants = {"small": {"model.n_estimators": 1}, "large": {"model.n_estimators": 9}}
    block = {"grid": {**BASE, "model.n_estimators": 5, "variant": ["small", "large"]}}
    with pytest.raises(config.ConfigError, match="n_estimators is set by the variant 'small'"):
        expanded(configured(block, variants=variants))


@pytest.mark.parametrize(
    ("axes", "message"),
    [
        ({"data": "led"}, "axis model is missing; name a recipe of model"),
        (
            {**BASE, "data": "lead"},
            "'lead' is not in datasets .did you mean led..; there are ad_data",
        ),
        ({**BASE, "model.trees": 3}, "model.trees: ExtraTreesClassifier has no such parameter"),
        ({**BASE, "depth": 3}, "axis 'depth' is not known; allowed are data, model, repeat"),
        ({**BASE, "importance.output": 0}, "axis 'importance.output' is not known"),
        ({**BASE, "metric.auc.x": 0}, "this experiment has no metric 'auc'; there are row_corr"),
        ({**BASE, "variant": "printed"}, "variant 'printed' is not defined; there are none"),
    ],
)
def test_bad_axes_are_named(axes, message):
    with pytest.raises(config.ConfigError, match=message):
        expanded(configured({"grid": axes}))


def random_block(**axes):
    return {"random": {"draws": 2, "axes": {**BASE, **axes}}}


def grid_block(**axes):
    return {"grid": {**BASE, **axes}}


BAD_VALUES = [
    (
        grid_block(repeat={"first": 5, "last": 3}),
        "sweep.0.grid.repeat: first is 5 and last is 3; expected a last that is not below first",
    ),
    (
        {"zip": {**BASE, "repeat": {"first": 5, "last": 3}}},
        "sweep.0.zip.repeat: first is 5 and last is 3; expected a last that is not below first",
    ),
    (
        grid_block(repeat={"first": 1, "last": 3, "step": 0}),
        "sweep.0.grid.repeat.step: 0 is not allowed; expected at least 1",
    ),
    (
        grid_block(repeat={"first": 1.0, "last": 3}),
        "sweep.0.grid.repeat.first: 1.0 is not allowed; expected a whole number",
    ),
    (grid_block(repeat=["a"]), "sweep.0.repeat: 'a' is not allowed; expected a whole number of"),
    (
        grid_block(**{"data.n_samples": [10, -5]}),
        "sweep.0: data.n_samples: -5 is not allowed; expected a whole number of at least 1",
    ),
    (
        {"zip": {**BASE, "data.noise": [0, 0.1, 2]}},
        "sweep.0: data.noise: 2 is not allowed; expected a number of at least 0 and at most 1",
    ),
    (grid_block(**{"model.n_estimators": 0}), "sweep.0: model.n_estimators: 0 is not allowed"),
    (
        grid_block(**{"metric.row_correlation_summary.scores": "sined"}),
        "metric.row_correlation_summary.scores: 'sined' is not allowed; expected 'signed' or",
    ),
    (grid_block(data=["led", 3]), "sweep.0.data: 3 is not in datasets; there are ad_data"),
    (grid_block(data=[["led"]]), "sweep.0.data: ['led'] is not in datasets"),
    (grid_block(**{"data.dataset": [["led"]]}), "data.dataset: ['led'] is not allowed; expected"),
    (grid_block(variant=None), "variant None is not defined; there are none"),
    (
        grid_block(data=["led_sampled", "led"], **{"data.noise": 0.1}),
        "data.noise: led has no such parameter; allowed are outcome",
    ),
    (
        random_block(**{"data.noise": {"uniform": [0.5, 0.1]}}),
        "axes.data.noise.uniform: [0.5, 0.1] is not allowed; expected the lower end first",
    ),
    (
        random_block(**{"data.noise": {"uniform": [0, 2]}}),
        " is not allowed; expected a number of at least 0 and at most 1",
    ),
    (
        random_block(**{"model.ccp_alpha": {"log_uniform": [0, 1]}}),
        "axes.model.ccp_alpha.log_uniform.0: 0 is not allowed; expected above 0",
    ),
    (
        random_block(**{"model.max_depth": {"integers": [1.5, 3]}}),
        "axes.model.max_depth.integers.0: 1.5 is not allowed; expected a whole number",
    ),
    (
        random_block(**{"model.max_depth": {"integers": [1, 10**30]}}),
        "integers.1: 1000000000000000000000000000000 is not allowed; expected at most 90000000",
    ),
    (
        random_block(**{"model.max_depth": {"integers": [3, 1]}}),
        "axes.model.max_depth.integers: [3, 1] is not allowed; expected the lower end first",
    ),
    (
        random_block(**{"model.max_depth": {"integers": [-3, 0]}}),
        "must be an int in the range [1, inf) or None",
    ),
    (
        random_block(**{"model.max_depth": {"uniform": [1, 3]}}),
        "is not allowed: The 'max_depth' parameter of ExtraTreesClassifier must be an int in",
    ),
    (
        grid_block(repeat={"first": 1, "last": 10**9}),
        "sweep.0: with this block there are 1000000000 points, and a sweep has at most 1000000: "
        "take fewer values (repeat has 1000000000), or make several experiments",
    ),
    (
        grid_block(**{"data.noise": [0, 0.1], "repeat": {"first": 0, "last": 10**6, "step": 2}}),
        "sweep.0: with this block there are 1000002 points, and a sweep has at most 1000000",
    ),
    (
        {"zip": {**BASE, "repeat": {"first": 1, "last": 10**9}}},
        "sweep.0: with this block there are 1000000000 points, and a sweep has at most 1000000",
    ),
    (
        {"random": {"draws": 10**9, "axes": BASE}},
        "sweep.0: with this block there are 1000000000 points, and a sweep has at most 1000000: "
        "take fewer values (draws has 1000000000), or make several experiments",
    ),
]


@pytest.mark.parametrize(("block", "message"), BAD_VALUES)
def test_bad_values_in_a_sweep_are_one_line_before_any_plan_is_made(block, message):
    experiments = configured(block)["experiments"]
    with pytest.raises(config.ConfigError) as caught:
        config.load(under(experiments))
    assert str(caught.value).startswith("experiments.e.sweep.0")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_blocks_of_a_sweep_count_together_and_as_many_points_as_allowed_are_planned():
    ends = ((0, 499_999), (500_000, 999_999))
    blocks = [grid_block(repeat={"first": first, "last": last}) for first, last in ends]
    content = configured(*blocks)
    checks.check_sweep(content, "e")
    assert facets.swept(content["experiments"]["e"])["repeat"] == list(range(1_000_000))
    with pytest.raises(config.ConfigError, match=r"^experiments.e.sweep.2: .* 1000001 points, and"):
        checks.check_sweep(configured(*blocks, grid_block()), "e")


def under(experiments):
    """A configuration with these experiments, to be laid on the project's own."""
    return {"experiments": experiments}


def test_ends_of_a_uniform_interval_are_not_drawn():
    """XGBoost takes a share above 0, so all of (0, 1) is allowed, and more is not."""
    axes = {"model": "bigger", "model.subsample": {"uniform": [0, 1]}}
    assert len(sweep.expand(configured(random_block(**axes)), "e")) == 2


@pytest.mark.parametrize(
    ("metric", "given", "importances", "message"),
    [
        (
            "row_correlation_summary",
            {},
            ["local_mdi", "tree_shap"],
            "row_correlation_summary.pairs: 'saabas' is not among the importances of the "
            "experiment; there are local_mdi, tree_shap; null takes those that there are",
        ),
        ("row_correlation", {}, [], "pairs: 'local_mdi' is not among the importances of the"),
        ("pgi2", {}, ["saabas"], "pgi2.reference: 'tree_shap' is not among the importances"),
        ("removed_error", {}, ["saabas"], "reference: 'tree_shap' is not among the importances"),
        ("randomized_error", {}, ["saabas"], "reference: 'tree_shap' is not among the importances"),
        ("clustering_r2", {}, ["saabas"], "outcomes: 'tree_shap' is not among the importances"),
        ("local_scores", {}, ["saabas"], "importances: 'local_mdi' is not among the importances"),
        ("scores", {"importances": ["mdi"]}, ["air"], "importances: 'mdi' is not among the"),
        ("local_values", {"importances": ["mdi"]}, ["air"], "importances: 'mdi' is not among the"),
        ("relevance_auc", {"importances": ["mdi"]}, ["air"], "importances: 'mdi' is not among"),
    ],
)
def test_a_metric_that_needs_an_importance_that_is_not_computed(
    metric, given, importances, message
):
    axes = {f"metric.{metric}.{parameter}": [value] for parameter, value in given.items()}
    content = configured(grid_block(**axes), importances=importances, metrics=[metric])
    with pytest.raises(config.ConfigError) as caught:
        expanded(content)
    assert message in str(caught.value)
    enough = [*importances, "local_mdi", "saabas", "tree_shap", "mdi"]
    sweep.expand(
        configured(grid_block(**axes), importances=enough, metrics=[metric]),
        "e",
    )


@pytest.mark.parametrize(
    ("metric", "importances", "message"),
    [
        ("relevance", [], "relevance_auc needs at least 1 of the experiment's importances, and"),
        ("pgi2_optimum", [], "pgi2_optimum needs at least 1 of the experiment's importances, and"),
        ("correlations", ["saabas"], "row_correlation needs at least 2 of the experiment's impor"),
    ],
)
def test_a_metric_without_the_importances_that_it_needs_is_refused_in_planning(
    metric, importances, message
):
    content = configured(grid_block(), importances=importances, metrics=[metric])
    content["metrics"] = content["metrics"] | {"correlations": {"metric": "row_correlation"}}
    with pytest.raises(config.ConfigError) as caught:
        checks.check_sweep(content, "e")
    assert f"experiments.e.sweep.0: metric.{metric}: {message}" in str(caught.value)
    assert str(caught.value).endswith(": add to them, or leave the metric out")
    relevant = {"data": "noisy_features", "model": "random_forest"} if metric == "relevance" else {}
    both = ["saabas", "local_mdi"]
    enough = configured(grid_block(**relevant), importances=both, metrics=[metric])
    checks.check_sweep({**content, "experiments": enough["experiments"]}, "e")


@pytest.mark.parametrize("metric", ["topk_agreement", "ranking_changes"])
def test_a_metric_of_one_method_is_refused_without_it(metric):
    """Its job ended with 'has no row', without a remedy."""
    content = configured(grid_block(), importances=["saabas", "local_mdi"], metrics=[metric])
    message = f"metric.{metric}: {metric} needs an importance of the method pg2_greedy; there"
    with pytest.raises(config.ConfigError, match=message):
        checks.check_sweep(content, "e")
    greedy = ["saabas", "greedy_sigma0.3"]
    block = grid_block(data="friedman", model="bigger")
    checks.check_sweep(configured(block, importances=greedy, metrics=[metric]), "e")


def _given_to_metrics():
    """What the metrics take beside importances, all of it small."""
    X, y = np.random.default_rng(0).normal(size=(40, 3)), np.arange(40) % 2
    data = Dataset(X, y, ("a", "b", "c"))
    model = RandomForestRegressor(2, max_depth=2, random_state=0).fit(X, y)
    return {
        "data": data,
        "training": data,
        "forest": to_forest(model, X),
        "estimator": RandomForestClassifier(2, max_features=1, random_state=0),
        "refit": lambda X, y: to_forest(clone(model).fit(X, y), X),
        "sigmas": [0.3],
        "pairs": [],
        "samples": [0],
        "n_pairs": 9,
        "counts": [2],
        "ks": [1],
    }


@pytest.mark.parametrize("name", metrics.available())
def test_a_metric_declares_that_it_needs_importances_if_it_has_no_rows_without(name):
    compute, data = metrics.metric(name), _given_to_metrics()
    parameters = inspect.signature(compute).parameters
    try:
        n_rows = len(compute({}, **{k: v for k, v in data.items() if k in parameters}))
    except (ValueError, KeyError) as error:
        n_rows = 0
        assert re.search("importance|local_mdi|to (concatenate|stack)", str(error)), error
    least = checks.constant("metric", name, "IMPORTANCES", 0)
    assert (least == 0) == (n_rows > 0)


def test_defaults_name_importances_too():
    content = configured(grid_block(), importances=["saabas"], metrics=["class_correlation"])
    content["metrics"] = {"class_correlation": {"metric": "class_correlation"}}
    with pytest.raises(config.ConfigError, match=r"correlation.reference: 'local_mdi' is not amo"):
        expanded(content)


@pytest.mark.parametrize(
    ("metric", "parameter"),
    [
        ("row_correlation_summary", "pairs"),
        ("row_correlation", "pairs"),
        ("pgi2", "reference"),
        ("removed_error", "reference"),
        ("randomized_error", "reference"),
        ("local_scores", "importances"),
    ],
)
def test_null_takes_the_importances_of_the_sweep(metric, parameter):
    axes = {f"metric.{metric}.{parameter}": None}
    sweep.expand(
        configured(grid_block(**axes), importances=["saabas", "mdi"], metrics=[metric]), "e"
    )


def test_a_sweep_may_replace_what_the_recipe_names():
    axes = {"metric.row_correlation_summary.pairs": [[["local_mdi", "tree_shap"]]]}
    sweep.expand(configured(grid_block(**axes), importances=["local_mdi", "tree_shap"]), "e")


def test_what_has_no_default_must_be_given_by_recipe_or_sweep():
    content = configured(grid_block())
    content["experiments"]["e"]["metrics"] = ["local_scores"]
    content["metrics"] = {"local_scores": {"metric": "local_scores"}}
    with pytest.raises(config.ConfigError, match=r"local_scores needs samples$"):
        expanded(content)
    axes = {"metric.local_scores.samples": [[0, 1]]}
    content["experiments"] = configured(grid_block(**axes), metrics=["local_scores"])["experiments"]
    sweep.expand(content, "e")


def test_a_dot_in_a_name_does_not_make_it_another():
    """`greedy_sigma0` is the beginning of `greedy_sigma0.1`, and no setting of it."""
    axes = {"importance.greedy_sigma0.1.sigma": 0.5}
    content = configured(
        grid_block(**axes),
        importances=["greedy_sigma0", "greedy_sigma0.1"],
        metrics=["global_scores"],
    )
    same_recipe = {
        n: content["importances"]["greedy_sigma0.1"] for n in ("greedy_sigma0", "greedy_sigma0.1")
    }
    (point,) = sweep.expand({**content, "importances": same_recipe}, "e")
    assert {n: recipe["sigma"] for n, (_, recipe) in point.importances.items()} == {
        "greedy_sigma0": 0.1,
        "greedy_sigma0.1": 0.5,
    }


def test_zip_of_unequal_lengths_is_named():
    block = {"zip": {**BASE, "model.max_features": [1, 2], "data.n_samples": [1, 2, 3]}}
    with pytest.raises(config.ConfigError, match=r"zip.model.max_features: 2 values beside 3"):
        expanded(configured(block))


def test_outcomes_are_an_axis_of_every_data_set_and_permutations_differ_by_repeat():
    """The rows of iris are the same in all repeats; their permuted outcomes are not."""
    axes = {"data": "iris", "model": "extra_trees", "repeat": [0, 1]}
    block = {"grid": {**axes, "data.outcome": ["observed", "permuted"]}}
    points = sweep.expand(configured(block), "e")
    keys = {}
    for point in points:
        keys.setdefault(point.axes["data.outcome"], set()).add(point.run.data_key)
        assert point.run.data["outcome"] == point.axes["data.outcome"]
    assert len(keys["observed"]) == 1 and len(keys["permuted"]) == 2
    with pytest.raises(config.ConfigError, match="'shuffled' is not allowed"):
        expanded(configured({"grid": {**axes, "data.outcome": "shuffled"}}))


def test_a_class_called_1_and_the_output_1_have_files_of_their_own():
    """Both had one file, so the points of both got the results of one of them."""
    block = {"grid": {**BASE, "importance.tree_shap.output": [1, "1", "predicted"]}}
    points = sweep.expand(configured(block), "e")
    files = [point.importances["tree_shap"][0] for point in points]
    assert len(set(files)) == 3
    assert files[::2] == ["tree_shap@output=1", "tree_shap@output=predicted"]
    assert len({point.metrics["row_correlation_summary"][0] for point in points}) == 3


def test_data_drawn_by_a_seed_of_null_differ_by_repeat():
    """A loader of one's own may take null, the seed of the repeat: repeats of a batch were one."""
    data = {"dataset": "led_sampled", "random_state": None}
    model = {"estimator": "ExtraTreesClassifier"}
    settings = {"data": "mine", "model": "extra_trees"}
    runs = [sweep._run({**settings, "repeat": r}, (data, {}), (model, {})) for r in (1, 2)]
    assert derive(data, 1, "data") != derive(data, 2, "data")
    assert len({run.data_key for run in runs}) == 2


@pytest.mark.parametrize(
    "axis", ["model.n_estimators", "model.max_features", "data.n_samples", "repeat"]
)
def test_adding_a_value_anywhere_adds_batches_and_changes_none(tmp_path, axis):
    axes = {
        **BASE,
        "model.n_estimators": [5, 10],
        "model.max_features": [1, 2],
        "data.n_samples": [20, 40],
        "repeat": [0, 1],
    }
    block = {"grid": axes, "batch_size": 3}
    before = planned(configured(block), tmp_path)
    longer_block = {"grid": {**axes, axis: [*axes[axis], 7]}, "batch_size": 3}
    after = plans.make(configured(longer_block), "e", tmp_path)
    assert before.batches.items() <= after.batches.items()
    old_keys = {run.key for runs in before.batches.values() for run in runs}
    keys = [run.key for b, runs in after.batches.items() if b not in before.batches for run in runs]
    assert len(keys) == len(set(keys)) == 8
    assert not old_keys & set(keys)


def two_runs(results):
    """The name of a batch of two runs, whose plan is written."""
    block = {"grid": {**BASE, "repeat": [0, 1]}, "batch_size": 2}
    (batch,) = planned(configured(block), results).batches
    return batch


def without_the_second(results):
    """The batches that are planned when only the first of the runs is wanted: the repeats."""
    after = plans.make(configured({"grid": {**BASE, "repeat": [0]}}), "e", results)
    return {batch: [run.repeat for run in runs] for batch, runs in after.batches.items()}


def test_a_value_that_was_taken_out_before_any_metric_is_not_computed(tmp_path):
    """It may be what made the batch fail, and would go on doing so."""
    batch = two_runs(tmp_path)
    (tmp_path / "importances" / "e" / batch).mkdir(parents=True)
    after = without_the_second(tmp_path)
    assert list(after.values()) == [[0]] and batch not in after


def test_a_batch_with_results_is_kept_when_a_value_is_taken_from_the_sweep(tmp_path):
    batch = two_runs(tmp_path)
    (tmp_path / "metrics" / "e" / batch).mkdir(parents=True)
    assert without_the_second(tmp_path) == {batch: [0, 1]}


@pytest.mark.long
def test_a_sweep_of_many_values_fits_into_the_arguments_of_its_jobs():
    """Linux takes 128 kB an argument: with 8000 values the job of the points could not start."""
    values = [i / 1e7 for i in range(1, 20_000)]
    axes = {**BASE, "model.min_impurity_decrease": values}
    experiment = {"importances": ["mdi"], "metrics": ["scores"]}
    experiment["sweep"] = [{"zip": axes, "batch_size": len(values)}]
    flow = Workflow({"experiments": {"e": experiment}})
    (batch,) = flow.plan("e").batches
    place = SimpleNamespace(experiment="e", batch=batch)
    for arguments in (flow.definition(place), flow.runs(place), flow.packed()):
        subprocess.run(["true", *arguments], check=True)
    definition = json.loads(storage.unpack(flow.definition(place)))
    assert list(definition["experiments"]["e"]["sweep"][0]["zip"]) == list(axes)
    assert len(storage.unpack(flow.runs(place))) == len(values)


def test_batch_size_groups_runs_and_nothing_else(tmp_path):
    keys = []
    for size in (1, 3, 100):
        block = {"grid": {**BASE, "repeat": {"first": 0, "last": 9}}, "batch_size": size}
        plan = plans.make(configured(block), "e", tmp_path / "none")
        assert max(len(runs) for runs in plan.batches.values()) == min(size, 10)
        keys.append({run.key for runs in plan.batches.values() for run in runs})
    assert keys[0] == keys[1] == keys[2]


def without_batch_size(results, repeats, default=25):
    """Numbers of runs of the batches of a sweep that does not say how many."""
    block = {"grid": {**BASE, "repeat": {"first": 1, "last": repeats}}}
    plan = plans.make({**configured(block), "batch_size": default}, "e", results)
    return [len(runs) for runs in plan.batches.values()]


def test_a_sweep_without_a_batch_size_has_that_of_the_configuration(tmp_path):
    assert without_batch_size(tmp_path, 40) == [25, 15]
    assert without_batch_size(tmp_path, 40, default=15) == [15, 15, 10]


def test_a_large_sweep_without_a_batch_size_does_not_drown_the_scheduler(tmp_path):
    sizes = without_batch_size(tmp_path, 5000, default=1)
    assert sum(sizes) == 5000 and len(sizes) == sweep.MOST_BATCHES


@pytest.mark.parametrize(
    ("recipe", "first"),
    [
        (
            {"dataset": "standardized_split", "of": "red_wine"},
            '{"dataset":"standardised_split","of":"red_wine"}',
        ),
        (
            {"dataset": "standardized_split", "of": "parkinson"},
            '{"dataset":"standardised_split","of":"parkinsons"}',
        ),
        ({"importance": "sage", "loss": "mse"}, '{"loss":"mse","measure":"sage"}'),
        (
            {"importance": "sage", "algorithm": "exact"},
            '{"measure":"sage","method":"exact"}',
        ),
    ],
)
def test_a_recipe_keeps_the_seeds_of_its_first_name(recipe, first):
    words = np.frombuffer(hashlib.sha256(f"{first} data".encode()).digest(), "<u4").tolist()
    expected = np.random.SeedSequence([*words, 2]).generate_state(1)[0]
    assert derive(recipe, 2, "data") == expected


def test_seeds_depend_on_recipe_repeat_and_purpose_only():
    recipe = {"estimator": "ExtraTreesClassifier", "n_estimators": 10}
    reordered = dict(reversed(recipe.items()))
    assert derive(recipe, 3, "model") == derive(reordered, 3, "model")
    other_seeds = [derive(recipe, 4, "model"), derive(recipe, 3, "data"), derive({}, 3, "model")]
    assert derive(recipe, 3, "model") not in other_seeds
    assert len(set(other_seeds)) == 3
    assert derive({**recipe, "random_state": 0}, 3, "model") == 0


def test_a_submitted_job_finds_its_file_again():
    # Executors put commas between the wildcards of a job, and split a name at its own.
    from snakemake.target_jobs import parse_target_jobs_cli_args
    from snakemake_interface_executor_plugins.utils import TargetSpec, encode_target_jobs_cli_args

    axes = {"importance.saabas.output": 0, "importance.saabas.n_rows": 5}
    (point,) = sweep.expand(configured({"grid": {**BASE, **axes}}), "e")
    files = [point.importances["saabas"][0], point.metrics["row_correlation_summary"][0]]
    jobs = [TargetSpec("rule", {"file": file}) for file in files]
    assert parse_target_jobs_cli_args(encode_target_jobs_cli_args(jobs)) == jobs


def test_another_seed_of_a_random_block_gives_other_draws():
    axes = {"model.max_features": {"uniform": [0, 1]}}
    blocks = [{"draws": 3, "axes": axes, "seed": seed} for seed in (0, 1)]
    of_seed_0, of_seed_1 = (list(sweep._draws(block, "e")) for block in blocks)
    assert of_seed_0 != of_seed_1


def test_each_repeat_of_a_sampled_measure_has_a_seed_of_its_own():
    recipe = {"importance": "sage"}
    seeds = [importances_stage._seed(splitcredit.sage, recipe, r)["random_state"] for r in range(3)]
    assert len(set(seeds)) == 3


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        (None, "'subset_scores' returned a NoneType for one: return a DataFrame"),
        (pd.DataFrame({"importance": ["mdi"]}), "has no column .*, which its KEYS name"),
        (pd.DataFrame(columns=[*metrics.keys("subset_scores"), "value"]), "has no row for one"),
    ],
)
def test_a_metric_that_returns_no_table_is_named_by_its_own_job(returned, message):
    with pytest.raises((TypeError, ValueError), match=message):
        metrics_stage._check_is_table("subset_scores", returned, "one")


LED = {"data": "led_sampled", "model": "extra_trees", "model.n_estimators": 2}
FRIEDMAN = {"data": "friedman", "model": "bigger"}
TITANIC = {"data": "titanic", "model": "bigger"}


@pytest.mark.parametrize(
    ("grid", "importances", "metrics", "message"),
    [
        ({**LED, "model.folds": 2}, ["mdi"], ["scores"], "importance.mdi explains no single rows"),
        ({**LED, "model.folds": 2}, ["saabas"], ["model_card"], "takes one model, and folds fit"),
        ({**LED, "model.folds": 999}, ["saabas"], ["scores"], "folds: 999 is not in 2..200"),
        ({**FRIEDMAN, "model.folds": 2}, [], ["cross_validated_error"], "are split for training"),
        (
            {**LED, "importance.saabas.output": 10},
            ["saabas"],
            ["scores"],
            "importance.saabas.output: 10 is not allowed: the classes are 0, 1, 2, 3, 4, 5, 6, 7, "
            "8, 9; expected 'all', 'predicted', a name or an index below 10",
        ),
        ({**LED, "importance.saabas.output": "x"}, ["saabas"], ["scores"], "'x' is not allowed"),
        ({**LED, "importance.saabas.output": None}, ["saabas"], ["scores"], "null is not allowed"),
        (
            {**FRIEDMAN, "importance.saabas.output": 1},
            ["saabas"],
            ["scores"],
            "there is one output; expected 'all', 'predicted', a name or an index below 1",
        ),
        (
            {**LED, "importance.saabas.output": "all"},
            ["saabas"],
            ["scores"],
            "metric.scores takes one output of each importance, and importance.saabas explains all "
            "classes: set its output: predicted, or to one class",
        ),
        (
            {**LED, "metric.local_values.importances": [["mdi"]]},
            ["mdi"],
            ["local_values"],
            "takes importances that explain rows, and importance.mdi explains none: leave it out",
        ),
        (
            {**LED, "metric.local_scores.samples": [[200]]},
            ["local_mdi", "saabas", "tree_shap"],
            ["local_scores"],
            "samples: there is no row 200; 200 rows are explained, from 0 on",
        ),
        (
            {"data": "noisy_features", "data.n_relevant": 11, "model": "random_forest"},
            ["mdi"],
            ["scores"],
            "n_relevant=11, n_candidates=10, n_features=50; give no more of one than of the next",
        ),
        (
            {**TITANIC, "data": "red_wine", "data.test_share": 0.99999},
            ["saabas"],
            ["scores"],
            "test_share: 0.99999 of 1599 rows leaves none for training: take a smaller share",
        ),
        ({**FRIEDMAN, "model.objective": "binary:logistic"}, [], ["model_card"], "base_score"),
        (
            {**TITANIC, "model.recorded": "gajewski2025_wine_tree"},
            [],
            ["model_card"],
            "gajewski2025_wine_tree is a model of other features: leave it out",
        ),
    ],
)
def test_what_does_not_fit_together_is_refused_before_the_first_job(
    grid, importances, metrics, message
):
    """Red if it fails when other jobs have run."""
    experiments = configured({"grid": grid}, importances=importances, metrics=metrics)
    with pytest.raises(config.ConfigError) as caught:
        config.load(under(experiments["experiments"]))
    assert str(caught.value).startswith("experiments.e.sweep.0: ")
    assert message in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("grid", "importances", "metrics"),
    [
        ({**TITANIC, "model.objective": "binary:logistic"}, [], ["model_card"]),
        ({**LED, "importance.saabas.output": "9"}, ["saabas"], ["scores"]),
        ({**LED, "model.folds": 200}, ["saabas"], ["local_values"]),
    ],
)
def test_what_fits_together_is_taken(grid, importances, metrics):
    """Two classes may be fitted as a probability, and the last class and fold count."""
    experiments = configured({"grid": grid}, importances=importances, metrics=metrics)
    config.load(under(experiments["experiments"]))


def test_a_target_that_is_none_is_one_line_with_the_nearest():
    flow = Workflow({})
    line = "sutera2021_table99 is no paper, artefact or experiment (did you mean sutera2021/table"
    assert flow.unknown("sutera2021_table99").startswith(line)
    assert flow.unknown("nothing") == "nothing is no paper, artefact or experiment"
    assert not any(map(flow.unknown, ("", "--lint", "sutera2021_table4", "sutera2021")))
