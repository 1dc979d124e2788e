"""The prediction gap where a rounding, a tie or an atom on a threshold decides."""

import math
from fractions import Fraction
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
import xgboost
from scipy.special import ndtr, ndtri
from scipy.stats import norm, qmc
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier

from forests import grow, leaf, split
from splitcredit import Attribution
from splitcredit.kernels.prediction_gap.gap_forest import Cuts
from splitcredit.kernels.prediction_gap.normal_tails import normal_tails
from splitcredit.prediction_gap import noise
from splitcredit.prediction_gap.exact_gap import GapProblem, pg2
from splitcredit.prediction_gap.greedy import greedy_ranking
from splitcredit.prediction_gap.optimum import best_ranking
from splitcredit.prediction_gap.perturbations import (
    Empirical,
    FeatureWise,
    Marginal,
    Normal,
    Uniform,
)
from splitcredit.prediction_gap.rankings import of_attribution

EPS = 2.0**-52


def step(feature, height, threshold=0.5):
    """A tree that is 0 up to the threshold of a feature and `height` beyond it."""
    return split(feature, threshold, leaf(0.0), leaf(height))


# The relative difference of the PG^2 of two steps is twice that of their heights. Their orders have
# the larger set in common: the difference of their PGI^2 is less by 3 + 2 P(Z > 1/2), that is 3.6.
@pytest.mark.parametrize(
    ("rank", "units", "equal"),
    [
        (greedy_ranking, 20, True),  # 0.9e-14
        (greedy_ranking, 26, False),  # 1.2e-14
        (best_ranking, 72, True),  # 0.9e-14
        (best_ranking, 98, False),  # 1.2e-14
    ],
)
def test_gaps_are_equal_that_differ_by_1e_14_at_most(rank, units, equal):
    """The second feature is worth more, by a number of roundings; of equals the first is taken."""
    forest = grow([step(0, 1.0), step(1, 1.0 + units * EPS)], 2, aggregate="sum")
    ranked = rank(forest, np.zeros((1, 2)))
    assert ranked.rankings.tolist() == [[0, 1] if equal else [1, 0]]
    if rank is greedy_ranking:
        assert ranked.tied.tolist() == [[equal, False]]


@pytest.mark.parametrize("rank", [greedy_ranking, best_ranking])
def test_without_noise_or_effect_features_are_ranked_by_index(rank):
    """And one that lowers the gap, as steps up and down do together, comes after all these."""
    ranked = rank(grow([step(2, 1.0), step(0, 2.0)], 4), np.zeros((2, 4)), scale=0.0)
    assert ranked.rankings.tolist() == [[0, 1, 2, 3]] * 2 and not ranked.gaps.any()
    ranked = rank(grow([step(0, 1.0), step(1, -0.25)], 3, aggregate="sum"), np.zeros((1, 3)))
    p = norm.sf(0.5)
    assert ranked.rankings.tolist() == [[0, 2, 1]]
    np.testing.assert_allclose(ranked.gaps, [[p, p, p + p / 16 - p * p / 2]], rtol=1e-14)


def test_equal_attributions_are_ranked_by_index_among_many():
    """Sorts that are not stable keep the order of few."""
    values = np.random.default_rng(0).integers(-1, 2, (3, 400)).astype(float)
    names = [f"x{j}" for j in range(400)]
    rankings = of_attribution(Attribution(values[:, :, None], [0.0], names, ["o"], "m"))
    for row, ranking in zip(np.abs(values), rankings.tolist(), strict=True):
        assert ranking == sorted(range(400), key=lambda j: (-row[j], j))


# Noise that is -1 or, three times as often, 1, by the probabilities that a noise must have.
ATOMS = (-1.0, 1.0, 1.0, 1.0)
COIN = SimpleNamespace(
    probability_below=lambda t: np.mean([z < t for z in ATOMS], axis=0),
    probability_at_most=lambda t: np.mean([z <= t for z in ATOMS], axis=0),
    probability_above=lambda t: np.mean([z > t for z in ATOMS], axis=0),
    probability_at_least=lambda t: np.mean([z >= t for z in ATOMS], axis=0),
)


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("x", [-1.0, 0.0, 1.0, 2.0, 3.0])
def test_noise_of_ones_own_may_have_its_atoms_on_thresholds(x, strict):
    """Both sides of the threshold, and the threshold itself."""
    forest = grow([step(0, 1.0, 1.0)], 1, strict=strict)
    predictions = [forest.predict([[x + z]])[0, 0] for z in ATOMS]
    exact = np.mean((np.array(predictions) - forest.predict([[x]])[0, 0]) ** 2)
    for perturbation in (COIN, Empirical(ATOMS)):
        assert pg2(forest, [[x]], [0], perturbation).tolist() == [exact]


def around(height, half_width):
    """The first feature at 0 to `half_width`: the second steps up. Elsewhere it is 1."""
    inner = split(0, half_width, step(1, height, 0.0), leaf(1.0))
    return grow([split(0, -half_width, leaf(1.0), inner)], 2)


