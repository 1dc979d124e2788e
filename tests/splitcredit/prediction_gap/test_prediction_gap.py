"""The exact prediction gap, PGI^2 and PGU^2, and the rankings made from it."""

from dataclasses import replace
from functools import cache
from itertools import permutations

import numba
import numpy as np
import pandas as pd
import pytest
from scipy import stats
from scipy.sparse import csr_matrix
from sklearn.ensemble import RandomForestClassifier
from xgboost import XGBRegressor

import twins_prediction_gap as slow
from forests import DRAWN, caterpillar, grow, leaf, rows_on_thresholds, single_leaf, split
from splitcredit import faithfulness, to_forest
from splitcredit.kernels.prediction_gap.gap_forest import gap_forest
from splitcredit.kernels.prediction_gap.leaf_lists import workspace
from splitcredit.prediction_gap.exact_gap import pg2
from splitcredit.prediction_gap.greedy import greedy_ranking
from splitcredit.prediction_gap.optimum import _best_rankings, best_ranking
from splitcredit.prediction_gap.perturbations import (
    Empirical,
    FeatureWise,
    Laplace,
    Marginal,
    Normal,
    Uniform,
    checked_scale,
)
from twins import ways

# The bar of the project, for gaps that are not next to nothing, whatever the trees cancel.
ACCURACY, LEAST = 1e-12, 1e-60
# Shares of a sample are off by a rounding of 1.
OF_ONE = 1e-15
NOISES = {
    "normal": (Normal(), slow.normal_below),
    "laplace": (Laplace(), slow.laplace_below),
    "uniform": (Uniform(2.0), slow.uniform_below(2.0)),
}
GRID = np.array([-1.0, -0.5, -0.25, 0.0, 0.1, 0.3, 0.5, 0.7, 1.0])


def random_case(seed):
    """A forest, a row, features to perturb and scales; ties of every kind are common."""
    rng = np.random.default_rng(seed)
    d, n_outputs = int(rng.integers(1, 6)), int(rng.integers(1, 3))
    tied = rng.random() < 0.3

    def value():
        return rng.choice([-1.0, 0.0, 2.0], n_outputs) if tied else rng.normal(size=n_outputs)

    def tree(depth):
        if depth == 0 or rng.random() < 0.1:
            return leaf(value(), float(rng.integers(1, 9)))
        side_of_missing = {"missing_left": bool(rng.random() < 0.5)}
        children = tree(depth - 1), tree(depth - 1)
        return split(int(rng.integers(d)), rng.choice(GRID), *children, **side_of_missing)

    fields = {"strict": bool(rng.random() < 0.5), "aggregate": str(rng.choice(["mean", "sum"]))}
    fields |= {"x_dtype": str(rng.choice(["float32", "float64"])), "missing": rng.random() < 0.5}
    n_trees, depth = int(rng.integers(1, 5)), int(rng.integers(1, 5))
    has_nan = fields["missing"]
    forest = grow([tree(depth) for _ in range(n_trees)], d, **fields)
    x = np.where(rng.random(d) < 0.5, rng.choice(GRID, d), rng.normal(size=d))
    mask = rng.random(d) < 0.7
    if np.flatnonzero(mask).size > 3:  # so few that all cells can be listed
        mask[np.flatnonzero(mask)[3:]] = False
    if has_nan:
        x[~mask & (rng.random(d) < 0.3)] = np.nan
    scales = rng.choice([0.05, 0.1, 0.3, 1.0, 3.0], d)
    if rng.random() < 0.3:  # far from all thresholds
        x, scales = x + 2.0, scales * 0.5
    return forest, x, mask, scales, int(rng.integers(n_outputs))


def assert_gap(ours, exact, size, absolute=0.0):
    """Within the bar; `size` is the gap if no tree took back what others give."""
    assert np.isfinite(ours) and ours >= 0
    bound = max(ACCURACY * exact, LEAST, absolute * size)
    assert abs(ours - exact) <= bound, (ours, exact, size)


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("block", range(10))
def test_random_ensembles_by_enumeration(noise, block):
    perturbation, probability_below = NOISES[noise]
    for seed in range(25 * block, 25 * block + 25):
        forest, x, mask, scales, output = random_case(seed)
        ours = pg2(forest, x[None], mask, perturbation, scales, output)[0]
        exact = slow.pg2(forest, x, mask, probability_below, scales, output)
        assert_gap(ours, *exact)


