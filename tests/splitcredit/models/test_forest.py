"""`Forest`: its checks, the preparation of X, prediction, and its way to disk and back."""

import copy
import pickle
from dataclasses import fields, replace

import numpy as np
import pandas as pd
import pytest
from lightgbm import LGBMRegressor
from scipy import sparse
from sklearn.ensemble import HistGradientBoostingRegressor
from xgboost import XGBRegressor

import twins
from forests import DRAWN, grow, leaf, random_forest, rows_on_thresholds, split, stump
from splitcredit import Forest, explain
from splitcredit.models import forest_checks
from splitcredit.models.forest import array_hash
from splitcredit.prediction_gap.exact_gap import pg2


def assert_equal_forests(a, b):
    """Every field the same: arrays in type and bytes, the rest by value."""
    for name in (f.name for f in fields(Forest)):
        ours, theirs = getattr(a, name), getattr(b, name)
        if isinstance(ours, np.ndarray):
            assert ours.dtype == theirs.dtype, name
            assert ours.tobytes() == theirs.tobytes(), name
        elif name == "categories":
            assert getattr(ours, "__dict__", None) == getattr(theirs, "__dict__", None)
        else:
            assert ours == theirs, name


@pytest.mark.parametrize("name", DRAWN)
def test_prediction_equals_the_twin(name):
    forest = DRAWN[name]()
    X = rows_on_thresholds(forest, 200)
    assert twins.largest_error(forest.predict(X), twins.predict(forest, X)) <= twins.ROUNDING


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("threshold", [np.inf, -np.inf])
def test_an_infinite_threshold_parts_NaN_from_numbers(threshold, strict):
    """Scikit-learn splits so where rows with NaN differ most from the others."""
    tree = split(0, threshold, leaf(1.0), leaf(2.0), missing_left=threshold < 0)
    forest = grow([tree], 1, missing=True, strict=strict)
    value_of_numbers, value_of_NaN = (1.0, 2.0) if threshold > 0 else (2.0, 1.0)
    X = [[-1e300], [0.0], [1e300], [np.nan]]
    np.testing.assert_array_equal(forest.predict(X)[:, 0], [value_of_numbers] * 3 + [value_of_NaN])


NAMED = {"feature_names": ("a", "b", "c"), "names_given": True}
ROWS = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
FRAME = pd.DataFrame(ROWS, columns=["a", "b", "c"])


