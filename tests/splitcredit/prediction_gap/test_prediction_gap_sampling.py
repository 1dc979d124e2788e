"""Sampled prediction gaps: against the definition, and what they must not depend on."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from scipy.special import ndtr
from xgboost import XGBRegressor

import forests
import twins
import twins_prediction_gap as slow
from splitcredit import to_forest
from splitcredit.kernels.compiled import threads
from splitcredit.prediction_gap import noise, sampling

IN_SINGLE = {"x_dtype": "float32", "aggregate": "sum"}
MADE = {
    **{name: make for name, make in forests.DRAWN.items() if make().n_outputs == 1},
    "leaves in single precision": lambda: forests.random_forest(
        21, depth=4, strict=True, leaves="pure", **IN_SINGLE
    ),
    **{
        f"float32, height {h}": lambda h=h: forests.random_forest(
            30 + h, n_trees=5, depth=h, **IN_SINGLE
        )
        for h in (1, 2, 3, 4, 5)
    },
}


def sets(n_pairs, n_features, seed=0):
    """Sets of features of all sizes, none and all among them."""
    rng = np.random.default_rng(seed)
    masks = np.zeros((n_pairs, n_features), bool)
    for pair, mask in enumerate(masks):
        mask[rng.permutation(n_features)[: pair % (n_features + 1)]] = True
    return masks


@cache
def boosted():
    """A boosted forest as in gajewski2025, and standardized rows."""
    X, y = forests.whole_numbers("values", 300, 7)
    X = (X - X.mean(axis=0)) / np.where(X.std(axis=0) > 0, X.std(axis=0), 1.0)
    model = XGBRegressor(n_estimators=20, max_depth=4, learning_rate=0.2, random_state=0)
    return to_forest(model.fit(X, y)), X


@pytest.mark.parametrize("absolute", [False, True])
@pytest.mark.parametrize("name", MADE)
def test_means_equal_the_twin(name, absolute):
    """Rows lie on thresholds and beside them, and noise is often 0 or leads to others."""
    forest, counts = MADE[name](), [1, 7, 16, 30]
    X = forests.rows_on_thresholds(forest, 24)
    X[np.abs(X) > 1e30] = 1.0  # differences of leaves, not of noise, are in question
    masks = sets(24, forest.n_features) & ~np.isnan(X)
    rng = np.random.default_rng(1)
    pool = rng.choice([0, 0, 0.5, -0.5, 0.25, 1, *rng.normal(size=9)], (5, masks.shape[1], 30))
    pool = pool.astype(np.float32)
    scale = rng.choice([1.0, 0.5, 1.7], forest.n_features)
    pairs = sampling.checked_pairs(forest, X, masks, scale, None)
    streams = np.arange(24) % 5
    gaps = sampling.sampled_gaps(*pairs, pool, streams, np.array(counts), absolute=absolute)
    for x, mask, stream, of_pair in zip(X, masks, streams, gaps, strict=True):
        given = forest, x, np.flatnonzero(mask), scale
        twin = [slow.mean_gap(*given, pool[stream, :, :count], absolute) for count in counts]
        assert of_pair == pytest.approx(twin, rel=1e-12, abs=1e-30)
    squares = sampling.pg2_sampled(forest, X, masks, counts, scale, pool=pool)
    assert absolute or squares.tobytes() == gaps.tobytes()


@pytest.mark.parametrize("noise_of", [(0.02, 0.03), (0.5, 0.9), (-0.9, -0.5), (-0.1, 0.2)])
def test_splits_that_no_sample_crosses_change_no_mean(noise_of):
    """Noise of one sign never comes back to the row: it may cross a split with all samples."""
    forest, X = boosted()
    masks = sets(40, X.shape[1], 4)
    pool = np.random.default_rng(2).uniform(*noise_of, (3, X.shape[1], 20)).astype(np.float32)
    gaps = sampling.pg2_sampled(forest, X[:40], masks, [20], pool=pool)
    for pair, mask in enumerate(masks):
        features = np.flatnonzero(mask)
        row = forest.prepare(X[pair : pair + 1])[0]
        twin = slow.mean_gap(forest, row, features, np.ones(X.shape[1]), pool[pair % 3])
        assert gaps[pair, 0] == pytest.approx(twin, rel=1e-9, abs=1e-24)


def test_noise_that_is_nan_goes_where_a_value_that_is_no_number_goes():
    """A comparison with NaN is false; no split counts as decided by the range of such noise."""
    tree = forests.split(0, 0.0, forests.leaf(0.0), forests.leaf(1.0))
    pool = np.full((1, 1, 4), np.nan, np.float32)
    pool[0, 0, 2:] = -1.0
    gaps = sampling.pg2_sampled(forests.grow([tree], 1), [[-0.5]], [0], [2, 4], pool=pool)
    assert gaps.tolist() == [[1.0, 0.5]]
    with pytest.raises(ValueError, match=r"NaN in row 0, feature 'x2', which is to be perturbed"):
        sampling.pg2_sampled(MADE["NaN, float32"](), [[0, 0, np.nan, 0, 0, 0]], [1, 2], [1])


def test_thresholds_decide_as_the_model_does():
    """0.1 is no float32 value: the row's neighbors decide, after the cast, by < or <=."""
    for strict in (False, True):
        for x_dtype in ("float32", "float64"):
            tree = forests.split(0, 0.1, forests.leaf(0.0), forests.leaf(1.0))
            forest = forests.grow([tree], 1, strict=strict, x_dtype=x_dtype)
            at_zero = forest.predict([[0.0]])[0, 0]
            for target in (0.1, np.float32(0.1), np.nextafter(0.1, 1), np.nextafter(0.1, 0)):
                step = float(target)
                pool = np.full((1, 1, 1), 1.0, np.float32)
                gaps = sampling.pg2_sampled(forest, [[0.0]], [0], [1], step, pool=pool)
                assert gaps[0, 0] == (forest.predict([[step]])[0, 0] - at_zero) ** 2


