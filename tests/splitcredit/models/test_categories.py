"""Splits by categories: codes and labels, all measures, and the libraries' own predictions."""

from dataclasses import replace
from itertools import combinations

import lightgbm
import numpy as np
import pandas as pd
import pytest
import xgboost
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

import splitcredit
import twins
import twins_interactions
import twins_interventional
import twins_sage
from forests import random_forest
from splitcredit import Forest, TreeExplainer, explain, interactions, to_forest
from splitcredit.kernels.interventional.explain import tree_shap_interventional
from splitcredit.models.categories import Categories
from splitcredit.models.formats._nodes import members_of
from splitcredit.prediction_gap import exact_gap, randomizing, sampling

LABELS = ("red", "green", "blue", "pink", "black")


def by_categories(seed=0, n_features=4, of=(0, 2), **fields):
    """A drawn forest whose splits of some features ask for subsets of five codes."""
    rng = np.random.default_rng(seed)
    forest = random_forest(seed, n_features=n_features, missing=True, **fields)
    feature, members, left = [], [], []
    column, threshold = forest.feature.copy(), forest.threshold.copy()
    for k in np.flatnonzero(np.isin(forest.feature, of)):
        column[k], threshold[k] = n_features + len(feature), 0.5
        feature.append(forest.feature[k])
        members.append(rng.choice(5, rng.integers(1, 5), replace=False))
        left.append(rng.random() < 0.5)
    categories = Categories(feature, members, left)
    return replace(forest, column=column, threshold=threshold, categories=categories)