@pytest.mark.parametrize("strict", [True, False])
def test_uniform_noise_at_its_edge(strict):
    """Thresholds a few roundings inside and outside of what the noise can reach."""
    for x, scale, half_width in ((0.3, 0.1, 2.0), (-7.1, 0.7, 1.0 / 3), (1e5, 3e3, 1.7)):
        for side in (-1, 1):
            edge = x + side * half_width * scale
            for steps in (-4, -1, 0, 1, 2, 1000, 10**6):
                threshold = edge - side * steps * np.spacing(edge)
                stump = grow([split(0, threshold, leaf(0.0), leaf(1.0))], 1, strict=strict)
                arguments = stump, np.array([x]), np.array([True])
                ours = pg2(stump, [[x]], [0], Uniform(half_width), scale)[0]
                exact = slow.pg2(*arguments, slow.uniform_below(half_width), np.array([scale]))
                assert_gap(ours, *exact)


@pytest.mark.parametrize("block", range(5))
def test_values_from_a_sample_by_enumeration(block):
    """Noise and replacement with atoms, many of them on thresholds; 0.1 + 0.2 is not 0.3."""
    for seed in range(20 * block, 20 * block + 20):
        forest, x, mask, _, output = random_case(1000 + seed)
        rng, d = np.random.default_rng(seed), forest.n_features
        sample = rng.choice([-0.4, -0.2, 0.0, 0.2, 0.2, 0.25, 0.6], 5)
        scales, rows = rng.choice([1, 2], d), rng.choice(GRID, (6, d))
        x_cast = x.astype(forest.x_dtype).astype(float)
        moved = [x_cast[j] + scales[j] * sample for j in range(d)]
        for values, *given in ((moved, Empirical(sample), scales), (list(rows.T), Marginal(rows))):
            ours = pg2(forest, x[None], mask, *given, output=output)[0]
            assert_gap(ours, *slow.pg2_of_values(forest, x, mask, values, output), OF_ONE)


@cache
def boosted():
    """XGBoost on data like red wine's: correlated, positive, in few distinct values; and rows."""
    rng = np.random.default_rng(0)
    X = np.exp(rng.normal(size=(500, 7)) @ rng.normal(size=(7, 7)) / 4).round(1)
    y = (X[:, 0] * X[:, 1] + X[:, 2] + rng.normal(size=500)).round()
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    model = XGBRegressor(n_estimators=30, max_depth=4, learning_rate=0.2, n_jobs=1).fit(X, y)
    return to_forest(model), X


def pairs(n, seed=0):
    """Rows of `boosted`, and a set of features for each, all sizes."""
    forest, X = boosted()
    rng = np.random.default_rng(seed)
    size = 1 + np.arange(n) % forest.n_features
    place = rng.permuted(np.tile(np.arange(forest.n_features), (n, 1)), axis=1)
    return forest, X[rng.integers(len(X), size=n)], place < size[:, None]


def test_another_noise_for_every_feature():
    """Features that are perturbed alone have the gap of their noise; together they are sampled."""
    forest, X, masks = pairs(20, seed=1)
    kinds = [Normal(), Laplace(), Uniform(1.5), Empirical(np.linspace(-1.5, 2.5, 50))]
    noises = [kinds[j % len(kinds)] for j in range(forest.n_features)]
    mixed, scale = FeatureWise(noises), np.linspace(0.1, 0.6, forest.n_features)
    for j, noise in enumerate(noises):
        by_own_noise = pg2(forest, X, [j], noise, scale[j])
        assert pg2(forest, X, [j], mixed, scale).tobytes() == by_own_noise.tobytes()
    random, z = np.random.default_rng(2), []
    for x, mask, gap in zip(X, masks, pg2(forest, X, masks, mixed, scale), strict=True):
        perturbed = np.where(mask, x + scale * mixed.draw(random, (4000, len(x))), x)
        squares = (forest.predict(perturbed)[:, 0] - forest.predict(x[None])[0, 0]) ** 2
        z.append((squares.mean() - gap) / (squares.std() / np.sqrt(4000) or 1.0))
    assert np.mean(np.square(z)) < stats.chi2.ppf(1 - 1e-6, 20) / 20


