"""Sweeps and plans: what is to be computed, and that adding a value adds only what is new."""

import hashlib
import inspect
import json
import re
import subprocess
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

from batches import Batch
from reproduction import datasets, metrics, storage
from reproduction.datasets import Dataset
from reproduction.planning import configuration as config
from reproduction.planning import experiments, plans, recipes, sweep
from reproduction.planning.workflow import Workflow
from reproduction.seeds import derive
from splitcredit import to_forest

FULL = config.read_yaml(config.CONFIG / "config.yaml")
BASE = {"data": "led_sampled", "model": "extra_trees"}
RED_WINE = {"dataset": "standardized_split", "of": "red_wine"}
TREE = {"estimator": "DecisionTreeRegressor", "max_depth": 2}
WINE_TREE = {"estimator": "XGBRegressor", "recorded": "gajewski2025_wine_tree"}


def planned(configuration, results):
    """The plan of the experiment, its batches written to files as the jobs do."""
    plan = plans.make(configuration, "e", results)
    for batch, runs in plan.batches.items():
        storage.write_json(results / f"plans/e/{batch}.json", [run.to_json() for run in runs])
    return plan


def configured(*blocks, **experiment):
    settings = {
        "importances": ["local_mdi", "saabas", "tree_shap"],
        "metrics": ["row_correlation_summary"],
        "sweep": list(blocks),
        **experiment,
    }
    return {**FULL, "experiments": {"e": settings}}


def expanded(*blocks, **experiment):
    """The points of a sweep."""
    return sweep.expand(configured(*blocks, **experiment), "e")


def test_grid_is_every_combination_in_order_and_zip_goes_side_by_side():
    axes = {**BASE, "model.max_features": [1, 2]}
    points = expanded({"grid": {**axes, "repeat": {"first": 3, "last": 5}}})
    combinations = [(p.run.model["max_features"], p.axes["repeat"]) for p in points]
    assert combinations == [(1, 3), (1, 4), (1, 5), (2, 3), (2, 4), (2, 5)]
    assert points[0].run.model["n_estimators"] == 1000
    points = expanded({"zip": {**axes, "data.n_samples": [10, 20]}})
    combinations = [(p.run.model["max_features"], p.run.data["n_samples"]) for p in points]
    assert combinations == [(1, 10), (2, 20)]


def test_a_preset_keeps_the_first_repeats_of_every_block():
    blocks = [
        {"grid": {**BASE, "repeat": {"first": 3, "last": 9}, "model.max_features": [1, 2]}},
        {"zip": {**BASE, "repeat": [5, 5, 7, 8], "data.n_samples": [10, 20, 30, 40]}},
        {"grid": {**BASE, "data.noise": 0.1}},
    ]
    points = expanded(*blocks, most_repeats=2)
    assert [p.axes.get("repeat") for p in points] == [3, 3, 4, 4, 5, 5, 7, None]
    assert {p.run.key for p in points} < {p.run.key for p in expanded(*blocks)}


def test_more_random_draws_keep_the_first_ones_and_another_seed_gives_others():
    axes = {
        **BASE,
        "model.max_features": {"integers": [1, 7]},
        "model.min_impurity_decrease": {"log_uniform": [1e-6, 1e-2]},
        "model.min_weight_fraction_leaf": {"uniform": [0, 0.1]},
        "model.criterion": ["entropy", "gini"],
    }

    def drawn(draws, **options):
        points = expanded({"random": {"draws": draws, "axes": axes, **options}})
        return [point.axes for point in points]

    six_draws = drawn(6)
    assert six_draws[:3] == drawn(3) == drawn(3, seed=0) != drawn(3, seed=1)
    values = {a["model.min_impurity_decrease"] for a in six_draws}
    assert len(values) == 6 and 1e-6 <= min(values) <= max(values) <= 1e-2


