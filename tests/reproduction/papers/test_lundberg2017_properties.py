"""lundberg2017: what its text says in passing (s09 to s15), recomputed in other ways."""

from dataclasses import replace
from fractions import Fraction
from itertools import combinations, permutations, product

import numpy as np
import pytest
from scipy.cluster import hierarchy

import findings
import splitcredit
import twins
from findings import of
from reproduction import papers
from reproduction.metrics import clusterings
from reproduction.papers.lundberg2017 import _algorithms, _attributions, _packages, _trees, figure1
from reproduction.papers.lundberg2017._algorithms import expvalue, shapley, trees_of
from splitcredit import explain

properties = papers.artefact("lundberg2017/properties")


@pytest.fixture(scope="module")
def table():
    return properties.compute({}, n_pairs=200, n_fitted=25)


@pytest.fixture(scope="module")
def verdicts(table):
    return findings.verdicts(properties.statements(table))


def test_causes_expect_the_values_that_differ(table):
    found = [f for f in properties.statements(table) if f["expected"]]
    assert {f["statement"] for f in found} == {"s09", "s10", "s12", "s15", "s19"}
    assert all(f["expected"][0] <= f["value"] <= f["expected"][1] for f in found)


def game(rng, M):
    """A random game in fractions, by subset."""
    subsets = [S for size in range(M + 1) for S in combinations(range(M), size)]
    return {S: Fraction(int(rng.integers(-8, 9))) for S in subsets}


def in_order(v):
    """Steps of a game of three as the features become known from the first on."""
    return [v[tuple(range(i + 1))] - v[tuple(range(i))] for i in range(3)]


def shared(v):
    """What the last of three features keeps of what sets of features share, by Moebius inversion.

    SHAP gives each an even part.
    """
    dividends = {S: sum((-1) ** (len(S) - len(T)) * v[T] for T in v if {*T} <= {*S}) for S in v}
    return sum((1 - Fraction(1, len(S))) * dividends[S] for S in v if 2 in S)


@pytest.mark.long
def test_s09_a_fixed_order_has_all_three_properties_and_is_not_shap(verdicts):
    """From scratch, for any games: the sum, dummies, and larger steps everywhere."""
    assert set(of(verdicts, "s09").values()) == {"differs"}
    rng = np.random.default_rng(0)
    for _ in range(50):
        v, w = game(rng, 3), game(rng, 3)
        assert sum(in_order(v)) == v[0, 1, 2] - v[()]
        dummy = {S: v[tuple(j for j in S if j != 2)] for S in v}
        assert in_order(dummy)[2] == 0
        grown = {S: v[S] + (abs(w[tuple(j for j in S if j != 1)]) if 1 in S else 0) for S in v}
        assert in_order(grown)[1] >= in_order(v)[1]
        assert in_order(v)[2] - shapley(3, v.__getitem__)[2] == shared(v)
    assert in_order(v) != shapley(3, v.__getitem__)
    # What it lacks: features that do the same get different values.
    symmetric = {S: Fraction(len(S) ** 2) for S in v}
    assert in_order(symmetric) == [1, 3, 5] and shapley(3, symmetric.__getitem__) == [3, 3, 3]


@pytest.mark.long
def test_s10_covers_of_dependent_features_make_shap_depend_on_the_order(verdicts):
    """Two binary features; 3, 1, 1, 3 rows at the corners; f is their AND. By hand and kernel."""
    assert of(verdicts, "s10") == {
        "one row a leaf": "holds",
        "features that depend on each other": "differs",
    }

    def explained(first, covers):
        leaves = {x: _trees.leaf(float(x == (1, 1)), covers[x]) for x in product((0, 1), repeat=2)}
        at = [[leaves[(a, b) if first == 0 else (b, a)] for b in (0, 1)] for a in (0, 1)]
        sides = [_trees.split(1 - first, *pair) for pair in at]
        forest = _trees.forest_of([_trees.split(first, *sides)], 2)
        return explain(forest, np.array([[1.0, 1.0]])).values[0, :, 0]

    dependent = {(0, 0): 3, (0, 1): 1, (1, 0): 1, (1, 1): 3}
    a, b = (explained(first, dependent) for first in (0, 1))
    # E[f] is 3/8. Given the feature at the root it is 3/4, and that is true. Given the other it is
    # 3/4 too, but by the covers at the root 1/2.
    assert a == pytest.approx([(3 / 4 - 3 / 8 + 1 - 1 / 2) / 2, (1 / 2 - 3 / 8 + 1 - 3 / 4) / 2])
    assert b == pytest.approx(a[::-1]) and a[0] != a[1]
    a, b = (explained(first, dict.fromkeys(dependent, 2)) for first in (0, 1))
    assert a == pytest.approx(b)


@pytest.mark.long
def test_s11_path_methods_add_up_and_obey_missingness(verdicts):
    assert len(of(verdicts, "s11")) == 4 and set(of(verdicts, "s11").values()) == {"holds"}
    rng = np.random.default_rng(0)
    forest, X = _trees.random_forest(rng, 3, 4, n_unused=1), _trees.random_rows(rng, 20, 4)
    attribution = explain(forest, X, "saabas")
    assert attribution.totals()[:, 0] == pytest.approx(twins.predict(forest, X)[:, 0])
    assert (attribution.values[:, 3] == 0).all() and splitcredit.mdi(forest).values[3] == 0


