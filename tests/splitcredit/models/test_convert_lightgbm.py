"""LightGBM models to `Forest`: missing values, rounds, long texts, files, refusals."""

import re

import lightgbm
import numpy as np
import pandas as pd
import pytest
from test_forest import assert_equal_forests

import twins
from forests import boosted
from splitcredit import to_forest
from splitcredit.models.formats.lightgbm import _pieces


def train(parameters, X, y, rounds=3, **options):
    """A small Booster on one thread."""
    parameters = {"num_leaves": 5, "num_threads": 1, "verbose": -1, "seed": 0, **parameters}
    return lightgbm.train(parameters, lightgbm.Dataset(X, y, **options), rounds)


def drawn(n=200, p=3, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, p)), rng


def test_without_missing_values_in_training_NaN_counts_as_0():
    X, rng = drawn()
    booster = train({}, X, X[:, 0] - X[:, 1], rounds=20)
    forest = to_forest(booster)
    inner = forest.feature >= 0
    np.testing.assert_array_equal(forest.missing_left[inner], forest.threshold[inner] >= 0)
    assert set(forest.missing_left[inner]) == {False, True}
    X[rng.random(X.shape) < 0.5] = np.nan
    assert twins.largest_error(forest.predict(X)[:, 0], booster.predict(X)) <= 1e-12
    np.testing.assert_array_equal(forest.predict(X), forest.predict(np.nan_to_num(X)))


@pytest.mark.parametrize(
    "objective",
    ["regression_l1", "huber", "poisson", "tweedie", "gamma", "cross_entropy", "binary"],
)
def test_scores_of_other_objectives(objective):
    """What the training starts from is in the first tree, in units of the score."""
    X, _ = drawn()
    y = np.exp(X[:, 0] / 3)
    y = (y > 1).astype(float) if objective in ("binary", "cross_entropy") else y
    booster = train({"objective": objective}, X, y)
    theirs = booster.predict(X, raw_score=True)
    assert twins.largest_error(to_forest(booster).predict(X)[:, 0], theirs) <= 1e-12


def test_two_classes_with_a_score_each_are_two_outputs():
    X, rng = drawn()
    booster = train({"objective": "multiclass", "num_class": 2}, X, rng.integers(0, 2, len(X)))
    assert to_forest(booster).output_names == ("0", "1")


@pytest.mark.parametrize("rounds", [1, 3])
def test_a_multiclass_model_without_any_split_is_converted(rounds):
    """Several trees, and none has a split: the lists of splits are blanks."""
    X, rng = drawn(40)
    parameters = {"objective": "multiclass", "num_class": 3, "min_gain_to_split": 1e9}
    booster = train(parameters, X, rng.integers(0, 3, len(X)), rounds)
    forest = to_forest(booster)
    assert (forest.feature == -1).all() and forest.n_trees == booster.num_trees() > 1
    theirs = booster.predict(X, raw_score=True)
    assert twins.largest_error(forest.predict(X), theirs) <= 1e-12


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
    forest = to_forest(booster)
    assert forest.n_trees == booster.best_iteration
    assert twins.largest_error(forest.predict(X)[:, 0], booster.predict(X)) <= 1e-12


def test_wrapper_and_Booster_give_the_same_forest():
    model, _, _ = boosted("lightgbm, binary, cancer")
    assert_equal_forests(to_forest(model), to_forest(model.booster_))
    restored = lightgbm.Booster(model_str=model.booster_.model_to_string())
    assert_equal_forests(to_forest(restored), to_forest(model.booster_))


def test_a_text_in_pieces_gives_the_same_forest_as_a_file(tmp_path):
    X, _ = drawn(2000, 4)
    booster = train({"num_leaves": 31}, X, X[:, 0] * X[:, 1], rounds=150)
    assert len(_pieces(booster)) > 1
    booster.save_model(tmp_path / "model.txt")
    forest = to_forest(booster)
    assert forest.n_trees == 150
    assert_equal_forests(to_forest(tmp_path / "model.txt"), forest)
    assert twins.largest_error(forest.predict(X)[:, 0], booster.predict(X)) <= 1e-12


def test_a_text_may_hold_trees_with_and_without_categories():
    """A tree that splits by categories has two more lines than one that does not."""
    X, rng = drawn()
    X[:, 2] = rng.integers(0, 6, len(X))
    y = 9.0 * (X[:, 0] > 0) + X[:, 2] % 2
    parameters = {"num_leaves": 2, "min_data_per_group": 1, "learning_rate": 1.0}
    booster = train(parameters, X, y, rounds=4, categorical_feature=[2])
    counts = re.findall(r"^num_cat=(\d)$", booster.model_to_string(), re.M)
    assert counts[0] == "0" and "1" in counts
    ours = to_forest(booster).predict(X)[:, 0]
    assert twins.largest_error(ours, booster.predict(X)) <= twins.ROUNDING


