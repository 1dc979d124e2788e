"""Exact PG2 against recorded times of the algorithm of the authors' program.

    python benchmarks/gap_ratios.py [--write]

Trains the models on the project's data, times the call for each setting, a model, the noise and a
size of sets, and holds it against ``gap_recorded.csv``: CPU microseconds a pair of a row and a set
that our own C++ program of that algorithm (g++ -O3, single precision) took for the first of the
same pairs on an AMD EPYC of the fifth generation, in November 2026. With ``--write`` the table goes
to docs/benchmarks.md. No test depends on a time.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numba
import numpy as np
from scipy.stats import gmean

from reproduction import marked, storage
from reproduction.datasets import standardized_split
from splitcredit import Forest, to_forest
from splitcredit.prediction_gap.exact_gap import GapProblem

HERE = Path(__file__).resolve().parent
PAGE, RECORDED = HERE.parent / "docs" / "benchmarks.md", HERE / "gap_recorded.csv"
SIGMAS = (0.1, 0.3, 1.0)
# Data set -> shrinkage, share of the rows of a tree, trees: the paper's Bigger models.
BIGGER = {
    "red_wine": (0.2, 0.8, 32),
    "california_housing": (0.1, 0.01, 40),
    "parkinson": (0.2, 0.8, 40),
}
GROWN, DEPTHS, SIZES = (10, 20, 40, 80, 160, 320, 640), (2, 3, 5, 6, 8), (1, 6, 11)
# A call is repeated for so many seconds, and at most so often.
SECONDS, REPEATS = 0.25, 40


class Setting(NamedTuple):
    """A model, the noise and pairs of rows and sets of one size."""

    model: str
    sigma: float
    size: int
    forest: Forest
    X: np.ndarray
    chosen: np.ndarray

    @property
    def key(self) -> tuple[str, float, int]:
        """What a recorded time is found by."""
        return self.model, self.sigma, self.size


class Line(NamedTuple):
    """One line of the table: a name, and which settings are in it."""

    name: str
    holds: Callable[[tuple], bool]


def lines() -> list[Line]:
    """The lines of the table, in their order."""

    def of(model):
        return lambda key: key[0] == model

    def at(sigma):
        return lambda key: key[1] == sigma

    bigger = [f"the paper's Bigger model of {name}, {n} trees" for name, (*_, n) in BIGGER.items()]
    return [
        *(Line(text, of(name)) for text, name in zip(bigger, BIGGER, strict=True)),
        *(Line(f"{n} trees of depth 4 on red_wine", of(f"grown{n}")) for n in GROWN[:-1]),
        *(Line(f"40 trees of depth {depth} on red_wine", of(f"depth{depth}")) for depth in DEPTHS),
        Line("all of these", lambda key: True),
        *(Line(f"with sigma {sigma:g}", at(sigma)) for sigma in SIGMAS),
    ]


def main(*options):
    """Measure, print and, if asked, write the page."""
    numba.set_num_threads(1)
    theirs, ratios = recorded(), {}
    for setting in settings():
        if setting.key in theirs:
            ratios[setting.key] = theirs[setting.key] / microseconds(setting)
    text = table(ratios)
    print(text)
    if "--write" in options:
        marked.write(PAGE, "gaps", text)


def recorded() -> dict[tuple[str, float, int], float]:
    """Microseconds of the C++ program, by setting."""
    return {
        (row["model"], float(row["sigma"]), int(row["size"])): float(row["microseconds"])
        for row in storage.read_rows(RECORDED)
    }


def settings():
    """All settings; those without a recorded time took the program too long.

    Each model draws the pairs of its settings with one generator, so all settings are drawn.
    """
    data = {name: standardized_split.load(name, "authors") for name in BIGGER}
    for name, parameters in BIGGER.items():
        forest, d = to_forest(trained(data[name], *parameters)), data[name].X.shape[1]
        random = np.random.default_rng(5)
        for sigma in SIGMAS:
            for size in (1, 2, d // 2, d):
                yield drawn(name, sigma, size, forest, data[name], random, 220)
    wine, random = data["red_wine"], np.random.default_rng(6)
    grown = trained(wine, 0.2, 0.8, GROWN[-1])
    for n_trees in GROWN:
        forest = to_forest(grown[:n_trees])
        for size in SIZES:
            n_pairs = max(16, min(220, 20_000 // n_trees // size))
            yield drawn(f"grown{n_trees}", 0.3, size, forest, wine, random, n_pairs)
    for depth in DEPTHS:
        forest = to_forest(trained(wine, 0.2, 0.8, 40, depth))
        for sigma in SIGMAS:
            for size in SIZES:
                n_pairs = 40 if depth > 6 else 100
                yield drawn(f"depth{depth}", sigma, size, forest, wine, random, n_pairs)


def trained(data, eta, subsample, n_trees, depth=4):
    """An XGBoost model of the rows for training."""
    import xgboost

    parameters = {"eta": eta, "subsample": subsample, "max_depth": depth, "seed": 42}
    rows = xgboost.DMatrix(data.training.X, data.training.y)
    return xgboost.train({**parameters, "tree_method": "hist", "nthread": 1}, rows, n_trees)


def drawn(model, sigma, size, forest, data, random, n_pairs) -> Setting:
    """A setting with pairs drawn by the generator."""
    X = data.explained.X
    rows = X[random.integers(len(X), size=n_pairs)]
    masks = np.zeros((n_pairs, X.shape[1]), np.bool_)
    for mask in masks:
        mask[random.permutation(X.shape[1])[:size]] = True
    return Setting(model, sigma, size, forest, forest.prepare(rows), masks)


def microseconds(setting, seconds=SECONDS) -> float:
    """Least CPU time of a call, of one pair."""
    problem = GapProblem(setting.forest, None, setting.sigma, None)
    times = []
    while len(times) < 5 or (sum(times) < seconds and len(times) < REPEATS):
        start = time.process_time()
        problem.gaps(setting.X, setting.chosen[:, None])
        times.append(time.process_time() - start)
    return min(times) / len(setting.X) * 1e6


def table(ratios) -> str:
    """Markdown table of the geometric mean and the least of some ratios, by setting."""
    rows = ["| models | settings | ratio | least |", "|---|--:|--:|--:|"]
    for line in lines():
        group = [ratio for key, ratio in ratios.items() if line.holds(key)]
        rows.append(f"| {line.name} | {len(group)} | {gmean(group):.0f}x | {min(group):.0f}x |")
    return "\n".join(rows)


if __name__ == "__main__":
    main(*sys.argv[1:])