@pytest.mark.parametrize("sigma", [0.05, 0.3])
def test_the_gap_of_values_times_a_power_of_two_is_that_times_its_square(sigma):
    """To the last bit; red if leaves are negligible by their probability alone."""
    forest, X, masks = pairs(60, seed=3)
    whole = pg2(forest, X, masks, scale=sigma)
    small = replace(forest, value=forest.value * 2.0**-40, base=forest.base * 2.0**-40)
    assert (pg2(small, X, masks, scale=sigma) * 2.0**80).tobytes() == whole.tobytes()


def test_there_is_room_for_all_leaves_and_one_that_is_looked_at():
    """Kernels check no bounds, so too little room would be seen by chance only."""
    forest, _ = boosted()
    trees = gap_forest(forest, 0)
    depths = [len(way) for root in forest.tree_offsets[:-1] for _, way in ways(forest, root)]
    assert trees.depth == max(depths)
    space = numba.njit(lambda trees, n_features: workspace(trees, n_features))
    assert len(space(trees, forest.n_features).active) == len(trees.leaves) + 1
    assert len(trees.leaves) == (forest.feature < 0).sum()


@pytest.mark.parametrize("noise", [None, Laplace(), Uniform()])
def test_same_bytes_for_any_order_and_grouping(noise):
    forest, X, masks = pairs(101)
    order = np.random.default_rng(5).permutation(len(X))
    whole, reordered = (pg2(forest, X[r], masks[r], noise) for r in (slice(None), order))
    assert reordered.tobytes() == whole[order].tobytes()
    one_by_one = [pg2(forest, X[i : i + 1], masks[i], noise)[0] for i in range(len(X))]
    assert np.array(one_by_one).tobytes() == whole.tobytes()
    ranking, reordered = (greedy_ranking(forest, X[r], noise) for r in (slice(None), order))
    assert reordered.gaps.tobytes() == ranking.gaps[order].tobytes()
    assert np.array_equal(reordered.rankings, ranking.rankings[order])


@pytest.mark.parametrize("far", [6.0, 8.0, 11.0])
def test_trees_that_cancel_keep_their_digits(far):
    """Two trees take each other back but beyond a far threshold.

    Numbers of twice the digits are off by 2**-106 of what cancels, at 11 by more than the bar.
    """
    near_tree = split(0, 0.5, leaf(0.0), leaf(3.0))
    canceling_tree = split(0, 0.5, leaf(0.0), split(0, far, leaf(-3.0), leaf(-2.0)))
    for x_dtype in ("float32", "float64"):
        forest = grow([near_tree, canceling_tree], 2, aggregate="sum", x_dtype=x_dtype)
        gap, size = slow.pg2(forest, np.zeros(2), np.ones(2, bool), slow.normal_below, [1.0, 1.0])
        # Float64 would leave too few digits for the bar.
        assert size > {6.0: 1e9, 8.0: 1e15, 11.0: 1e24}[far] * gap
        ours = pg2(forest, np.zeros((1, 2)), [0, 1])[0]
        assert abs(ours - gap) <= max(ACCURACY * gap, 2.0**-106 * size)


def beside_its_negative(forest, moved):
    """The trees of a forest and the same with minus; one leaf is off by a number of many digits."""
    n, names = len(forest.value), ("feature", "threshold", "cover", "impurity", "missing_left")
    given = {name: getattr(forest, name) for name in names if getattr(forest, name) is not None}
    twice = {name: np.concatenate([values] * 2) for name, values in given.items()}
    off = (np.arange(n) == moved)[:, None] * 1e-6
    for name in ("left", "right", "tree_offsets"):
        given = getattr(forest, name)
        further = given[1:] if name == "tree_offsets" else given
        twice[name] = np.concatenate([given, np.where(further < 0, further, further + n)])
    value = np.concatenate([forest.value, -forest.value - off])
    return replace(forest, **twice, value=value, aggregate="sum")


