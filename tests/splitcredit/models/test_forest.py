"""`Forest`: its checks, the preparation of X, prediction, and its way to disk and back."""

import copy
import pickle
from dataclasses import fields, replace

import numpy as np
import pandas as pd
import pytest
from lightgbm import LGBMRegressor
from sklearn.ensemble import HistGradientBoostingRegressor
from xgboost import XGBRegressor

import twins
from forests import DRAWN, grow, leaf, random_forest, rows_on_thresholds, split, stump
from reproduction.storage import open_bundle, read_bundle, write_bundle
from splitcredit import Forest, explain
from splitcredit.kernels.nodes import _step_down
from splitcredit.models import forest_checks as _forest_checks
from splitcredit.models.forest import array_hash
from splitcredit.prediction_gap.exact_gap import pg2


def assert_equal_forests(a, b):
    """Every field the same: arrays in type and bytes, the rest by value."""
    for name in (f.name for f in fields(Forest)):
        ours, theirs = getattr(a, name), getattr(b, name)
        if isinstance(ours, np.ndarray):
            assert ours.dtype == theirs.dtype, name
            assert ours.tobytes() == theirs.tobytes(), name
        else:
            assert ours == theirs, name


@pytest.mark.parametrize("name", DRAWN)
def test_prediction_equals_the_twin(name):
    forest = DRAWN[name]()
    X = rows_on_thresholds(forest, 200)
    assert twins.largest_error(forest.predict(X), twins.predict(forest, X)) <= twins.ROUNDING


@pytest.mark.parametrize(
    ("x", "x_dtype", "strict", "left"),
    [
        (0.5, "float64", False, True),
        (0.5, "float64", True, False),
        (np.nextafter(0.5, 0), "float64", True, True),
        (np.nextafter(0.5, 1), "float64", False, False),
        # As float32 both are 0.5.
        (np.nextafter(0.5, 0), "float32", True, False),
        (np.nextafter(0.5, 1), "float32", False, True),
    ],
)
def test_a_row_on_the_threshold_goes_the_documented_way(x, x_dtype, strict, left):
    forest = stump(0.5, x_dtype=x_dtype, strict=strict)
    assert forest.predict([[9.0, x, 9.0]])[0, 0] == (0.75 if left else 0.0)


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize(("threshold", "left"), [(0.1, False), (0.3, False), (0.7, True)])
def test_a_float32_row_meets_the_float64_threshold(threshold, left, strict):
    """0.1 and 0.3 become larger as float32, 0.7 becomes smaller; the threshold stays."""
    forest = stump(threshold, x_dtype="float32", strict=strict)
    assert forest.predict([[9.0, threshold, 9.0]])[0, 0] == (0.75 if left else 0.0)


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("threshold", [np.inf, -np.inf])
def test_an_infinite_threshold_parts_NaN_from_numbers(threshold, strict):
    """Scikit-learn splits so where rows with NaN differ most from the others."""
    tree = split(0, threshold, leaf(1.0), leaf(2.0), missing_left=threshold < 0)
    forest = grow([tree], 1, missing=True, strict=strict)
    value_of_numbers, value_of_NaN = (1.0, 2.0) if threshold > 0 else (2.0, 1.0)
    X = [[-1e300], [0.0], [1e300], [np.nan]]
    np.testing.assert_array_equal(forest.predict(X)[:, 0], [value_of_numbers] * 3 + [value_of_NaN])


def test_the_model_decides_where_NaN_goes():
    for left in (True, False):
        tree = split(0, 0.0, leaf(1.0), leaf(2.0), missing_left=left)
        forest = grow([tree], 1, missing=True)
        np.testing.assert_array_equal(
            forest.predict([[np.nan], [-1.0], [1.0]])[:, 0], [1.0 if left else 2.0, 1.0, 2.0]
        )