def test_an_interval_around_the_row_that_no_value_is_in_has_probability_0():
    """1 - 2/3 is not 1/3 in float64; what is left of it would count 1e18 times."""
    for low in (1, 2):
        first = [-1.0] * low + [1.0] * (3 - low)
        rows = Marginal(np.stack([first, [-1.0, 1.0, 1.0]], axis=1))
        gap = pg2(around(1e9, 0.5), [[0.0, -1.0]], [0, 1], rows)[0]
        assert gap == pytest.approx(1.0, rel=1e-15, abs=0)


def test_an_interval_around_the_row_of_a_few_roundings_of_1_counts():
    """It is what two numbers near 1/2 leave, each off by 2**-53: a sixth of 6 * 2**-52."""
    probability = 6 * EPS
    forest = around(1e9, probability / 2 / norm.pdf(0.0))
    gap = pg2(forest, [[0.0, -1.0]], [0, 1])[0]
    assert gap == pytest.approx(probability * norm.sf(1.0) * 1e18, rel=1 / 6)


def test_a_leaf_that_changes_the_last_digits_is_not_left_out():
    """Two trees that nearly cancel make one of 2**-55 times the probability count 54 times."""
    trees = [step(0, 1.0, -0.5), step(0, -27 / 32, -0.5), step(0, 1.0, -(2.0**-56))]
    forest = grow(trees, 1, aggregate="sum", x_dtype="float64")
    near_chance, far_chance = Fraction(1, 4), Fraction(1, 2**57)
    exact = (near_chance - far_chance) * Fraction(5, 32) ** 2 + far_chance * Fraction(37, 32) ** 2
    gap = pg2(forest, [[-1.0]], [0], Uniform(1.0))[0]
    assert gap == pytest.approx(float(exact), rel=2 * EPS, abs=0)
    assert float(exact) > (1 + 6 * EPS) * float(near_chance * Fraction(5, 32) ** 2)


def test_noise_is_finite_at_the_ends_of_the_unit_interval(monkeypatch):
    """The normal quantiles of 0 and 1 are infinite."""
    ends = SimpleNamespace(random=lambda n: np.array([[0.0], [1.0], [0.5]])[:n])
    monkeypatch.setattr(qmc, "Halton", lambda *_, **__: ends)
    normals = noise.noise_stream("halton", 1, 3, np.random.SeedSequence(0))
    assert normals.tolist() == [[ndtri(2.0**-54), ndtri(1 - 2.0**-53), 0.0]]


def test_a_row_on_the_upper_end_of_its_interval_is_inside():
    """One value in four of the first feature stays at or below 1, three in four step up."""
    forest = grow([split(0, 1.0, step(1, 1.0), leaf(0.0))], 2)
    for perturbation in (COIN, Empirical(ATOMS)):
        assert pg2(forest, [[1.0, 0.0]], [0, 1], perturbation).tolist() == [0.25 * 0.75]


def test_tails_of_normal_noise_are_those_of_its_distribution():
    """By the definition, half of erfc, and by scipy, whose operations are the same.

    A compiler may fuse some, so the last digits may differ. On either side the argument of erfc is
    rounded twice, which changes the value by up to z^2 + 1 times as much; four units are for the
    rest.
    """
    thresholds = np.linspace(-40, 40, 641)
    forest = grow([step(0, 1.0, t) for t in thresholds.tolist()], 2, aggregate="sum")
    X, scales = np.array([[0.3, 0.0], [-20.0, 0.0], [1e300, 0.0], [np.inf, 0.0]]), [0.5, 1.0]
    problem = GapProblem(forest, Normal(2.0), scales, None)
    _, tails = problem.with_tails(X, np.array([[True, False]] * 4))
    z = (thresholds - X[:, :1]) / scales[0] / 2.0
    np.testing.assert_allclose(tails[:, :-2], ndtr(-np.abs(z)), rtol=2e-15, atol=1e-307)
    is_near = np.abs(z) < 37  # beyond, values are below the normal numbers
    z, tails_near = z[is_near], tails[:, :-2][is_near]
    half_erfc = np.array([math.erfc(abs(quantile) / math.sqrt(2)) / 2 for quantile in z])
    assert (np.abs(tails_near - half_erfc) <= (2 * (z**2 + 1) + 4) * EPS * half_erfc).all()
    assert tails[:2].any(axis=1).all() and not tails[2:].any()


def test_a_tail_of_normal_noise_may_be_above_one_half():
    """Of a value that the model, after rounding, has on the other side of a threshold."""
    X, thresholds = np.zeros((1, 1)), np.array([-3.0, -1.0])
    cuts = Cuts(None, thresholds, np.array([0.0, 0.0, -np.inf, np.inf]), np.array([0, 2]))
    tails = normal_tails(cuts, X, np.ones((1, 1), np.bool_), np.ones(1), 1.0)
    np.testing.assert_allclose(tails, [[*ndtr(-thresholds), 0, 0]], rtol=2e-15)