@pytest.mark.parametrize("noise", NOISES)
def test_random_trees_that_cancel_but_for_a_leaf(noise):
    """Below, above and around the row, several features, and values that need all their digits."""
    perturbation, probability_below = NOISES[noise]
    for seed in range(40):
        forest, x, mask, scales, output = random_case(seed)
        leaves = np.flatnonzero(forest.feature < 0)
        forest = beside_its_negative(forest, leaves[seed % len(leaves)])
        ours = pg2(forest, x[None], mask, perturbation, scales, output)[0]
        exact = slow.pg2(forest, x, mask, probability_below, scales, output)
        assert_gap(ours, *exact, 2.0**-106)
        if forest.missing_left is not None:  # a missing value that is not tested: by walks
            forest = replace(forest, feature_names=(*forest.feature_names, "untested"))
            x, mask, scales = np.append(x, np.nan), np.append(mask, False), np.append(scales, 1.0)
            by_walks = pg2(forest, x[None], mask, perturbation, scales, output)[0]
            assert by_walks.tobytes() == ours.tobytes()


def test_more_features_than_bits_in_a_word():
    rng = np.random.default_rng(0)
    tested = (3, 64, 65, 99, 128)

    def tree(depth):
        if depth == 0:
            return leaf(rng.normal())
        return split(int(rng.choice(tested)), rng.choice(GRID), tree(depth - 1), tree(depth - 1))

    forest = grow([tree(4) for _ in range(4)], 130)
    x, scales = rng.normal(size=130), np.full(130, 0.5)
    for features in ([64], [64, 128], [65, 99, 128], [3, 64, 65]):
        mask = np.isin(np.arange(130), features)
        exact = slow.pg2(forest, x, mask, slow.normal_below, scales)
        assert_gap(pg2(forest, x[None], features, scale=0.5)[0], *exact)
        with_untested = np.isin(np.arange(130), features) | ~np.isin(np.arange(130), tested)
        assert_gap(pg2(forest, x[None], with_untested, scale=0.5)[0], *exact)


def test_deep_paths_and_many_leaves():
    """More leaves than a block, and a path that comes to each feature many times."""
    for forest in (caterpillar(40, 2, seed=3), caterpillar(300, 3, seed=1)):
        x = np.full(forest.n_features, 0.3)
        mask = np.arange(forest.n_features) == 1
        exact = slow.pg2(forest, x, mask, slow.normal_below, np.ones(forest.n_features))
        assert pg2(forest, x[None], mask)[0] == pytest.approx(exact[0], rel=1e-11)


@pytest.mark.parametrize("name", DRAWN)
def test_drawn_forests_by_enumeration(name):
    """Whatever the order of the nodes, the outputs, and values of a tree that are all the same."""
    forest, d = DRAWN[name](), DRAWN[name]().n_features
    for x, chosen in zip(rows_on_thresholds(forest, 4), ([0, 1], [2, 3], [1], [0]), strict=True):
        mask = np.isin(np.arange(d), chosen)
        x[mask & (np.isnan(x) | (np.abs(x) > 1e30))] = 0.3
        for output in range(min(2, forest.n_outputs)):
            exact = slow.pg2(forest, x, mask, slow.normal_below, np.full(d, 0.5), output)
            assert_gap(pg2(forest, x[None], mask, scale=0.5, output=output)[0], *exact)


@pytest.mark.filterwarnings("error")
def test_infinite_thresholds_of_several_nodes_part_missing_values_only():
    """Scikit-learn parts NaN from all numbers that way."""
    known, missing = (split(1, 0.5, leaf(a), leaf(b)) for a, b in ((1.0, 4.0), (2.0, 9.0)))
    inner = split(0, np.inf, known, missing)
    tree = split(0, np.inf, inner, leaf(3.0), missing_left=True)
    forest = grow([tree], 2, missing=True)
    for x, features in (([0.0, 0.2], [0, 1]), ([0.0, 0.2], [1]), ([np.nan, 0.2], [1])):
        mask = np.isin([0, 1], features)
        exact = slow.pg2(forest, np.array(x), mask, slow.normal_below, np.ones(2))
        assert_gap(pg2(forest, [x], features)[0], *exact)
    assert exact[0] > 1  # of 2 and 9


NAMES, MASK = [f"x{j}" for j in range(7)], np.isin(np.arange(7), [1, 4])
SERIES, TABLE = pd.Series(MASK, NAMES), pd.DataFrame(np.tile(MASK, (4, 1)), columns=NAMES)
FORMS = {
    "indices": [4, 1],
    "array of indices": np.array([1, 4]),
    "names": [NAMES[4], NAMES[1]],
    "Series of indices": pd.Series([4, 1]),
    "Series of names": pd.Series([NAMES[4], NAMES[1]]),
    "mask by row": np.tile(MASK, (4, 1)),
    "mask of objects": MASK.astype(object),
    "dict": dict(SERIES[::-1]),
    # Of pandas' own booleans, or of objects, all features were perturbed.
    **{f"Series of {kind}": SERIES[::-1].astype(kind) for kind in (bool, "boolean", object)},
    **{f"table of {kind}": TABLE.astype(kind) for kind in (bool, "boolean", object)},
}


