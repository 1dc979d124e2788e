"""Shapley interaction values against all subsets, exact fractions and other libraries."""

from itertools import combinations

import numpy as np
import pytest
import shap
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import twins
import twins_interactions
from forests import (
    FITTED,
    along_caterpillar,
    boosted,
    caterpillar,
    fitted,
    random_forest,
    rows_on_thresholds,
)
from splitcredit import interactions, to_forest
from splitcredit.kernels import cache
from splitcredit.kernels.interactions import leaf_games, pair_blocks, pair_tables
from splitcredit.kernels.interactions import sets as kernel_sets
from splitcredit.kernels.tree_shap import outcome_tables


def far_apart(n=3, **fields):
    """Trees on twelve features, few of them on a path together."""
    return random_forest(21, n_trees=n, depth=4, n_features=12, n_outputs=2, **fields)


@pytest.mark.parametrize("order", [1, 2, 3, 4])
@pytest.mark.parametrize("against_background", [False, True])
def test_sets_of_any_size_equal_the_enumeration_of_all_subsets(order, against_background):
    """Also in a forest of more leaves than are taken at once."""
    forest = random_forest(22, n_trees=20 if order == 3 else 3, depth=6, n_outputs=2)
    assert ((forest.feature < 0).sum() > leaf_games.LEAVES) == (order == 3)
    X = rows_on_thresholds(forest, 3)
    background = rows_on_thresholds(forest, 4, seed=1) if against_background else None
    all_sets = list(combinations(range(forest.n_features), order))
    ours = interactions(forest, X, sets=all_sets, background=background, order=order)
    twin = twins_interactions.interaction_index(forest, X, all_sets, background)
    assert twins.largest_error(ours.values, twin) <= twins.ROUNDING


@pytest.mark.parametrize("n_features", [40, 15])
def test_interactions_in_deep_trees_are_exact(n_features):
    """A path of 40 different features is out of reach of all subsets, and of extend/unwind."""
    forest = caterpillar(40, n_features)
    X, last = along_caterpillar(forest, [40, 39, 5, 0]), n_features - 1
    for sets in ([(0, 1), (0, last), (3, 7), (last - 1, last)], [(0, 1, 2), (1, 5, last)]):
        exact = twins_interactions.interaction_index_by_sizes(forest, X, sets)
        ours = interactions(forest, X, sets=sets, order=len(sets[0]))
        assert twins.largest_error(ours.values, exact) <= twins.ROUNDING