def rows(n, of=(0, 2), seed=1):
    """Rows with codes, one of them unknown, and NaN."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    X[:, of] = rng.integers(0, 6, (n, len(of)))
    X[rng.random(X.shape) < 0.15] = np.nan
    return X


FORESTS = {
    "one output": lambda: by_categories(0),
    "classes": lambda: by_categories(1, n_outputs=3, leaves="fractions"),
    "float32, <": lambda: by_categories(2, x_dtype="float32", strict=True),
    "deep": lambda: by_categories(3, n_trees=2, depth=10),
    "shallow": lambda: by_categories(4, n_trees=4, depth=3, aggregate="sum"),
    "shallow, classes": lambda: by_categories(6, depth=4, n_outputs=2),
    "nothing else": lambda: by_categories(5, of=(0, 1, 2, 3)),
}


def example(name, n=12):
    forest = FORESTS[name]()
    X = rows(n, (0, 1, 2, 3) if name == "nothing else" else (0, 2))
    return forest, X, forest.prepare(X)


@pytest.mark.parametrize("name", FORESTS)
def test_prepared_rows_have_a_column_for_each_subset(name):
    """From the definition: 0 goes left, 1 right, NaN stays."""
    forest, X, prepared = example(name)
    categories = forest.categories
    assert prepared.shape == (len(X), 4 + len(categories)) and prepared.dtype == forest.x_dtype
    for s in range(len(categories)):
        for x, goes_right in zip(X[:, categories.feature[s]], prepared[:, 4 + s], strict=True):
            if np.isnan(x):
                assert np.isnan(goes_right)
            else:
                assert goes_right == ((x in categories.members[s]) != categories.members_left[s])


@pytest.mark.parametrize("name", FORESTS)
def test_measures_equal_their_twins(name):
    forest, X, prepared = example(name)
    assert twins.largest_error(forest.predict(X), twins.predict(forest, prepared)) <= twins.ROUNDING
    saabas = explain(forest, X, "saabas").values
    assert twins.largest_error(saabas, twins.saabas(forest, prepared)) <= twins.ROUNDING
    local = explain(forest, X, "local_mdi").values[:, :, 0]
    assert twins.largest_error(local, twins.local_mdi(forest, prepared)) <= twins.ROUNDING
    mdi = splitcredit.mdi(forest).values
    assert twins.largest_error(mdi, twins.mdi(forest)) <= twins.ROUNDING


# Tables are made of trees with few features on a path only.
ALGORITHMS = [(algorithm, name) for algorithm in ("blocks", "rows") for name in FORESTS]
ALGORITHMS += [("tables", name) for name in FORESTS if "shallow" in name]


@pytest.mark.parametrize(("algorithm", "name"), ALGORITHMS)
def test_tree_shap_equals_the_twin(name, algorithm):
    """A feature is known or not, with all of its subsets."""
    forest, X, prepared = example(name)
    ours = splitcredit.tree_shap(forest, X, algorithm=algorithm).values
    twin = twins.tree_shap_by_subsets(forest, prepared).astype(float)
    assert twins.largest_error(ours, twin) <= twins.ROUNDING
    if forest.n_outputs > 1:
        predicted = forest.predict(X).argmax(axis=1)
        ours = explain(forest, X, output="predicted").values[:, :, 0]
        assert twins.largest_error(ours, twin[np.arange(len(X)), :, predicted]) <= twins.ROUNDING


@pytest.mark.parametrize("name", FORESTS)
@pytest.mark.parametrize(
    "limits", [(8, 64, 1), (0, 64), (0, 0)], ids=["tables", "patterns", "pairs"]
)
def test_interventional_tree_shap_equals_the_twin(name, limits):
    """All three ways: several subsets of a feature on a path are one condition."""
    forest, _, prepared = example(name, 6)
    background = forest.prepare(rows(7, (0, 1, 2, 3) if name == "nothing else" else (0, 2), 9))
    outputs = np.arange(forest.n_outputs)
    ours = tree_shap_interventional(forest, prepared, outputs, background, limits)
    twin = twins_interventional.tree_shap_interventional(forest, prepared, background)
    assert twins.largest_error(ours, twin) <= twins.ROUNDING


@pytest.mark.parametrize("name", FORESTS)
@pytest.mark.parametrize("order", [1, 2, 3])
def test_interactions_equal_the_twin(name, order):
    """Pairs by one traversal, other sets leaf by leaf."""
    forest, X, prepared = example(name, 4)
    sets = list(combinations(range(4), order))
    ours = interactions(forest, X, sets=sets, order=order).values
    twin = twins_interactions.interaction_index(forest, prepared, sets)
    assert twins.largest_error(ours, twin) <= twins.ROUNDING


@pytest.mark.parametrize("name", FORESTS)
@pytest.mark.parametrize("order", [1, 2, 3])
def test_interactions_against_a_background_equal_those_of_mixed_rows(name, order):
    """Rows are mixed before they are prepared: a feature takes all of its subsets with it."""
    forest, X, _ = example(name, 4)
    background = rows(6, (0, 1, 2, 3) if name == "nothing else" else (0, 2), 9)
    sets = list(combinations(range(4), order))
    ours = interactions(forest, X, sets=sets, order=order, background=background).values
    twin = [twins_interactions.index_of_game(worth, sets) for worth in games(forest, X, background)]
    assert twins.largest_error(ours, twin) <= twins.ROUNDING
    predicted = interactions(forest, X, "predicted", sets, background, order)
    index = forest.predict(X).argmax(axis=1)
    assert (predicted.output_index == index).all()
    assert twins.largest_error(predicted.values[..., 0], ours[range(4), :, index]) <= twins.ROUNDING
    mean = forest.predict(background).mean(axis=0)
    assert twins.largest_error(predicted.baseline[:, 0], mean[index]) <= twins.ROUNDING


def games(forest, X, background):
    """For each row the mean prediction of every mixture with the background, by known features."""
    predict, n_features = forest.predict, X.shape[1]
    all_sets = [S for size in range(n_features + 1) for S in combinations(range(n_features), size)]
    for i in range(len(X)):
        worth = {}
        for known_features in all_sets:
            rows_of = background.copy()
            for j in known_features:
                if hasattr(X, "iloc"):
                    rows_of.isetitem(j, X.iloc[[i] * len(background), j].set_axis(rows_of.index))
                else:
                    rows_of[:, j] = X[i, j]
            worth[frozenset(known_features)] = predict(rows_of).mean(axis=0)
        yield worth


@pytest.mark.parametrize("imputer", ["marginal", "conditional"])
def test_sage_equals_the_twin(imputer):
    forest, X, _ = example("one output", 8)
    X = np.nan_to_num(X)  # to the conditional imputer's twin NaN differs from itself
    prepared, y = forest.prepare(X), np.random.default_rng(0).normal(size=8)
    ours = splitcredit.sage(forest, X, y, imputer=imputer, algorithm="exact")
    twin = twins_sage.sage(forest, prepared, y, prepared, "mse", imputer)
    assert twins.largest_error(ours.values, twin) <= twins.ROUNDING


def test_attributions_by_bag_credit_features_and_not_subsets():
    """In-bag and out-of-bag values add up to those of all trees."""
    forest, X, _ = example("classes")
    inbag = np.random.default_rng(0).integers(0, 2, (forest.n_trees, len(X))).astype(np.uint8)
    bagged = replace(forest, inbag=inbag)
    for method in ("saabas", "tree_shap"):
        in_bag, out_of_bag = (
            splitcredit.oob_attributions(bagged, X, attribution=method, rows=rows).values
            for rows in ("inbag", "oob")
        )
        of_all_trees = explain(forest, X, method).values
        assert in_bag.any() and out_of_bag.any()
        assert twins.largest_error(in_bag + out_of_bag, of_all_trees) <= twins.ROUNDING


def test_the_hash_of_training_rows_goes_by_codes():
    """Text has no bytes of float64; the same labels in another order of the type are the same."""
    frame, y = table(60)
    model = lightgbm.LGBMRegressor(n_estimators=2, min_child_samples=2, verbose=-1, n_jobs=1)
    forest = to_forest(model.fit(frame, y), frame)
    reordered = frame.assign(color=frame["color"].cat.set_categories(LABELS[::-1]))
    assert forest.training_hash == forest.hash_of(frame) == forest.hash_of(reordered)
    assert forest.hash_of(frame.iloc[::-1]) != forest.training_hash


def test_a_forest_by_categories_survives_storage():
    forest, X, _ = example("one output")
    restored = Forest.from_arrays(forest.to_arrays())
    np.testing.assert_array_equal(restored.predict(X), forest.predict(X))
    labeled = replace(forest, categories=replace(forest.categories, labels=[LABELS], labeled=[0]))
    restored = Forest.from_arrays(labeled.to_arrays()).categories
    assert (restored.labels, restored.labeled) == ((LABELS,), (0,))


def test_contradictions_are_refused():
    forest = by_categories()
    cases = {
        "column must lie in": replace_column(forest, 99),
        "must be of the feature": replace_column(forest, 4 + forest.categories.feature.index(2)),
        "is not compared itself": replace_column(forest, 0),
    }
    for message, column in cases.items():
        with pytest.raises(ValueError, match=message):
            replace(forest, column=column)
    with pytest.raises(ValueError, match="must have an entry for each subset"):
        Categories([0], [], [])
    with pytest.raises(ValueError, match="one feature for each entry"):
        Categories(labels=[LABELS], labeled=[])


def replace_column(forest, value):
    """The columns of the nodes, with another one at the first split of feature 0."""
    column = forest.column.copy()
    column[np.flatnonzero(forest.feature == 0)[0]] = value
    return column


def test_faithfulness_refuses_categories_with_the_remedy():
    """Noise has no meaning for them."""
    forest, X, _ = example("one output", 2)
    order = np.tile(np.arange(4), (2, 1))
    model, frame, _ = fitted("lightgbm, subsets")
    calls = (
        lambda: exact_gap.pg2(forest, X, [0]),
        lambda: sampling.pg2_sampled(forest, X, [0]),
        lambda: sampling.gaps_by_k(forest, X, order, 1.0),
        lambda: randomizing.randomized_rmse(forest, X, np.zeros(2), order, [1], X),
        # Not that X has more features than the model.
        lambda: splitcredit.rank(model, frame[:3], scale=0.3),
        lambda: splitcredit.faithfulness(model, frame[:3], "tree_shap", scale=0.3),
    )
    for call in calls:
        with pytest.raises(
            ValueError, match=r"'(x[02]|color|size)' by categories.*noise=.marginal."
        ):
            call()


def table(n=300, seed=0):
    """A table with words, numbers in a column of type category, and a target."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"a": rng.normal(size=n).round(1)})
    frame["color"] = pd.Categorical(rng.choice(LABELS, n), categories=LABELS)
    frame["size"] = pd.Categorical(rng.choice([10, 20, 35], n))
    effect = (
        rng.normal(size=5)[frame["color"].cat.codes] + rng.normal(size=3)[frame["size"].cat.codes]
    )
    y = frame["a"].to_numpy() + 2 * effect
    frame.loc[rng.random(n) < 0.1, ["a", "color"]] = np.nan
    return frame, y


