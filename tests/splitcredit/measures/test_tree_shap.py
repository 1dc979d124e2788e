"""TreeSHAP, path-dependent and interventional, against fractions, shap's C code, and by hand."""

from dataclasses import replace
from functools import cache, partial

import numpy as np
import pytest
import shap

import splitcredit
import twins
import twins_interventional
from forests import (
    DRAWN,
    FITTED,
    along_caterpillar,
    caterpillar,
    fitted,
    grow,
    leaf,
    random_forest,
    rows_on_thresholds,
    split,
)
from splitcredit import (
    explain,
    explain_chunks,
    faithfulness,
    importance,
    rank,
    to_forest,
    tree_shap_interventional,
)
from splitcredit.kernels.interventional.explain import tree_shap_interventional as in_this_way
from splitcredit.kernels.tree_shap import explain as kernel
from twins_tree_shap import tree_shap_by_sizes

# Shallow enough for shap's extend/unwind, which loses digits with depth. It knows no NaN.
NOT_FOR_SHAP = "NaN", "one node", "extra-trees, entropy"
FOR_SHAP = [name for name in FITTED if not any(word in name for word in NOT_FOR_SHAP)]
DEEP = caterpillar(45, 20, n_outputs=2)


def test_covers_kept_in_single_precision_add_up_nearly():
    """Algorithm 1 of lundberg2017 takes each child's share of the parent, ours that of the pair.

    Where sums of weights are rounded to float32 the two differ by that rounding, 6e-8 a node.
    """
    rng = np.random.default_rng(0)
    covers = rng.uniform(1, 2, 3)
    inner = float(np.float32(covers[1] + covers[2]))
    child = split(1, 0.0, leaf(2.0, covers[1]), leaf(4.0, covers[2]), cover=inner)
    tree = split(0, 0.0, leaf(1.0, covers[0]), child, cover=float(np.float32(covers.sum())))
    forest, X = grow([tree], 2), np.array([[-1.0, -1.0], [1.0, 1.0]])
    ours = explain(forest, X)
    assert twins.largest_error(ours.values, twins.tree_shap_by_subsets(forest, X)) <= 4 * 6e-8


# Trees where extend/unwind has failed, and fitted ones: a maker of the forest and its rows.