def test_a_stump_has_the_gap_that_follows_from_the_normal_distribution():
    forest = forests.grow([forests.split(1, 0.3, forests.leaf(0.0), forests.leaf(2.0))], 2)
    exact = 4.0 * ndtr((0.1 - 0.3) / 0.5)
    arguments = dict(X=[[9.0, 0.1]] * 64, features=[1], counts=[100, 20_000], scale=0.5)
    mc = sampling.pg2_sampled(forest, kind="mc", **arguments)
    halton = sampling.pg2_sampled(forest, kind="halton", **arguments)
    spread = np.sqrt(exact * (4.0 - exact) / 20_000)
    assert np.abs(mc[:, 1] - exact).max() < 5 * spread
    assert np.abs(halton[:, 1] - exact).max() < 0.2 * spread
    assert len(np.unique(mc[:, 1])) > 50  # streams differ


@pytest.mark.parametrize("draws", ["nested", "literal"])
@pytest.mark.parametrize("kind", noise.KINDS)
def test_pairs_depend_on_their_number_and_not_on_counts_groups_or_threads(kind, draws):
    forest, X = boosted()
    masks, counts, numbers = sets(20, X.shape[1], 3), np.array([100, 513, 1024]), np.arange(20)
    options = dict(scale=0.3, kind=kind, draws=draws, random_state=7, n_streams=8)
    all_gaps = sampling.pg2_sampled(forest, X[:20], masks, counts, **options)
    orders = np.random.default_rng(0).permutation(20)
    parts = [(numbers, places) for places in ([0], [1], [0, 2])]
    parts += [(group, [0, 1, 2]) for group in np.split(orders, [1, 9])]
    for group, places in parts:
        given = X[group], masks[group], counts[places]
        gaps = sampling.pg2_sampled(forest, *given, numbers=group, **options)
        assert gaps.tobytes() == all_gaps[group][:, places].tobytes()
    with threads(1):
        by_one_thread = sampling.pg2_sampled(forest, X[:20], masks, counts, **options)
    assert by_one_thread.tobytes() == all_gaps.tobytes()


def test_literal_draws_are_fresh_for_every_count_and_pair():
    forest, X = boosted()
    options = dict(X=np.repeat(X[:1], 9, axis=0), features=np.arange(7), scale=0.3)
    nested = sampling.pg2_sampled(forest, counts=[100, 101], **options)[0]
    fresh = sampling.pg2_sampled(forest, counts=[100, 101], draws="literal", **options)
    assert 101 * nested[1] - 100 * nested[0] >= 0  # the one sample more
    assert abs(nested[1] - nested[0]) < abs(fresh[0, 1] - fresh[0, 0])
    assert len({*nested, *fresh.ravel()}) == 20


