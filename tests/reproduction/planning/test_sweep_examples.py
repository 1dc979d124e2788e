"""The worked sweeps: their stored tables come out anew, and the page shows what they hold."""

import pytest

from batches import Batch
from reproduction import datasets
from reproduction.planning import configuration, sweep
from scripts import script

take_sweeps = script("tools/take_sweeps.py")
SHARES = {"data.n_features": 5, "model.n_estimators": 10, "model.max_depth": 2}


@pytest.mark.parametrize(
    ("name", "axes", "importances", "settings", "measure"),
    [
        (
            "sweep_noisy_features",
            {"data.n_samples": 100},
            ["mdi", "ufi", "mdi_oob", "pg_051"],
            {},
            "importance",
        ),
        ("sweep_pgi2", SHARES, ["tree_shap", "greedy_sigma0.3"], {"sigmas": [0.3]}, "ranking"),
    ],
)
def test_stored_tables_come_out_anew(tmp_path, name, axes, importances, settings, measure):
    """Red if they were made by other data, models or measures than those of today."""
    axes |= {"repeat": 1}
    points = sweep.expand(configuration.load({}), name)
    (point,) = [point for point in points if axes.items() <= point.axes.items()]
    run = point.run
    batch = Batch(tmp_path, datasets.load(run.data, run.repeat), run.model, run.repeat).fit()
    for importance in importances:
        batch.explained(file=importance, **point.importances[importance][1])
    ((_, recipe),) = point.metrics.values()
    table = batch.measured(importances, **recipe | settings)
    stored = take_sweeps.stored(name)
    for axis, value in (axes | ({"sigma_metric": 0.3} if settings else {})).items():
        stored = stored[stored[axis] == value]
    stored = stored.set_index(measure)["value"]
    assert len(table) == len(importances)
    for row in table.to_dict("records"):
        assert row["value"] == pytest.approx(stored[row[measure]], rel=1e-9)


def test_the_page_has_the_numbers_of_the_stored_tables():
    page = take_sweeps.PAGE.read_text()
    assert take_sweeps.numbers(page) == page and "±" in page