@pytest.mark.long
def test_s12_path_is_one_order_unless_features_come_again(verdicts):
    assert of(verdicts, "s12") == {
        "features that come once": "holds",
        "features that come again": "differs",
    }
    # Feature 0 comes again where the path does not go: no order of the features gives its values.
    low = _trees.split(0, _trees.leaf(0.0), _trees.leaf(8.0), 0.25)
    high = _trees.split(0, _trees.leaf(4.0), _trees.leaf(0.0), 0.75)
    (tree,) = trees_of(_trees.forest_of([_trees.split(1, low, high)], 2), 0, Fraction)
    x = (1.0, 0.0)
    path = _attributions.path_output(x, tree)
    assert path == steps_along((1, 0), x, tree) != steps_along((0, 1), x, tree)
    repeated = _trees.split(0, _trees.split(1, low, high), _trees.leaf(2.0), 2.0)
    (tree,) = trees_of(_trees.forest_of([repeated], 2), 0, Fraction)
    path = _attributions.path_output(x, tree)
    assert path not in [steps_along(order, x, tree) for order in permutations(range(2))]
    # Each test under a name of its own, in the order of the path: nodes 0, 1 and 2.
    assert tree.d == [0, 1, 0, -1, -1, 0, -1, -1, -1]
    renamed = replace(tree, d=[0, 1, 2, -1, -1, 3, -1, -1, -1])
    first, second, third = steps_along((0, 1, 2), (1.0, 0.0, 1.0, 1.0), renamed)
    assert path == [first + third, second]


def steps_along(order, x, tree):
    """Steps of E[f | x_S] as the features become known in an order; by feature."""
    expectations = [expvalue(x, order[:k], tree) for k in range(len(order) + 1)]
    steps = dict(zip(order, np.diff(np.array(expectations, dtype=object)), strict=True))
    return [steps[i] for i in sorted(steps)]


@pytest.mark.long
def test_s13_importances_of_the_packages_fall(verdicts, table):
    of_s13 = of(verdicts, "s13")
    assert len(of_s13) == 6 and set(of_s13.values()) == {"holds"}
    rows = table[table["property"] == "packages"]
    shap = rows[rows["quantity"] == "contribution by SHAP"]
    assert len(shap) == 2 and (shap["value"] == 0).all() and (shap["n"] > 5).all()


def test_packages_say_of_a_known_tree_what_can_be_counted():
    """The function is 4 x0 + x1: x0 first. Gain of x0: variance 4 of 8 rows; of x1: 1 / 4."""
    X = np.indices([2] * 3).reshape(3, -1).T.astype(float)
    y = 4 * X[:, 0] + X[:, 1]
    predicted, sklearn = _packages._sklearn(X, y)
    assert predicted == pytest.approx(y) and sklearn == {"gain": pytest.approx(4.0)}
    for fit in (_packages._xgboost, _packages._lightgbm):
        predicted, importances = fit(X, y)
        assert predicted == pytest.approx(y, abs=1e-5)
        assert importances["split count"] == 1
        assert importances["contribution by SHAP"] == pytest.approx(2.0, abs=1e-5)
    _, xgboost = _packages._xgboost(X, y)
    assert xgboost["contribution by the path"] == pytest.approx(2.0, abs=1e-5)


@pytest.mark.long
def test_s14_pred_contribs_are_shap_values(verdicts):
    assert of(verdicts, "s14") == {"pred_contribs": "holds"}


@pytest.mark.long
def test_s15_shap_may_change_where_the_output_does_not(verdicts):
    assert of(verdicts, "s15") == {
        "no impact on any output": "holds",
        "no impact on the row's output": "differs",
    }
    tree = figure1.trees()["A"]
    assert _algorithms.shapley_by_subsets((0, 0), tree) == [-10, -10]
    assert _algorithms.shapley_by_subsets((1, 0), tree) == [10, -30]


def test_s19_other_units_change_clusters_of_features_and_not_of_attributions(verdicts):
    """Two features: one tells the outcome, the other is in small units or in large."""
    assert of(verdicts, "s19") == {
        "features": "holds",
        "standardized features": "differs",
        "SHAP": "holds",
        "outcome, SHAP": "holds",
        "path": "holds",
        "outcome, path": "holds",
    }
    X = np.repeat([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], 10, axis=0)
    X += np.random.default_rng(0).uniform(0, 0.1, X.shape)
    outcome, trees = X[:, 0] > 0.5, []
    for factor, by_features in ((2.0**-4, 0), (2.0**4, 1)):
        scaled = X * [1, factor]
        shap, path = properties._explained(scaled, outcome.astype(float))
        # Either feature cuts the rows into halves.
        for values, halves in ((scaled, X[:, by_features] > 0.5), (shap, outcome), (path, outcome)):
            groups = hierarchy.fcluster(hierarchy.linkage(values, "average"), 2, "maxclust")
            assert properties._share_of_pairs(groups, halves) == 0
        tables = (clusterings.standardized(scaled), shap)
        trees.append([hierarchy.linkage(table, "average") for table in tables])
    assert np.array_equal(*trees)
    # Of six pairs: rows 2 and 3 apart, and row 2 with rows 0 and 1.
    a, b = np.array([1, 1, 2, 2]), np.array([1, 1, 1, 2])
    assert properties._share_of_pairs(a, b) == pytest.approx(3 / 6)


def test_another_scale_moves_thresholds_and_nothing_else_of_the_trees():
    """So SHAP values change a little: a row passes tests otherwise that it does not meet."""
    X = np.random.default_rng(0).normal(size=(60, 4))
    y = X[:, 0] + X[:, 1] ** 2
    before, after = (properties._fitted(x, y)[0].trees_to_dataframe() for x in (X, np.exp(X)))
    thresholds = [trees.pop("Split").dropna() for trees in (before, after)]
    assert before.equals(after)
    assert not np.allclose(np.exp(thresholds[0]), thresholds[1], rtol=1e-3)
    (shap, path), (shap_after, path_after) = (properties._explained(x, y) for x in (X, np.exp(X)))
    assert (path == path_after).all() and not np.allclose(shap, shap_after, atol=1e-3)