def along(depth, n_features):
    """A feature of its own at each level, or some that come again up to four times."""
    forest = caterpillar(depth, n_features)
    return forest, along_caterpillar(forest, [depth, depth // 2])


def at_random(seed, depth, n_features):
    forest = random_forest(seed, n_trees=1, depth=depth, n_features=n_features, n_outputs=2)
    return forest, rows_on_thresholds(forest, 2)


def grown(name, n_rows):
    model, X, _ = fitted(name)
    forest = to_forest(model)
    return forest, forest.prepare(X[:: len(X) // n_rows]).astype(float)


@cache
def with_exact_values(make, *arguments):
    """Exact values take seconds, so they are made once for all algorithms."""
    forest, X = make(*arguments)
    return forest, X, tree_shap_by_sizes(forest, X)


EXACT = [
    *((along, depth, p) for depth, p in ((30, 30), (30, 8), (60, 60), (60, 25), (150, 40))),
    pytest.param((along, 150, 150), marks=pytest.mark.long),
    *((at_random, *case) for case in ((0, 12, 30), (1, 14, 12), (2, 10, 3))),
    (grown, "tree, entropy, wine", 5),
    (grown, "tree, best first, digits", 3),
    (grown, "tree, weighted, iris", 5),
    (grown, "tree, NaN", 3),
    (grown, "forest, weighted, wine", 2),
    (grown, "forest, best first, diabetes", 2),
    (grown, "extra-trees, entropy, iris", 2),
    pytest.param((grown, "extra-trees, entropy, digits", 1), marks=pytest.mark.long),
    pytest.param((grown, "extra-trees, squared error, made", 1), marks=pytest.mark.long),
]


@pytest.mark.parametrize("algorithm", ["auto", "blocks", "rows"])
@pytest.mark.parametrize("case", EXACT, ids=lambda case: f"{case[0].__name__}, {case[1:]}")
def test_deep_and_fitted_trees_are_exact(case, algorithm):
    """At depth 150 extend/unwind is off by 1e22 times the answer."""
    forest, X, exact = with_exact_values(*case)
    attribution = splitcredit.tree_shap(forest, X, algorithm=algorithm)
    assert twins.largest_error(attribution.values, exact) <= twins.ROUNDING
    assert twins.largest_error(attribution.totals(), twins.predict(forest, X)) <= twins.ROUNDING


@pytest.mark.parametrize("name", FOR_SHAP)
def test_tree_shap_equals_shap(name):
    """Basis of 1e-10: the rounding of shap, whose sums miss the prediction by up to 1e-11."""
    model, X, _ = fitted(name)
    X = X[:: max(1, len(X) // 50)]
    explainer = shap.TreeExplainer(model, feature_perturbation="tree_path_dependent")
    theirs = explainer.shap_values(X, check_additivity=False).reshape(*X.shape, -1)
    ours = explain(model, X)
    assert twins.largest_error(ours.values, theirs) <= 1e-10
    assert twins.largest_error(ours.baseline, np.atleast_1d(explainer.expected_value)) <= 1e-10


def test_algorithms_are_chosen_by_the_forest_and_refused_where_they_do_not_fit():
    shallow, between = (random_forest(0, n_trees=5, depth=depth) for depth in (3, 7))
    n_rows = 1, 10**3, 10**5
    assert [kernel.chosen(shallow, n) for n in n_rows] == ["tables"] * 3
    assert [kernel.chosen(between, n) for n in n_rows] == ["rows", "blocks", "tables"]
    assert [kernel.chosen(DEEP, n) for n in n_rows] == ["rows", "blocks", "blocks"]
    with pytest.raises(ValueError, match="available are 'auto', 'blocks', 'tables', 'rows'"):
        splitcredit.tree_shap(DEEP, np.zeros((1, 20)), algorithm="quick")
    with pytest.raises(ValueError, match="depth at most 8, and this forest has one of depth 45"):
        splitcredit.tree_shap(DEEP, np.zeros((1, 20)), algorithm="tables")


def test_chunks_take_the_algorithm_of_all_rows():
    """Red if the rows of a chunk choose: a few of them would be too few for tables."""
    forest = random_forest(0, n_trees=2, depth=7)
    X = np.random.default_rng(0).random((10_000, forest.n_features))
    whole = explain(forest, X).values
    pieces = [piece.values for piece in splitcredit.explain_chunks(forest, X, chunk_rows=999)]
    assert np.concatenate(pieces).tobytes() == whole.tobytes()
    assert explain(forest, X[:9]).values.tobytes() != whole[:9].tobytes()


@pytest.mark.parametrize("algorithm", kernel.ALGORITHMS[1:])
@pytest.mark.parametrize("name", ["NaN, float32", "binary, pure leaves", "sum with a base"])
def test_features_of_a_group_become_known_together(name, algorithm):
    """Chunks but the first found iterators read, and had other players without an error."""
    forest = DRAWN[name]()
    X, names = rows_on_thresholds(forest, 20), forest.feature_names
    groups = {"some": [names[2], 0], "one": [1]}
    players = [[2, 0], [1], *([j] for j in range(3, forest.n_features))]
    expected = twins.tree_shap_by_subsets(forest, X, players=players)
    ours = splitcredit.tree_shap(forest, X, groups=groups, algorithm=algorithm)
    assert twins.largest_error(ours.values, expected) <= twins.ROUNDING
    assert ours.feature_names == ("some", "one", *names[3:])
    sums = explain(forest, X).grouped(groups)
    np.testing.assert_allclose(ours.totals(), sums.totals(), rtol=0, atol=1e-12)
    read_once = {name: iter(group) for name, group in groups.items()}
    by_algorithm = partial(splitcredit.tree_shap, groups=read_once, algorithm=algorithm)
    parts = list(explain_chunks(forest, X, by_algorithm, chunk_rows=7))
    assert np.concatenate([part.values for part in parts]).tobytes() == ours.values.tobytes()
    with pytest.raises(ValueError, match=r"is in 'a' and in 'b': put it into one group, once"):
        explain(forest, X, groups={"a": [0, 1], "b": [1]})


def test_importances_and_rankings_of_groups_are_those_of_their_attributions():
    forest, groups = DRAWN["NaN, float32"](), {"some": [2, 0]}
    X = rows_on_thresholds(forest, 20)
    phi = explain(forest, X, groups=groups)
    ours = importance(forest, X, method="tree_shap", groups=groups)
    ranked = rank(forest, X, partial(splitcredit.tree_shap, groups=groups))
    assert ours.feature_names == phi.feature_names == ranked.feature_names
    np.testing.assert_allclose(ours.values, np.abs(phi.values).mean(axis=0)[:, 0], rtol=1e-15)
    np.testing.assert_array_equal(ranked.rankings[:, 0], np.abs(phi.values[..., 0]).argmax(axis=1))
    with pytest.raises(ValueError, match="rank the features of this model"):
        faithfulness(forest, X, ranked, scale=0.3)


@pytest.mark.parametrize("algorithm", ["blocks", "tables", "rows"])
def test_outputs_that_nearly_add_up_are_all_explained(algorithm):
    """Only if leaves add up to the same is the last output minus the sum of the others."""
    tree = split(0, 0.5, leaf([0.25, 0.75], 2.0), leaf([1.0, 1e-10], 1.0))
    forest, X = grow([tree], 1), np.array([[0.0], [1.0]])
    values = kernel.tree_shap(forest, forest.prepare(X), algorithm=algorithm)
    assert twins.largest_error(values, tree_shap_by_sizes(forest, X)) <= twins.ROUNDING
    assert values[0, 0, 0] + values[0, 0, 1] == pytest.approx(-1e-10 / 3, rel=1e-5, abs=0)


def test_outputs_that_add_up_in_the_first_leaves_only_are_all_explained():
    """The first 64 leaves are looked at before the others."""

    def full(depth, value):
        if depth == 0:
            return leaf(value)
        return split(depth % 3, 0.0, full(depth - 1, value), full(depth - 1, value))

    other_tree = split(2, 0.0, leaf([5.0, 1.0], 2.0), leaf([1.0, 3.0], 2.0))
    forest = grow([full(6, [0.25, 0.75]), other_tree], 3)
    X = rows_on_thresholds(forest, 4)
    twin = twins.tree_shap_by_subsets(forest, X).astype(float)
    assert twins.largest_error(explain(forest, X).values, twin) <= twins.ROUNDING


# Against a background. Limits that send leaves by tables, small ones, by patterns, by pairs of
# rows, and by all three.
WAYS = [None, (3, 64, 1), (0, 64), (0, 0), (2, 3, 1)]


@pytest.mark.parametrize("name", FITTED)
def test_all_ways_agree_on_fitted_forests(name):
    """With more than 64 distinct patterns in the background."""
    model, X, _ = fitted(name)
    forest = to_forest(model)
    X, outputs = forest.prepare(X), np.arange(forest.n_outputs)
    background, X = X[:: max(1, len(X) // 90)], X[3 :: len(X) // 10]
    by_tables, *others = (in_this_way(forest, X, outputs, background, way) for way in WAYS)
    assert max(twins.largest_error(other, by_tables) for other in others) <= twins.ROUNDING


@pytest.mark.parametrize("name", [name for name in FITTED if "NaN" not in name])
def test_interventional_values_equal_those_of_shap(name):
    """On the model that shap explains: it rounds thresholds to float32, which moves rows.

    Basis of 2e-7: it keeps leaves, weights and sums in single precision too. It knows no NaN.
    """
    model, X, _ = fitted(name)
    X = X.astype(np.float32)
    background, X = X[3 :: len(X) // 20], X[:: len(X) // 10]
    explainer = shap.TreeExplainer(model, background, feature_perturbation="interventional")
    theirs = explainer.shap_values(X, check_additivity=False).reshape(*X.shape, -1)
    forest = to_forest(model)
    rounded = replace(forest, threshold=forest.threshold.astype(np.float32))
    ours = tree_shap_interventional(rounded, X, background).values
    assert twins.largest_error(theirs, ours) <= 2e-7


def test_an_and_of_two_features_shares_the_credit():
    """By hand: the prediction is 12 if both are 1, as in the row, else 0."""
    inner = split(1, 0.5, leaf(0.0), leaf(12.0))
    forest = grow([split(0, 0.5, leaf(0.0), inner)], 2)
    for z, expected in (([0, 0], [6, 6]), ([0, 1], [12, 0]), ([1, 0], [0, 12]), ([1, 1], [0, 0])):
        values = tree_shap_interventional(forest, [[1, 1]], [z]).values
        assert values[0, :, 0].tolist() == expected


@pytest.mark.parametrize(("depth", "n_features"), [(60, 60), (60, 7), (100, 100)])
def test_deep_trees_have_the_values_in_fractions(depth, n_features):
    """Paths with 60 features have patterns; with 100, the long ones are taken by pairs."""
    forest = caterpillar(depth, n_features, n_outputs=2)
    ends = along_caterpillar(forest, [depth, depth // 2, 9, 1])
    a = tree_shap_interventional(forest, ends, -ends)
    twin = twins_interventional.leaf_by_leaf(forest, ends, -ends)
    assert twins.largest_error(a.values, twin) <= twins.ROUNDING


@pytest.mark.parametrize("way", WAYS)
def test_background_rows_count_as_often_as_they_occur(way):
    """Values are means over background rows: 150 of them, of which 50 are there three times."""
    forest = random_forest(2, depth=11, n_outputs=2, missing=True)
    rows, outputs = forest.prepare(rows_on_thresholds(forest, 54)), np.array([0, 1])
    X, background = rows[:5], rows[4:]
    repeated = np.concatenate([background, background[::-1], background])
    ours = in_this_way(forest, X, outputs, repeated, way)
    by_row = [in_this_way(forest, X, outputs, z[None], None) for z in background]
    assert twins.largest_error(ours, np.mean(by_row, axis=0)) <= twins.ROUNDING