@pytest.mark.parametrize("form", FORMS)
def test_forms_of_features_mean_the_same(form):
    forest, X, _ = pairs(4)
    expected = pg2(forest, X, MASK).tobytes()
    assert pg2(forest, X, FORMS[form]).tobytes() == expected
    assert faithfulness(forest, X, FORMS[form], "pg2", scale=1.0).tobytes() == expected


def test_one_feature_no_features_no_scale_no_rows_and_no_split():
    forest, X, _ = pairs(4)
    of_one = pg2(forest, X, [4]).tobytes()
    for feature in (4, np.int64(4), NAMES[4]):  # a number alone was a TypeError
        assert pg2(forest, X, feature).tobytes() == of_one
    assert (pg2(forest, X, []) == 0).all()
    assert (pg2(forest, X, MASK, scale=0.0) == 0).all()
    assert pg2(forest, X[:0], MASK).shape == (0,)
    assert (pg2(single_leaf(2), X[:2, :3], [0, 1], output=1) == 0).all()
    for rank in (greedy_ranking, best_ranking):
        assert rank(single_leaf(2), X[:2, :3], output=0).rankings.tolist() == [[0, 1, 2]] * 2
    assert greedy_ranking(single_leaf(2), X[:2, :3], output=0).tied_share == 1.0


def test_classifiers_have_a_gap_for_each_output():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4))
    model = RandomForestClassifier(5, random_state=0).fit(X, (X[:, 0] + X[:, 1] > 0).astype(int))
    gaps = [pg2(model, X[:9], [0, 2], output=c) for c in (0, 1, "1", None)]
    assert gaps[1].tobytes() == gaps[2].tobytes() == gaps[3].tobytes()
    np.testing.assert_allclose(gaps[0], gaps[1], rtol=1e-10)  # the two fractions add up to 1
    model.fit(X, np.arange(200) % 3)
    for bad_output in (None, 7, "all", "predicted"):
        with pytest.raises(ValueError, match=f"3 outputs: choose one|output={bad_output!r}"):
            pg2(model, X, [0], output=bad_output)


def test_greedy_takes_the_largest_gap_and_the_lowest_index():
    forest, X, _ = pairs(6)
    greedy = greedy_ranking(forest, X, scale=0.3)
    for i, ranking in enumerate(greedy.rankings):
        for k, feature in enumerate(ranking):
            candidates = [j for j in range(7) if j not in ranking[:k]]
            gaps = [pg2(forest, X[i : i + 1], [*ranking[:k], j], scale=0.3)[0] for j in candidates]
            assert feature == candidates[int(np.argmax(gaps))] and greedy.gaps[i, k] == max(gaps)
    assert np.array_equal(greedy.pgi2, faithfulness(forest, X, greedy, scale=0.3))


def test_greedy_reports_ties():
    trees = [split(j, 0.5, leaf(0.0), leaf(1.0)) for j in (2, 3, 4)]
    trees[2] = split(4, 0.25, leaf(0.0), leaf(1.0))
    greedy = greedy_ranking(grow(trees, 6), np.zeros((2, 6)))
    assert greedy.rankings.tolist() == [[4, 2, 3, 0, 1, 5]] * 2
    assert greedy.tied.tolist() == [[False, True, False, True, True, False]] * 2
    assert greedy.tied_share == 1.0


