"""lundberg2017: what depends on the clock, without a clock."""

import sys

import numpy as np
import pandas as pd
import pytest
import shap

from reproduction import papers
from reproduction.models import fit

speed = papers.artefact("lundberg2017/speed")


def test_s05_shap_reads_every_tree_before_the_first_row():
    """Calls of Python functions: they grow with the trees, and the values of a row need few."""
    X = np.random.default_rng(0).normal(size=(200, 5))
    calls = {}
    for trees in (20, 60):
        recipe = {**speed.MODELS["lightgbm"], "n_estimators": trees, "random_state": 0}
        model = fit(recipe, X, X[:, 0] * X[:, 1])
        explainer, calls[trees] = counted(lambda m=model: shap.TreeExplainer(m))
    _, of_row = counted(lambda: explainer.shap_values(X[:1], check_additivity=False))
    assert calls[60] > 2 * calls[20] > 10 * of_row


def counted(function):
    """What a function returns, and how many functions of Python it calls."""
    n = 0

    def count(frame, event, argument):
        nonlocal n
        n += event == "call"

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        result = function()
    finally:
        sys.setprofile(before)
    return result, n


def test_long_calls_are_timed_once_and_of_others_the_first_does_not_count(monkeypatch):
    for clock, median in (([0.4, 0.3, 0.1, 0.2], 0.2), ([2.5, 0.3, 0.1, 0.2], 2.5)):
        seconds = clock[::-1]
        monkeypatch.setattr(speed, "_seconds", lambda explain, X, left=seconds: left.pop())
        assert speed._median(len, np.zeros((5, 2)), repeats=3) == median


def test_speed_times_every_method_on_one_row_and_on_a_batch():
    table = speed.compute({}, trees=2, features=8, rows=120, repeats=1)
    rows = table[table["part"] == "rows"]
    assert set(rows["rows"]) == {1, 120} and (rows["value"] > 0).all()
    assert (rows["trees"] == 2).all() and (rows["features"] == 8).all()
    packages = set(rows["method"].str.partition(" ")[0])
    assert packages == {"splitcredit", "xgboost", "lightgbm", "shap"}
    scaled = rows[rows["timed_rows"] < rows["rows"]]
    assert len(scaled) == 3 and not scaled["method"].str.startswith("splitcredit").any()


def test_what_a_call_takes_for_any_number_of_rows_is_not_scaled_up(monkeypatch):
    """Ten seconds to begin with and one second a row: 1010 seconds for 1000 rows, by 20 of them."""
    monkeypatch.setattr(speed, "_median", lambda explain, X, repeats: 10.0 + len(X))
    table = pd.DataFrame(speed._rows(trees=2, features=8, rows=1000, repeats=1))
    table = table[table["part"] == "rows"]
    of_peers = table[~table["method"].str.startswith("splitcredit")]
    assert set(of_peers["timed_rows"]) == {1, speed.PEER_ROWS}
    assert (table["value"] == 10.0 + table["rows"]).all()


def test_what_is_drawn_anew_adds_to_the_error_of_a_lead():
    figure4 = papers.artefact("lundberg2017/figure4")
    chance = np.random.default_rng(0).normal(size=30)
    axes = {"dataset": "d", "mode": "m", "linkage": "l", "outcome": "label"}
    axes |= {"labels": "observed", "data.share": 0.8}
    parts = {"unsupervised": 0.5, "random_features": chance}
    rows = pd.concat(
        pd.DataFrame({**axes, "clustered": name, "repeat": range(30), "value": value})
        for name, value in parts.items()
    )
    lead = figure4._leads(rows, "unsupervised", "random_features").iloc[0]
    standard_error = np.std(chance, ddof=1) / 30**0.5
    assert lead["high"] - lead["value"] == pytest.approx(2 * standard_error)