@pytest.mark.parametrize("x_dtype", ["float32", "float64"])
def test_prepare_casts_once_and_leaves_X_alone(x_dtype):
    X = np.array([[0.1, 0.2, 0.3]])
    prepared = stump(x_dtype=x_dtype).prepare(X)
    assert prepared.dtype == x_dtype and prepared.flags.c_contiguous
    np.testing.assert_array_equal(prepared, X.astype(x_dtype))
    np.testing.assert_array_equal(X, [[0.1, 0.2, 0.3]])


@pytest.mark.parametrize(
    "X",
    [
        [[1, 2, 3], [4, 5, 6]],
        np.array([[1, 2, 3], [4, 5, 6]], dtype=np.int8),
        np.array([[1, 2, 3], [4, 5, 6]], dtype=object),
        np.asfortranarray([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]),
        np.arange(1.0, 13.0).reshape(2, 6)[:, ::2] * 0 + [[1, 2, 3], [4, 5, 6]],
        pd.DataFrame({"a": [1, 4], "b": [2.0, 5.0], "c": [3, 6]}),
    ],
    ids=["list", "int8", "object", "Fortran", "strided", "DataFrame"],
)
def test_prepare_takes_any_table_of_numbers(X):
    np.testing.assert_array_equal(stump().prepare(X), [[1.0, 2, 3], [4, 5, 6]])


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.zeros((4, 2)), r"X has 2 features, the model was fitted on 3: pass the columns"),
        (np.zeros((4, 4)), r"X has 4 features, the model was fitted on 3: pass the columns"),
        (np.zeros(3), r"X has 1 dimension.*2 \(n_samples, 3\).*np\.reshape\(X, \(1, -1\)\)"),
        (np.zeros((1, 1, 3)), r"X has 3 dimension.*expected 2"),
        ([["a", "b", "c"]], r"X is not numeric.*encode text, dates and times"),
        (pd.DataFrame({"x": [1], "y": ["red"], "z": [2]}), r"X is not numeric.*encode text"),
        ([[0.0, np.nan, 0.0]], r"X holds NaN \(first in feature 'x1'\).*no rule.*impute"),
    ],
    ids=["few", "many", "1-D", "3-D", "text", "text column", "NaN"],
)
def test_prepare_refuses(X, message):
    with pytest.raises(ValueError, match=message):
        stump(x_dtype="float32").prepare(X)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (["a", "b", "z"], r"missing \['c'\], not expected \['z'\]; pass those"),
        (["a", "b"], r"missing \['c'\], not expected \[\]"),
        (["a", "b", "c", "d"], r"missing \[\], not expected \['d'\]"),
        (["a", "b", "c", "b"], r"several columns of the same name, \['b'\]"),
    ],
)
def test_prepare_compares_the_columns_with_the_names_of_the_model(columns, message):
    forest = stump(feature_names=("a", "b", "c"), names_given=True)
    X = pd.DataFrame(np.zeros((2, len(columns))), columns=columns)
    with pytest.raises(ValueError, match=message):
        forest.prepare(X)
    forest.prepare(pd.DataFrame(np.zeros((2, 3)), columns=["a", "b", "c"]))


def test_prepare_puts_columns_in_the_order_of_the_features():
    forest = stump(feature_names=("a", "b", "c"), names_given=True)
    X = pd.DataFrame({"c": [3.0, 6.0], "a": [1.0, 4.0], "b": [2.0, 5.0]})
    np.testing.assert_array_equal(forest.prepare(X), [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])


def test_names_made_up_for_a_model_without_names_are_not_compared():
    stump().prepare(pd.DataFrame(np.zeros((2, 3)), columns=["c", "b", "a"]))


def test_arrays_are_frozen():
    forest = stump(missing=True, inbag=np.ones((1, 3), np.uint8))
    for field in fields(Forest):
        value = getattr(forest, field.name)
        if isinstance(value, np.ndarray):
            with pytest.raises(ValueError, match="read-only"):
                value[...] = 0


def test_sizes_and_text():
    forest = random_forest(0, n_trees=4, n_features=5, n_outputs=2)
    assert (forest.n_trees, forest.n_features, forest.n_outputs) == (4, 5, 2)
    assert forest.n_nodes == forest.tree_offsets[-1] == len(forest.feature)
    assert repr(forest) == (
        f"Forest(4 trees, {forest.n_nodes} nodes, 5 features, 2 outputs, criterion='entropy')"
    )