ONE_THREAD = {"n_jobs": 1, "n_estimators": 6}
XGBOOST = {**ONE_THREAD, "max_depth": 4, "enable_categorical": True}
LIGHTGBM = {**ONE_THREAD, "verbose": -1, "min_data_per_group": 3, "cat_smooth": 1, "num_leaves": 8}
MODELS = {
    "xgboost, one against the rest": lambda: xgboost.XGBRegressor(max_cat_to_onehot=99, **XGBOOST),
    "xgboost, subsets": lambda: xgboost.XGBRegressor(max_cat_to_onehot=1, **XGBOOST),
    "xgboost, dart": lambda: xgboost.XGBRegressor(booster="dart", rate_drop=0.4, **XGBOOST),
    "xgboost, classes": lambda: xgboost.XGBClassifier(max_cat_to_onehot=1, **XGBOOST),
    "lightgbm, one against the rest": lambda: lightgbm.LGBMRegressor(
        max_cat_to_onehot=99, **LIGHTGBM
    ),
    "lightgbm, subsets": lambda: lightgbm.LGBMRegressor(max_cat_to_onehot=1, **LIGHTGBM),
    "lightgbm, classes": lambda: lightgbm.LGBMClassifier(max_cat_to_onehot=1, **LIGHTGBM),
    "histogram": lambda: HistGradientBoostingRegressor(max_iter=6, max_leaf_nodes=8),
    "histogram, classes": lambda: HistGradientBoostingClassifier(max_iter=6, max_leaf_nodes=8),
}