def test_settings_of_measures_and_metrics_share_the_fitted_model():
    axes = {
        "metric.row_correlation_summary.scores": ["signed", "absolute"],
        "importance.saabas.output": ["predicted", 0],
    }
    points = expanded({"grid": {**BASE, **axes}})
    assert len({p.run.key for p in points}) == 1
    names = {p.importances["saabas"][0] for p in points}
    assert names == {"saabas@output=predicted", "saabas@output=0"}
    assert len({p.metrics["row_correlation_summary"][0] for p in points}) == 4
    assert len(sweep.batches(points, 25)) == 1


def test_variants_are_names_for_settings():
    variants = {"published": {"model.random_state": 0}, "described": {"model.random_state": 7}}
    points = expanded({"grid": {**BASE, "variant": [*variants]}}, variants=variants)
    assert [p.run.model["random_state"] for p in points] == [0, 7]
    assert [p.axes["variant"] for p in points] == ["published", "described"]


def test_the_blocks_of_a_sweep_count_together_and_as_many_points_as_allowed_are(monkeypatch):
    monkeypatch.setattr(sweep, "MOST_POINTS", 6)
    blocks = [{"grid": {**BASE, "repeat": {"first": n, "last": n + 2}}} for n in (0, 3)]
    experiments.check_sweep(configured(*blocks), "e")
    with pytest.raises(config.ConfigError, match=r"^experiments.e.sweep.2: with .* 7 points, and"):
        experiments.check_sweep(configured(*blocks, {"grid": BASE}), "e")


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
    block = {"grid": {**BASE, "importance.greedy_sigma0.1.sigma": 0.5}}
    names = ["greedy_sigma0", "greedy_sigma0.1"]
    content = configured(block, importances=names, metrics=["global_scores"])
    content["importances"] = dict.fromkeys(names, content["importances"]["greedy_sigma0.1"])
    (point,) = sweep.expand(content, "e")
    assert [point.importances[name][1]["sigma"] for name in names] == [0.1, 0.5]


def test_outcomes_are_an_axis_of_every_data_set_and_permutations_differ_by_repeat():
    """The rows of iris are the same in all repeats; their permuted outcomes are not."""
    axes = {"data": "iris", "model": "extra_trees", "repeat": [0, 1]}
    keys = {"observed": set(), "permuted": set()}
    for point in expanded({"grid": {**axes, "data.outcome": [*keys]}}):
        keys[point.axes["data.outcome"]].add(point.run.data_key)
        assert point.run.data["outcome"] == point.axes["data.outcome"]
    assert len(keys["observed"]) == 1 and len(keys["permuted"]) == 2


def test_a_class_called_1_and_the_output_1_have_files_of_their_own():
    """Both had one file, so the points of both got the results of one of them."""
    points = expanded({"grid": {**BASE, "importance.tree_shap.output": [1, "1", "predicted"]}})
    files = [point.importances["tree_shap"][0] for point in points]
    assert len(set(files)) == 3
    assert files[::2] == ["tree_shap@output=1", "tree_shap@output=predicted"]
    assert len({point.metrics["row_correlation_summary"][0] for point in points}) == 3


def test_data_drawn_by_a_seed_of_null_differ_by_repeat():
    """A loader of one's own may take null, the seed of the repeat: repeats of a batch were one."""
    content = configured({"grid": {**BASE, "data": "mine", "repeat": [1, 2]}})
    mine = {"dataset": "led_sampled", "random_state": None}
    points = sweep.expand({**content, "datasets": {"mine": mine}}, "e")
    assert len({point.run.data_key for point in points}) == 2


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
    longer = {"grid": {**axes, axis: [*axes[axis], 7]}, "batch_size": 3}
    after = plans.make(configured(longer), "e", tmp_path)
    assert before.batches.items() <= after.batches.items()
    old_keys = {run.key for runs in before.batches.values() for run in runs}
    keys = [run.key for b, runs in after.batches.items() if b not in before.batches for run in runs]
    assert len(keys) == len(set(keys)) == 8
    assert not old_keys & set(keys)


