"""Sweeps and plans: what is to be computed, and that adding a value adds only what is new."""

from pathlib import Path

import pytest

from reproduction.planning import configuration as config
from reproduction.planning import plans, sweep
from reproduction.seeds import derive

ROOT = Path(__file__).resolve().parents[1]
FULL = config.read_yaml(ROOT / "config" / "config.yaml")
BASE = {"data": "led_sampled", "model": "extra_trees"}


def planned(configuration, folder):
    """The plan of the experiment, written to a file as the job does."""
    plans.write(configuration, "e", folder / "e.json")
    return plans.make(configuration, "e", folder / "e.json")


def configured(*blocks, **experiment):
    given = {
        "importances": ["local_mdi", "saabas", "tree_shap"],
        "metrics": ["row_correlation_summary"],
        "sweep": list(blocks),
        **experiment,
    }
    return {**FULL, "experiments": {"e": given}}


def test_grid_is_every_combination_in_order():
    block = {"grid": {**BASE, "model.max_features": [1, 2], "repeat": {"first": 3, "last": 5}}}
    points = sweep.expand(configured(block), "e")
    found = [(p.axes["model.max_features"], p.axes["repeat"]) for p in points]
    assert found == [(1, 3), (1, 4), (1, 5), (2, 3), (2, 4), (2, 5)]
    assert points[0].run.model["max_features"] == 1
    assert points[0].run.model["n_estimators"] == 1000


def test_zip_goes_side_by_side():
    block = {"zip": {**BASE, "model.max_features": [1, 2], "data.n_samples": [10, 20]}}
    points = sweep.expand(configured(block), "e")
    found = [(p.run.model["max_features"], p.run.data["n_samples"]) for p in points]
    assert found == [(1, 10), (2, 20)]


def test_a_preset_keeps_the_first_repeats_of_every_block():
    blocks = [
        {"grid": {**BASE, "repeat": {"first": 3, "last": 9}, "model.max_features": [1, 2]}},
        {"zip": {**BASE, "repeat": [5, 5, 7, 8], "data.n_samples": [10, 20, 30, 40]}},
        {"grid": {**BASE, "data.noise": 0.1}},
    ]
    points = sweep.expand(configured(*blocks, most_repeats=2), "e")
    assert [p.axes.get("repeat") for p in points] == [3, 3, 4, 4, 5, 5, 7, None]
    everything = {p.run.key for p in sweep.expand(configured(*blocks), "e")}
    assert {p.run.key for p in points} < everything


def test_more_random_draws_keep_the_first_ones():
    axes = {
        **BASE,
        "model.max_features": {"integers": [1, 7]},
        "model.min_impurity_decrease": {"log_uniform": [1e-6, 1e-2]},
        "model.min_weight_fraction_leaf": {"uniform": [0, 0.1]},
        "model.criterion": ["entropy", "gini"],
    }
    few, more = (
        [p.axes for p in sweep.expand(configured({"random": {"draws": n, "axes": axes}}), "e")]
        for n in (3, 6)
    )
    assert more[:3] == few
    assert all(1e-6 <= a["model.min_impurity_decrease"] <= 1e-2 for a in more)
    assert len({a["model.min_impurity_decrease"] for a in more}) == 6


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
    assert len(sweep.batches(configured(block), "e", points)) == 1


def test_variants_are_names_for_settings():
    variants = {"published": {"model.random_state": 0}, "described": {"model.random_state": 7}}
    block = {"grid": {**BASE, "variant": ["published", "described"]}}
    points = sweep.expand(configured(block, variants=variants), "e")
    assert [p.run.model["random_state"] for p in points] == [0, 7]
    assert [p.axes["variant"] for p in points] == ["published", "described"]


@pytest.mark.parametrize(
    ("axes", "message"),
    [
        ({"data": "led"}, "axis model is missing; name a recipe of model"),
        ({**BASE, "data": "lead"}, "'lead' is not in datasets; there are ad_data"),
        ({**BASE, "model.trees": 3}, "model.trees: ExtraTreesClassifier has no such parameter"),
        ({**BASE, "depth": 3}, "axis 'depth' is not known; allowed are data, model, repeat"),
        ({**BASE, "importance.output": 0}, "axis 'importance.output' is not known"),
        ({**BASE, "metric.auc.x": 0}, "this experiment has no metric 'auc'; there are row_corr"),
        ({**BASE, "variant": "printed"}, "variant 'printed' is not defined; there are none"),
    ],
)
def test_bad_axes_are_named(axes, message):
    with pytest.raises(config.ConfigError, match=message):
        sweep.expand(configured({"grid": axes}), "e")


def test_zip_of_unequal_lengths_is_named():
    block = {"zip": {**BASE, "model.max_features": [1, 2], "data.n_samples": [1, 2, 3]}}
    with pytest.raises(config.ConfigError, match=r"zip.model.max_features: 2 values beside 3"):
        sweep.expand(configured(block), "e")


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
    more = {"grid": {**axes, axis: [*axes[axis], 7]}, "batch_size": 3}
    after = plans.make(configured(more), "e", tmp_path / "e.json")
    assert before.batches.items() <= after.batches.items()
    old = {run.key for runs in before.batches.values() for run in runs}
    new = [run.key for b, runs in after.batches.items() if b not in before.batches for run in runs]
    assert len(new) == len(set(new)) == 8
    assert not old & set(new)


def test_batch_size_groups_runs_and_nothing_else(tmp_path):
    keys = []
    for size in (1, 3, 100):
        block = {"grid": {**BASE, "repeat": {"first": 0, "last": 9}}, "batch_size": size}
        plan = plans.make(configured(block), "e", tmp_path / "none.json")
        assert max(len(runs) for runs in plan.batches.values()) == min(size, 10)
        keys.append({run.key for runs in plan.batches.values() for run in runs})
    assert keys[0] == keys[1] == keys[2]


def test_seeds_depend_on_recipe_repeat_and_purpose_only():
    recipe = {"estimator": "ExtraTreesClassifier", "n_estimators": 10}
    same = dict(reversed(recipe.items()))
    assert derive(recipe, 3, "model") == derive(same, 3, "model")
    others = [derive(recipe, 4, "model"), derive(recipe, 3, "data"), derive({}, 3, "model")]
    assert derive(recipe, 3, "model") not in others
    assert len(set(others)) == 3
    assert derive({**recipe, "random_state": 0}, 3, "model") == 0
