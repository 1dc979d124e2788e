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
from batches import Batch
from reproduction import datasets, metrics, storage
from reproduction.datasets import Dataset
from reproduction.planning import configuration as config
from reproduction.planning import experiments, facets, plans, recipes, sweep
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
    experiments.check_sweep(content, "e")
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


def random_block(**axes):
    return {"random": {"draws": 2, "axes": {**BASE, **axes}}}


def grid_block(**axes):
    return {"grid": {**BASE, **axes}}


def test_the_blocks_of_a_sweep_count_together_and_as_many_points_as_allowed_are_planned():
    ends = ((0, 499_999), (500_000, 999_999))
    blocks = [grid_block(repeat={"first": first, "last": last}) for first, last in ends]
    content = configured(*blocks)
    experiments.check_sweep(content, "e")
    assert facets.swept(content["experiments"]["e"])["repeat"] == list(range(1_000_000))
    with pytest.raises(config.ConfigError, match=r"^experiments.e.sweep.2: .* 1000001 points, and"):
        experiments.check_sweep(configured(*blocks, grid_block()), "e")


def test_ends_of_a_uniform_interval_are_not_drawn():
    """XGBoost takes a share above 0, so all of (0, 1) is allowed, and more is not."""
    axes = {"model": "bigger", "model.subsample": {"uniform": [0, 1]}}
    assert len(sweep.expand(configured(random_block(**axes)), "e")) == 2


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
    least = recipes.constant("metric", name, "IMPORTANCES", 0)
    assert (least == 0) == (n_rows > 0)


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
    packed_definition = storage.pack(flow.definition("e"))
    for arguments in (packed_definition, flow.runs(place), flow.packed()):
        subprocess.run(["true", *arguments], check=True)
    definition = json.loads(storage.unpack(packed_definition))
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


RED_WINE = {"dataset": "standardized_split", "of": "red_wine"}
TREE = {"estimator": "DecisionTreeRegressor", "max_depth": 2}
WINE_TREE = {"estimator": "XGBRegressor", "recorded": "gajewski2025_wine_tree"}


@pytest.mark.parametrize(
    ("data", "model", "metric", "message"),
    [
        ({**RED_WINE, "test_share": 0.99999}, TREE, {}, "test_share: .* leaves none for training"),
        (RED_WINE, {**TREE, "folds": 2}, {}, "model.folds: these rows are split .*: leave it out"),
        ({"dataset": "iris"}, {**TREE, "folds": 999}, {}, "folds: 999 is not in 2..150, the"),
        ({"dataset": "iris"}, WINE_TREE, {}, "recorded: gajewski2025_wine_tree has 11 features, X"),
        (
            {"dataset": "iris"},
            TREE,
            {"metric": "local_scores", "samples": [150]},
            "metric.local_scores.samples: there is no row 150; 150 rows are explained, from 0 on",
        ),
        (
            {"dataset": "iris"},
            TREE,
            {"metric": "relevance_auc"},
            "metric.relevance_auc.among: of these data no feature, or each, is known to be",
        ),
    ],
)
def test_what_the_rows_decide_is_one_line_of_the_job(tmp_path, data, model, metric, message):
    with pytest.raises(ValueError, match=message):
        Batch(tmp_path, datasets.load(data), model).fit().measured(**metric)


def test_a_target_that_is_none_is_one_line_with_the_nearest():
    flow = Workflow({})
    line = "sutera2021_table99 is no paper, artefact or experiment (did you mean sutera2021/table"
    assert flow.unknown("sutera2021_table99").startswith(line)
    assert flow.unknown("nothing") == "nothing is no paper, artefact or experiment"
    assert not any(map(flow.unknown, ("", "--lint", "sutera2021_table4", "sutera2021")))
