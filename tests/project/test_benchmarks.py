"""Benchmarks: a small race writes its rows, whatever its times."""

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from reproduction import storage

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))

import environments  # noqa: E402  (programs beside each other, no package)
import race  # noqa: E402
import races  # noqa: E402
import run  # noqa: E402
import sides  # noqa: E402
import workloads  # noqa: E402


@pytest.mark.long  # It starts a process for each peer.
def test_a_small_race_writes_its_rows_in_the_place_of_those_before(monkeypatch, tmp_path):
    """Also of peers that fail or cannot be installed."""
    random = np.random.default_rng(0)
    X = random.standard_normal((300, 5))
    forest = {"estimator": "ExtraTreesClassifier", "n_estimators": 3}
    small = workloads.Workload("small", "sklearn", forest, lambda: (X, X[:, 0] > X[:, 1]), rows=30)
    # The file for lightgbm cannot explain a forest of scikit-learn.
    names = {"shap": "ours", "lightgbm": "ours", "woodelf": "nowhere"}
    entrants = tuple(race.Entrant(peer, place, rows=20) for peer, place in names.items())

    def python_of(name):
        if name == "ours":
            return sys.executable
        raise environments.NotInstalledError("no such thing")

    monkeypatch.setattr(environments, "python_of", python_of)
    monkeypatch.setattr(sides, "LOGS", tmp_path)
    monkeypatch.setattr(run, "TABLE", tmp_path / "bench.csv")
    monkeypatch.setattr(run, "warm_up", lambda: None)
    small = race.Race(small, entrants, rounds=1, threads=(1,))
    monkeypatch.setitem(races.RACES, "tree_shap", {"small": small})
    old_rows = [{"scope": "W1"}, {"benchmark": "TreeSHAP", "scope": "small, 30 rows"}]
    storage.write_rows(run.TABLE, [*old_rows, {"scope": "x", "family": "4"}], race.COLUMNS)
    run.main("tree_shap", "small")
    first, *rows, last = run.stored()
    assert (first["scope"], last["family"]) == ("W1", "4")
    notes = {row["peer"]: row["note"] for row in rows}
    assert notes["woodelf"] == "not installed here: no such thing" and notes["shap"] == ""
    assert notes["lightgbm"].startswith("failed: ")
    timed = [row for row in rows if row["ratio"]]
    assert {(row["mode"], row["clock"]) for row in timed} == {
        (mode, clock) for mode in ("kernel", "end to end") for clock in ("cpu", "wall")
    }
    assert all(float(row["difference"]) < 1e-10 for row in timed)
    monkeypatch.setattr(race, "RIGHT", -1.0)
    with sides.Peers() as peers:
        rows = replace(small, entrants=entrants[:1], family="4").run(peers)
    assert {row["note"] for row in rows} == {"not right"}