def test_node_arrays_are_those_of_the_dumped_trees():
    """LightGBM's own dump, walked from each root."""
    booster = boosted("lightgbm, NaN, diabetes")[0].booster_
    forest = to_forest(booster)

    def compare(node, k):
        if "leaf_value" in node:
            assert (forest.value[k, 0], forest.feature[k]) == (node["leaf_value"], -1)
            assert forest.cover[k] == node["leaf_count"]
            return
        assert forest.feature[k] == node["split_feature"]
        assert forest.threshold[k] == node["threshold"]
        assert forest.cover[k] == node["internal_count"]
        compare(node["left_child"], forest.left[k])
        compare(node["right_child"], forest.right[k])

    trees = booster.dump_model()["tree_info"]
    for tree, root in zip(trees, forest.tree_offsets[:-1], strict=True):
        compare(tree["tree_structure"], root)


def test_names_of_a_table_count_even_if_they_look_made_up():
    X, _ = drawn()
    frame = pd.DataFrame(X, columns=["Column_0", "Column_1", "Column_2"])
    model = lightgbm.LGBMRegressor(n_estimators=2, n_jobs=1, verbose=-1).fit(frame, X[:, 0])
    forest = to_forest(model)
    expected = model.predict(frame)
    np.testing.assert_allclose(forest.predict(frame[frame.columns[::-1]])[:, 0], expected)
    assert forest.names_given and not to_forest(model.fit(X, X[:, 0])).names_given


def test_linear_leaves_are_refused():
    X, _ = drawn()
    message = r"tree 0 of this Booster has linear functions .* fit with linear_tree=False"
    booster = train({"linear_tree": True}, X, X[:, 0])
    with pytest.raises(ValueError, match=message):
        to_forest(booster)
    text = booster.model_to_string().replace("is_linear=1", "is_linear=0", 2)
    with pytest.raises(ValueError, match=message.replace("tree 0", "tree 2")):
        to_forest(lightgbm.Booster(model_str=text))


def test_zeros_are_missing_beside_features_that_lack_nothing():
    """LightGBM keeps no missing values for a feature of two values, one of which is 0."""
    X, rng = drawn()
    X[rng.random(X.shape) < 0.3] = 0.0
    X[:, 1], X[:, 2] = rng.integers(0, 2, len(X)), rng.choice([-1.0, 0.0], len(X))
    y = (X[:, 0] == 0) + X[:, 0] * (X[:, 1] + 2 * X[:, 2])
    booster = train({"zero_as_missing": True, "num_leaves": 20}, X, y, rounds=20)
    forest = to_forest(booster)
    assert forest.missing_value == 0.0 and set(forest.feature) == {-1, 0, 1, 2}
    tiny = float(np.float32(1e-35))
    numbers = [np.nan, 0.0, -0.0, tiny, -tiny, 1e-36, -1e-36, 1.0, -1.0, 0.5, -0.5]
    Z = np.concatenate([X, rng.choice(numbers, (300, 3))])
    theirs = booster.predict(Z, raw_score=True)
    assert twins.largest_error(forest.predict(Z)[:, 0], theirs) <= 1e-12


@pytest.mark.parametrize("zero_as_missing", [False, True])
def test_the_smallest_numbers_are_zero_up_to_the_one_that_is_a_threshold(zero_as_missing):
    """LightGBM's kZeroThreshold, in single precision: at it, and a step on either side."""
    X, rng = drawn()
    X = np.round(X)
    y = X @ [1, 2, 3] + (X == 0) @ [1, -2, 4]
    booster = train({"zero_as_missing": zero_as_missing, "num_leaves": 20}, X, y, rounds=20)
    forest = to_forest(booster)
    tiny = float(np.float32(1e-35))
    numbers = [np.nextafter(tiny, end) for end in (0.0, 1.0)] + [tiny, 0.0, 1.0]
    Z = rng.choice(np.concatenate([numbers, np.negative(numbers)]), (300, 3))
    theirs = booster.predict(Z, raw_score=True)
    assert twins.largest_error(forest.predict(Z)[:, 0], theirs) <= 1e-12


@pytest.mark.parametrize("names", [["age_y", "income_k", "bmi"], ["age y", "income k", "bmi"]])
def test_names_with_underscores_and_blanks_are_compared(names):
    """LightGBM keeps a blank as an underscore; columns by position would be silently wrong."""
    X, _ = drawn()
    X = pd.DataFrame(X, columns=names)
    forest = to_forest(train({}, X, X[names[0]] - X[names[2]]))
    assert forest.predict(X[names[::-1]]).tobytes() == forest.predict(X).tobytes()
    assert forest.feature_names == ("age_y", "income_k", "bmi")
    with pytest.raises(ValueError, match="columns of X are not the features"):
        forest.predict(X.rename(columns={"bmi": "zzz"}))