def test_a_batch_is_kept_with_a_value_that_was_taken_out_only_if_it_has_results(tmp_path):
    """The value may be what made the batch fail, and would go on doing so."""
    block = {"grid": {**BASE, "repeat": [0, 1]}, "batch_size": 2}
    (batch,) = planned(configured(block), tmp_path).batches
    for results, repeats in (("importances", [0]), ("metrics", [0, 1])):
        (tmp_path / results / "e" / batch).mkdir(parents=True)
        after = plans.make(configured({"grid": {**BASE, "repeat": [0]}}), "e", tmp_path).batches
        assert [[run.repeat for run in runs] for runs in after.values()] == [repeats]
        assert (batch in after) == (results == "metrics")


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


@pytest.mark.parametrize(
    ("repeats", "of_block", "default", "sizes"),
    [
        (10, 1, 25, [1] * 10),
        (10, 3, 25, [3, 3, 3, 1]),
        (10, 100, 25, [10]),
        (40, None, 25, [25, 15]),
        (40, None, 15, [15, 15, 10]),
        # A large sweep does not drown the scheduler.
        (5000, None, 1, [5] * sweep.MOST_BATCHES),
    ],
)
def test_batch_sizes_group_runs_and_nothing_else(tmp_path, repeats, of_block, default, sizes):
    block = {"grid": {**BASE, "repeat": {"first": 1, "last": repeats}}}
    content = configured(block | ({"batch_size": of_block} if of_block else {}))
    plan = plans.make({**content, "batch_size": default}, "e", tmp_path)
    assert [len(runs) for runs in plan.batches.values()] == sizes
    keys = {run.key for runs in plan.batches.values() for run in runs}
    assert keys == {point.run.key for point in expanded(block)} and len(keys) == repeats


@pytest.mark.parametrize(
    ("recipe", "first"),
    [
        (
            {"dataset": "standardized_split", "of": "parkinson"},
            '{"dataset":"standardised_split","of":"parkinsons"}',
        ),
        ({"importance": "sage", "loss": "mse"}, '{"loss":"mse","measure":"sage"}'),
        ({"importance": "sage", "algorithm": "exact"}, '{"measure":"sage","method":"exact"}'),
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
    cases = [(recipe, 3, "model"), (recipe, 4, "model"), (recipe, 3, "data"), ({}, 3, "model")]
    assert len({derive(*case) for case in cases}) == 4
    assert derive({**recipe, "random_state": 0}, 3, "model") == 0


def test_a_submitted_job_finds_its_file_again():
    # Executors put commas between the wildcards of a job, and split a name at its own.
    from snakemake.target_jobs import parse_target_jobs_cli_args
    from snakemake_interface_executor_plugins.utils import TargetSpec, encode_target_jobs_cli_args

    axes = {"importance.saabas.output": 0, "importance.saabas.n_rows": 5}
    (point,) = expanded({"grid": {**BASE, **axes}})
    files = [point.importances["saabas"][0], point.metrics["row_correlation_summary"][0]]
    jobs = [TargetSpec("rule", {"file": file}) for file in files]
    assert parse_target_jobs_cli_args(encode_target_jobs_cli_args(jobs)) == jobs


def test_each_repeat_of_a_sampled_measure_has_a_seed_of_its_own(tmp_path):
    data, found = datasets.load({"dataset": "iris"}), set()
    for repeat in range(3):
        folder = tmp_path / str(repeat)
        folder.mkdir()
        batch = Batch(folder, data, TREE | {"random_state": 0}, repeat).fit()
        found.add(batch.explained(importance="random_order").values.tobytes())
    assert len(found) == 3


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        (None, "'subset_scores' returned a NoneType for .*: return a DataFrame"),
        (pd.DataFrame({"importance": ["mdi"]}), "has no column .*, which its KEYS name"),
        (pd.DataFrame(columns=[*metrics.keys("subset_scores"), "value"]), "has no row for"),
    ],
)
def test_a_metric_that_returns_no_table_is_named_by_its_own_job(
    tmp_path, monkeypatch, returned, message
):
    def compute(attributions):
        return returned

    monkeypatch.setattr(metrics.module_of("subset_scores"), "compute", compute)
    batch = Batch(tmp_path, datasets.load({"dataset": "iris"}), TREE)
    with pytest.raises((TypeError, ValueError), match=message):
        batch.measured(metric="subset_scores")


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
