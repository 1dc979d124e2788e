"""lundberg2017: what its text says in passing (s09 to s15), recomputed in other ways."""

from collections import Counter
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
from reproduction.papers.lundberg2017 import _attributions, _packages, _trees, figure1
from reproduction.papers.lundberg2017._algorithms import expvalue, shapley, trees_of
from splitcredit import explain

properties = papers.artefact("lundberg2017/properties")


@pytest.fixture(scope="module")
def table():
    return properties.compute({}, n_pairs=200, n_fitted=25)


@pytest.fixture(scope="module")
def verdicts(table):
    return findings.verdicts(properties.statements(table))


def games(rng, M):
    """A random game in fractions, by subset."""
    subsets = [S for size in range(M + 1) for S in combinations(range(M), size)]
    return {S: Fraction(int(rng.integers(-8, 9))) for S in subsets}


def dividends(v):
    """Moebius inversion of a game: sums of its values with the signs of the sizes."""
    return {S: sum((-1) ** (len(S) - len(T)) * v[T] for T in v if set(T) <= set(S)) for S in v if S}


@pytest.mark.long
def test_s09_a_fixed_order_has_all_three_properties_and_is_not_shap(verdicts):
    """From scratch, for any games: the sum, dummies, and larger steps everywhere."""
    assert set(of(verdicts, "s09").values()) == {"differs"}
    rng = np.random.default_rng(0)
    for _ in range(50):
        v, w = games(rng, 3), games(rng, 3)

        def in_order(v):
            return [v[tuple(range(i + 1))] - v[tuple(range(i))] for i in range(3)]

        assert sum(in_order(v)) == v[0, 1, 2] - v[()]
        dummy = {S: v[tuple(j for j in S if j != 2)] for S in v}
        assert in_order(dummy)[2] == 0
        grown = {S: v[S] + (abs(w[tuple(j for j in S if j != 1)]) if 1 in S else 0) for S in v}
        assert in_order(grown)[1] >= in_order(v)[1]
        # Its last feature keeps what it shares, of which SHAP gives each an even part.
        kept = sum(
            (1 - Fraction(1, len(S))) * dividend for S, dividend in dividends(v).items() if 2 in S
        )
        assert in_order(v)[2] - shapley(3, v.__getitem__)[2] == kept
    assert in_order(v) != shapley(3, lambda S: v[S])
    # The same of two features.
    two = {S: v[S] for S in v if 2 not in S}
    step, shap = two[0, 1] - two[0,], shapley(2, lambda S: two[S])[1]
    assert step - shap == dividends(two)[0, 1] / 2
    # What it lacks: features that do the same get different values.
    symmetric = {S: Fraction(len(S) ** 2) for S in v}
    assert in_order(symmetric) == [1, 3, 5] and shapley(3, lambda S: symmetric[S]) == [3, 3, 3]


@pytest.mark.long
def test_s10_covers_of_dependent_features_make_shap_depend_on_the_order(verdicts):
    """Two binary features; 3, 1, 1, 3 rows at the corners; f is their AND. By hand and kernel."""
    assert of(verdicts, "s10") == {
        "one row a leaf": "holds",
        "features that depend on each other": "differs",
    }

    def tree(first, covers):
        second = 1 - first
        leaves = {x: _trees.leaf(float(x == (1, 1)), covers[x]) for x in product((0, 1), repeat=2)}

        def at(a, b):
            return leaves[(a, b) if first == 0 else (b, a)]

        sides = [_trees.split(second, at(a, 0), at(a, 1)) for a in (0, 1)]
        return _trees.forest_of([_trees.split(first, *sides)], 2)

    dependent = {(0, 0): 3, (0, 1): 1, (1, 0): 1, (1, 1): 3}
    x = np.array([[1.0, 1.0]])
    values = [explain(tree(first, dependent), x).values[0, :, 0] for first in (0, 1)]
    # E[f] is 3/8. Given the feature at the root it is 3/4, and that is true. Given the other it is
    # 3/4 too, but by the covers at the root 1/2.
    steps = ((3 / 4 - 3 / 8, 1 - 1 / 2), (1 / 2 - 3 / 8, 1 - 3 / 4))
    assert values[0] == pytest.approx([sum(pair) / 2 for pair in steps])
    assert values[1] == pytest.approx(values[0][::-1]) and values[0][0] != values[0][1]
    even_covers = dict.fromkeys(dependent, 2)
    a, b = (explain(tree(first, even_covers), x).values[0, :, 0] for first in (0, 1))
    assert a == pytest.approx(b)


