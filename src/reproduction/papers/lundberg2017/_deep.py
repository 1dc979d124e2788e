"""Deep trees with exact SHAP values, and the error of any implementation on them.

How much an implementation loses depends on the row: on a long chain it is most for the row that
goes all the way. So errors are of one row, over its own largest SHAP value, and kinds of rows are
kept apart.

Values of leaves and covers of the trees with fractions are whole numbers below 2^24, exact in
single precision too, so that no implementation is off because of what it was given.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np

from reproduction import models
from reproduction.datasets import scikit_learn
from reproduction.papers.lundberg2017 import _algorithms, _exact, _trees
from reproduction.papers.lundberg2017._algorithms import trees_of
from splitcredit import to_forest
from splitcredit.measures import tree_shap
from splitcredit.models.forest import Forest

DEPTHS = (5, 10, 15, 20, 25, 30, 40, 50, 60, 75, 90, 110, 130, 150)
SEED = 0
# Of a chain in which features come again, and of the decimals in which Algorithm 2 is repeated.
FEW = 12
DIGITS = (17, 20, 23, 26)
# The seed whose tree on digits is deepest, among 0 to 9.
DEEPEST = 3
# Rows of the real trees that are explained.
REAL_ROWS = 2
FOREST_ROWS = 5
# Unpruned regression trees on so many rows of standard normal features: name, estimator, number of
# features, parameters. The first is one of scikit-learn's default random forest; the others draw
# one feature a split.
FOREST_SIZE = 100_000
FORESTS = (
    ("random forest, 20 features", "RandomForestRegressor", 20, {}),
    ("random forest, 100 features, one a split", "RandomForestRegressor", 100, {"max_features": 1}),
    ("extra-tree, 100 features, one a split", "ExtraTreesRegressor", 100, {"max_features": 1}),
)


@dataclass(frozen=True)
class Case:
    """One tree with one output, rows with their kinds, and their SHAP values.

    ``exact`` is float64 (n_rows, n_features). ``reference`` says where it comes from: fractions, or
    where these would take too long, splitcredit.
    """

    name: str
    depth: int
    forest: Forest
    X: np.ndarray
    kinds: list[str]
    exact: np.ndarray
    reference: str = "fractions"

    def errors(self, values) -> dict[str, float]:
        """Kind of row -> largest error over its rows, each a share of its largest SHAP value."""
        error = np.abs(values - self.exact).max(axis=1) / np.abs(self.exact).max(axis=1)
        error = np.where(np.isfinite(error), error, np.inf)
        kinds = np.array(self.kinds)
        return {kind: float(error[kinds == kind].max()) for kind in dict.fromkeys(self.kinds)}

    def one_row_a_kind(self) -> "Case":
        """The first row of each kind, for slow methods."""
        rows = [self.kinds.index(kind) for kind in dict.fromkeys(self.kinds)]
        kinds = [self.kinds[row] for row in rows]
        return replace(self, X=self.X[rows], kinds=kinds, exact=self.exact[rows])


def chain(depth, n_features=None) -> Case:
    """A caterpillar; with fewer features than tests they come again in turn."""
    kinds, X = _trees.caterpillar_rows(depth, SEED, n_features)
    name = f"caterpillar, {n_features} features" if n_features else "caterpillar"
    return case(name, _trees.caterpillar(depth, SEED, n_features), X, kinds)


def in_decimals(case) -> dict[int, dict[str, float]]:
    """Digits -> kind of row -> largest error of Algorithm 2 in decimals.

    As a multiple of the unit roundoff, half a unit of the last digit of 1; without more rounding.
    """
    (fractions,), (decimals,) = (trees_of(case.forest, 0, number) for number in (Fraction, Decimal))
    rows = case.X.tolist()
    exact = [_exact.tree_shap(x, fractions) for x in rows]
    multiples = {}
    for precision in DIGITS:
        with localcontext() as context:
            context.prec = precision
            values = [_algorithms.tree_shap(x, decimals) for x in rows]
        roundoff, of_kinds = Fraction(1, 2 * 10 ** (precision - 1)), {}
        for kind, phi, right in zip(case.kinds, values, exact, strict=True):
            error = max(abs(Fraction(a) - b) for a, b in zip(phi, right, strict=True))
            of_kinds[kind] = float(error / max(map(abs, right)) / roundoff)
        multiples[precision] = of_kinds
    return multiples


def real_cases() -> Iterator[Case]:
    """Fully grown extra-trees: one class of digits, and the proline of wines (whole mg/l)."""
    images, wines = scikit_learn.digits(), scikit_learn.wine()
    for name, X, y, kind, output, seed in (
        ("digits, extra-tree", images.X, images.y, "Classifier", 8, DEEPEST),
        ("wine, extra-tree", wines.X[:, :-1], wines.X[:, -1], "Regressor", 0, SEED),
    ):
        recipe = {"estimator": f"ExtraTrees{kind}", "n_estimators": 1, "max_features": 1}
        forest = to_forest(models.fit({**recipe, "random_state": seed}, X, y))
        rows = forest.prepare(X)[:REAL_ROWS].astype(float)
        # With one of its outputs.
        names = forest.output_names[output : output + 1]
        value, base = forest.value[:, [output]], forest.base[[output]]
        forest = replace(forest, value=value, base=base, output_names=names)
        yield case(name, forest, rows)


def forest_cases() -> Iterator[Case]:
    """Unpruned regression trees of many rows, one of each kind, the reference splitcredit's."""
    for name, estimator, n_features, parameters in FORESTS:
        random = np.random.default_rng([SEED, n_features])
        X = random.standard_normal((FOREST_SIZE, n_features))
        y = X[:, :5].sum(axis=1) + X[:, 0] * X[:, 1] + random.standard_normal(FOREST_SIZE)
        recipe = {"estimator": estimator, "n_estimators": 1, "random_state": SEED, **parameters}
        forest = to_forest(models.fit(recipe, X, y))
        rows = forest.prepare(X)[:FOREST_ROWS].astype(float)
        depth, kinds = trees_of(forest)[0].depth, ["data"] * len(rows)
        exact = tree_shap.attribute(forest, rows).values[:, :, 0]
        yield Case(name, depth, forest, rows, kinds, exact, reference="splitcredit")


def case(name, forest, X, kinds=None) -> Case:
    """The tree with its exact values; rows that are not of several kinds are of the data."""
    (tree,) = trees_of(forest, 0, Fraction)
    exact = np.array([[float(phi) for phi in _exact.tree_shap(x.tolist(), tree)] for x in X])
    return Case(name, trees_of(forest)[0].depth, forest, X, kinds or ["data"] * len(X), exact)