@pytest.mark.parametrize("x_dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    "X",
    [
        ROWS.tolist(),
        ROWS.astype(np.int8),
        ROWS.astype(object),
        np.asfortranarray(ROWS),
        np.repeat(ROWS, 2, axis=1)[:, ::2],
        FRAME,
        FRAME[["c", "a", "b"]],
    ],
    ids=["list", "int8", "object", "Fortran", "strided", "DataFrame", "reordered"],
)
def test_prepare_takes_any_table_of_numbers(X, x_dtype):
    before = np.array(X)
    prepared = stump(x_dtype=x_dtype, **NAMED).prepare(X)
    assert prepared.dtype == x_dtype and prepared.flags.c_contiguous
    np.testing.assert_array_equal(prepared, ROWS)
    np.testing.assert_array_equal(before, X)
    # Names made up for a model without names are not compared.
    np.testing.assert_array_equal(stump().prepare(X), before)


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.zeros((4, 2)), r"X has 2 features, the model was fitted on 3: pass the columns"),
        (np.zeros((4, 4)), r"X has 4 features, the model was fitted on 3: pass the columns"),
        (np.zeros(3), r"X has 1 dimension.*2 \(n_samples, 3\).*np\.reshape\(X, \(1, -1\)\)"),
        (np.zeros((1, 1, 3)), r"X has 3 dimension.*expected 2"),
        ([["a", "b", "c"]], r"X is not numeric.*encode text, dates and times"),
        (FRAME.assign(b=["red", "blue"]), r"X is not numeric.*encode text"),
        ([[0.0, np.nan, 0.0]], r"X holds NaN \(first in feature 'b'\).*no rule.*impute"),
        (FRAME.set_axis(["a", "b", "z"], axis=1), r"missing \['c'\], not expected \['z'\]; pass t"),
        (FRAME[["a", "b"]], r"missing \['c'\], not expected \[\]"),
        (FRAME.assign(d=0), r"missing \[\], not expected \['d'\]"),
        (FRAME[["a", "b", "c", "b"]], r"several columns of the same name, \['b'\]"),
    ],
)
def test_prepare_refuses(X, message):
    with pytest.raises(ValueError, match=message):
        stump(x_dtype="float32", **NAMED).prepare(X)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"threshold": [0.5]}, r"threshold has shape \(1,\), expected \(3,\)"),
        ({"value": [0.5, 0.0, 1.0]}, r"value has shape \(3,\), expected \(3, 2\)"),
        ({"value": np.ones((3, 3))}, r"value has shape \(3, 3\), expected \(3, 2\)"),
        ({"base": [0.0]}, r"base has shape \(1,\), expected \(2,\)"),
        ({"missing_left": [True]}, r"missing_left has shape \(1,\)"),
        ({"missing_left": ["False", "", ""]}, "missing_left holds <U5"),
        ({"missing_left": [2, 0, 0]}, "missing_left must hold True and False"),
        ({"tree_offsets": [0]}, "tree_offsets must rise from 0 to the number of nodes"),
        ({"tree_offsets": [0, 2]}, "tree_offsets must rise from 0"),
        ({"tree_offsets": [1, 3]}, "tree_offsets must rise from 0"),
        ({"tree_offsets": [0, 2, 1, 3]}, "tree_offsets must rise from 0"),
        ({"aggregate": "median"}, r"aggregate is 'median', expected one of .*'sum'"),
        ({"x_dtype": "float16"}, r"x_dtype is 'float16', expected one of .*'float64'"),
        ({"strict": "no"}, "strict is 'no', expected True or False"),
        ({"feature": [3, -1, -1]}, r"feature must lie in 0\.\.2, or be -1"),
        ({"feature": [1, -2, -1]}, r"feature must lie in 0\.\.2, or be -1"),
        ({"feature": np.array([0.7, -1, -1], object)}, "feature must hold whole numbers"),
        ({"left": [0, -1, -1]}, "left: a child must come after its parent"),
        ({"left": [2**32 + 1, -1, -1]}, "left must hold whole numbers that int32"),
        ({"right": [-1, -1, -1]}, "right: a child must come after its parent"),
        ({"right": [3, -1, -1]}, "right: a child .* in the same tree"),
        ({"left": [2, -1, -1]}, "left and right: every node but a root"),
        ({"feature": [-1, -1, -1]}, "left and right: every node but a root"),
        ({"threshold": [np.nan, 0, 0]}, "threshold must"),
        ({"threshold": [0.5 + 1j, 0, 0]}, "threshold holds complex128"),
        ({"base": [np.nan, 0.0]}, "base must be finite"),
        ({"cover": [3.0, 1.0, 1.0]}, "covers of two children must add up"),
        ({"cover": [3.0, 2.0, 1.003]}, "must add up"),
        ({"cover": [1.0, 2.0, -1.0]}, "cover must be finite, not negative"),
        ({"cover": [1.0, np.nan, 1.0]}, "cover must be finite"),
        ({"cover": [np.inf, 1.0, 1.0]}, "cover must be finite"),
        ({"cover": [0.0, 0.0, 0.0]}, "cover must .* above 0 at inner nodes"),
        ({"cover": np.ma.masked_array([3.0, 2, 1], [0, 1, 0])}, "cover has masked values"),
        ({"inbag": np.ones(3, np.uint8)}, r"inbag has shape \(3,\), expected \(1, n_train"),
        ({"inbag": np.ones((2, 3), np.uint8)}, r"inbag has shape \(2, 3\)"),
        ({"inbag": [[0.5, 1.0, 1.0]]}, "inbag must hold whole numbers that int64 can"),
        ({"inbag": [[np.nan, 1.0, 1.0]]}, "inbag must hold whole numbers"),
        ({"inbag": [[-1, 1, 1]]}, "inbag must not be negative: it counts how often"),
    ],
)
def test_contradictory_arrays_are_refused(change, message):
    """Red if one is taken or read as another: 0.7 as feature 0, or the text "False" as true."""
    with pytest.raises(ValueError, match=message):
        replace(stump(), **change)


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("cover", 1000, "covers of two children"),
        ("feature", 1000, "feature must lie"),
        ("right", 4, r"right: a child must come after .* in the same tree"),
    ],
)
@pytest.mark.parametrize("at_a_time", [1, 20, 1 << 14])
def test_every_tree_is_checked(at_a_time, name, change, message, monkeypatch):
    monkeypatch.setattr(forest_checks, "_NODES", at_a_time)
    forest = grow([split(0, 0.0, leaf(1.0), leaf(2.0)) for _ in range(20)], 1)
    array = getattr(forest, name).copy()
    array[forest.tree_offsets[-3]] += change
    with pytest.raises(ValueError, match=message):
        replace(forest, **{name: array})