CONTRADICTIONS = {
    "threshold too short": ({"threshold": [0.5]}, r"threshold has shape \(1,\), expected \(3,\)"),
    "left too long": ({"left": [1, -1, -1, -1]}, r"left has shape \(4,\), expected \(3,\)"),
    "right too short": ({"right": [2, -1]}, r"right has shape \(2,\), expected \(3,\)"),
    "cover too short": ({"cover": [3, 2]}, r"cover has shape \(2,\), expected \(3,\)"),
    "value flat": ({"value": [0.5, 0.0, 1.0]}, r"value has shape \(3,\), expected \(3, 2\)"),
    "value too wide": ({"value": np.ones((3, 3))}, r"value has shape \(3, 3\), expected \(3, 2\)"),
    "base too short": ({"base": [0.0]}, r"base has shape \(1,\), expected \(2,\)"),
    "impurity too short": ({"impurity": [1.0]}, r"impurity has shape \(1,\), expected \(3,\)"),
    "missing_left too short": ({"missing_left": [True]}, r"missing_left has shape \(1,\)"),
    "no tree": ({"tree_offsets": [0]}, "tree_offsets must rise from 0 to the number of nodes"),
    "offsets end early": ({"tree_offsets": [0, 2]}, "tree_offsets must rise from 0"),
    "offsets start late": ({"tree_offsets": [1, 3]}, "tree_offsets must rise from 0"),
    "empty tree": ({"tree_offsets": [0, 0, 3]}, "tree_offsets must rise from 0"),
    "offsets fall": ({"tree_offsets": [0, 2, 1, 3]}, "tree_offsets must rise from 0"),
    "aggregate": ({"aggregate": "median"}, r"aggregate is 'median', expected one of .*'sum'"),
    "x_dtype": ({"x_dtype": "float16"}, r"x_dtype is 'float16', expected one of .*'float64'"),
    "feature too large": ({"feature": [3, -1, -1]}, r"feature must lie in 0\.\.2, or be -1"),
    "feature -2": ({"feature": [1, -2, -1]}, r"feature must lie in 0\.\.2, or be -1"),
    "left is the node": ({"left": [0, -1, -1]}, "left: a child must come after its parent"),
    "right is -1": ({"right": [-1, -1, -1]}, "right: a child must come after its parent"),
    "right outside": ({"right": [3, -1, -1]}, "right: a child .* in the same tree"),
    "one child twice": ({"left": [2, -1, -1]}, "left and right: every node but a root"),
    "orphans": ({"feature": [-1, -1, -1]}, "left and right: every node but a root"),
    "threshold NaN": ({"threshold": [np.nan, 0, 0]}, "threshold must"),
    "covers that do not add up": ({"cover": [3.0, 1.0, 1.0]}, "covers of two children must add up"),
    "covers off by a thousandth": ({"cover": [3.0, 2.0, 1.003]}, "must add up"),
    "base NaN": ({"base": [np.nan, 0.0]}, "base must be finite"),
    "left too large": ({"left": [2**32 + 1, -1, -1]}, "left must hold whole numbers that int32"),
    "feature not whole": ({"feature": [0.5, -1.0, -1.0]}, "feature must hold whole numbers"),
    "cover negative": ({"cover": [1.0, 2.0, -1.0]}, "cover must be finite, not negative"),
    "cover NaN": ({"cover": [1.0, np.nan, 1.0]}, "cover must be finite"),
    "cover infinite": ({"cover": [np.inf, 1.0, 1.0]}, "cover must be finite"),
    "cover 0 inside": ({"cover": [0.0, 0.0, 0.0]}, "cover must .* above 0 at inner nodes"),
    "inbag flat": ({"inbag": np.ones(3, np.uint8)}, r"inbag has shape \(3,\), expected \(1, n_tr"),
    "inbag of parts": (
        {"inbag": [[0.5, 1.0, 1.0]]},
        "inbag must hold whole numbers that int64 can",
    ),
    "inbag of NaN": ({"inbag": [[np.nan, 1.0, 1.0]]}, "inbag must hold whole numbers"),
    "inbag below 0": ({"inbag": [[-1, 1, 1]]}, "inbag must not be negative: it counts how often"),
    "inbag of two trees": ({"inbag": np.ones((2, 3), np.uint8)}, r"inbag has shape \(2, 3\)"),
}