def fitted(name):
    """Model, rows, and what it gives for them before the link, (n_samples, n_outputs)."""
    frame, y = table()
    if "classes" in name:
        y = np.digitize(y, [-1.0, 1.0])
    model = MODELS[name]().fit(frame, y)
    if name.startswith("xgboost"):
        score = model.predict(frame, output_margin=True)
    elif name.startswith("lightgbm"):
        score = model.predict(frame, raw_score=True)
    else:
        score = getattr(model, "decision_function", model.predict)(frame)
    return model, frame, np.asarray(score, float).reshape(len(frame), -1)


# Basis of 1e-5: XGBoost adds up in float32.
def tolerance(name, in_float64=twins.ROUNDING):
    return 1e-5 if name.startswith("xgboost") else in_float64


@pytest.mark.parametrize("name", MODELS)
def test_scores_are_those_of_the_library(name):
    model, frame, score = fitted(name)
    forest = to_forest(model)
    assert set(forest.categories.feature) == {1, 2}
    assert twins.largest_error(forest.predict(frame), score) <= tolerance(name)
    # The same labels in another order are the same rows.
    frame["color"] = frame["color"].cat.set_categories(LABELS[::-1])
    assert twins.largest_error(forest.predict(frame), score) <= tolerance(name)


@pytest.mark.parametrize("name", [n for n in MODELS if n.startswith(("xgboost", "lightgbm"))])
def test_attributions_equal_those_of_the_library(name):
    model, frame, _ = fitted(name)
    ours = explain(model, frame[:40]).values
    if name.startswith("xgboost"):
        rows_of = xgboost.DMatrix(frame[:40], enable_categorical=True)
        theirs = model.get_booster().predict(rows_of, pred_contribs=True)
    else:
        theirs = model.booster_.predict(frame[:40], pred_contrib=True)
    theirs = theirs.reshape(40, ours.shape[2], -1).transpose(0, 2, 1)[:, :-1]
    assert twins.largest_error(ours, theirs) <= tolerance(name, twins.UNWINDING)


