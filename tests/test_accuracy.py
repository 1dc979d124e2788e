"""Accuracy of TreeSHAP against rational arithmetic, on trees where extend/unwind has failed.

Every test runs each algorithm, but for those that take shallow trees only.
"""

from fractions import Fraction
from functools import cache
from itertools import combinations

import numpy as np
import pytest

import twins
from forests import (
    DRAWN,
    along_caterpillar,
    caterpillar,
    fitted,
    random_forest,
    rows_on_thresholds,
)
from splitcredit import explain, to_forest
from twins_tree_shap import tree_shap_by_sizes

ALGORITHMS = ["auto", "blocks", "tables", "rows"]
# These refuse trees deeper than 8.
SHALLOW = ("tables",)
# Of shap's own rounding on trees of depth 30, where it has lost four digits; see figure
# lundberg2017/algorithms.
SHAP_ROUNDING = 1e-9


def by(algorithm):
    """TreeSHAP by one of the algorithms, as a function of forest and rows."""
    return lambda forest, X: explain(forest, X, "tree_shap", algorithm=algorithm)


@pytest.fixture(params=ALGORITHMS)
def explained(request):
    return by(request.param)


@pytest.fixture(params=[a for a in ALGORITHMS if a not in SHALLOW])
def explained_deep(request):
    return by(request.param)


# Exact values take seconds, so they are made once for all algorithms.


@cache
def deep(depth, n_features):
    forest = caterpillar(depth, n_features)
    X = along_caterpillar(forest, [depth, depth // 2])
    return forest, X, tree_shap_by_sizes(forest, X)


@cache
def drawn(seed, depth, n_features):
    forest = random_forest(seed, n_trees=1, depth=depth, n_features=n_features, n_outputs=2)
    X = rows_on_thresholds(forest, 2)
    return forest, X, tree_shap_by_sizes(forest, X)


@cache
def grown(name):
    model, X, _ = fitted(name)
    forest = to_forest(model)
    X = forest.prepare(X)[[0]].astype(float)
    return forest, X, tree_shap_by_sizes(forest, X)


def assert_exact(attribution, forest, X, exact):
    assert twins.largest_error(attribution.values, exact) <= twins.ROUNDING
    assert twins.largest_error(attribution.totals(), twins.predict(forest, X)) <= twins.ROUNDING


@pytest.mark.parametrize(
    ("depth", "n_features"),
    [
        (30, 30),
        (30, 8),
        (60, 60),
        (60, 25),
        pytest.param(150, 150, marks=pytest.mark.long),
        (150, 40),
    ],
)
def test_deep_trees_are_exact(explained_deep, depth, n_features):
    """With a feature of its own at each level, and with some that come again up to four times.

    At depth 150 extend/unwind is off by 1e22 times the answer.
    """
    forest, X, exact = deep(depth, n_features)
    assert_exact(explained_deep(forest, X), forest, X, exact)


@pytest.mark.parametrize(("seed", "depth", "n_features"), [(0, 12, 30), (1, 14, 12), (2, 10, 3)])
def test_random_deep_trees_are_exact(explained_deep, seed, depth, n_features):
    forest, X, exact = drawn(seed, depth, n_features)
    assert forest.n_nodes > 100
    assert_exact(explained_deep(forest, X), forest, X, exact)


@pytest.mark.long
@pytest.mark.parametrize(
    "name", ["extra-trees, entropy, digits", "extra-trees, squared error, made"]
)
def test_fitted_deep_trees_are_exact(explained_deep, name):
    forest, X, exact = grown(name)
    assert_exact(explained_deep(forest, X), forest, X, exact)


@pytest.mark.parametrize("seed", range(4))
def test_brute_force_with_repeated_features_and_outputs(explained, seed):
    forest = random_forest(seed, n_features=3, depth=6, n_outputs=3, leaves="fractions")
    X = rows_on_thresholds(forest, 4)
    twin = twins.tree_shap_by_subsets(forest, X, number=Fraction)
    assert twins.largest_error(explained(forest, X).values, twin) <= twins.ROUNDING


@pytest.mark.parametrize(
    "name",
    [
        "tree, best first, digits",
        "forest, entropy, digits",
        "extra-trees, entropy, digits",
        "extra-trees, bagged, cancer",
        "extra-trees, squared error, made",
    ],
)
def test_shap_agrees_up_to_depth_30(explained_deep, name):
    import shap

    model, X, _ = fitted(name)
    forest = to_forest(model)
    X = X[:: max(1, len(X) // 20)]
    explainer = shap.TreeExplainer(model, feature_perturbation="tree_path_dependent")
    theirs = explainer.shap_values(X, check_additivity=False).reshape(*X.shape, -1)
    assert twins.largest_error(explained_deep(forest, X).values, theirs) <= SHAP_ROUNDING


def test_values_never_fall_when_a_feature_matters_more(explained):
    """Consistency, section 3 of lundberg2017, on pairs of trees with uneven covers and repeats.

    Where v'(S + i) - v'(S) >= v(S + i) - v(S) for all S without i, phi_i' >= phi_i.
    """
    n_features, n_pairs = 3, 0
    subsets = [S for k in range(n_features + 1) for S in combinations(range(n_features), k)]
    x = np.array([[0.4, -0.1, 0.6]])
    cases = []
    for seed in range(60):
        forest = random_forest(seed, n_trees=1, depth=4, n_features=n_features)
        worth = {S: twins.expvalue(forest, x[0], S, Fraction)[0] for S in subsets}
        cases.append((worth, explained(forest, x).values[0, :, 0]))
    scale = max(np.abs(phi).max() for _, phi in cases)
    for v, phi in cases:
        for w, psi in cases:
            for i in range(n_features):
                without_i = [S for S in subsets if i not in S]
                gains = [(tuple(sorted((*S, i))), S) for S in without_i]
                if v is not w and all(w[T] - w[S] >= v[T] - v[S] for T, S in gains):
                    n_pairs += 1
                    assert psi[i] >= phi[i] - twins.ROUNDING * scale
    assert n_pairs > 1000


def test_twin_is_the_twin_by_enumeration():
    forests = [random_forest(seed, n_features=4, depth=5, n_outputs=2) for seed in range(3)]
    for forest in (*forests, DRAWN["leaf without cover"]()):
        X = rows_on_thresholds(forest, 3)
        exact = tree_shap_by_sizes(forest, X)
        assert (exact == twins.tree_shap_by_subsets(forest, X, number=Fraction)).all()
        assert (exact == twins.tree_shap_exact(forest, X)).all()