@pytest.mark.parametrize("name", CONTRADICTIONS)
def test_contradictory_arrays_are_refused(name):
    change, message = CONTRADICTIONS[name]
    with pytest.raises(ValueError, match=message):
        replace(stump(), **change)


def test_counts_of_draws_are_made_once_and_when_they_are_first_read():
    calls = []

    def draw():
        calls.append("drawn")
        return np.ones((1, 3), np.uint8)

    forest = stump(inbag=draw)
    stump(inbag=draw).predict(np.zeros((1, forest.n_features)))
    assert not calls
    for _ in range(2):
        assert forest.inbag.tolist() == [[1, 1, 1]] and not forest.inbag.flags.writeable
    assert calls == ["drawn"]
    with pytest.raises(ValueError, match=r"inbag has shape \(2, 3\)"):
        assert stump(inbag=lambda: np.ones((2, 3), np.uint8)).inbag


@pytest.mark.parametrize("at_a_time", [1, 1 << 14])
def test_a_child_in_another_tree_is_refused(at_a_time, monkeypatch):
    monkeypatch.setattr(_forest_checks, "_NODES", at_a_time)
    two_trees = grow([split(0, 0.0, leaf(1.0), leaf(2.0)) for _ in range(2)], 1)
    right = two_trees.right.copy()
    right[0] = 4
    with pytest.raises(ValueError, match=r"right: a child must come after .* in the same tree"):
        replace(two_trees, right=right)


def test_every_tree_is_checked_when_a_few_are_at_a_time(monkeypatch):
    monkeypatch.setattr(_forest_checks, "_NODES", 20)
    forest = random_forest(0, n_trees=20)
    for name, message in (("cover", "covers of two children"), ("feature", "feature must lie")):
        array = getattr(forest, name).copy()
        array[forest.tree_offsets[-2]] += 1000
        with pytest.raises(ValueError, match=message):
            replace(forest, **{name: array})


ROUND_TRIPS = {
    "plain": stump,
    "all fields": lambda: stump(
        strict=True,
        missing=True,
        x_dtype="float32",
        aggregate="sum",
        base=[0.1, -0.2],
        cover_kind="sum_hessian",
        feature_names=("größe", "a b", "c/d"),
        names_given=True,
        inbag=np.array([[0, 2, 300]], np.uint16),
        training_hash=array_hash(np.zeros((3, 3))),
        several_targets=False,
    ),
    "no impurity": lambda: replace(stump(), impurity=None, criterion=None),
    "many trees": lambda: random_forest(0, n_trees=20, n_outputs=3, missing=True),
}


@pytest.mark.parametrize("name", ROUND_TRIPS)
def test_a_bundle_gives_the_same_forest_back(name, tmp_path):
    forest = ROUND_TRIPS[name]()
    write_bundle(tmp_path / "a.npz", {"recipe/1": forest, "2": stump()})
    with np.load(tmp_path / "a.npz", allow_pickle=False) as archive:
        assert all(archive[entry].dtype != object for entry in archive.files)
    restored = read_bundle(tmp_path / "a.npz", Forest)
    assert list(restored) == ["recipe/1", "2"]
    assert_equal_forests(restored["recipe/1"], forest)
    assert_equal_forests(restored["2"], stump())


def test_two_bundles_of_the_same_forest_are_the_same_bytes(tmp_path):
    for name in ("a.npz", "b.npz"):
        write_bundle(tmp_path / name, {"one": random_forest(0, missing=True)})
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.npz", "b.npz"]