@pytest.mark.long
def test_s11_path_methods_add_up_and_obey_missingness(verdicts):
    assert len(of(verdicts, "s11")) == 4 and set(of(verdicts, "s11").values()) == {"holds"}
    rng = np.random.default_rng(0)
    forest = _trees.random_forest(rng, 3, 4, n_unused=1)
    X = _trees.random_rows(rng, 20, 4)
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
    forest = _trees.forest_of([_trees.split(1, low, high)], 2)
    (tree,) = trees_of(forest, 0, Fraction)
    x = (1.0, 0.0)
    path = _attributions.path_output(x, tree)
    orders = []
    for order in permutations(range(2)):
        expectations = [expvalue(x, order[:k], tree, Counter()) for k in range(3)]
        steps = dict(zip(order, np.diff(np.array(expectations, dtype=object)), strict=True))
        orders.append([steps[0], steps[1]])
    assert path == orders[1] and path != orders[0]
    repeated = _trees.split(0, _trees.split(1, low, high), _trees.leaf(2.0), 2.0)
    (tree,) = trees_of(_trees.forest_of([repeated], 2), 0, Fraction)
    path = _attributions.path_output(x, tree)
    for order in permutations(range(2)):
        expectations = [expvalue(x, order[:k], tree, Counter()) for k in range(3)]
        steps = dict(zip(order, np.diff(np.array(expectations, dtype=object)), strict=True))
        assert path != [steps[0], steps[1]]
    # Each test under a name of its own, in the order of the path: nodes 0, 1 and 2.
    names, order = [0, 1, 2, -1, -1, 3, -1, -1, -1], (0, 1, 2)
    assert tree.d == [0, 1, 0, -1, -1, 0, -1, -1, -1]
    renamed = replace(tree, d=names)
    row = (1.0, 0.0, 1.0, 1.0)
    expectations = [expvalue(row, order[:k], renamed, Counter()) for k in range(4)]
    first, second, third = np.diff(np.array(expectations, dtype=object))
    assert path == [first + third, second]


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
    assert _attributions.shap_output((0, 0), tree) == [-10, -10]
    assert _attributions.shap_output((1, 0), tree) == [10, -30]


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
    rng = np.random.default_rng(0)
    X = np.repeat([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], 10, axis=0)
    X += rng.uniform(0, 0.1, X.shape)
    outcome = X[:, 0] > 0.5
    for factor, by_features in ((2.0**-4, 0), (2.0**4, 1)):
        scaled = X * [1, factor]
        (shap, path) = properties._explained(scaled, outcome.astype(float))
        standardized = clusterings.standardized(scaled)
        # Either feature cuts the rows into halves.
        assert same_groups(scaled, X[:, by_features] > 0.5)
        assert same_groups(shap, outcome) and same_groups(path, outcome)
        first, second = (hierarchy.linkage(table, "average") for table in (standardized, shap))
        if by_features == 0:
            of_standardized, of_shap = first, second
    assert (of_standardized == first).all() and (of_shap == second).all()


def same_groups(values, halves):
    """Whether average linkage puts the rows into these two groups."""
    groups = hierarchy.fcluster(hierarchy.linkage(values, "average"), 2, "maxclust")
    return len(set(groups[halves])) == len(set(groups[~halves])) == 1


def test_pairs_that_one_grouping_alone_puts_together_are_counted():
    a, b = np.array([1, 1, 2, 2]), np.array([1, 1, 1, 2])
    # Of six pairs: rows 2 and 3 apart, and row 2 with rows 0 and 1.
    assert properties._share_of_pairs(a, b) == pytest.approx(3 / 6)
    assert properties._share_of_pairs(a, 5 - a) == 0


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