def test_optimum_is_the_best_of_all_orders():
    """Also where the greedy order is not: the first of equals in lexicographic order."""
    rng = np.random.default_rng(0)
    trees = [split(j, 0.4, leaf(0.0), leaf(float(v))) for j, v in enumerate([1, -1, 1, 0.6])]
    trees.append(split(1, 0.4, leaf(0.0), split(3, 0.4, leaf(0.0), leaf(5.0))))
    forest = grow(trees, 5, aggregate="sum")
    X = rng.normal(size=(12, 5)) / 4
    best = best_ranking(forest, X, scale=0.4)
    orders = list(permutations(range(5)))
    of_orders = np.stack([faithfulness(forest, X, order, scale=0.4) for order in orders])
    for i in range(12):
        largest = of_orders[:, i].max()
        first = next(
            o for o, v in zip(orders, of_orders[:, i], strict=True) if v > largest * (1 - 1e-14)
        )
        assert tuple(best.rankings[i]) == first
    assert np.array_equal(best.pgi2, faithfulness(forest, X, best, scale=0.4))
    greedy = greedy_ranking(forest, X, scale=0.4).pgi2
    assert (greedy <= best.pgi2 * (1 + 1e-12)).all() and (greedy < 0.99 * best.pgi2).any()


def test_whole_orders_are_compared_where_optimal_rankings_tie():
    """After feature 0 the rest is a thousandth of PGI^2, and differs by 1e-16 of the whole."""
    gaps = np.array([[0, 1000, 1, 1 - 1e-13, 1, 1, 1, 1]])
    assert _best_rankings(gaps, 3)[0].tolist() == [[0, 1, 2]]


def test_optimum_refuses_many_features():
    with pytest.raises(ValueError, match=r"17 features.*greedy_ranking"):
        best_ranking(grow([split(0, 0.5, leaf(0.0), leaf(1.0))], 17), np.zeros((1, 17)))


def test_nan_is_refused_where_it_is_perturbed_only():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 3))
    X[rng.random(X.shape) < 0.2] = np.nan
    model = XGBRegressor(n_estimators=3, max_depth=3, n_jobs=1).fit(X, np.nan_to_num(X).sum(axis=1))
    x = np.array([[0.0, 0.0, 0.0], [0.1, np.nan, 0.2]])
    assert (pg2(model, x, [0, 2]) > 0).all()
    with pytest.raises(ValueError, match=r"NaN in row 1, feature 'f1'|NaN in row 1, feature 'x1'"):
        pg2(model, x, [0, 1])
    for ranked in (greedy_ranking, best_ranking):
        with pytest.raises(ValueError, match="NaN in row 1"):
            ranked(model, x)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"features": [9]}, "9 is neither an index below 7"),
        ({"features": ["pH"]}, "'pH' is neither"),
        *(({"features": features}, "features") for features in (7, -1, True)),
        ({"features": [0, 1, 1]}, "features names 'x1' twice: of a mask of 0 and"),
        ({"features": SERIES.astype("boolean").where(SERIES, pd.NA)}, "missing values: fill them"),
        ({"features": TABLE.astype("int64")}, "a table of int64, expected true and false"),
        ({"features": {NAMES[0]: True}}, "the mask has no entry for"),
        # The features of a dict, and the numbers of a Series, were taken for a list of features.
        ({"features": dict.fromkeys(NAMES, 1)}, "of numbers by feature: pass a list of features"),
        ({"features": {NAMES[0]: 0.3}}, "of numbers by feature: pass a list of features"),
        ({"features": pd.Series(range(7), NAMES)}, "of numbers by feature: pass a list of"),
        ({"features": np.ones((2, 7), bool)}, r"mask \(2, 7\), expected \(7,\) or \(3, 7\)"),
        ({"scale": -1.0}, "0 or more"),
        ({"scale": np.nan}, "finite"),
        ({"scale": [1.0, 2.0]}, r"a number or \(7,\)"),
        ({"perturbation": Marginal(np.zeros((2, 7))), "scale": 2.0}, "no scale"),
        ({"perturbation": Marginal(np.zeros((2, 4)))}, "rows of 4 features"),
        ({"perturbation": FeatureWise([Normal(), Laplace()])}, "FeatureWise has 2 noises"),
        ({"output": "one"}, "output='one'"),
    ],
)
def test_errors_say_what_is_wrong(arguments, message):
    forest, X, _ = pairs(3)
    with pytest.raises(ValueError, match=message):
        pg2(forest, X, **{"features": [0], **arguments})


@pytest.mark.parametrize(
    ("rankings", "message"),
    [
        (np.zeros((3, 7), int), "twice"),
        (np.arange(6)[None].repeat(3, 0), "rank all of them"),
        (np.arange(7)[None].repeat(2, 0), "3 rows"),
        (np.arange(7.0)[None].repeat(3, 0), "indices"),
        (np.arange(1, 8)[None].repeat(3, 0), r"0\.\.6"),
    ],
)
def test_rankings_are_checked(rankings, message):
    forest, X, _ = pairs(3)
    with pytest.raises(ValueError, match=message):
        faithfulness(forest, X, rankings, scale=1.0)