def test_labels_that_training_did_not_have():
    """LightGBM and scikit-learn take them for missing, XGBoost refuses them."""
    frame, _ = table(20)
    frame["color"] = frame["color"].cat.add_categories("gold")
    as_missing = frame.copy()
    frame.loc[3, "color"], as_missing.loc[3, "color"] = "gold", np.nan
    for name in ("lightgbm, subsets", "histogram"):
        forest = to_forest(fitted(name)[0])
        of_color = 3 + np.flatnonzero(np.equal(forest.categories.feature, 1))
        assert np.isnan(forest.prepare(frame)[3, of_color]).all() and len(of_color)
        np.testing.assert_array_equal(forest.predict(frame), forest.predict(as_missing))
    with pytest.raises(ValueError, match=r"column 'color' of X holds 'gold', which is no category"):
        to_forest(fitted("xgboost, subsets")[0]).predict(frame)


def test_arrays_hold_codes_for_LightGBM_and_labels_for_scikit_learn():
    frame, y = table()
    codes = np.column_stack([frame["a"], frame["color"].cat.codes, frame["size"].cat.codes])
    model = lightgbm.LGBMRegressor(**LIGHTGBM).fit(codes, y, categorical_feature=[1, 2])
    codes[::9, 1] = 17  # no code
    score = model.predict(codes)
    assert twins.largest_error(to_forest(model).predict(codes)[:, 0], score) <= twins.ROUNDING
    numbers = np.column_stack([frame["a"], frame["color"].cat.codes, frame["size"].astype(float)])
    model = HistGradientBoostingRegressor(max_iter=6, categorical_features=[1, 2]).fit(numbers, y)
    numbers[::9, 2] = 17
    ours = to_forest(model).predict(numbers)[:, 0]
    assert twins.largest_error(ours, model.predict(numbers)) <= twins.ROUNDING
    words = frame.astype({"color": object}).to_numpy(dtype=object)
    model = HistGradientBoostingRegressor(max_iter=6, categorical_features=[1, 2]).fit(words, y)
    ours = to_forest(model).predict(words)[:, 0]
    assert twins.largest_error(ours, model.predict(words)) <= twins.ROUNDING


def test_another_number_of_columns_with_categories_is_refused():
    model, frame, _ = fitted("lightgbm, subsets")
    frame["size"] = frame["size"].astype(float)
    with pytest.raises(ValueError, match="X has 1 columns of type category, the training rows had"):
        to_forest(model).predict(frame)


@pytest.mark.parametrize("name", ["xgboost, subsets", "lightgbm, subsets"])
def test_labels_in_columns_of_another_type_are_refused_and_not_taken_for_codes(name):
    """As both libraries refuse them: 10, 20 and 35 were the codes of no category."""
    model, frame, _ = fitted(name)
    plain = frame.astype({"size": int})
    plain["color"] = frame["color"].cat.codes
    forest, row = to_forest(model), frame.iloc[7]
    assert row.notna().all()
    with pytest.raises(ValueError, match=r"of type category|data type doesn't match|do not match"):
        model.predict(plain)
    calls = (
        lambda: forest.predict(plain),
        lambda: explain(model, plain),
        lambda: splitcredit.tree_shap_interventional(model, frame, background=plain),
    )
    for call in calls:
        with pytest.raises(ValueError, match="of type category"):
            call()


def test_a_single_row_of_labels_is_refused_by_xgboost_models():
    """Its Series has lost the type, and the labels that are numbers were taken for codes."""
    table = pd.DataFrame({"size": pd.Categorical([10, 20, 35, 20, 10, 35] * 20)})
    table["a"] = np.arange(120.0)
    model = xgboost.XGBRegressor(**XGBOOST).fit(table, np.tile([3.0, 1, 2, 1, 3, 2], 20))
    explainer = TreeExplainer(model)
    with pytest.raises(ValueError, match=r"column 'size' of X is of type .*, in the training rows"):
        explainer.shap_values(table.iloc[7], check_additivity=False)
    assert explainer.shap_values(table.iloc[[7]]).shape == (1, 2)


def test_categories_in_place_of_numbers_are_refused_by_xgboost_models():
    """Their codes were taken for the numbers."""
    model, frame, _ = fitted("xgboost, subsets")
    forest, labeled = to_forest(model), frame.assign(a=pd.Categorical(frame["a"]))
    with pytest.raises(ValueError, match="column 'a' of X is of type category, in the training"):
        forest.predict(labeled)
    frame["a"] = np.nan
    missing = forest.predict(frame.assign(a=pd.Categorical(frame["a"])))
    np.testing.assert_array_equal(missing, forest.predict(frame))