@pytest.mark.parametrize(("kind", "tolerance"), [("mc", 0.02), ("halton", 0.002)])
def test_noise_is_standard_normal_and_a_smaller_pool_the_corner_of_a_larger_one(kind, tolerance):
    larger, smaller = noise.noise_pool(kind, 5, 200, 4, 3), noise.noise_pool(kind, 2, 50, 3, 3)
    assert smaller.tobytes() == larger[:3, :2, :50].tobytes()
    assert larger.dtype == np.float32 and np.isfinite(larger).all()
    assert len(np.unique(larger[:, :, 0])) == 20
    assert not np.array_equal(larger, noise.noise_pool(kind, 5, 200, 4, 4))
    pool = noise.noise_pool(kind, 3, 10_000, 3).astype(float)
    assert np.abs(pool.mean(axis=(0, 2))).max() < tolerance
    assert np.abs(pool.std(axis=(0, 2)) - 1).max() < tolerance
    assert max(np.abs(np.corrcoef(stream) - np.eye(3)).max() for stream in pool) < 0.06


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"kind": "sobol"}, "kind='sobol': available are 'mc', 'halton'"),
        ({"draws": "fresh"}, "draws='fresh': available are"),
        ({"counts": [5, 5]}, "each larger than the last"),
        ({"counts": []}, "numbers of samples from 1"),
        ({"counts": [100.9]}, "whole numbers"),
        ({"scale": -1.0}, "scale is -1.0"),
        ({"features": [0, 7]}, "features: 7 is neither an index below 7"),
        ({"features": np.ones((2, 3), bool)}, r"features is a mask \(2, 3\)"),
        ({"numbers": [0, -1]}, "numbers must be 2 whole numbers"),
        ({"numbers": [0.7, 1.0]}, "numbers must be 2 whole numbers"),
        ({"pool": np.zeros((2, 7, 5), np.float32)}, r"\(2, 7, 5\).* 2 columns and 10 samples"),
        ({"n_streams": 0}, "n_streams=0: expected a whole number, at least 1"),
    ],
)
def test_what_does_not_fit_is_refused(given, message):
    forest, X = boosted()
    with pytest.raises(ValueError, match=message):
        sampling.pg2_sampled(forest, X[:2], **{"features": [0, 1], "counts": [10], **given})


def test_one_of_several_outputs_is_chosen():
    forest = forests.DRAWN["sum with a base"]()
    X, features = forests.rows_on_thresholds(forest, 4), [0, 2, 3]
    gaps = sampling.pg2_sampled(forest, X, features, [20], 0.5, output="class 2")
    one_output = replace(forest, value=forest.value[:, 2:], base=[0.0], output_names=["class 2"])
    assert gaps.tobytes() == sampling.pg2_sampled(one_output, X, features, [20], 0.5).tobytes()
    with pytest.raises(ValueError, match="the model has 3 outputs"):
        sampling.pg2_sampled(forest, X, features, [20])


def test_nmae_is_the_sum_of_differences_over_the_sum_of_exact_values():
    exact = np.array([1.0, 0.0, 3.0])
    estimates = np.array([[1.5, 1.0], [0.5, 0.0], [2.0, 3.0]])
    assert sampling.nmae(estimates, exact).tolist() == [0.5, 0.0]
    assert sampling.nmae(estimates[:, 0], exact) == 0.5
    with pytest.raises(ValueError, match="all exact values are 0"):
        sampling.nmae(exact, np.zeros(3))
    with pytest.raises(ValueError, match="2 estimates"):
        sampling.nmae(exact[:2], exact)


RANKINGS = np.argsort(np.random.default_rng(0).random((6, 7)), axis=1)


@pytest.mark.parametrize("perturbed", ["important", "unimportant"])
def test_pgi_and_pgu_equal_the_definition(perturbed):
    """Each perturbs what the other keeps, which OpenXAI's issue 28 confused."""
    forest, X = boosted()
    pool = noise.noise_pool("mc", 7, 40)
    gaps = sampling.gaps_by_k(forest, X[:6], RANKINGS, 0.5, 40, perturbed)
    for i, ranking in enumerate(RANKINGS):
        for k in range(1, 8):
            subset = ranking[:k] if perturbed == "important" else ranking[k:]
            draws = pool[(i * 7 + k - 1) % 64]
            twin = slow.mean_gap(forest, X[i], subset, np.full(7, 0.5), draws, absolute=True)
            assert gaps[i, k - 1] == pytest.approx(twin, rel=twins.ROUNDING)


def test_gaps_by_k_take_squares_some_k_and_halton():
    forest, X = boosted()
    given, more = (forest, X[:6], RANKINGS, 0.3), {"kind": "halton", "random_state": 4}
    gaps = sampling.gaps_by_k(*given, 64, ks=iter([2, 5]), absolute=False, **more)
    features = [np.isin(range(7), ranking[:k]) for ranking in RANKINGS for k in (2, 5)]
    each_row_twice = np.repeat(X[:6], 2, axis=0)
    by_pairs = sampling.pg2_sampled(forest, each_row_twice, features, [64], 0.3, **more)
    assert gaps.tobytes() == by_pairs.tobytes()
    for wrong, message in (
        ({"perturbed": "top"}, "perturbed='top': available are"),
        ({"ks": [8]}, r"k=8 is not in 1\.\.7"),
        ({"ks": 2}, "ks=2: pass a list of numbers of features"),
        ({"n_samples": 10.0}, "n_samples=10.0: expected a whole number, at least 1"),
    ):
        with pytest.raises(ValueError, match=message):
            sampling.gaps_by_k(*given, **wrong)


def test_counts_are_those_of_the_paper():
    thousands = (0.1, 0.5, 1, 2, 4, 6, 8, 10, 15, 20, 25, 30, 35)
    assert [count / 1000 for count in sampling.COUNTS] == list(thousands)
