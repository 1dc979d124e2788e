"""LightGBM models to `Forest`: missing values, rounds, long texts, files, refusals."""

import re

import lightgbm
import numpy as np
import pandas as pd
import pytest
from test_forest import assert_equal_forests

from forests import conversion_error
from splitcredit import to_forest
from splitcredit.models.formats.lightgbm import _pieces

# Both add up in float64.
EXACT = 1e-12
TINY = float(np.float32(1e-35))  # LightGBM's kZeroThreshold


def train(parameters, X, y, rounds=3, **options):
    """A small Booster on one thread."""
    parameters = {"num_leaves": 5, "num_threads": 1, "verbose": -1, "seed": 0, **parameters}
    return lightgbm.train(parameters, lightgbm.Dataset(X, y, **options), rounds)


def drawn(n=200, p=3, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, p)), rng


@pytest.mark.parametrize("rounds", [1, 3])
def test_a_multiclass_model_without_any_split_is_converted(rounds):
    """Several trees, and none has a split: the lists of splits are blanks."""
    X, rng = drawn(40)
    parameters = {"objective": "multiclass", "num_class": 2, "min_gain_to_split": 1e9}
    booster = train(parameters, X, rng.integers(0, 2, len(X)), rounds)
    forest = to_forest(booster)
    assert (forest.feature == -1).all() and forest.n_trees == booster.num_trees() > 1
    assert forest.output_names == ("0", "1") and conversion_error(booster, X) <= EXACT


def test_the_rounds_are_those_that_predict_uses():
    X, rng = drawn()
    noise = rng.normal(size=len(X))
    data = lightgbm.Dataset(X[:120], noise[:120])
    booster = lightgbm.train(
        {"num_leaves": 5, "num_threads": 1, "verbose": -1},
        data,
        60,
        valid_sets=[lightgbm.Dataset(X[120:], noise[120:], reference=data)],
        callbacks=[lightgbm.early_stopping(5, verbose=False)],
        keep_training_booster=True,
    )
    assert 0 < booster.best_iteration < booster.current_iteration()
    assert to_forest(booster).n_trees == booster.best_iteration
    assert conversion_error(booster, X) <= EXACT


def test_a_text_in_pieces_gives_the_same_forest_as_a_file(tmp_path):
    X, _ = drawn(2000, 4)
    booster = train({"num_leaves": 31}, X, X[:, 0] * X[:, 1], rounds=150)
    assert len(_pieces(booster)) > 1
    booster.save_model(tmp_path / "model.txt")
    forest = to_forest(booster)
    assert forest.n_trees == 150 and conversion_error(booster, X) <= EXACT
    assert_equal_forests(to_forest(tmp_path / "model.txt"), forest)


def test_a_text_may_hold_trees_with_and_without_categories():
    """A tree that splits by categories has two more lines than one that does not."""
    X, rng = drawn()
    X[:, 2] = rng.integers(0, 6, len(X))
    y = 9.0 * (X[:, 0] > 0) + X[:, 2] % 2
    parameters = {"num_leaves": 2, "min_data_per_group": 1, "learning_rate": 1.0}
    booster = train(parameters, X, y, rounds=4, categorical_feature=[2])
    counts = re.findall(r"^num_cat=(\d)$", booster.model_to_string(), re.M)
    assert counts[0] == "0" and "1" in counts and conversion_error(booster, X) <= EXACT


@pytest.mark.parametrize("zero_as_missing", [False, True])
def test_the_smallest_numbers_are_zero_up_to_the_one_that_is_a_threshold(zero_as_missing):
    """At this threshold in single precision, and a step on either side.

    LightGBM keeps no missing values for a feature of two values, one of which is 0.
    """
    X, rng = drawn()
    X = np.round(X)
    X[:, 1], X[:, 2] = rng.integers(0, 2, len(X)), rng.choice([-1.0, 0.0], len(X))
    y = X @ [1, 2, 3] + X[:, 0] * (X[:, 1] + 2 * X[:, 2]) + (X[:, 0] == 0)
    booster = train({"zero_as_missing": zero_as_missing, "num_leaves": 20}, X, y, rounds=20)
    forest = to_forest(booster)
    assert forest.missing_value == (0.0 if zero_as_missing else None)
    assert set(forest.feature) == {-1, 0, 1, 2}
    numbers = [np.nextafter(TINY, end) for end in (0.0, 1.0)] + [TINY, 1e-36, 0.0, 0.5, 1.0]
    Z = rng.choice([np.nan, *numbers, *np.negative(numbers)], (300, 3))
    assert conversion_error(booster, Z) <= EXACT