def test_a_gap_is_exact_as_long_as_its_leaves_have_a_probability_of_1e_200():
    """Beyond, it is 0: alone in a tail, and where two tails together are less probable.

    At z = 30 rounding z**2 / 2 to a double changes the exponential by 450 * 2**-53 = 5e-14, in
    SciPy as in ours.
    """
    forest = grow([step(0, 1.0, threshold=0.0)], 1)
    z = np.array([29.0, 30.2, 30.3])
    ours = pg2(forest, -z[:, None], [0])
    np.testing.assert_allclose(ours[:2], norm.sf(z[:2]), rtol=1e-13)
    assert norm.sf(z[1]) > 1e-200 > norm.sf(z[2]) > 0 and ours[2] == 0
    corner = split(0, 0.0, leaf(0.0), split(1, 0.0, leaf(0.0), leaf(1.0)))
    ours = pg2(grow([corner], 2), [[-20.0, -20.0], [-22.0, -22.0]], [0, 1])
    np.testing.assert_allclose(ours, [norm.sf(20.0) ** 2, 0.0], rtol=1e-13)


GRID = np.array([-0.2, -0.1, 0.0, 0.1, 0.2])


@pytest.mark.parametrize("library", ["sklearn", "xgboost"])
@pytest.mark.parametrize("noise", [Empirical(GRID), FeatureWise([Empirical(GRID)] * 4)])
def test_sums_of_tenths_meet_thresholds_as_the_model_has_them(library, noise):
    # With rows rounded to single precision before the noise is added, some have another gap.
    X, y = load_iris(return_X_y=True)
    if library == "sklearn":
        model = RandomForestClassifier(20, random_state=0).fit(X, y)
        tolerance = 1e-12  # sums of 20 trees in double precision
        predict = model.predict_proba
    else:
        model = xgboost.XGBClassifier(n_estimators=20, n_jobs=1).fit(X, y)
        tolerance = 1e-5  # XGBoost adds up 20 trees in single precision
        predict = partial(model.predict, output_margin=True)
    moves, expected = np.zeros((len(GRID) ** 2, 4)), np.empty(len(X))
    moves[:, 2:] = np.stack(np.meshgrid(GRID, GRID), axis=-1).reshape(-1, 2)
    for i, x in enumerate(X):
        differences = predict(x + moves)[:, 1].astype(float) - float(predict(x[None])[0, 1])
        expected[i] = (differences**2).mean()
    ours = pg2(model, X, [2, 3], noise, output=1)
    np.testing.assert_allclose(ours, expected, rtol=tolerance, atol=1e-12)


def test_leaf_values_whose_squares_overflow_are_refused():
    """Red if the gap of a model with huge leaf values is 0."""
    gap = pg2(grow([step(0, 1e100)], 1, aggregate="sum"), [[0.0]], [0])[0]
    assert gap == pytest.approx(1e200 * ndtr(-0.5))
    forest = grow([step(0, 1e155)], 1, aggregate="sum")
    for ask in (lambda *given: pg2(*given, [0]), greedy_ranking, best_ranking):
        with pytest.raises(ValueError, match="reach 1e\\+155, and PG\\^2 has their squares"):
            ask(forest, [[0.0]])


def complete(depth, values, level=0):
    """The complete tree that asks for feature k at level k, at 0."""
    if level == depth:
        return leaf(next(values))
    below = (complete(depth, values, level + 1) for _ in range(2))
    return split(level, 0.0, *below)


@pytest.mark.parametrize(
    ("depth", "n_right", "normal"),
    [
        (3, 0, False),
        (8, 0, False),
        (9, 0, False),
        (9, 8, True),
        (9, 9, False),
        (3, 2, False),
        (3, 2, True),
        (5, 4, True),
    ],
)
def test_trees_that_cancel_but_for_one_leaf_keep_all_digits(depth, n_right, normal):
    """Red if the doubled precision loses a low part, a share, or a block of more than 256 leaves.

    The gap of A - A with one leaf moved is the square of the move, times the leaf's probability.
    Basis of 1e-12: the tails have 1e-15 each, and there are at most nine.
    """
    random = np.random.default_rng(0)
    values = random.normal(size=2**depth) if normal else random.integers(-8, 9, 2**depth)
    values = values.astype(float)
    changed = 2**n_right - 1 if n_right else 0
    moved = values.copy()
    moved[changed] += 2.0**-20
    trees = [complete(depth, iter(values)), complete(depth, iter(-moved))]
    forest = grow(trees, depth, aggregate="sum", x_dtype="float64")
    found = pg2(forest, np.full((1, depth), 0.1), list(range(depth)))[0]
    share = norm.cdf(-0.1) ** (depth - n_right) * norm.cdf(0.1) ** n_right
    assert found == pytest.approx((moved - values)[changed] ** 2 * share, rel=1e-12)