def test_a_bundle_is_read_by_key(tmp_path):
    write_bundle(tmp_path / "a.npz", {"one": stump(), "two": random_forest(0)})
    with open_bundle(tmp_path / "a.npz", Forest) as item:
        assert list(item.keys) == ["one", "two"]
        assert_equal_forests(item("two"), random_forest(0))


def test_array_hash_goes_by_value_and_shape():
    X = np.arange(6.0).reshape(2, 3)
    same_values = (X.astype(int), X.astype(np.float32), np.asfortranarray(X), X.tolist())
    assert {array_hash(v) for v in same_values} == {array_hash(X)}
    assert array_hash(X.reshape(3, 2)) != array_hash(X)
    assert array_hash(X + 1e-12) != array_hash(X)


def test_a_forest_does_not_change_with_the_arrays_it_was_made_from():
    cover = np.array([2.0, 1.0, 1.0])
    forest = grow([split(0, 0.5, leaf(1.0), leaf(2.0))], 1)
    of_arrays = Forest.from_arrays({**forest.to_arrays(), "cover": cover})
    cover[0] = 99.0
    assert of_arrays.cover[0] == 2.0
    with pytest.raises(ValueError, match="read-only"):
        of_arrays.cover[0] = 99.0


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_a_threshold_that_is_too_high_becomes_the_next_lower_number(kind):
    """Of any bits: around 0, at the ends of the type, and below its normal numbers."""
    bits = np.dtype(f"i{np.dtype(kind).itemsize}")
    draws = np.random.default_rng(0).integers(np.iinfo(bits).min, np.iinfo(bits).max, 2000, bits)
    limits = np.finfo(kind)
    ends = [0.0, -0.0, 1, -1, np.inf, -np.inf, limits.max, limits.min, limits.tiny, -limits.tiny]
    numbers = np.concatenate([draws.view(kind), np.array(ends, kind)])
    numbers = numbers[~np.isnan(numbers)]
    with np.errstate(over="ignore"):
        expected = np.nextafter(numbers, kind(-np.inf))
    too_high = np.arange(len(numbers)) % 3 > 0
    expected[~too_high] = numbers[~too_high]
    _step_down(numbers, too_high)
    np.testing.assert_array_equal(numbers.view(bits), expected.view(bits))


@pytest.mark.parametrize(
    "model",
    [
        HistGradientBoostingRegressor(max_iter=5),
        LGBMRegressor(n_estimators=5, verbose=-1),
        XGBRegressor(n_estimators=5),
    ],
    ids=["scikit-learn", "lightgbm", "xgboost"],
)
def test_infinities_are_ordered_like_any_number(model):
    """Libraries predict such rows, and they were refused."""
    X = np.random.default_rng(0).normal(size=(200, 3))
    model.fit(X, X[:, 0] + X[:, 1] ** 2)
    rows = X[:20].copy()
    rows[:5, 0], rows[5:9, 1] = np.inf, -np.inf
    large = np.nan_to_num(rows, posinf=1e38, neginf=-1e38)
    for method in ("tree_shap", "saabas"):
        attribution = explain(model, rows, method)
        assert attribution.values.tobytes() == explain(model, large, method).values.tobytes()
        # XGBoost adds up in single precision.
        assert np.abs(attribution.totals()[:, 0] - model.predict(rows)).max() < 1e-5
    with pytest.raises(ValueError, match=r"X holds infinity in row 0, feature 'x?.*0', which is"):
        pg2(model, rows, [0])


@pytest.mark.parametrize("made", [copy.deepcopy, lambda forest: pickle.loads(pickle.dumps(forest))])
def test_copies_and_pickles_cannot_be_written_to(made):
    """What is kept of a forest would differ from arrays that change."""
    forest = replace(random_forest(0), inbag=np.ones((3, 4), np.uint8))
    copied = made(forest)
    assert_equal_forests(copied, forest)
    written = [name for name, array in vars(copied).items() if isinstance(array, np.ndarray)]
    assert {"value", "threshold", "inbag"} <= set(written)
    assert not any(getattr(copied, name).flags.writeable for name in written)
