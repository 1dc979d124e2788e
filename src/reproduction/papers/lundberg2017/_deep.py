"""Deep trees with exact SHAP values, and the error of any implementation on them.

Values of leaves and covers are whole numbers below 2^24, exact in single precision too, so that no
implementation is off because of what it was given.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from reproduction.papers.lundberg2017 import _exact, _trees
from reproduction.papers.lundberg2017._algorithms import trees_of
from splitcredit.forest import Forest

DEPTHS = (5, 10, 15, 20, 25, 30, 40, 50, 60, 75, 90, 110, 130, 150)
SEED = 0
# Of the seeds 0 to 9 the one whose tree on digits is deepest.
DEEPEST = 3


@dataclass(frozen=True)
class Case:
    """One tree with one output, rows, and their SHAP values (n_rows, n_features) from fractions."""

    name: str
    depth: int
    forest: Forest
    X: np.ndarray
    exact: np.ndarray

    def error(self, values) -> float:
        """Largest error over rows and features, as a share of the largest SHAP value."""
        largest = np.abs(values - self.exact).max() / np.abs(self.exact).max()
        return float(largest) if np.isfinite(largest) else float("inf")


def cases() -> Iterator[Case]:
    """Caterpillars of each depth, with a feature of its own at each level."""
    for depth in DEPTHS:
        forest, X = _trees.caterpillar(depth, SEED), _trees.caterpillar_rows(depth, SEED)
        yield case("caterpillar", forest, X)


def real_cases() -> Iterator[Case]:
    """Fully grown extra-trees: one class of digits, and the proline of wines (whole mg/l).

    The tree of wines tests its twelve features again and again.
    """
    from reproduction import models
    from reproduction.datasets import digits, wine
    from splitcredit.convert.sklearn import convert

    wines = wine.load()
    proline = wines.X[:, -1]
    grown = {"n_estimators": 1, "max_features": 1}
    images = digits.load()
    for name, X, y, kind, output, seed in (
        ("digits, extra-tree", images.X, images.y, "Classifier", 8, DEEPEST),
        ("wine, extra-tree", wines.X[:, :-1], proline, "Regressor", 0, SEED),
    ):
        recipe = {"estimator": f"ExtraTrees{kind}", **grown, "random_state": seed}
        forest = convert(models.fit(recipe, X, y))
        rows = forest.prepare(X)[:2].astype(float)
        yield case(name, _only(forest, output), rows)


def case(name, forest, X) -> Case:
    """The tree with its exact values."""
    (tree,) = trees_of(forest, 0, Fraction)
    exact = np.array([[float(phi) for phi in _exact.tree_shap(x.tolist(), tree)] for x in X])
    return Case(name, trees_of(forest)[0].depth, forest, X, exact)


def _only(forest, output):
    """The forest with one of its outputs."""
    names = forest.output_names[output : output + 1]
    value, base = forest.value[:, [output]], forest.base[[output]]
    return replace(forest, value=value, base=base, output_names=names)
