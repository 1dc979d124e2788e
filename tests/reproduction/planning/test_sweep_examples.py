"""The worked sweeps: the page shows what its tables hold, and its findings follow from them."""

import inspect
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from reproduction import datasets, models
from reproduction.metrics import metric
from reproduction.planning import configuration, sweep
from splitcredit import to_forest
from splitcredit.measures import function_of

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tools"))

import take_sweeps  # noqa: E402  (a program, no package)


@pytest.fixture(scope="module")
def noisy():
    return take_sweeps.stored("sweep_noisy_features")


@pytest.fixture(scope="module")
def pgi2():
    table = take_sweeps.stored("sweep_pgi2")
    own_names = "greedy_sigma" + table["sigma_metric"].astype(str)
    return table.assign(own=table["ranking"] == own_names)


def recomputed(name, axes, importances, **settings):
    """Rows of one point of a sweep, computed anew from the recipes; seedless importances only."""
    config = configuration.load({})
    (point,) = [
        point
        for point in sweep.expand(config, name)
        if all(point.axes.get(axis) == value for axis, value in axes.items())
    ]
    run = point.run
    data = datasets.load(run.data, run.repeat)
    forest = to_forest(
        models.fit(run.model, data.training.X, data.training.y, run.repeat), data.training.X
    )
    computed = {}
    for importance in importances:
        recipe = {k: v for k, v in point.importances[importance][1].items() if k != "importance"}
        function = function_of(config["importances"][importance]["importance"])
        bagged = "y" in inspect.signature(function).parameters
        rows = (data.training.X, data.training.y) if bagged else (data.explained.X,)
        takes_rows = "X" in inspect.signature(function).parameters
        computed[importance] = function(forest, *(rows if takes_rows else ()), **recipe)
    ((_, recipe),) = point.metrics.values()
    parameters = {k: v for k, v in recipe.items() if k != "metric"} | settings
    compute = metric(recipe["metric"])
    if "forest" in inspect.signature(compute).parameters:
        parameters["forest"] = forest
    return compute(computed, data=data.explained, **parameters)


def test_stored_areas_come_out_anew(noisy):
    """Red if the page's table was made by other data, forests or measures than those of today."""
    axes = {"data.n_samples": 100, "repeat": 1}
    table = recomputed("sweep_noisy_features", axes, ["mdi", "ufi", "mdi_oob", "pg_051"])
    stored = noisy[(noisy["data.n_samples"] == 100) & (noisy["repeat"] == 1)]
    stored = stored.set_index("importance")["value"]
    for row in table.to_dict("records"):
        assert row["value"] == pytest.approx(stored[row["importance"]], rel=1e-12)
    assert len(table) == 4


def test_stored_shares_of_the_largest_pgi2_come_out_anew(pgi2):
    axes = {"data.n_features": 5, "model.n_estimators": 10, "model.max_depth": 2, "repeat": 1}
    names = ["tree_shap", "greedy_sigma0.3"]
    table = recomputed("sweep_pgi2", axes, names, sigmas=[0.3])
    at_point = np.all([pgi2[axis] == value for axis, value in axes.items()], axis=0)
    stored = pgi2[at_point & (pgi2["sigma_metric"] == 0.3)].set_index("ranking")["value"]
    assert len(table) == 2
    for row in table.to_dict("records"):
        assert row["value"] == pytest.approx(stored[row["ranking"]], rel=1e-9)


def areas(table, axis, value):
    """Areas of all measures, a row a repeat."""
    return table[table[axis] == value].pivot(index="repeat", columns="importance", values="value")


def test_the_page_has_the_numbers_of_the_stored_tables():
    page = take_sweeps.PAGE.read_text()
    assert take_sweeps.numbers(page) == page and "±" in page
    for name in take_sweeps.SWEEPS:
        repeats = take_sweeps.stored(name)["repeat"].nunique()
        assert f"{repeats} repeats" in page
        assert f"sweeps/{name}.png" in page and (take_sweeps.STORED / f"{name}.png").exists()


def interval_of(values):
    mean, half_width = take_sweeps.interval(values)
    return mean - half_width, mean + half_width


def test_mdi_follows_the_cardinality_of_noise_and_out_of_bag_scores_do_not(noisy):
    of_2, of_1000 = (areas(noisy, "data.noise_values", value) for value in (2, 1000))
    for name in ("mdi", "pg_10"):
        # Nearly all relevant features above the noise, and then fewer than by chance.
        assert interval_of(of_2[name])[0] > 0.95 and interval_of(of_1000[name])[1] < 0.5
    for name in ("shap", "shap_oob"):
        assert interval_of(of_2[name])[0] > 0.9 and interval_of(of_1000[name])[1] < 0.75
    assert interval_of(of_2["pg_hat_051"])[1] < 0.5 < interval_of(of_1000["pg_hat_051"])[0]
    steady = {"mda", "air", "mdi_oob", "ufi", "pg_051", "shap_oob_y", "shap_oob_centered"}
    for name in steady:
        assert abs(of_2[name].mean() - of_1000[name].mean()) < 0.05, name