@pytest.mark.parametrize(
    "forest",
    [
        stump(
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
        stump(impurity=None, criterion=None),
        random_forest(0, n_trees=20, n_outputs=3, missing=True, inbag=np.ones((20, 3), np.uint8)),
    ],
    ids=["all fields", "no impurity", "many trees"],
)
def test_copies_are_the_same_forest_and_cannot_be_written_to(forest, tmp_path):
    """What is kept of a forest would differ from arrays that change."""
    np.savez(tmp_path / "a.npz", **forest.to_arrays())
    with np.load(tmp_path / "a.npz", allow_pickle=False) as archive:
        restored = Forest.from_arrays(dict(archive))
    for copied in (forest, restored, copy.deepcopy(forest), pickle.loads(pickle.dumps(forest))):
        assert_equal_forests(copied, forest)
        arrays = {k: v for k, v in vars(copied).items() if isinstance(v, np.ndarray)}
        assert {"value", "threshold"} <= set(arrays)
        assert forest.inbag is None or not copied.inbag.flags.writeable
        assert not any(array.flags.writeable for array in arrays.values())


def test_a_forest_does_not_change_with_the_arrays_it_was_made_from():
    cover = np.array([3.0, 2.0, 1.0])
    forest = Forest.from_arrays({**stump().to_arrays(), "cover": cover})
    cover[0] = 99.0
    assert forest.cover[0] == 3.0


def test_sizes_and_text():
    forest = random_forest(0, n_trees=4, n_features=5, n_outputs=2)
    assert (forest.n_trees, forest.n_features, forest.n_outputs) == (4, 5, 2)
    assert forest.n_nodes == forest.tree_offsets[-1] == len(forest.feature)
    assert repr(forest) == (
        f"Forest(4 trees, {forest.n_nodes} nodes, 5 features, 2 outputs, criterion='entropy')"
    )


def test_counts_of_draws_are_made_once_and_when_they_are_first_read():
    calls = []

    def draw():
        calls.append("drawn")
        return np.ones((1, 3), np.uint8)

    forest = stump(inbag=draw)
    forest.predict(np.zeros((1, 3)))
    assert not calls
    assert forest.inbag.tolist() == forest.inbag.tolist() == [[1, 1, 1]] and calls == ["drawn"]
    with pytest.raises(ValueError, match=r"inbag has shape \(2, 3\)"):
        assert stump(inbag=lambda: np.ones((2, 3), np.uint8)).inbag


def test_array_hash_goes_by_value_and_shape():
    X = np.arange(6.0).reshape(2, 3)
    same_values = (X.astype(int), X.astype(np.float32), np.asfortranarray(X), X.tolist())
    assert {array_hash(v) for v in same_values} == {array_hash(X)}
    assert array_hash(X.reshape(3, 2)) != array_hash(X)
    assert array_hash(X + 1e-12) != array_hash(X)
    table = pd.DataFrame({"a": [1.5, np.nan, -0.0], "b": [1.0, 2.0, 3.0]})
    expected = array_hash(table.to_numpy())
    assert array_hash(table.convert_dtypes()) == array_hash(table + 0.0) == expected
    with pytest.raises(ValueError, match=r"X is sparse: pass X\.toarray"):
        array_hash(sparse.csr_matrix([[1.0]]))


@pytest.mark.parametrize(
    "model",
    [
        HistGradientBoostingRegressor(max_iter=5),
        LGBMRegressor(n_estimators=5, n_jobs=1, verbose=-1),
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