@pytest.mark.parametrize("end", ["Tree=2", "feature_names", "end of trees"])
def test_a_file_that_ends_early_is_no_shorter_model(tmp_path, end):
    X, _ = drawn()
    text = train({}, X, X[:, 0]).model_to_string()
    path = tmp_path / "model.txt"
    path.write_text(text)
    assert to_forest(path).n_trees == 3
    path.write_text(text[: text.index(end)])
    with pytest.raises(ValueError, match=r"model in model\.txt is incomplete"):
        to_forest(path)


def test_NaN_that_counts_as_0_goes_left_at_a_threshold_of_0():
    """LightGBM puts thresholds beside 0; a text of another program may have it itself."""
    X = np.repeat([-1.0, 0.0, 1.0], 100)[:, None] * [1.0, 0.0]
    booster = train({"max_bin": 3, "min_data_in_bin": 1}, X, np.repeat([0.0, 1.0, 5.0], 100))
    text = booster.model_to_string().replace("=1.0000000180025095e-35", "=0.0000000000000000e-35")
    booster = lightgbm.Booster(model_str=text)
    forest = to_forest(booster)
    assert 0.0 in forest.threshold[forest.feature >= 0]
    rows = np.array([[np.nan, 0.0], [0.0, 0.0], [1.0, 0.0], [-1.0, 0.0]])
    assert twins.largest_error(forest.predict(rows)[:, 0], booster.predict(rows)) <= 1e-12


@pytest.mark.parametrize("dtype", [np.int64, np.uint32, np.longdouble, ">f8"])
def test_arrays_of_other_types_than_two_of_floats_are_compared_in_single_precision(dtype):
    """Rows near a threshold that LightGBM rounds to another side than double precision does."""
    seconds = 1_700_000_000 + np.random.default_rng(0).integers(0, 3600, (600, 1))
    y = np.sin(seconds[:, 0] / 300)
    for given in (seconds.astype(dtype), seconds.astype(np.float64)):
        booster = train({}, given, y, rounds=20)
        for X in (seconds.astype(dtype), seconds.astype(np.float64), pd.DataFrame(seconds)):
            ours = to_forest(booster).predict(X)[:, 0]
            assert twins.largest_error(ours, booster.predict(X)) <= 1e-12


def test_trees_of_one_leaf_without_their_count_are_read(tmp_path):
    """Models that LightGBM before 4.6 saved of a class without rows."""
    X, rng = drawn()
    classes = {"objective": "multiclass", "num_class": 4}
    booster = train(classes, X, rng.integers(0, 3, len(X)))
    text = booster.model_to_string()
    old = re.sub(r"(num_leaves=1\n(?:.*\n)*?leaf_count=)\d+\n", r"\1\n", text)
    assert old.count("leaf_count=\n") == 3
    (tmp_path / "old.txt").write_text(re.sub(r"tree_sizes=.*\n", "", old))
    expected = to_forest(booster)
    forest = to_forest(tmp_path / "old.txt")
    assert forest.predict(X).tobytes() == expected.predict(X).tobytes()
    assert (forest.cover[expected.feature >= 0] == expected.cover[expected.feature >= 0]).all()


def test_of_all_blanks_only_the_plain_one_ends_a_name():
    X, _ = drawn(p=2)
    table = pd.DataFrame(X, columns=["a\N{NO-BREAK SPACE}b", "c\N{IDEOGRAPHIC SPACE}d"])
    forest = to_forest(lightgbm.LGBMRegressor(n_estimators=2, verbose=-1).fit(table, X[:, 0]))
    assert forest.feature_names == tuple(table.columns)


def test_a_model_without_trees_is_refused():
    X, _ = drawn()
    booster = lightgbm.Booster({"verbose": -1}, lightgbm.Dataset(X, X[:, 0]))
    with pytest.raises(ValueError, match="this Booster has no trees: fit at least one iteration"):
        to_forest(booster)


def test_zeros_that_are_missing_beside_categories_name_a_feature_of_categories():
    """The message named the feature of the first split, whatever it was."""
    random = np.random.default_rng(0)
    X = np.column_stack([random.normal(size=1000), random.integers(0, 9, 1000)])
    y = 9 * X[:, 0] + 5 * np.isin(X[:, 1], [2, 5])
    model = lightgbm.LGBMRegressor(n_estimators=9, verbose=-1, zero_as_missing=True, cat_smooth=1)
    model.fit(X, y, categorical_feature=[1])
    with pytest.raises(ValueError, match=r"takes 0 for a missing value .* feature 'Column_1'"):
        to_forest(model)


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
    assert twins.largest_error(to_forest(model.booster_).predict(X)[:, 0], of_all) <= 1e-12
    regressor = lightgbm.LGBMRegressor(**parameters).fit(X, X[:, 0])
    ours = to_forest(regressor).predict(X)[:, 0]
    assert twins.largest_error(ours, regressor.predict(X)) <= 1e-12