@pytest.mark.parametrize(
    ("page", "sentence"),
    [
        ("air", "{air[2]} with noise of 2 values and {air[1000]} with noise of 1000"),
        ("mda", "{mda[2]} with noise of 2 values and {mda[1000]} with noise of 1000"),
        ("mdi", "ROC curve of {mdi[2]}) and noise of 1000 values above nearly all ({mdi[1000]} ±"),
        ("penalized_gini", "`pg_051` stays at {pg_051[2]}; that of `pg_10` falls from {pg_10[2]}"),
        ("penalized_gini", "`pg_051` stays at {pg_051[1000]}; that of `pg_10` falls from"),
        ("penalized_gini", "falls from {pg_10[2]} to {pg_10[1000]}, so it prefers many values"),
        ("penalized_gini", "`pg_hat_051` rises from {pg_hat_051[2]} to {pg_hat_051[1000]}"),
    ],
)
def test_pages_of_measures_quote_the_areas_of_the_stored_table(page, sentence, noisy):
    values = {}
    for n in (2, 1000):
        for name, mean in areas(noisy, "data.noise_values", n).mean().items():
            values.setdefault(name, {})[n] = f"{mean:.2f}".removeprefix("0")
    text = (ROOT / "docs" / "measures" / f"{page}.md").read_text()
    assert sentence.format(**values) in " ".join(text.split())


def test_with_equal_cardinalities_shap_is_ahead(noisy):
    """In the setting of the table, which three blocks hold, on draws of their own."""
    settings = {"data.n_samples": 1000, "model.min_samples_leaf": 1, "model.n_estimators": 100}
    of_blocks = pd.concat([areas(noisy, axis, value) for axis, value in settings.items()])
    assert len(of_blocks) == 150
    numbers_stated = {"shap_oob": (0.81, 0.02), "shap": (0.80, 0.02), "ufi": (0.74, 0.02)}
    for name, numbers in (numbers_stated | {"mdi": (0.63, 0.02)}).items():
        assert tuple(round(x, 2) for x in take_sweeps.interval(of_blocks[name])) == numbers
    lead = take_sweeps.interval(of_blocks["shap"] - of_blocks["ufi"])
    assert tuple(round(x, 2) for x in lead) == (0.06, 0.02)


def test_a_hundred_rows_or_ten_trees_tell_little(noisy):
    for name, values in areas(noisy, "data.n_samples", 100).items():
        low, high = interval_of(values)
        assert low < 0.5 < high, name
    of_10, of_300 = (areas(noisy, "model.n_estimators", n).mean().round(2) for n in (10, 300))
    assert (of_10.min(), of_10.max(), of_300.min(), of_300.max()) == (0.54, 0.64, 0.64, 0.82)


def test_leaf_size_and_depth_matter_little_but_to_mdi_and_shap_needs_depth(noisy):
    of_1, of_100 = (areas(noisy, "model.min_samples_leaf", n).mean() for n in (1, 100))
    rise = (of_100 - of_1).sort_values(ascending=False)
    assert list(rise.index[:2]) == ["mdi", "mda"]
    assert rise.iloc[:2].round(2).tolist() == [0.15, 0.11]
    assert rise.iloc[2:].abs().max() < 0.105
    stumps, *deeper = (areas(noisy, "model.max_depth", n)["shap"] for n in (1, 3, 5, 8, 12, 20))
    for depth in deeper:
        assert interval_of(stumps)[1] < depth.mean() and 0.775 < depth.mean() < 0.815


def test_greedy_is_all_but_optimal_and_shap_is_not(pgi2):
    exact = pgi2[pgi2["exact"] == 1]
    greedy, shap = exact[exact["own"]], exact[exact["ranking"] == "shap"]
    assert (len(greedy), pgi2["own"].sum()) == (201, 240)
    assert round(greedy["value"].mean(), 3) == 0.999 and round(greedy["value"].min(), 3) == 0.978
    assert set(greedy["n_rows"]) == {10} and round(greedy["quantile5"].min(), 2) == 0.93
    shares_stated = {5: (0.76, 0.03), 10: (0.87, 0.03), 20: (0.91, 0.02), 30: (0.93, 0.01)}
    for d, numbers in shares_stated.items():
        means = shap[shap["data.n_features"] == d].groupby("repeat")["value"].mean()
        assert tuple(round(x, 2) for x in take_sweeps.interval(means)) == numbers
    of_shap = pgi2[pgi2["ranking"] == "shap"].reset_index(drop=True)
    of_greedy = pgi2[pgi2["own"]].reset_index(drop=True)
    keys = ["data.n_features", "model.n_estimators", "model.max_depth", "repeat", "sigma_metric"]
    side_by_side = pd.merge(of_greedy, of_shap, on=keys)
    assert len(side_by_side) == 240 and (side_by_side["pgi2_x"] > side_by_side["pgi2_y"]).all()


def test_a_greedy_ranking_is_one_for_its_noise_and_the_bound_is_tight_for_small_noise(pgi2):
    at_1 = pgi2[pgi2["sigma_metric"] == 1]
    keys = ["data.n_features", "model.n_estimators", "model.max_depth", "repeat"]
    by_ranking = at_1.pivot(index=keys, columns="ranking", values="pgi2")
    ratio = by_ranking["greedy_sigma0.1"] / by_ranking["shap"]
    mean_and_half_width = take_sweeps.interval(ratio.groupby("repeat").mean())
    assert tuple(round(x, 2) for x in mean_and_half_width) == (0.97, 0.02)
    assert round((ratio < 1).mean(), 2) == 0.74
    of_large = pgi2["own"] & (pgi2["data.n_features"] == 30) & (pgi2["model.n_estimators"] == 40)
    of_large &= pgi2["model.max_depth"] == 4
    shares = pgi2[of_large].groupby("sigma_metric")["value"].mean()
    assert shares.round(2).to_dict() == {0.1: 0.98, 0.3: 0.89, 1.0: 0.68}