def test_NaN_that_counts_as_0_goes_left_at_a_threshold_of_0():
    """LightGBM puts thresholds beside 0; a text of another program may have it itself."""
    X = np.repeat([-1.0, 0.0, 1.0], 100)[:, None] * [1.0, 0.0]
    booster = train({"max_bin": 3, "min_data_in_bin": 1}, X, np.repeat([0.0, 1.0, 5.0], 100))
    text = booster.model_to_string().replace("=1.0000000180025095e-35", "=0.0000000000000000e-35")
    booster = lightgbm.Booster(model_str=text)
    forest = to_forest(booster)
    assert 0.0 in forest.threshold[forest.feature >= 0]
    rows = np.array([[np.nan, 0.0], [0.0, 0.0], [1.0, 0.0], [-1.0, 0.0]])
    assert conversion_error(booster, rows) <= EXACT


@pytest.mark.parametrize("dtype", [np.int64, np.uint32, np.longdouble, ">f8"])
def test_arrays_of_other_types_than_two_of_floats_are_compared_in_single_precision(dtype):
    """Rows near a threshold that LightGBM rounds to another side than double precision does."""
    seconds = 1_700_000_000 + np.random.default_rng(0).integers(0, 3600, (600, 1))
    y = np.sin(seconds[:, 0] / 300)
    for given in (seconds.astype(dtype), seconds.astype(np.float64)):
        booster = train({}, given, y, rounds=20)
        for X in (seconds.astype(dtype), seconds.astype(np.float64), pd.DataFrame(seconds)):
            assert conversion_error(booster, X) <= EXACT


SPACES = ["a\N{NO-BREAK SPACE}b", "c\N{IDEOGRAPHIC SPACE}d", "e"]


@pytest.mark.parametrize("columns", [["Column_0", "Column_1", "Column_2"], SPACES])
def test_names_of_a_table_are_names_if_they_look_made_up_or_have_blanks_of_other_kinds(columns):
    """Columns by position would be silently wrong."""
    X, _ = drawn()
    X = pd.DataFrame(X, columns=columns)
    model = lightgbm.LGBMRegressor(n_estimators=2, n_jobs=1, verbose=-1)
    forest = to_forest(model.fit(X, X[columns[0]] - X[columns[2]]))
    assert forest.predict(X[columns[::-1]]).tobytes() == forest.predict(X).tobytes()
    assert forest.feature_names == tuple(columns) and forest.names_given


@pytest.mark.parametrize("end", ["Tree=2", "feature_names", "end of trees"])
def test_a_file_that_ends_early_is_no_shorter_model(tmp_path, end):
    X, _ = drawn()
    text, path = train({}, X, X[:, 0]).model_to_string(), tmp_path / "model.txt"
    path.write_text(text)
    assert to_forest(path).n_trees == 3
    path.write_text(text[: text.index(end)])
    with pytest.raises(ValueError, match=r"model in model\.txt is incomplete"):
        to_forest(path)


def linear(first):
    """A Booster whose trees are linear functions in their leaves, from the one of this number."""
    X, _ = drawn()
    text = train({"linear_tree": True}, X, X[:, 0]).model_to_string()
    return lightgbm.Booster(model_str=text.replace("is_linear=1", "is_linear=0", first))


def without_trees():
    X, _ = drawn()
    return lightgbm.Booster({"verbose": -1}, lightgbm.Dataset(X, X[:, 0]))


def with_zeros_beside_categories():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=1000), rng.integers(0, 9, 1000)])
    y = 9 * X[:, 0] + 5 * np.isin(X[:, 1], [2, 5])
    options = {"zero_as_missing": True, "cat_smooth": 1, "num_leaves": 31}
    return train(options, X, y, 9, categorical_feature=[1])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: linear(0), r"tree 0 of this Booster has linear functions .* linear_tree=False"),
        (lambda: linear(2), "tree 2 of this Booster has linear functions"),
        (without_trees, "this Booster has no trees: fit at least one iteration"),
        # The message named the feature of the first split, whatever it was.
        (with_zeros_beside_categories, r"takes 0 for a missing value .* feature 'Column_1'"),
    ],
)
def test_models_that_a_Forest_cannot_hold_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        to_forest(make())


def test_a_wrapper_that_stops_the_prediction_of_rows_early_is_refused_and_its_booster_taken():
    """It predicts each row by as many trees as it seems to need, which is no sum of all trees."""
    X, rng = drawn()
    y = X[:, 0] > 0.1 * rng.normal(size=len(X))
    early = {"pred_early_stop": True, "pred_early_stop_freq": 1, "pred_early_stop_margin": 0.1}
    parameters = {"n_estimators": 20, "verbosity": -1, "n_jobs": 1, **early}
    model = lightgbm.LGBMClassifier(**parameters).fit(X, y)
    of_all = model.booster_.predict(X, raw_score=True)
    assert abs(model.predict(X, raw_score=True) - of_all).max() > 1
    with pytest.raises(ValueError, match=r"predicts with pred_early_stop, .*: pass model.booster_"):
        to_forest(model)
    assert conversion_error(model.booster_, X) <= EXACT
    assert conversion_error(lightgbm.LGBMRegressor(**parameters).fit(X, X[:, 0]), X) <= EXACT