@pytest.mark.parametrize("as_list", [False, True])
def test_an_unknown_category_in_whole_numbers_is_missing(as_list):
    random = np.random.default_rng(0)
    codes = random.choice([0.0, 3.0, 7.0, np.nan], 300)
    X = pd.DataFrame({"k": codes, "x": random.normal(size=300)})
    y = 2.0 * (codes == 3) + X["x"] + np.isnan(codes)
    model = HistGradientBoostingRegressor(
        max_iter=5, categorical_features=["k"], min_samples_leaf=5, early_stopping=False
    ).fit(X, y)
    rows = [[5, 1], [3, 1], [0, -1]]
    codes_given = rows if as_list else np.array(rows)
    expected = model.predict(pd.DataFrame(rows, columns=["k", "x"]))
    assert twins.largest_error(to_forest(model).predict(codes_given)[:, 0], expected) <= 1e-12


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.longdouble])
def test_labels_may_be_floats_of_any_precision(dtype):
    """Of the shortest and the longest pandas has no index, and its error came through."""
    X = np.random.default_rng(0).choice([0.0, 0.5, 3.0, np.nan], (200, 2))
    y = 2.0 * (X[:, 0] == 3) + np.isnan(X[:, 1])
    model = HistGradientBoostingRegressor(max_iter=5, categorical_features=[0]).fit(X, y)
    expected = to_forest(model).predict(X)
    assert twins.largest_error(expected[:, 0], model.predict(X)) <= twins.ROUNDING
    rows = X.astype(dtype)
    for given in (rows, pd.DataFrame(rows), rows.astype(object)):
        np.testing.assert_array_equal(to_forest(model).predict(given), expected)


def test_air_refuses_categories_of_which_it_would_make_numbers():
    random = np.random.default_rng(0)
    X, y = np.c_[random.integers(0, 9, 200), random.normal(size=200)], random.normal(size=200)
    model = HistGradientBoostingRegressor(max_iter=3, categorical_features=[0])
    with pytest.raises(ValueError, match=r"categorical_features=\[0\] .* is for single features"):
        splitcredit.air(model, X, y)
    frame = pd.DataFrame(X, columns=["k", "x"]).astype({"k": "category"})
    with pytest.raises(ValueError, match="X has columns of type category"):
        splitcredit.air(xgboost.XGBRegressor(enable_categorical=True), frame, y)


SUBSETS = {
    "xgboost": MODELS["xgboost, subsets"],
    "lightgbm": lambda: lightgbm.LGBMRegressor(
        **LIGHTGBM | {"min_data_per_group": 1, "num_leaves": 31}
    ),
    "scikit-learn": lambda: HistGradientBoostingRegressor(max_iter=5),
}


@pytest.mark.parametrize("library", SUBSETS)
def test_models_of_eighty_categories_predict_as_before(library):
    """Subsets of categories are words of 32 bits, so more than one word is needed."""
    rng = np.random.default_rng(0)
    codes, effect = rng.integers(0, 80, 2000), rng.normal(size=80)
    table = pd.DataFrame({"c": pd.Categorical(codes, categories=range(80))})
    table["a"] = rng.normal(size=2000)
    model = SUBSETS[library]().fit(table, effect[codes] + table["a"])
    forest = to_forest(model)
    codes_of_splits = set().union(*forest.categories.members)
    assert {31, 32} < codes_of_splits and list(members_of([1 << 31, 1, 2])) == [31, 32, 65]
    error = twins.largest_error(forest.predict(table)[:, 0], model.predict(table))
    assert error <= tolerance(library)


def test_a_missing_category_goes_right_where_training_had_none():
    """LightGBM takes it for a category that is in no subset."""
    codes = np.random.default_rng(0).integers(0, 5, 400)
    table = pd.DataFrame({"c": pd.Categorical(codes, categories=range(5))})
    model = SUBSETS["lightgbm"]().fit(table, np.array([3.0, -1.0, 5.0, 0.0, 2.0])[codes])
    rows = pd.DataFrame({"c": pd.Categorical([np.nan, 0, 4], categories=range(5))})
    error = twins.largest_error(to_forest(model).predict(rows)[:, 0], model.predict(rows))
    assert error <= twins.ROUNDING