@pytest.mark.parametrize(
    ("noise", "known"),
    [
        (Normal(2.0), stats.norm(scale=2)),
        (Laplace(), stats.laplace),
        (Uniform(2.0), stats.uniform(-2, 4)),
    ],
)
def test_noises_have_their_probabilities_in_both_tails(noise, known):
    t = np.linspace(-12, 12, 49)
    for lower_tail in (noise.probability_below, noise.probability_at_most):
        np.testing.assert_allclose(lower_tail(t), known.cdf(t), rtol=1e-13)
    for upper_tail in (noise.probability_above, noise.probability_at_least):
        np.testing.assert_allclose(upper_tail(t), known.sf(t), rtol=1e-13)
    draws = noise.draw(np.random.default_rng(0), (100, 50))
    assert stats.kstest(draws.ravel(), known.cdf).pvalue > 1e-4


def test_a_sample_is_counted():
    noise = Empirical([2.0, 1.0, 1.0, 4.0])
    t = np.array([0.0, 1.0, 2.0, 3.0, 4.0, np.inf])
    assert noise.probability_below(t).tolist() == [0, 0, 0.5, 0.75, 0.75, 1]
    assert noise.probability_at_most(t).tolist() == [0, 0.5, 0.75, 0.75, 1, 1]
    assert noise.probability_above(t).tolist() == [1, 0.5, 0.25, 0.25, 0, 0]
    assert noise.probability_at_least(t).tolist() == [1, 1, 0.5, 0.25, 0.25, 0]
    assert set(noise.draw(np.random.default_rng(0), 100)) == {1.0, 2.0, 4.0}
    rows = np.arange(6.0).reshape(3, 2)
    draws = Marginal(rows).draw(np.random.default_rng(0), (50, 2))
    assert set(draws[:, 0]) == {0.0, 2.0, 4.0} and set(draws[:, 1]) == {1.0, 3.0, 5.0}
    assert checked_scale(noise, 0.5, pairs(3)[0]).tolist() == [0.5] * 7


RANDOM = np.random.default_rng(0)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Uniform(0.0), "expected|must be"),
        (lambda: Empirical([]), "expected|must be"),
        (lambda: Empirical([[1.0]]), "expected|must be"),
        (lambda: Empirical([np.nan]), "expected|must be"),
        (lambda: Empirical(np.ma.masked_array([1.0, 9.0], [0, 1])), "values has masked values"),
        (lambda: Empirical(np.array([1, 2], "m8[s]")), "values has dates or times"),
        (lambda: Marginal([1.0]), "expected|must be"),
        (lambda: Marginal([[np.inf]]), "expected|must be"),
        (lambda: Marginal(np.ma.masked_array([[1.0, 9.0]], [[0, 1]])), "X has masked values"),
        (lambda: Marginal(csr_matrix([[1.0, 9.0]])), "X is sparse"),
        (lambda: Marginal(pd.DataFrame({"a": pd.date_range("2020", periods=3)})), "not numeric"),
        (lambda: Marginal([[1.0, 2.0]]).draw(RANDOM, (3, 3)), "expected|must be"),
        (lambda: FeatureWise([Normal(), Marginal([[1.0, 2.0]])]), "none of them a Marginal"),
        (lambda: FeatureWise([Normal(), Laplace()]).draw(RANDOM, 5), "expected"),
    ],
)
def test_perturbations_check_what_they_are_given(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize("noise", [Normal(2.0), Laplace(), Uniform()])
def test_a_feature_of_scale_0_does_not_move(noise):
    """Red if its distance to a threshold, here 0, is divided by the scale."""
    tree = split(0, 0.5, leaf(1.0), split(1, 0.2, leaf(0.0), leaf(3.0)))
    forest, X = grow([tree], 2), [[0.5, 0.1], [0.7, 0.4]]
    ours = pg2(forest, X, [0, 1], noise, [0.0, 1.0])
    assert ours.tobytes() == pg2(forest, X, [1], noise).tobytes() and ours[1] > 0