@pytest.mark.parametrize("name", ["forest, weighted, wine", "tree, NaN", "forest, entropy, digits"])
def test_interactions_of_fitted_forests_are_exact(name):
    model, X, _ = fitted(name)
    forest, X = to_forest(model), X[:: len(X) // 2][:2]
    matrix, present = interactions(forest, X).values, kernel_sets.present_sets(forest, 2)[0]
    pairs = present[:: max(1, len(present) // 20)]
    exact = twins_interactions.interaction_index_by_sizes(forest, X, pairs)
    assert twins.largest_error(2 * matrix[:, pairs[:, 0], pairs[:, 1]], exact) <= twins.ROUNDING
    assert not matrix[:, [j for j in range(forest.n_features) if j not in present]].any()


@pytest.mark.parametrize(
    "name",
    [
        "tree, best first, digits",
        "forest, best first, diabetes",
        "forest, weighted, wine",
        "lightgbm, NaN, diabetes",
    ],
)
def test_the_matrix_equals_that_of_shap(name):
    """Basis of 1e-10: the rounding of shap, see test_tree_shap_equals_shap."""
    model, X, _ = fitted(name) if name in FITTED else boosted(name)
    X = X[:: len(X) // 4]
    explainer = shap.TreeExplainer(model, feature_perturbation="tree_path_dependent")
    theirs = np.reshape(explainer.shap_interaction_values(X), (*X.shape, X.shape[1], -1))
    assert twins.largest_error(interactions(model, X).values, theirs) <= 1e-10


@pytest.mark.parametrize("name", ["xgboost, NaN, diabetes", "lightgbm, NaN, diabetes"])
def test_tables_of_pairs_equal_the_traversal_of_fitted_trees(name):
    """Trees that have more splits than a group, pairs in several groups, and missing values."""
    model, X, _ = boosted(name)
    forest = to_forest(model)
    X, outputs = forest.prepare(X[::3]), np.arange(forest.n_outputs)
    pairs, table = kernel_sets.present_sets(forest, 2)
    blocks = pair_blocks.pair_index(forest, X, outputs, table, len(pairs), True, True)
    tables = pair_tables.pair_index(forest, X, outputs, pairs)
    assert twins.largest_error(tables, blocks) <= twins.ROUNDING


def test_tables_that_are_too_large_to_keep_are_not_taken(monkeypatch):
    """They would be made anew for every call, which takes longer than to explain a few rows."""
    forest = far_apart(20)
    X = rows_on_thresholds(forest, 2)
    interactions(forest, X)
    size = cache.bytes_of(cache.ARRAYS.items(forest, ("pairs", 0, 1), None))
    for bound, pays in ((size // 2, False), (2 * size, True)):
        monkeypatch.setattr(pair_tables, "_MOST", bound)
        same_forest = far_apart(20)
        assert outcome_tables.pays(same_forest) and pair_tables.pays(same_forest) == pays


def sets_on_paths(forest, size):
    """Sets of features that are tested on one path from a root to a leaf, in rising order."""
    sets = set()
    for root in forest.tree_offsets[:-1]:
        for _, path in twins.ways(forest, root):
            tested = {int(forest.feature[k]) for k, _, _ in path}
            sets.update(combinations(sorted(tested), size))
    return sorted(sets)


@pytest.mark.parametrize(("n_trees", "size", "least", "most"), [(1, 2, 1, 65), (8, 3, 65, 220)])
def test_only_sets_that_meet_on_a_path_have_a_place(n_trees, size, least, most):
    """The first table has 16 places; more than 64 triples let it grow twice. All pairs are 66."""
    forest = far_apart(n_trees)
    present = kernel_sets.present_sets(forest, size)[0]
    assert [tuple(features) for features in present.tolist()] == sets_on_paths(forest, size)
    assert least <= len(present) <= most


def test_one_feature_means_all_its_sets():
    forest = far_apart()
    X = rows_on_thresholds(forest, 4)
    of_one, matrix = interactions(forest, X, sets="x3"), interactions(forest, X).values
    assert (of_one.sets == 3).any(axis=1).all()
    j, k = of_one.sets.T
    assert twins.largest_error(of_one.values, 2 * matrix[:, j, k]) <= twins.ROUNDING
    absent = [i for i in range(12) if i not in of_one.sets]
    assert not matrix[:, 3, absent].any()
    assert interactions(forest, X, sets=3, order=3).sets.shape[1] == 3


def test_names_indices_and_iterators_in_any_order_mean_the_same_sets():
    """An iterator was read by a check, and then had no length."""
    forest = far_apart()
    X = rows_on_thresholds(forest, 4)
    by_name = interactions(forest, X, sets=[("x5", "x0"), ("x1", "x2")])
    assert by_name.sets.tolist() == [[0, 5], [1, 2]]
    for sets in (np.array([[0, 5], [1, 2]]), iter([(0, 5), (2, 1)])):
        assert (interactions(forest, X, sets=sets).values == by_name.values).all()


def test_a_pipeline_takes_the_rows_and_the_background_through_its_steps():
    forest, X, y = fitted("forest, weighted, wine")
    scaled = StandardScaler().fit(X)
    pipeline = make_pipeline(scaled, clone(forest)).fit(X, y)
    rows, background = X[::30], X[:3]
    ours = interactions(pipeline, rows, background=background)
    scaled_background = scaled.transform(background)
    theirs = interactions(pipeline[-1], scaled.transform(rows), background=scaled_background)
    assert (ours.values == theirs.values).all() and (ours.baseline == theirs.baseline).all()


def test_a_frame_names_the_sets():
    forest = far_apart()
    X = rows_on_thresholds(forest, 2)
    ours = interactions(forest, X, sets=[(0, 5), (1, 2)])
    frame = ours.to_frame()
    assert list(frame) == ["sample", "output", "x0 x x5", "x1 x x2"]
    assert frame["x1 x x2"].tolist() == ours.values[:, 1].ravel().tolist()
    assert frame["output"].tolist() == ["class 0", "class 1"] * 2
    matrix = interactions(forest, X)
    frame = matrix.to_frame().drop(columns=["sample", "output"])
    assert len(frame.columns) == 12 * 13 // 2
    gained = (forest.predict(X) - matrix.baseline).ravel()
    assert twins.largest_error(frame.sum(axis=1), gained) <= twins.ROUNDING


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"sets": [(0, 0)]}, r"sets: \(0, 0\) names a feature twice"),
        ({"sets": [(0, 1, 2)]}, "has 3 features: pass order=3"),
        ({"sets": [(0, "y")]}, "sets: 'y' is neither an index below"),
        ({"sets": [(0, 12)]}, "sets: 12 is neither an index below"),
        ({"sets": [(0, 1), (1, 0)]}, "the same set twice"),
        *(({"sets": sets}, "a list of lists") for sets in ([0, 1], ["x0", "x1"], 1.5)),
        ({"order": 0}, "order=0: expected a whole number, at least 1"),
        ({"order": 30}, "order is 30, and the model has 12 features"),
        ({"background": np.zeros((1, 3))}, "background: X has 3 features"),
        ({"output": "z"}, "output='z' is not one of 'all', 'predicted'"),
    ],
)
def test_what_does_not_fit_is_named(given, message):
    with pytest.raises(ValueError, match=message):
        interactions(far_apart(), np.zeros((1, 12)), **given)


def test_no_rows_and_no_sets_give_empty_results():
    forest = far_apart()
    empty = interactions(forest, np.zeros((0, 12)))
    assert empty.values.shape == (0, 12, 12, 2) and empty.to_frame().shape == (0, 2 + 78)
    assert interactions(forest, np.zeros((3, 12)), sets=[]).values.shape == (3, 0, 2)
    assert interactions(forest, np.zeros((3, 12)), order=9).values.shape == (3, 0, 2)


def test_shap_plots_know_the_matrix():
    forest = far_apart()
    X = rows_on_thresholds(forest, 3)
    ours = interactions(forest, X)
    explanation = ours.to_shap(X)
    assert isinstance(explanation, shap.Explanation)
    assert explanation.values.shape == (3, 12, 12, 2)
    assert (explanation.data == X).all() and explanation.output_names == ["class 0", "class 1"]
    assert interactions(forest, X, output=1).to_shap().values.shape == (3, 12, 12)
    with pytest.raises(ValueError, match="call interactions without sets"):
        interactions(forest, X, sets=0).to_shap()
    with pytest.raises(ValueError, match="pass the same rows"):
        ours.to_shap(X[:2])