@pytest.mark.parametrize("library", SUBSETS)
def test_large_whole_numbers_beside_a_missing_value_keep_their_digits(library):
    """Labels that are equal as float64, which an array with NaN would hold."""
    rng = np.random.default_rng(0)
    place, labels = rng.integers(0, 5, 400), 2**60 + np.arange(5)
    column = pd.Series(pd.Categorical(labels[place], categories=labels))
    column[::9] = np.nan
    X, y = pd.DataFrame({"id": column, "x": rng.normal(size=400)}), np.sin(place * 3.0)
    model = SUBSETS[library]().fit(X, y)
    forest = to_forest(model)
    rows = X[(place == 1) | (place == 3)]
    few = rows.assign(id=rows["id"].cat.remove_unused_categories())
    for given in (X, few):
        expected = model.predict(X.loc[given.index])
        assert twins.largest_error(forest.predict(given)[:, 0], expected) <= 1e-5


def test_None_as_a_category_is_refused():
    """scikit-learn gives None a code of its own, and rows with it went where NaN goes."""
    place = np.random.default_rng(0).integers(0, 6, 400)
    X = np.empty((400, 1), object)
    X[:, 0] = np.array([None, *"bcdef"], object)[place]
    model = HistGradientBoostingRegressor(max_iter=3, categorical_features=[0])
    model.fit(X, np.sin(place * 3.0))
    with pytest.raises(ValueError, match="has None for a category of feature 0, which cannot"):
        to_forest(model)


def test_labels_that_xgboost_cuts_short_are_refused():
    place = np.random.default_rng(0).integers(0, 2, 300)
    X = pd.DataFrame({"c": pd.Categorical(np.array(["e", "é"])[place])})
    model = xgboost.XGBClassifier(n_estimators=2, enable_categorical=True).fit(X, place)
    with pytest.raises(ValueError, match="labels that are not ASCII, which XGBoost saves cut"):
        to_forest(model)


@pytest.mark.parametrize("library", ["lightgbm", "xgboost"])
def test_codes_that_are_no_whole_numbers_go_where_the_library_sends_them(library):
    """Codes between -1 and 0, which XGBoost does not take for category 0."""
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, 4, 300), rng.normal(size=300)]).astype(float)
    y = np.sin(X[:, 0] * 7) + 0.1 * X[:, 1]
    if library == "xgboost":
        model = SUBSETS[library]().set_params(feature_types=["c", "q"]).fit(X, y)
    else:
        model = SUBSETS[library]().fit(X, y, categorical_feature=[0])
    X[:, 0] = rng.choice([-1.5, -1.0, -0.5, -0.0, 0.5, 3.5, 4.0], 300)
    assert twins.largest_error(to_forest(model).predict(X)[:, 0], model.predict(X)) <= 1e-5


@pytest.mark.parametrize("as_table", [True, False])
def test_LightGBM_takes_codes_of_columns_only_if_it_was_fitted_on_an_array(as_table):
    """Categories by number: the labels of a column that has the type in X only are no codes."""
    rng = np.random.default_rng(0)
    D = pd.DataFrame({"x": rng.normal(size=300), "k": rng.integers(5, 15, 300)})
    options = {"min_data_per_group": 1, "cat_smooth": 0, "max_cat_to_onehot": 1, "verbose": -1}
    model = lightgbm.LGBMRegressor(n_estimators=5, n_jobs=1, **options)
    model.fit(D if as_table else D.to_numpy(), D["k"] % 3, categorical_feature=[1])
    forest, typed = to_forest(model), D.assign(k=pd.Categorical(D["k"]))
    if as_table:
        with pytest.raises(ValueError, match="do not match"):
            model.predict(typed)
        with pytest.raises(ValueError, match=r"column 'k' of X is of type category, in the train"):
            forest.predict(typed)
        np.testing.assert_allclose(forest.predict(D)[:, 0], model.predict(D), rtol=1e-12)
    else:
        np.testing.assert_allclose(forest.predict(typed)[:, 0], model.predict(typed), rtol=1e-12)
